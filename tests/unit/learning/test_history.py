"""The direction made of products is that of the two-loop recursion on the vectors themselves."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan.learning import vectors
from hyperspan.learning.history import HISTORY, History


def two_loops(pairs: list[tuple[np.ndarray, np.ndarray]], gradient: np.ndarray) -> np.ndarray:
    direction, taken = -gradient, []
    for step, change in reversed(pairs):
        taken.append(step @ direction / (step @ change))
        direction = direction - taken[-1] * change
    step, change = pairs[-1]
    direction = direction * (step @ change) / (change @ change)
    for (step, change), share in zip(pairs, reversed(taken), strict=True):
        direction = direction + (share - change @ direction / (step @ change)) * step
    return direction


def remember(curvature: History, step: np.ndarray, change: np.ndarray, n_threads: int = 1) -> None:
    nothing = np.zeros(len(step))
    curvature.remember(nothing, step, nothing, change, n_threads)


def steps_of(n_steps: int, n_weights: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(n_steps)
    widths = np.logspace(0, 2, n_weights)
    steps = [rng.normal(size=n_weights).astype(np.float32).astype(float) for _ in range(n_steps)]
    return [(step, (widths * step).astype(np.float32).astype(float)) for step in steps]


@pytest.mark.kernel
@pytest.mark.parametrize("n_steps", [1, 2, HISTORY, HISTORY + 1, 2 * HISTORY + 3])
def test_the_direction_is_that_of_the_two_loops(n_steps):
    pairs = steps_of(n_steps, 40)
    curvature = History.of_nothing(40)
    for step, change in pairs:
        remember(curvature, step, change)
    gradient = np.random.default_rng(0).normal(size=40)
    expected = two_loops(pairs[-HISTORY:], gradient)
    np.testing.assert_allclose(curvature.direction(gradient), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


def test_nothing_remembered_means_straight_downhill():
    gradient = np.array([1.0, -2.0])
    assert History.of_nothing(2).direction(gradient).tolist() == [-1.0, 2.0]
    curvature = History.of_nothing(2)
    remember(curvature, np.ones(2), np.ones(2))
    curvature.forget()
    assert curvature.direction(gradient).tolist() == [-1.0, 2.0]


def test_a_step_along_which_the_gradient_does_not_rise_is_not_remembered():
    pairs = steps_of(HISTORY + 2, 10)
    curvature = History.of_nothing(10)
    for step, change in pairs:
        remember(curvature, step, change)
    gradient = np.ones(10)
    before = curvature.direction(gradient)
    remember(curvature, np.ones(10), -np.ones(10))
    assert curvature.direction(gradient).tobytes() == before.tobytes()


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(vectors, "_WORTH_THREADS", 1)
    directions = []
    for n_threads in (1, 2, 5):
        curvature = History.of_nothing(10_000)
        for step, change in steps_of(3, 10_000):
            remember(curvature, step, change, n_threads)
        directions.append(curvature.direction(np.linspace(-1.0, 1.0, 10_000), n_threads).tobytes())
    assert len(set(directions)) == 1
