"""L-BFGS with a state that can be saved: SciPy's own cannot be stopped and resumed.

Directions come from the two-loop recursion (see `history`), step lengths from SciPy's Wolfe line search.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.learning.history import History
from hyperspan.learning.vectors import add_kernel, dot_kernel, run_pieces

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]

PERIOD = 10
"""The number of iterations over which the objective must decrease by the tolerance for the search to continue."""


@dataclass
class State:
    """The state of a search: all that is needed to resume it exactly."""

    weights: Vector
    value: float = 0.0
    gradient: Vector = field(default_factory=lambda: np.empty(0))
    previous_value: float | None = None
    history: History | None = None
    values: list[float] = field(default_factory=list)
    iteration: int = 0
    n_evaluations: int = 0
    stopped: str = ""

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the state as plain data and arrays."""
        numbers = {
            "value": self.value,
            "previous_value": self.previous_value,
            "n_steps": 0 if self.history is None else self.history.n_steps,
            "values": list(self.values),
            "iteration": self.iteration,
            "n_evaluations": self.n_evaluations,
            "stopped": self.stopped,
        }
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights, "gradient": self.gradient}
        if self.history is not None:
            arrays |= {"remembered": self.history.rows, "products": self.history.products}
        return numbers, arrays

    @classmethod
    def of_arrays(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> State:
        """Restore a state from what `to_arrays` returned."""
        rest = dict(numbers)
        n_steps = rest.pop("n_steps")
        has_steps = "remembered" in arrays
        return cls(
            weights=arrays["weights"],
            gradient=arrays["gradient"],
            history=History(arrays["remembered"], arrays["products"], n_steps) if has_steps else None,
            **rest,
        )


def minimise(
    function: Function,
    state: State,
    *,
    max_iterations: int = 500,
    tolerance: float = 1e-5,
    gradient_tolerance: float = 1e-5,
    n_threads: int = 1,
) -> Iterator[State]:
    """Yield the state after every iteration until it has ``stopped``, which says why.

    Parameters
    ----------
    function : callable
        Returns the value to minimise and its gradient.
    state : State
        A new state with the initial weights, or a saved one.
    max_iterations : int
        The most iterations, counted from the very beginning even after a restart.
    tolerance : float
        Stop when the value has decreased by less than this share over `PERIOD` iterations.
    gradient_tolerance : float
        Stop when the gradient's norm is at most this share of the weights' norm (or of 1, if that is greater).
    n_threads : int
        The result does not depend on it.

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
        _step(state, function, n_threads)
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


def _step(state: State, function: Function, n_threads: int) -> None:
    history = state.history = state.history or History.of_nothing(len(state.weights))
    line = _search(state, history, function, n_threads)
    if line is None and history.n_steps:  # the history gave a bad direction: try steepest descent
        history.forget()
        line = _search(state, history, function, n_threads)
    if line is None:
        state.stopped = "stopped: no step lowers the objective any further"
        return
    history.remember(state.weights, line.weights, state.gradient, line.gradient, n_threads)
    state.previous_value, state.value = state.value, line.value
    state.weights, state.gradient = line.weights, line.gradient
    state.values.append(line.value)
    del state.values[: -PERIOD - 1]
    state.iteration += 1


def _search(state: State, history: History, function: Function, n_threads: int) -> _Line | None:
    """Search along the direction for a step that satisfies the Wolfe conditions."""
    from scipy.optimize import line_search  # slow to load, and only training needs it

    line = _Line(state, function, history.direction(state.gradient, n_threads), n_threads)
    previous = state.previous_value
    if not history.n_steps:  # so that the first step has about unit length
        previous = state.value + math.sqrt(dot_kernel(state.gradient, state.gradient)) / 2.0
    with _without_warnings():  # we report failures ourselves
        # SciPy only sees a function of one number, the step length; the vectors stay here.
        length, *_ = line_search(
            line.value_at, line.slope_at, np.zeros(1), np.ones(1), line.slope_at(np.zeros(1)), state.value, previous
        )
    if length is None:
        return None
    line.go_to(float(length))
    return line


class _Quiet:
    """How many searches ignore warnings now, and how to end that."""

    lock = threading.Lock()
    n_searches = 0
    filters = warnings.catch_warnings()


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Ignore warnings while any search runs.

    Filters belong to the whole process. If each of several parallel searches saved and restored them, the last one
    could restore what another had set, and warnings would be ignored forever.
    """
    with _Quiet.lock:
        _Quiet.n_searches += 1
        if _Quiet.n_searches == 1:
            _Quiet.filters = warnings.catch_warnings()
            _Quiet.filters.__enter__()
            warnings.simplefilter("ignore")
    try:
        yield
    finally:
        with _Quiet.lock:
            _Quiet.n_searches -= 1
            if not _Quiet.n_searches:
                _Quiet.filters.__exit__(None, None, None)


class _Line:
    """The function along a direction: value and slope are computed together, once for each step length."""

    def __init__(self, state: State, function: Function, direction: Vector, n_threads: int) -> None:
        self.weights, self.value, self.gradient = state.weights, state.value, state.gradient
        self._state = state
        self._function = function
        self._direction = direction
        self._n_threads = n_threads
        self._length = 0.0

    def go_to(self, length: float) -> None:
        if length != self._length:
            weights = self._state.weights.copy()

            def add(begin: int, end: int) -> None:
                add_kernel(weights[begin:end], length, self._direction[begin:end])

            run_pieces(add, len(weights), self._n_threads)
            self.weights = weights
            self.value, self.gradient = self._function(self.weights)
            self._state.n_evaluations += 1
            self._length = length

    def value_at(self, length: Vector) -> float:
        self.go_to(float(length[0]))
        return self.value

    def slope_at(self, length: Vector) -> Vector:
        self.go_to(float(length[0]))

        def dot(begin: int, end: int) -> float:
            return float(dot_kernel(self.gradient[begin:end], self._direction[begin:end]))

        return np.array([sum(run_pieces(dot, len(self.gradient), self._n_threads))])
