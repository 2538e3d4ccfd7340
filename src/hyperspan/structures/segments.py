"""Segments: whole parts, the gaps between them, and the ends of mentions; the paper's semi-Markov extension.

A set of mentions is encoded as the prefix tree of their part sequences: mentions that begin with the same parts share
them. Every set of mentions has exactly one encoding, so nothing is ambiguous.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention, Span
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading, check_limit
from hyperspan.structures.structure import Encoded, Encoding, check_end, check_max_components, check_type, check_types

PART, GAP, END = range(3)
"""The kinds of labels."""

LONGEST_PART = LONGEST_GAP = 20
"""The default maximum lengths in words; training normally takes them from the data."""

MOST_WORDS = 10_000
"""The greatest maximum length that is allowed: there are labels for every length."""


class SegmentBlock(NamedTuple):
    """The labels of one type among all labels."""

    type: str
    first_label: int
    n_labels: int


class Segment(NamedTuple):
    """The meaning of a label, or of many: then every field is an array.

    Attributes
    ----------
    type_id : int
    what : int
        `PART`, `GAP` or `END`.
    level : int
        The number of the part in its mention, counted from 0; for a gap or an end, that of the part before it.
    length : int
        The number of words; 0 for an end.
    """

    type_id: Any
    what: Any
    level: Any
    length: Any


@dataclass(frozen=True)
class Segments:
    """Scores of whole parts, gaps and ends.

    Each label is at one word. The labels of a type are, in this order:

    - a part of this level and length begins at the word: ``level * longest_part + length - 1``
    - a gap of this length follows the part of this level that ends at the word, and a further part follows the gap
    - a mention ends with the part of this level that ends at the word, although it could continue; the last level has
      no such label, since nothing can follow it

    Levels count from 0. `part_label`, `gap_label`, `end_label` and `segment_of` convert between labels and segments.

    Parameters
    ----------
    types : tuple of str
        The types of mentions, in the order of their labels.
    max_components : int
        The most parts a mention can have.
    longest_part, longest_gap : int
        The maximum number of words. Mentions with longer parts or gaps are left out.

    Examples
    --------
    >>> structure = Segments(("Finding",), max_components=2, longest_part=3, longest_gap=4)
    >>> mentions = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])]
    >>> encoding = structure.encode(mentions, n_words=6).encoding
    >>> for word, label in encoding:
    ...     print(word, structure.label_name(label))
    0 Finding part 1, 1 word
    0 Finding end after part 1
    0 Finding gap after part 1, 1 word
    2 Finding part 2, 2 words
    0 Finding gap after part 1, 4 words
    5 Finding part 2, 1 word
    >>> structure.decode(encoding, "all").mentions == tuple(mentions)
    True
    """

    types: tuple[str, ...]
    max_components: int = 3
    longest_part: int = LONGEST_PART
    longest_gap: int = LONGEST_GAP
    name: str = "segments"

    kind = "segments"
    has_transitions = False

    def __post_init__(self) -> None:
        check_types(self.types)
        check_max_components(self.max_components)
        for name, length in self.sizes.items():
            if not 1 <= length <= MOST_WORDS:
                raise StructureError(f"{name} is {length}; expected 1 to {MOST_WORDS:,} words")

    @property
    def sizes(self) -> dict[str, int]:
        """The maximum lengths of parts and gaps."""
        return {"longest_part": self.longest_part, "longest_gap": self.longest_gap}

    # Labels

    @property
    def first_gap_label(self) -> int:
        """The first label of a gap, within a type."""
        return self.max_components * self.longest_part

    @property
    def first_end_label(self) -> int:
        """The first label of an end, within a type."""
        return self.first_gap_label + (self.max_components - 1) * self.longest_gap

    @property
    def labels_per_type(self) -> int:
        """The number of labels of each type."""
        return self.first_end_label + self.max_components - 1

    @property
    def n_labels(self) -> int:
        """The number of labels: the width of a score array."""
        return len(self.types) * self.labels_per_type

    @cached_property
    def blocks(self) -> tuple[SegmentBlock, ...]:
        """The labels of each type."""
        n_labels = self.labels_per_type
        return tuple(SegmentBlock(type, number * n_labels, n_labels) for number, type in enumerate(self.types))

    def part_label(self, type_id: Any, level: Any, length: Any) -> Any:
        """Return the label of a part, or of many parts: each argument is a number or an array."""
        return type_id * self.labels_per_type + level * self.longest_part + length - 1

    def gap_label(self, type_id: Any, level: Any, length: Any) -> Any:
        """Return the label of the gap after the part of a level, or of many."""
        return type_id * self.labels_per_type + self.first_gap_label + level * self.longest_gap + length - 1

    def end_label(self, type_id: Any, level: Any) -> Any:
        """Return the label of an end after the part of a level, or of many."""
        return type_id * self.labels_per_type + self.first_end_label + level

    def segment_of(self, label: Any) -> Segment:
        """Return the meaning of a label, or of each label of an array."""
        type_id, of_type = np.divmod(label, self.labels_per_type)
        in_gaps, in_ends = of_type - self.first_gap_label, of_type - self.first_end_label
        what = np.where(in_ends >= 0, END, np.where(in_gaps >= 0, GAP, PART))
        level = np.choose(what, [of_type // self.longest_part, in_gaps // self.longest_gap, in_ends])
        length = np.choose(what, [of_type % self.longest_part + 1, in_gaps % self.longest_gap + 1, 0])
        if np.ndim(label) == 0:
            return Segment(int(type_id), int(what), int(level), int(length))
        return Segment(type_id, what, level, length)

    def label_name(self, label: int) -> str:
        """Name a label: its type, kind and length.

        Raises
        ------
        StructureError
            If there is no such label.
        """
        segment = self._checked_segment(label)
        type, part = self.types[segment.type_id], segment.level + 1
        words = f"{segment.length} word{'s' if segment.length > 1 else ''}"
        if segment.what == END:
            return f"{type} end after part {part}"
        return f"{type} part {part}, {words}" if segment.what == PART else f"{type} gap after part {part}, {words}"

    def _checked_segment(self, label: int) -> Segment:
        if not 0 <= label < self.n_labels:
            raise StructureError(f"label {label} is not one of the {self.n_labels} of {self.name!r}")
        return self.segment_of(label)

    @cached_property
    def choices(self) -> tuple[NDArray[np.int64], ...]:
        """No labels exclude one another."""
        return ()

    @cached_property
    def weightless_labels(self) -> NDArray[np.bool_]:
        """All labels have weights."""
        return np.zeros(self.n_labels, dtype=np.bool_)

    @cached_property
    def start_labels(self) -> NDArray[np.int64]:
        """The first parts of mentions."""
        labels: NDArray[np.int64] = self.part_label(
            np.arange(len(self.types))[:, None], 0, np.arange(1, self.longest_part + 1)
        ).reshape(-1)
        return labels

    def labels_of(self, type: str) -> NDArray[np.bool_]:
        """Return which labels belong to a type."""
        return np.repeat(np.array(self.types) == type, self.labels_per_type)

    # Some of the types; types do not interact

    def of_types(self, types: slice) -> Segments:
        """Return the structure of some consecutive types."""
        return self if len(self.types[types]) == len(self.types) else replace(self, types=self.types[types])

    def labels_of_types(self, types: slice) -> slice:
        """Return the labels of some consecutive types."""
        return slice(types.start * self.labels_per_type, types.stop * self.labels_per_type)

    def groups_of_types(self, n_words: int, most_scores: int) -> Iterator[slice]:
        """Split the types into groups that have at most ``most_scores`` scores, unless one type has more.

        Examples
        --------
        >>> structure = Segments(("A", "B", "C"), max_components=2, longest_part=3, longest_gap=3)
        >>> structure.labels_per_type, list(structure.groups_of_types(100, most_scores=2_000))
        (10, [slice(0, 2, None), slice(2, 3, None)])
        """
        at_once = max(1, most_scores // max(1, n_words * self.labels_per_type))
        for first in range(0, len(self.types), at_once):
            yield slice(first, min(first + at_once, len(self.types)))

    # From mentions to edges and back

    def holds(self, mention: Mention) -> bool:
        """Return whether a mention can be encoded: it has not too many parts, and no part or gap is too long."""
        check_type(mention, self.types)
        longest_part, longest_gap = longest_of([mention])
        return (
            len(mention.parts) <= self.max_components
            and longest_part <= self.longest_part
            and longest_gap <= self.longest_gap
        )

    def encode(self, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of the prefix tree of each type, depth first; an edge occurs once for every use."""
        edges: list[tuple[int, int]] = []
        left_out: list[Mention] = []
        type_ids = {type: number for number, type in enumerate(self.types)}
        before: Mention | None = None
        for mention in sorted(set(mentions), key=lambda mention: (type_ids.get(mention.type, -1), mention.parts)):
            check_end(mention, n_words)
            if not self.holds(mention):
                left_out.append(mention)
                continue
            known = before.parts if before is not None and before.type == mention.type else ()
            edges += self._new_edges(type_ids[mention.type], known, mention.parts)
            before = mention
        return Encoded(tuple(edges), tuple(sorted(left_out)))

    def _new_edges(self, type_id: int, known: Sequence[Span], parts: Sequence[Span]) -> Iterable[tuple[int, int]]:
        """Yield the edges of a mention that are not on the path of the mention before it."""
        shared = 0
        while shared < min(len(known), len(parts)) and known[shared] == parts[shared]:
            shared += 1
        for level in range(shared, len(parts)):
            start, end = parts[level]
            same_gap = level == shared < len(known) and known[level][0] == start
            if level and not same_gap:
                last = parts[level - 1][1] - 1
                yield last, int(self.gap_label(type_id, level - 1, start - last - 1))
            yield start, int(self.part_label(type_id, level, end - start))
        if len(parts) < self.max_components:
            yield parts[-1][1] - 1, int(self.end_label(type_id, len(parts) - 1))

    def decode(
        self, encoding: Encoding, reading: Reading, *, limit: int = MOST_MENTIONS, any_number: bool = False
    ) -> Decoded:
        """Return the mentions of a prefix tree; every reading gives the same."""
        check_limit(limit)
        return Decoded.ordered(self._mentions(encoding), limit)

    def _mentions(self, encoding: Encoding) -> list[Mention]:
        mentions: list[Mention] = []
        paths: dict[int, _Path] = {}
        for word, label in encoding:
            segment = self._checked_segment(label)
            path = paths.setdefault(segment.type_id, _Path([], None, True))
            if not path.leads_to(segment, word):
                raise StructureError(
                    f"the encoding has {self.label_name(label)!r} at word {word}, but nothing leads there; "
                    "expected the edges of a prefix tree, depth first"
                )
            path, is_mention = path.extended(segment, word, self.max_components)
            paths[segment.type_id] = path
            if is_mention:
                mentions.append(Mention(self.types[segment.type_id], tuple(path.parts)))
        for type_id, path in paths.items():
            if not path.is_finished:
                raise StructureError(
                    f"the encoding of type {self.types[type_id]!r} stops inside a mention; "
                    "expected an end, or a gap and a further part, after every part"
                )
        return mentions

    def clamp(self, scores: NDArray[np.float64], mention: Mention, best: Encoding) -> NDArray[np.float64]:
        """Return the same scores: a mention excludes no label, unless it cannot be encoded at all."""
        return scores.copy() if self.holds(mention) else np.full_like(scores, -np.inf)


class _Path(NamedTuple):
    """The state of reading a prefix tree: the parts so far, and where the next one must begin, if one must.

    ``is_finished`` says whether every part so far is followed by an end or a gap.
    """

    parts: list[Span]
    next_start: int | None
    is_finished: bool

    def leads_to(self, segment: Segment, word: int) -> bool:
        """Return whether an edge can come next."""
        if segment.what == PART:
            if self.next_start is None and not self.is_finished:
                return False
            if segment.level == 0:
                return self.next_start is None
            wanted = self.next_start if self.next_start is not None else self._start_of(segment.level)
            return segment.level <= len(self.parts) and wanted == word
        has_part = self.next_start is None and segment.level < len(self.parts)
        is_open = self.is_finished or segment.level == len(self.parts) - 1
        return has_part and is_open and self.parts[segment.level][1] - 1 == word

    def _start_of(self, level: int) -> int | None:
        return self.parts[level][0] if level < len(self.parts) else None

    def extended(self, segment: Segment, word: int, max_components: int) -> tuple[_Path, bool]:
        """Return the state after an edge, and whether it completes a mention."""
        if segment.what == PART:
            is_last = segment.level == max_components - 1
            parts = [*self.parts[: segment.level], (word, word + segment.length)]
            return _Path(parts, None, is_last), is_last
        parts = self.parts[: segment.level + 1]
        if segment.what == END:
            return _Path(parts, None, True), True
        return _Path(parts, word + segment.length + 1, False), False


def longest_of(mentions: Iterable[Mention], covered: float = 1.0) -> tuple[int, int]:
    """Return the lengths in words that a share of the parts, and of the gaps, do not exceed; at least one.

    Examples
    --------
    >>> longest_of([Mention("Finding", [(0, 4), (6, 7)]), Mention("Finding", [(2, 3)])])
    (4, 2)
    """
    parts: Counter[int] = Counter()
    gaps: Counter[int] = Counter()
    for mention in mentions:
        parts.update(end - start for start, end in mention.parts)
        gaps.update(after[0] - before[1] for before, after in zip(mention.parts, mention.parts[1:], strict=False))
    return _quantile(parts, covered), _quantile(gaps, covered)


def _quantile(lengths: Counter[int], covered: float) -> int:
    n_so_far, total = 0, lengths.total()
    for length in sorted(lengths):
        n_so_far += lengths[length]
        if n_so_far >= covered * total:
            return length
    return 1


def segments_structure(
    types: Sequence[str], max_components: int = 3, longest_part: int = LONGEST_PART, longest_gap: int = LONGEST_GAP
) -> Segments:
    """Return the structure of whole parts, gaps and ends."""
    return Segments(tuple(types), max_components, longest_part, longest_gap)


def segment_sizes(mentions: Iterable[Mention], covered: float = 1.0) -> dict[str, int]:
    """Return the sizes that suffice for a share of the parts of mentions, and of their gaps, if they are allowed."""
    longest_part, longest_gap = longest_of(mentions, covered)
    return {"longest_part": min(longest_part, MOST_WORDS), "longest_gap": min(longest_gap, MOST_WORDS)}
