"""L-BFGS with a state that can be saved: SciPy's own cannot be stopped in the middle and taken up again.

Directions by the two-loop recursion, steps by SciPy's Wolfe line search.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import line_search

from hyperspan.learning.vectors import add_kernel, dot_kernel

Vector = NDArray[np.float64]
Remembered = NDArray[np.float32]
Function = Callable[[Vector], tuple[float, Vector]]

HISTORY = 6
"""How many steps the recursion remembers, in single precision: they only shape the direction, and take most memory."""

PERIOD = 10
"""Over how many iterations the objective must have fallen by the tolerance for the search to go on."""


@dataclass
class State:
    """Where a search stands: all that is needed to go on as if nothing had happened."""

    weights: Vector
    value: float = 0.0
    gradient: Vector = field(default_factory=lambda: np.empty(0))
    previous_value: float | None = None
    steps: list[Remembered] = field(default_factory=list)
    changes: list[Remembered] = field(default_factory=list)
    curvatures: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    iteration: int = 0
    n_evaluations: int = 0
    stopped: str = ""

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the state as plain data and arrays."""
        numbers = {
            "value": self.value,
            "previous_value": self.previous_value,
            "curvatures": list(self.curvatures),
            "values": list(self.values),
            "iteration": self.iteration,
            "n_evaluations": self.n_evaluations,
            "stopped": self.stopped,
        }
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights, "gradient": self.gradient}
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
    if not len(state.gradient):
        state.value, state.gradient = function(state.weights)
        state.n_evaluations += 1
        state.values.append(state.value)
    state.stopped = state.stopped or _reason_to_stop(state, max_iterations, tolerance, gradient_tolerance)
    if state.stopped:
        yield state
    while not state.stopped:
        _step(state, function)
        state.stopped = state.stopped or _reason_to_stop(state, max_iterations, tolerance, gradient_tolerance)
        yield state


def _reason_to_stop(state: State, max_iterations: int, tolerance: float, gradient_tolerance: float) -> str:
    length = math.sqrt(dot_kernel(state.gradient, state.gradient))
    if length <= gradient_tolerance * max(1.0, math.sqrt(dot_kernel(state.weights, state.weights))):
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


def _step(state: State, function: Function) -> None:
    line = _search(state, function)
    if line is None and state.steps:  # the remembered curvature led nowhere: once more, straight downhill
        state.steps.clear()
        state.changes.clear()
        state.curvatures.clear()
        line = _search(state, function)
    if line is None:
        state.stopped = "stopped: no step lowers the objective any further"
        return
    step = (line.weights - state.weights).astype(np.float32)
    change = (line.gradient - state.gradient).astype(np.float32)
    curvature = dot_kernel(step, change)
    if curvature > 1e-10 * dot_kernel(change, change):
        state.steps.append(step)
        state.changes.append(change)
        state.curvatures.append(curvature)
        del state.steps[:-HISTORY], state.changes[:-HISTORY], state.curvatures[:-HISTORY]
    state.previous_value, state.value = state.value, line.value
    state.weights, state.gradient = line.weights, line.gradient
    state.values.append(line.value)
    del state.values[: -PERIOD - 1]
    state.iteration += 1


def _search(state: State, function: Function) -> _Line | None:
    """Look along the direction for a step that fulfils the Wolfe conditions."""
    line = _Line(state, function)
    previous = state.previous_value
    if not state.steps:  # so that the first step is about as long as one unit
        previous = state.value + math.sqrt(dot_kernel(state.gradient, state.gradient)) / 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy warns where we say so ourselves
        # SciPy sees a function of one number, the length of the step: vectors stay with us.
        length, *_ = line_search(
            line.value_at, line.slope_at, np.zeros(1), np.ones(1), line.slope_at(np.zeros(1)), state.value, previous
        )
    if length is None:
        return None
    line.go_to(float(length))
    return line


class _Line:
    """The function along a direction: value and slope are worked out together, once for each length asked for."""

    def __init__(self, state: State, function: Function) -> None:
        self.weights, self.value, self.gradient = state.weights, state.value, state.gradient
        self._state = state
        self._function = function
        self._direction = _direction(state)
        self._length = 0.0

    def go_to(self, length: float) -> None:
        if length != self._length:
            self.weights = self._state.weights.copy()
            add_kernel(self.weights, length, self._direction)
            self.value, self.gradient = self._function(self.weights)
            self._state.n_evaluations += 1
            self._length = length

    def value_at(self, length: Vector) -> float:
        self.go_to(float(length[0]))
        return self.value

    def slope_at(self, length: Vector) -> Vector:
        self.go_to(float(length[0]))
        return np.array([dot_kernel(self.gradient, self._direction)])


def _direction(state: State) -> Vector:
    """Return the two-loop recursion's direction; vectors are long, so each is read as seldom as possible."""
    direction = -state.gradient
    shares = []
    remembered = list(zip(state.steps, state.changes, state.curvatures, strict=True))
    for step, change, curvature in reversed(remembered):
        share = dot_kernel(step, direction) / curvature
        add_kernel(direction, -share, change)
        shares.append(share)
    if state.steps:
        direction *= state.curvatures[-1] / dot_kernel(state.changes[-1], state.changes[-1])
    for (step, change, curvature), share in zip(remembered, reversed(shares), strict=True):
        add_kernel(direction, share - dot_kernel(change, direction) / curvature, step)
    return direction
