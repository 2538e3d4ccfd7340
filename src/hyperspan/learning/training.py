"""Search for the best weights, with one penalty or the best of several on development data.

The search yields a record after every iteration, and its whole state can be saved and resumed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.watch import compile_watch
from hyperspan.errors import LearningError
from hyperspan.learning.lbfgs import State, minimise
from hyperspan.learning.vectors import dot_kernel

if TYPE_CHECKING:
    from hyperspan.learning.objective import Objective
    from hyperspan.learning.segment_objective import SegmentObjective

L2_CHOICES = (2.0, 1.0, 0.5, 0.25, 0.125)
"""The penalties that ``l2="auto"`` tries, strongest first; each starts from the weights of the one before."""


@dataclass(frozen=True, slots=True)
class Record:
    """One iteration: a line of the training log. Only ``seconds`` differs from run to run."""

    l2: float
    iteration: int
    objective: float
    gradient_norm: float
    n_evaluations: int
    seconds: float
    dev_f1: float | None = None
    stopped: str = ""
    is_complete: bool = True
    """Whether the iteration is finished: trainers may also report work in progress."""
    fold: int = 0
    """Which fold of the training data is held out, from 1; 0 if none is."""
    n_folds: int = 0

    def as_dict(self, *, with_time: bool = True) -> dict[str, Any]:
        """Return the record as plain data, optionally without the time so that it is the same in every run."""
        record: dict[str, Any] = {
            "l2": self.l2,
            "iteration": self.iteration,
            "objective": self.objective,
            "gradient_norm": self.gradient_norm,
            "evaluations": self.n_evaluations,
        }
        if self.dev_f1 is not None:
            record["dev_f1"] = self.dev_f1
        if self.stopped:
            record["stopped"] = self.stopped
        if self.fold:
            record["fold"] = self.fold
        if with_time:
            record["seconds"] = round(self.seconds, 3)
        return record

    def line(self, max_iterations: int) -> str:
        """Return one readable line, with the time left if all iterations are used."""
        left = self.seconds / max(1, self.iteration) * (max_iterations - self.iteration)
        score = "" if self.dev_f1 is None else f"  dev F1 {self.dev_f1:.3f}"
        return (
            f"l2 {self.l2:g}  iteration {self.iteration}  objective {self.objective:,.1f}  "
            f"gradient {self.gradient_norm:.3g}{score}  {self.seconds:.0f} s, at most {left:.0f} s left"
        )


@dataclass
class Search:
    """A search for weights, which can be saved at any time.

    Parameters
    ----------
    penalties : sequence of float
        The values of ``l2`` to try, one after another.
    state : State
        The state of the optimiser for the current penalty.

    Attributes
    ----------
    records : list of dict
        A record of every iteration so far, without its time.
    """

    penalties: tuple[float, ...]
    state: State
    stage: int = 0
    best_f1: float = -1.0
    best_l2: float = 0.0
    best_weights: NDArray[np.float64] | None = None
    records: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_done(self) -> bool:
        """Whether every penalty has been tried."""
        return self.stage >= len(self.penalties)

    @property
    def n_iterations(self) -> int:
        """How many iterations there were for all penalties together."""
        return sum(record["iteration"] for record in self.records if "stopped" in record)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights to use: the best found, or the current ones of a single search."""
        return self.state.weights if self.best_weights is None else self.best_weights

    def run(
        self,
        objective: Objective | SegmentObjective,
        *,
        max_iterations: int,
        tolerance: float,
        dev_f1: Callable[[NDArray[np.float64]], float] | None = None,
        dev_every: int = 0,
    ) -> Iterator[Record]:
        """Yield a record after every iteration until the search is done.

        Parameters
        ----------
        objective : Objective
        max_iterations, tolerance
            As in `lbfgs.minimise`, for each penalty.
        dev_f1 : callable, optional
            Scores weights on development data; needed if there are several penalties.
        dev_every : int
            Also score every ``dev_every`` iterations, for the log.
        """
        if len(self.penalties) > 1 and dev_f1 is None:
            raise LearningError("several penalties need development data to choose among them")
        watch = compile_watch()
        clock = time.perf_counter() - watch.seconds - self.seconds  # without the time for compiling
        while not self.is_done:
            objective.l2 = self.penalties[self.stage]
            states = minimise(
                objective,
                self.state,
                max_iterations=max_iterations,
                tolerance=tolerance,
                n_threads=objective.n_threads,
            )
            for state in states:
                if not np.isfinite(state.value):
                    raise LearningError(
                        f"the objective became {state.value} at iteration {state.iteration}; "
                        "check the features for extreme counts, or raise l2"
                    )
                self.state = state
                score = None
                if dev_f1 is not None:
                    is_due = dev_every > 0 and state.iteration % dev_every == 0
                    score = dev_f1(state.weights) if state.stopped or is_due else None
                self.seconds = time.perf_counter() - watch.seconds - clock
                record = Record(
                    objective.l2,
                    state.iteration,
                    state.value,
                    math.sqrt(dot_kernel(state.gradient, state.gradient)),
                    state.n_evaluations,
                    self.seconds,
                    score,
                    state.stopped,
                )
                self.records.append(record.as_dict(with_time=False))
                if state.stopped:
                    self._finish(record)
                yield record

    def _finish(self, record: Record) -> None:
        if record.dev_f1 is None or record.dev_f1 > self.best_f1:
            self.best_f1, self.best_l2 = (-1.0 if record.dev_f1 is None else record.dev_f1), record.l2
            self.best_weights = self.state.weights
        self.stage += 1
        if not self.is_done:
            self.state = State(self.state.weights)

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the search as plain data and arrays."""
        numbers, arrays = self.state.to_arrays()
        search = {
            "penalties": list(self.penalties),
            "stage": self.stage,
            "best_f1": self.best_f1,
            "best_l2": self.best_l2,
            "records": list(self.records),
            "seconds": self.seconds,
            "state": numbers,
        }
        if self.best_weights is not None:
            arrays = {**arrays, "best": self.best_weights}
        return search, arrays

    @classmethod
    def of_arrays(cls, search: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Search:
        """Restore a search from what `to_arrays` returned."""
        rest = {name: array for name, array in arrays.items() if name != "best"}
        return cls(
            tuple(search["penalties"]),
            State.of_arrays(search["state"], rest),
            search["stage"],
            search["best_f1"],
            search["best_l2"],
            arrays.get("best"),
            search["records"],
            search["seconds"],
        )


def new_search(weights: NDArray[np.float64], penalties: Sequence[float]) -> Search:
    """Return a search that starts from given weights."""
    return Search(tuple(penalties), State(weights))
