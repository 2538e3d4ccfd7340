"""What the tasks share: alternating rounds, medians with their spread, rows, and the environment."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from hyperspan.environment import environment as of_machine
from hyperspan.errors import HyperspanError, MissingExtraError, install_command

EXTRA = "bench"
"""The extra that installs the peers."""

NOT_INSTALLED = f"not installed: {install_command(EXTRA)}"

PACKAGES = ("hyperspan", "numba", "numpy", "scipy", "python-crfsuite", "sklearn-crfsuite", "torch", "torch-struct")

SAME = 1e-5
"""The relative tolerance for equal log-likelihoods."""


class Disagreement(HyperspanError, ArithmeticError):
    """Two programs that should agree give different results, so nothing is measured."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A repeated measurement.

    Examples
    --------
    >>> Figure.of([3.0, 1.0, 2.0])
    Figure(median=2.0, least=1.0, most=3.0)
    """

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Figure:
        """Return the median, minimum and maximum of some values."""
        known = list(values)
        return cls(statistics.median(known), min(known), max(known))

    def per(self, amount: float) -> Figure:
        """Return the figure divided by a number.

        Examples
        --------
        >>> Figure(2.0, 1.0, 4.0).per(2.0)
        Figure(median=1.0, least=0.5, most=2.0)
        """
        return Figure(self.median / amount, self.least / amount, self.most / amount)

    def rate(self, amount: float) -> Figure:
        """Return the amount per unit of the figure.

        Examples
        --------
        >>> Figure(2.0, 1.0, 4.0).rate(8.0)
        Figure(median=4.0, least=2.0, most=8.0)
        """
        return Figure(amount / self.median, amount / self.most, amount / self.least)


@dataclass(frozen=True, slots=True)
class Aim:
    """The goal for a figure.

    Examples
    --------
    >>> str(Aim("ratio", "at least", 5.0)), Aim("ratio", "at least", 5.0).holds(4.9)
    ('ratio at least 5', False)
    """

    of: Literal["ratio", "ours"]
    bound: Literal["at least", "at most"]
    value: float

    def __str__(self) -> str:
        return f"{self.of} {self.bound} {self.value:g}"

    def holds(self, figure: float) -> bool:
        """Return whether a figure meets the goal."""
        return figure >= self.value if self.bound == "at least" else figure <= self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One comparison: our figure, the peer's, and how many times better ours is.

    The ratio is the peer's figure divided by ours if less is better, else ours divided by the peer's. Aims are for full
    sizes; ``holds`` is None if there is no aim, or nothing to compare.

    Examples
    --------
    >>> ours, theirs = Figure(1.0, 0.9, 1.2), Figure(6.0, 5.0, 7.0)
    >>> row = Row(task="iteration", data="demo", ours="linear", peer="CRFsuite", unit="seconds",
    ...           our_figure=ours, peer_figure=theirs, aim=Aim("ratio", "at least", 5.0))
    >>> row.ratio, row.holds, row.as_dict()["peer_spread"]
    (6.0, True, [5.0, 7.0])
    """

    task: str
    data: str
    ours: str
    unit: str
    our_figure: Figure | None = None
    peer: str = ""
    peer_figure: Figure | None = None
    more_is_better: bool = False
    aim: Aim | None = None
    is_quick: bool = False
    agrees: bool = True
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better ours is; None if there is nothing to compare."""
        if self.our_figure is None or self.peer_figure is None:
            return None
        ours, peer = self.our_figure.median, self.peer_figure.median
        above, below = (ours, peer) if self.more_is_better else (peer, ours)
        return above / below if below else None

    @property
    def holds(self) -> bool | None:
        """Whether the figure meets its aim; None without an aim, or at quick sizes."""
        if self.aim is None or self.is_quick:
            return None
        if self.aim.of == "ratio":
            return None if self.ratio is None else self.aim.holds(self.ratio)
        return None if self.our_figure is None else self.aim.holds(self.our_figure.median)

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        ours, peer = self.our_figure, self.peer_figure
        return {
            "task": self.task,
            "data": self.data,
            "ours": self.ours,
            "peer": self.peer or None,
            "unit": self.unit,
            "ours_median": ours and ours.median,
            "ours_spread": ours and [ours.least, ours.most],
            "peer_median": peer and peer.median,
            "peer_spread": peer and [peer.least, peer.most],
            "ratio": self.ratio,
            "aim": None if self.aim is None else str(self.aim),
            "holds": self.holds,
            "agrees": self.agrees,
            "note": self.note,
        }


Clock = Callable[[], float]


def in_turns(
    variants: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    clock: Clock = time.perf_counter,
    warm_up: int = 1,
) -> dict[str, Figure]:
    """Time all variants in alternating rounds, after warm-up rounds.

    Parameters
    ----------
    variants : mapping of str to callable
        The code to time; if it returns a float, that is used as the time.
    rounds : int
    clock : callable
        ``time.perf_counter``, or ``time.thread_time`` for work on one thread of a busy machine.
    warm_up : int
        The number of warm-up rounds.

    Examples
    --------
    >>> seen = []
    >>> figures = in_turns({"a": lambda: seen.append("a"), "b": lambda: 0.5}, rounds=2)
    >>> len(seen), figures["b"]
    (3, Figure(median=0.5, least=0.5, most=0.5))
    """
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(warm_up + rounds):
        for name, run in variants.items():
            gc.collect()
            gc.freeze()  # keep the garbage collector from scanning existing objects while a variant is timed
            begin = clock()
            found = run()
            took = found if isinstance(found, float) else clock() - begin
            del found
            if turn >= warm_up:
                seconds[name].append(took)
    gc.unfreeze()
    return {name: Figure.of(times) for name, times in seconds.items()}


def check_same(what: str, ours: float, theirs: float, tolerance: float = SAME) -> None:
    """Raise an error if two numbers that should be equal are not.

    Raises
    ------
    Disagreement
        If they differ by more than the relative tolerance.

    Examples
    --------
    >>> check_same("the log-likelihood", -100.0, -100.0000001)
    """
    if not abs(ours - theirs) <= tolerance * max(1.0, abs(theirs)):
        raise Disagreement(f"{what}: ours is {ours!r}, the peer's {theirs!r}; nothing was timed")


def peer(module: str, package: str, what: str) -> Any:
    """Import a peer.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what, package, EXTRA) from None


def environment(threads: int, packages: Sequence[str] = PACKAGES) -> dict[str, Any]:
    """Return the environment: commit, load, threads, and what `hyperspan.environment` reports."""
    return {
        "commit": _commit(),
        **of_machine(packages),
        "threads": threads,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _commit() -> str | None:
    """Return the commit of the checkout of this file, if any."""
    folder = Path(__file__).resolve().parent
    try:
        git = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return git.stdout.strip() or None
