"""Logistic regression over sparse features: the probability that each row is right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from hyperspan.learning.lbfgs import State, minimise
from hyperspan.learning.vectors import dot_kernel
from hyperspan.threads import run

Numbers = NDArray[np.float64]

HELD = 10.0
"""How strongly a map is held towards the one that changes nothing."""

LEAST_SLOPE = 0.1
"""Of a map: the order of probabilities stays."""

MOST_ITERATIONS = 200

TOLERANCE = 1e-3
"""Stop when the objective has decreased by less than this share over ten iterations: more makes no difference."""


def fit_logistic(features: csr_array, is_right: Numbers, l2: float, begin: Numbers | None = None) -> Numbers:
    """Return the weights that minimise the sum of log losses plus ``l2`` times the sum of their squares.

    Parameters
    ----------
    features : sparse matrix of shape (n_rows, n_features)
    is_right : float64 array of shape (n_rows,)
        1 or 0.
    l2 : float
    begin : float64 array of shape (n_features,), optional
        The initial weights; zeros if not given.

    Examples
    --------
    >>> rows = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]]))
    >>> weights = fit_logistic(rows, np.array([0.0, 1.0, 1.0, 1.0]), l2=0.01)
    >>> probs_of(rows @ weights).round(1).tolist()
    [0.5, 0.5, 1.0, 1.0]
    """
    transposed = features.T.tocsr()

    def objective(weights: Numbers) -> tuple[float, Numbers]:
        log_odds = features @ weights
        residual = probs_of(log_odds) - is_right
        penalty = l2 * dot_kernel(weights, weights)
        value = float(np.sum(np.logaddexp(0.0, log_odds) - is_right * log_odds)) + penalty
        return value, transposed @ residual + 2.0 * l2 * weights

    state = State(np.zeros(features.shape[1]) if begin is None else begin)
    *_, last = minimise(objective, state, max_iterations=MOST_ITERATIONS, tolerance=TOLERANCE)
    return last.weights


def probs_of(log_odds: Numbers) -> Numbers:
    """Convert log odds to probabilities.

    Examples
    --------
    >>> probs_of(np.array([0.0, 1000.0, -1000.0])).tolist()
    [0.5, 1.0, 0.0]
    """
    return 0.5 * (1.0 + np.tanh(0.5 * log_odds))


def log_loss(log_odds: Numbers, is_right: Numbers) -> float:
    """Return the mean log loss; smaller is better."""
    if not len(is_right):
        return 0.0
    return float(np.mean(np.logaddexp(0.0, log_odds) - is_right * log_odds))


def fit_map(log_odds: Numbers, is_right: Numbers) -> tuple[float, float]:
    """Return the slope and the shift that calibrate log odds best: Platt scaling, which keeps their order.

    A penalty draws it towards slope 1 and shift 0 with the weight of about forty rows, so that few rows change little.
    If all rows are right, or none is, nothing changes: they only tell that probabilities should be extreme.

    Examples
    --------
    >>> log_odds, draw = np.linspace(-4, 4, 2001), np.random.default_rng(0)
    >>> slope, shift = fit_map(log_odds, (draw.random(2001) < probs_of(0.5 * log_odds - 1.0)).astype(float))
    >>> abs(slope - 0.5) < 0.1, abs(shift + 1.0) < 0.1
    (True, True)
    >>> fit_map(np.zeros(0), np.zeros(0)), fit_map(log_odds, np.zeros(2001))
    ((1.0, 0.0), (1.0, 0.0))
    """
    if np.all(is_right == 0.0) or np.all(is_right == 1.0):
        return 1.0, 0.0
    begin = np.array([1.0, 0.0])

    def objective(found: Numbers) -> tuple[float, Numbers]:
        mapped = found[0] * log_odds + found[1]
        residual, away = probs_of(mapped) - is_right, found - begin
        value = float(np.sum(np.logaddexp(0.0, mapped) - is_right * mapped)) + 0.5 * HELD * float(away @ away)
        return value, np.array([dot_kernel(residual, log_odds), residual.sum()]) + HELD * away

    found = minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=[(LEAST_SLOPE, None), (None, None)])
    return float(found.x[0]), float(found.x[1])


def cross_validated(
    features: csr_array, is_right: Numbers, fold: NDArray[np.int64], penalties: Sequence[float], n_threads: int = 1
) -> tuple[float, Numbers]:
    """Return the best of several penalties, and the log odds of each row from weights trained without its fold.

    Penalties are tried from the strongest, until the log loss of unseen rows no longer improves.
    """
    numbers = np.unique(fold).tolist()
    begin = [np.zeros(features.shape[1]) for _ in numbers]
    best_l2, best, least = penalties[0], np.zeros(len(is_right)), np.inf
    for l2 in penalties:
        log_odds = np.zeros(len(is_right))

        def learn(place: int, l2: float = l2, log_odds: Numbers = log_odds, begin: list[Numbers] = begin) -> Numbers:
            seen, unseen = np.flatnonzero(fold != numbers[place]), np.flatnonzero(fold == numbers[place])
            weights = fit_logistic(features[seen], is_right[seen], l2, begin[place])
            log_odds[unseen] = features[unseen] @ weights
            return weights

        begin = run(n_threads, learn, len(numbers))
        loss = log_loss(log_odds, is_right)
        if loss >= least:
            break
        best_l2, best, least = l2, log_odds, loss
    return best_l2, best
