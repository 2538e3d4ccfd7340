"""Problems that a reader finds, and what to do about them.

Readers never repair data silently. They report each problem to a `Diagnostics` object and continue only if the caller
asked for that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from hyperspan.errors import CorpusError, UsageError, location

OnError = Literal["error", "skip", "widen"]
ON_ERROR: tuple[OnError, ...] = ("error", "skip", "widen")

KEPT_DIAGNOSTICS = 10_000
"""How many diagnostics are stored in full; further ones are only counted."""

ADVICE = 'Correct it, or read with on_error="skip" (--on-error skip) to drop and count such cases.'
"""What to do about a problem in a corpus that is read."""

INSIDE_TOKEN = "inside-token"
"""The kind of a boundary inside a token, the one problem that ``widen`` mends."""

_LONGEST_VALUE = 80


class LostMention(NamedTuple):
    """A mention that a reader skipped. It is still gold, so it counts as missed.

    ``start`` is its first character in a document, or its first word in a sentence; None if its offsets are unusable.
    """

    type: str
    n_parts: int
    start: int | None = None

    @classmethod
    def at(cls, type: str, spans: Sequence[tuple[int, int]], length: int) -> LostMention:
        """Return what is known of a mention by its spans, which may make no sense, in a unit of this length.

        Examples
        --------
        >>> LostMention.at("Finding", [(2, 4), (4, 6), (20, 99)], 24)
        LostMention(type='Finding', n_parts=2, start=2)
        >>> LostMention.at("Finding", [(90, 99)], 24)
        LostMention(type='Finding', n_parts=1, start=None)
        """
        ordered = sorted(spans)
        inside = [offset for span in ordered for offset in span if 0 <= offset < length]
        gaps = sum(next_start > end for (_, end), (next_start, _) in pairwise(ordered))
        return cls(type, 1 + gaps, min(inside, default=None))

    @property
    def is_discontiguous(self) -> bool:
        """Whether it has more than one part."""
        return self.n_parts > 1


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem: its kind, its location and a message."""

    kind: str
    message: str
    path: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return f"{location(self.path, self.line)}: {self.message} [{self.kind}]"

    def as_dict(self) -> dict[str, object]:
        """Return the problem as plain data, for ``--json``."""
        return {"kind": self.kind, "path": self.path, "line": self.line, "message": self.message}


class Diagnostics:
    """Collect problems and apply one policy to all of them.

    Parameters
    ----------
    on_error : {"error", "skip", "widen"}
        ``error`` raises `CorpusError` at the first problem. ``skip`` drops what is wrong (a mention if possible,
        otherwise the sentence, document or file) and counts it. ``widen`` moves a boundary that lies inside a token
        outward to the token's edge, and is otherwise the same as ``skip``.
    advice : str
        What the message of a raised error says to do; by default, how to read with another ``on_error``.

    Attributes
    ----------
    items : list of Diagnostic
        The first `KEPT_DIAGNOSTICS` problems.
    counts : Counter
        How often each kind was found.
    notes : dict of str to Diagnostic
        Remarks that are not problems, such as data that a format cannot store: the first of each kind.
    note_counts : Counter
        How many remarks there are of each kind.
    lost : list of LostMention
        The skipped mentions that `take_lost` has not yet returned.

    Examples
    --------
    >>> diagnostics = Diagnostics(on_error="skip")
    >>> diagnostics.report("reversed-part", "part '48 43' ends before it starts", path="note.ann", line=12)
    >>> print(diagnostics.items[0])
    note.ann:12: part '48 43' ends before it starts [reversed-part]
    >>> diagnostics.total
    1
    """

    def __init__(self, on_error: OnError = "error", *, advice: str = ADVICE) -> None:
        if on_error not in ON_ERROR:
            raise UsageError(f"on_error is {on_error!r}, but must be one of {', '.join(ON_ERROR)}")
        self.on_error = on_error
        self.advice = advice
        self.items: list[Diagnostic] = []
        self.counts: Counter[str] = Counter()
        self.notes: dict[str, Diagnostic] = {}
        self.note_counts: Counter[str] = Counter()
        self.lost: list[LostMention] = []

    @property
    def total(self) -> int:
        """How many problems were found."""
        return self.counts.total()

    @property
    def widens(self) -> bool:
        """Whether boundaries inside a token move outward."""
        return self.on_error == "widen"

    @property
    def n_widened(self) -> int:
        """How many mentions had a boundary moved outward; one that then crosses sentences is skipped all the same."""
        return self.counts[INSIDE_TOKEN] if self.widens else 0

    @property
    def skipped(self) -> dict[str, int]:
        """How often each kind was found and something was dropped because of it, in alphabetical order.

        Examples
        --------
        >>> diagnostics = Diagnostics(on_error="widen")
        >>> diagnostics.report("inside-token", "the mention has a boundary inside a token")
        >>> diagnostics.report("reversed-part", "part '48 43' ends before it starts")
        >>> diagnostics.n_widened, diagnostics.skipped
        (1, {'reversed-part': 1})
        """
        return {kind: n for kind, n in sorted(self.counts.items()) if not (self.widens and kind == INSIDE_TOKEN)}

    def report(
        self,
        kind: str,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        lost: LostMention | None = None,
    ) -> None:
        """Record a problem, or raise it as a `CorpusError` under ``on_error="error"``.

        ``message`` says what was seen and what was expected; this method adds what to do about it. ``lost`` is the
        mention that is skipped because of the problem, if any.
        """
        if self.on_error == "error":
            raise CorpusError(f"{message}. {self.advice}", path=path, line=line)
        self.counts[kind] += 1
        if len(self.items) < KEPT_DIAGNOSTICS:
            self.items.append(Diagnostic(kind, message, path, line))
        if lost is not None:
            self.lost.append(lost)

    def take_lost(self) -> tuple[LostMention, ...]:
        """Return the mentions that were skipped since the last call."""
        taken, self.lost = tuple(self.lost), []
        return taken

    def note(self, kind: str, message: str, *, path: str | None = None, line: int | None = None) -> None:
        """Record a remark that is not a problem: it never raises and does not count towards `total`.

        Examples
        --------
        >>> diagnostics = Diagnostics(on_error="error")
        >>> diagnostics.note("columns-not-held", "the format 'inline' holds no column 'pos'")
        >>> diagnostics.total, diagnostics.note_counts["columns-not-held"]
        (0, 1)
        """
        self.notes.setdefault(kind, Diagnostic(kind, message, path, line))
        self.note_counts[kind] += 1

    def merge(self, other: Diagnostics) -> None:
        """Add the problems and remarks of another `Diagnostics`."""
        self.counts.update(other.counts)
        self.items.extend(other.items[: KEPT_DIAGNOSTICS - len(self.items)])
        self.note_counts.update(other.note_counts)
        for kind, first in other.notes.items():
            self.notes.setdefault(kind, first)

    def summary(self) -> str:
        """Summarise the problems in one line: ``3 problems: 2 duplicate, 1 reversed-part``."""
        return problems(self.counts)


def problems(counts: Mapping[str, int]) -> str:
    """Summarise the numbers of problems of each kind in one line."""
    total = sum(counts.values())
    if not total:
        return "no problems"
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return f"{counted(total, 'problem')}: {kinds}"


def counted(n: int, what: str) -> str:
    """Write a number of things: ``1 mention``, ``3 mentions``."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def quoted(value: object) -> str:
    """Quote a value for a message, truncated so that hostile input cannot flood a terminal."""
    text = repr(value[:_LONGEST_VALUE] if isinstance(value, str) else value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 4]}...{text[-1]}"
