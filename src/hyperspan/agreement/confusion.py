"""Count how aligned mentions differ: in their types, and in where they begin, end and have gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hyperspan.agreement.alignment import align, as_words
from hyperspan.agreement.documents import SharedSentence
from hyperspan.mentions import Mention

BOUNDARIES = ("equal", "start", "end", "start and end", "gap")
"""Where two mentions differ; ``gap``: they begin and end at the same words, but differ in between."""


def boundary_class(one: Mention, other: Mention) -> str:
    """Return where the words of two mentions differ, one of `BOUNDARIES`.

    Examples
    --------
    >>> boundary_class(Mention("A", [(0, 3)]), Mention("A", [(0, 1), (2, 3)]))
    'gap'
    """
    if one.parts == other.parts:
        return "equal"
    starts, ends = one.start != other.start, one.end != other.end
    if starts and ends:
        return "start and end"
    return "start" if starts else "end" if ends else "gap"


@dataclass(slots=True)
class Confusion:
    """Counts of how two annotators differ, over the cheapest alignment of their mentions.

    Attributes
    ----------
    types : counter of (str or None, str or None)
        How often the first annotator's type is aligned with the second's; None for a mention without a partner.
    boundaries : counter of str
        How often aligned mentions differ, by `BOUNDARIES`.
    """

    types: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    boundaries: Counter[str] = field(default_factory=Counter)

    def add(self, sentence: SharedSentence, first: str, second: str) -> None:
        """Count one sentence."""
        ours, theirs = sentence.words_of(first), sentence.words_of(second)
        found = align(as_words(ours), as_words(theirs))
        for row, column, _ in found.pairs:
            self.types[ours[row].type, theirs[column].type] += 1
            self.boundaries[boundary_class(ours[row], theirs[column])] += 1
        paired_rows = {row for row, _, _ in found.pairs}
        paired_columns = {column for _, column, _ in found.pairs}
        self.types.update((ours[row].type, None) for row in _others(len(ours), paired_rows))
        self.types.update((None, theirs[column].type) for column in _others(len(theirs), paired_columns))

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain data, most frequent first."""
        in_order = sorted(self.types.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or ""))
        return {
            "types": [{"first": one, "second": other, "count": count} for (one, other), count in in_order],
            "boundaries": {name: self.boundaries[name] for name in BOUNDARIES},
        }


def _others(n: int, taken: set[int]) -> Iterable[int]:
    return (position for position in range(n) if position not in taken)
