"""L-BFGS with a state that can be saved: SciPy's own cannot be stopped in the middle and taken up again.

Directions by the two-loop recursion, steps by SciPy's Wolfe line search.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy
from scipy.optimize import line_search

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]

HISTORY = 8
"""How many steps the recursion remembers."""

PERIOD = 10
"""Over how many iterations the objective must have fallen by the tolerance for the search to go on."""


@dataclass
class State:
    """Where a search stands: all that is needed to go on as if nothing had happened."""

    weights: Vector
    value: float = 0.0
    gradient: Vector = field(default_factory=lambda: np.empty(0))
    previous_value: float | None = None
    steps: list[Vector] = field(default_factory=list)
    changes: list[Vector] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    iteration: int = 0
    n_evaluations: int = 0
    stopped: str = ""

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the state as plain data and arrays."""
        numbers = {
            "value": self.value,
            "previous_value": self.previous_value,
            "values": self.values,
            "iteration": self.iteration,
            "n_evaluations": self.n_evaluations,
            "stopped": self.stopped,
        }
        arrays = {"weights": self.weights, "gradient": self.gradient}
        for place, (step, change) in enumerate(zip(self.steps, self.changes, strict=True)):
            arrays[f"step{place}"], arrays[f"change{place}"] = step, change
        return numbers, arrays

    @classmethod
    def of_arrays(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> State:
        """Return the state that `to_arrays` gave."""
        n_steps = sum(name.startswith("step") for name in arrays)
        return cls(
            weights=arrays["weights"],
            gradient=arrays["gradient"],
            steps=[arrays[f"step{place}"] for place in range(n_steps)],
            changes=[arrays[f"change{place}"] for place in range(n_steps)],
            **numbers,
        )


def minimise(
    function: Function,
    state: State,
    *,
    max_iterations: int = 500,
    tolerance: float = 1e-5,
    gradient_tolerance: float = 1e-5,
) -> Iterator[State]:
    """Yield the state after every iteration until it has ``stopped``, which says why.

    Parameters
    ----------
    function : callable
        Returns the value to minimise and its gradient.
    state : State
        A new one with the weights to start from, or one that was saved.
    max_iterations : int
        Counted from the very beginning, also after a restart.
    tolerance : float
        Stop when the value has fallen by less than this share over `PERIOD` iterations.
    gradient_tolerance : float
        Stop when the gradient's length is at most this share of the weights' length (or of 1, if that is greater).

    Examples
    --------
    >>> state = State(np.zeros(2))
    >>> for state in minimise(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), state):
    ...     pass
    >>> state.weights.round(6), state.stopped
    (array([3., 3.]), 'converged: ...')
    """
    cached = _Cached(function)
    if not len(state.gradient):
        state.value, state.gradient = cached.both(state.weights)
        state.values.append(state.value)
    while not state.stopped:
        state.stopped = _reason_to_stop(state, max_iterations, tolerance, gradient_tolerance)
        if not state.stopped:
            _step(state, cached)
            state.n_evaluations += cached.n_evaluations
            cached.n_evaluations = 0
        yield state


def _reason_to_stop(state: State, max_iterations: int, tolerance: float, gradient_tolerance: float) -> str:
    length = float(np.linalg.norm(state.gradient))
    if length <= gradient_tolerance * max(1.0, float(np.linalg.norm(state.weights))):
        return f"converged: gradient norm {length:.3g}"
    if len(state.values) > PERIOD:
        before, now = state.values[-1 - PERIOD], state.values[-1]
        if before - now <= tolerance * abs(now):
            return f"converged: the objective fell by less than {tolerance:g} of itself over {PERIOD} iterations"
    if state.iteration >= max_iterations:
        return (
            f"stopped after {max_iterations} iterations, gradient norm {length:.3g}. "
            "Raise max_iterations, or raise l2 if weights grow."
        )
    return ""


def _step(state: State, cached: _Cached) -> None:
    for forgetful in (False, True):
        if forgetful:
            if not state.steps:
                break
            state.steps.clear()  # the remembered curvature led nowhere: once more, straight downhill
            state.changes.clear()
        direction = _direction(state)
        cached.remember(state.weights, state.value, state.gradient)
        previous = state.previous_value
        if not state.steps:  # so that the first step is about as long as one unit
            previous = state.value + float(np.linalg.norm(state.gradient)) / 2.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy warns where we ask for the reason
            length, *_ = line_search(
                cached.value,
                cached.gradient,
                state.weights,
                direction,
                state.gradient,
                state.value,
                previous,
                maxiter=20,
            )
        if length is not None:
            break
    else:
        length = None
    if length is None:
        state.stopped = "stopped: no step lowers the objective any further"
        return
    weights = state.weights + length * direction
    value, gradient = cached.both(weights)
    step, change = weights - state.weights, gradient - state.gradient
    if float(step @ change) > 1e-10 * float(change @ change):
        state.steps.append(step)
        state.changes.append(change)
        del state.steps[:-HISTORY], state.changes[:-HISTORY]
    state.previous_value, state.value = state.value, value
    state.weights, state.gradient = weights, gradient
    state.values.append(value)
    del state.values[: -PERIOD - 1]
    state.iteration += 1


def _direction(state: State) -> Vector:
    """Return the two-loop recursion's direction; vectors are long, so each is read as seldom as possible."""
    direction = -state.gradient
    shares = []
    for step, change in zip(reversed(state.steps), reversed(state.changes), strict=True):
        share = float(step @ direction) / float(change @ step)
        daxpy(change, direction, a=-share)
        shares.append(share)
    if state.steps:
        direction *= float(state.steps[-1] @ state.changes[-1]) / float(state.changes[-1] @ state.changes[-1])
    for step, change, share in zip(state.steps, state.changes, reversed(shares), strict=True):
        daxpy(step, direction, a=share - float(change @ direction) / float(change @ step))
    return direction


class _Cached:
    """The function, asked for value and gradient separately but worked out once."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._weights: Vector | None = None
        self._result: tuple[float, Vector] = (0.0, np.empty(0))
        self.n_evaluations = 0

    def remember(self, weights: Vector, value: float, gradient: Vector) -> None:
        self._weights, self._result = weights, (value, gradient)

    def both(self, weights: Vector) -> tuple[float, Vector]:
        if self._weights is None or not (weights is self._weights or np.array_equal(weights, self._weights)):
            self._result = self._function(weights)
            self._weights = weights
            self.n_evaluations += 1
        return self._result

    def value(self, weights: Vector) -> float:
        return self.both(weights)[0]

    def gradient(self, weights: Vector) -> Vector:
        return self.both(weights)[1]
