"""What a reader found wrong, and what the caller wants done about it.

Readers never repair silently. They report each defect to a `Diagnostics` and go on only if the caller asked for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hyperspan.errors import CorpusError, UsageError, location

OnError = Literal["error", "skip", "widen"]
ON_ERROR: tuple[OnError, ...] = ("error", "skip", "widen")

KEPT_DIAGNOSTICS = 10_000
"""How many diagnostics are kept word for word; beyond that they are only counted."""

_LONGEST_VALUE = 80


class LostMention(NamedTuple):
    """A mention that a reader skipped: it is gold all the same, and counts as missed."""

    type: str
    n_parts: int

    @property
    def is_discontiguous(self) -> bool:
        """Whether it has more than one part."""
        return self.n_parts > 1


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One defect: what kind, where, and in words."""

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
    """Collects defects under one policy.

    Parameters
    ----------
    on_error : {"error", "skip", "widen"}
        ``error`` raises `CorpusError` at the first defect. ``skip`` drops what is defective (a mention where possible,
        else the sentence, document or file) and counts it. ``widen`` moves a boundary that lies inside a token outward
        to the token's edge, and otherwise does what ``skip`` does.

    Attributes
    ----------
    items : list of Diagnostic
        The first `KEPT_DIAGNOSTICS` diagnostics.
    counts : Counter
        How often each kind was found.
    notes : dict of str to Diagnostic
        What the reader should know but is no defect, such as what a format cannot hold: the first case of each kind.
    note_counts : Counter
        How often each kind was noted.
    lost : list of LostMention
        The mentions that were skipped, until `take_lost` hands them to the unit they belong to.

    Examples
    --------
    >>> diagnostics = Diagnostics(on_error="skip")
    >>> diagnostics.report("reversed-part", "part '48 43' ends before it starts", path="note.ann", line=12)
    >>> print(diagnostics.items[0])
    note.ann:12: part '48 43' ends before it starts [reversed-part]
    >>> diagnostics.total
    1
    """

    def __init__(self, on_error: OnError = "error") -> None:
        if on_error not in ON_ERROR:
            raise UsageError(f"on_error is {on_error!r}, but must be one of {', '.join(ON_ERROR)}")
        self.on_error = on_error
        self.items: list[Diagnostic] = []
        self.counts: Counter[str] = Counter()
        self.notes: dict[str, Diagnostic] = {}
        self.note_counts: Counter[str] = Counter()
        self.lost: list[LostMention] = []

    @property
    def total(self) -> int:
        """How many defects were found."""
        return self.counts.total()

    @property
    def widens(self) -> bool:
        """Whether boundaries inside a token move outward."""
        return self.on_error == "widen"

    def report(
        self,
        kind: str,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        lost: LostMention | None = None,
    ) -> None:
        """Record a defect, or raise it as a `CorpusError` under ``on_error="error"``.

        ``message`` says what was seen and what was expected; what to do about it is added here. ``lost`` is the mention
        that is skipped for it, if it is one.
        """
        if self.on_error == "error":
            raise CorpusError(
                f'{message}. Correct it, or read with on_error="skip" (--on-error skip) to drop and count such cases.',
                path=path,
                line=line,
            )
        self.counts[kind] += 1
        if len(self.items) < KEPT_DIAGNOSTICS:
            self.items.append(Diagnostic(kind, message, path, line))
        if lost is not None:
            self.lost.append(lost)

    def take_lost(self) -> tuple[LostMention, ...]:
        """Return the mentions that were skipped since the last time."""
        taken, self.lost = tuple(self.lost), []
        return taken

    def note(self, kind: str, message: str, *, path: str | None = None, line: int | None = None) -> None:
        """Record something worth knowing that is no defect; it never raises and is not part of `total`.

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
        """Add what another reader found."""
        self.counts.update(other.counts)
        self.items.extend(other.items[: KEPT_DIAGNOSTICS - len(self.items)])
        self.note_counts.update(other.note_counts)
        for kind, first in other.notes.items():
            self.notes.setdefault(kind, first)

    def summary(self) -> str:
        """Say in one line what is wrong: ``3 problems: 2 duplicate, 1 reversed-part``."""
        if not self.total:
            return "no problems"
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        return f"{self.total} problem{'s' if self.total > 1 else ''}: {kinds}"


def quoted(value: object) -> str:
    """Quote a value for a message, cut so that hostile input cannot flood a terminal."""
    text = repr(value[:_LONGEST_VALUE] if isinstance(value, str) else value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 4]}...{text[-1]}"
