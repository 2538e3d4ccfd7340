"""Calibration: counts in bins, and the error that follows."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.evaluation import Calibration, CalibrationCounter, compare


def test_the_error_is_the_mean_distance_of_bins() -> None:
    draw = np.random.default_rng(0)
    probs, right = draw.random(500), draw.random(500) < 0.4
    found = Calibration.of(zip(probs.tolist(), right.tolist(), strict=True))
    number = np.minimum((probs * 10).astype(int), 9)
    wanted = 0.0
    for each in range(10):
        here = number == each
        wanted += here.mean() * abs(probs[here].mean() - right[here].mean())
        assert found.bins[each].n_mentions == here.sum()
        assert found.bins[each].mean_prob == pytest.approx(probs[here].mean())
        assert found.bins[each].share_right == pytest.approx(right[here].mean())
    assert found.error == pytest.approx(wanted)
    assert found.as_dict()["error"] == found.error
    assert sum(each["mentions"] for each in found.as_dict()["bins"]) == 500


def test_calibrated_probabilities_have_next_to_no_error() -> None:
    draw = np.random.default_rng(1)
    probs = draw.random(100_000)
    calibrated = Calibration.of(zip(probs.tolist(), (draw.random(100_000) < probs).tolist(), strict=True))
    too_sure = Calibration.of(zip(probs.tolist(), (draw.random(100_000) < probs**2).tolist(), strict=True))
    assert calibrated.error < 0.01
    assert too_sure.error == pytest.approx(1 / 2 - 1 / 3, abs=0.01)


def test_certainty_is_in_the_last_bin_and_nothing_is_counted_without_a_probability() -> None:
    found = Calibration.of([(1.0, True), (0.0, False), (None, True), (None, False)])
    assert [each.n_mentions for each in found.bins] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert (found.error, found.n_mentions, found.n_without) == (0.0, 2, 2)
    assert Calibration.of([]).error == 0.0


def test_mentions_of_a_comparison_are_right_or_spurious() -> None:
    tokens = ["a", "b", "c"]
    gold = Sentence(tokens, [Mention("X", [(0, 1)]), Mention("X", [(2, 3)])])
    predicted = Sentence(tokens, [Mention("X", [(0, 1)], prob=0.75), Mention("X", [(1, 2)], prob=0.25)])
    counter = CalibrationCounter()
    counter.add(compare(gold, predicted))
    found = counter.result()
    assert (found.bins[7].share_right, found.bins[2].share_right) == (1.0, 0.0)
    assert found.error == pytest.approx(0.25)


def test_what_chance_alone_does_is_what_simulation_says() -> None:
    draw = np.random.default_rng(2)
    probs = np.concatenate([draw.random(300) ** 2, [0.55, 0.97]])
    simulated = [
        Calibration.of(zip(probs.tolist(), (draw.random(len(probs)) < probs).tolist(), strict=True)).error
        for _ in range(2_000)
    ]
    found = Calibration.of((prob, True) for prob in probs.tolist())
    assert found.by_chance == pytest.approx(np.mean(simulated), rel=0.05)
    assert found.most_by_chance == pytest.approx(np.quantile(simulated, 0.95), rel=0.05)
    assert found.as_dict()["by_chance"] == found.by_chance
    assert found.as_dict()["most_by_chance"] == found.most_by_chance
    assert Calibration.of([]).by_chance == Calibration.of([]).most_by_chance == 0.0
