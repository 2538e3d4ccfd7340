"""The input of a task: data and sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.data import FULL_TOKENS, QUICK_TOKENS, Data
from benchmarks.harness import Aim, Figure, Row


def _quietly(_: str) -> None:
    """Ignore a message."""


@dataclass(frozen=True)
class Setting:
    """Data and sizes for the tasks.

    Parameters
    ----------
    where : str
        ``"demo"`` or a corpus.
    quick : bool
        Small sizes and few rounds, to check that everything runs; aims are not checked.
    threads : int
        The number of threads for hyperspan; peers have one.
    seed : int
        The random seed, also of the embedded corpus.
    say : callable
        Receives progress messages.

    Examples
    --------
    >>> Setting(quick=True).data.most_tokens, Setting().pick(3, 5)
    (10000, 5)
    """

    where: str = "demo"
    quick: bool = False
    threads: int = 2
    seed: int = 0
    say: Callable[[str], None] = _quietly

    @property
    def data(self) -> Data:
        """The data, at the size of this setting."""
        return data_of(self.where, QUICK_TOKENS if self.quick else FULL_TOKENS, self.seed)

    def pick(self, quick: int, full: int) -> int:
        """Return the number for this size."""
        return quick if self.quick else full

    def rower(self, task: str, unit: str, data: str | None = None) -> Rower:
        """Return the maker of a task's rows."""
        return Rower(partial(Row, task=task, data=data or self.data.name, is_quick=self.quick), unit)


@dataclass(frozen=True)
class Rower:
    """Makes the rows of a task."""

    make: Callable[..., Row]
    unit: str

    def __call__(
        self,
        ours: str,
        our_figure: Figure | None,
        peer: str = "",
        peer_figure: Figure | None = None,
        *,
        unit: str = "",
        aim: Aim | None = None,
        note: str = "",
        more_is_better: bool = False,
    ) -> Row:
        """Return a row."""
        return self.make(
            ours=ours,
            our_figure=our_figure,
            peer=peer,
            peer_figure=peer_figure,
            unit=unit or self.unit,
            aim=aim,
            note=note,
            more_is_better=more_is_better,
        )


_KNOWN: dict[tuple[str, int, int], Data] = {}


def data_of(where: str, most_tokens: int, seed: int) -> Data:
    """Return data; the same request returns the same object, because reading takes time."""
    key = (where, most_tokens, seed)
    if key not in _KNOWN:
        _KNOWN.clear()
        _KNOWN[key] = Data(*key)
    return _KNOWN[key]
