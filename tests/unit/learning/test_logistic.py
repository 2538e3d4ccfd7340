"""Logistic regression: its optimum, its penalty, and what has not been seen."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hyperspan.learning import logistic
from hyperspan.learning.logistic import LEAST_SLOPE, cross_validated, fit_logistic, fit_map, log_loss, probs_of


def random_rows(seed: int, n_rows: int = 300, n_features: int = 12) -> tuple[csr_array, np.ndarray]:
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(n_rows, n_features)) * (draw.random((n_rows, n_features)) < 0.4)
    weights = draw.normal(size=n_features)
    return csr_array(values), (draw.random(n_rows) < probs_of(values @ weights)).astype(float)


@pytest.mark.parametrize("l2", [0.1, 5.0])
def test_the_weights_are_the_optimum(l2: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic, "TOLERANCE", 1e-12)
    features, is_right = random_rows(0)

    def objective(weights: np.ndarray) -> float:
        return len(is_right) * log_loss(features @ weights, is_right) + l2 * float(weights @ weights)

    found = fit_logistic(features, is_right, l2)
    wanted = minimize(objective, np.zeros(12), tol=1e-12).x
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    np.testing.assert_allclose(fit_logistic(features, is_right, l2, found), found, atol=1e-4)


def test_each_row_is_judged_by_weights_that_have_not_seen_its_fold() -> None:
    features, is_right = random_rows(1)
    fold = np.arange(300) % 4
    l2, log_odds = cross_validated(features, is_right, fold, (2.0,))
    assert l2 == 2.0
    for number in range(4):
        seen, unseen = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        weights = fit_logistic(features[seen], is_right[seen], 2.0)
        np.testing.assert_array_equal(log_odds[unseen], features[unseen] @ weights)


def test_the_best_penalty_is_chosen_whatever_the_threads() -> None:
    features, is_right = random_rows(2)
    fold, penalties = np.arange(300) % 5, (1e4, 1.0, 0.5, 0.0)
    l2, log_odds = cross_validated(features, is_right, fold, penalties)
    losses = [log_loss(cross_validated(features, is_right, fold, (each,))[1], is_right) for each in penalties]
    assert l2 in (1.0, 0.5)
    assert losses[penalties.index(l2)] < min(losses[0], losses[penalties.index(l2) + 1])
    again, same = cross_validated(features, is_right, fold, penalties, n_threads=3)
    assert again == l2
    np.testing.assert_array_equal(same, log_odds)


def test_nothing_to_judge() -> None:
    assert log_loss(np.empty(0), np.empty(0)) == 0.0


def test_a_map_is_the_most_probable_one_and_keeps_the_order() -> None:
    draw = np.random.default_rng(5)
    log_odds = draw.normal(size=400) * 2.0
    is_right = (draw.random(400) < probs_of(0.7 * log_odds + 0.5)).astype(float)

    def loss(slope: float, shift: float) -> float:
        return len(log_odds) * log_loss(slope * log_odds + shift, is_right) + 5.0 * ((slope - 1.0) ** 2 + shift**2)

    slope, shift = fit_map(log_odds, is_right)
    for step in (-0.01, 0.01):
        assert loss(slope, shift) < min(loss(slope + step, shift), loss(slope, shift + step))
    assert fit_map(log_odds, (log_odds < 0).astype(float))[0] == LEAST_SLOPE
    few = slice(3)
    assert fit_map(log_odds[few], 1.0 - is_right[few]) == pytest.approx((1.0, 0.0), abs=0.5)


def test_a_map_does_not_depend_on_the_threads_of_numpy() -> None:
    program = """
import numpy as np
from hyperspan.learning.logistic import fit_map, probs_of

draw = np.random.default_rng(0)
log_odds = 3.0 * draw.standard_normal(50_000)
is_right = (draw.random(50_000) < probs_of(0.5 * log_odds - 1.0)).astype(float)
print(fit_map(log_odds, is_right))
"""
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {f"{library}_NUM_THREADS": number for library in ("OPENBLAS", "MKL", "OMP")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in ("1", "2")
    )
    assert first == second
