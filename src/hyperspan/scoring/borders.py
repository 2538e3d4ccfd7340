"""What the scores of segments are made of: scores of words at their borders and inside, and of whole spans.

A part is scored by its first word, its last word and the words after which it continues; a gap by the word before it,
the word after it and all words in it; an end by its word. Each of these *roles* has a weight for all levels (places in
the mention) together, and one for every level but the first, by which that level differs. Beside them whole spans have
features of their own, as parts and as gaps, and every label has a bias: the length of a part or gap at each level.

So a word has few labels, whatever the lengths, and its features are looked at once. `expand` adds them up to the scores
of `Segments`; `contract` does the same backwards, from the gradient by these scores to that by the labels here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.features.spans import SPAN_WORDS
from hyperspan.structures.segments import END, GAP, PART, Segments

ROLES = ("first word of", "last word of", "continuing word of", "word before", "word after", "word in", "end")
_FIRST, _LAST, _INSIDE, _LEFT, _RIGHT, _BETWEEN, _END = range(len(ROLES))
_PART_ROLES = 3

Numbers = NDArray[np.float64]


class BorderTable(NamedTuple):
    """The sizes of a structure, and where the labels of each role and level stand within a type.

    Attributes
    ----------
    n_types, n_levels, longest_part, longest_gap : int
    own, common : int64 arrays of shape (n_roles, n_levels) and (n_roles,)
        The label of a role at a level, and the one for all levels; -1 where there is none, as for the first level.
    n_labels : int
        How many a type has.
    """

    n_types: int
    n_levels: int
    longest_part: int
    longest_gap: int
    own: NDArray[np.int64]
    common: NDArray[np.int64]
    n_labels: int


@dataclass(frozen=True)
class RoleLabels:
    """Labels of some roles, a few for each type: one for all levels, and one for every level but the first."""

    structure: Segments
    roles: tuple[str, ...]
    n_levels_of_role: tuple[int, ...]
    start_role: int | None = None

    has_transitions = False

    @cached_property
    def table(self) -> BorderTable:
        """The labels as kernels see them."""
        own = np.full((len(self.roles), self.structure.max_components), -1, dtype=np.int64)
        common, n_labels = np.full(len(self.roles), -1, dtype=np.int64), 0
        for role, n_levels in enumerate(self.n_levels_of_role):
            if n_levels:
                common[role] = n_labels
                own[role, 1:n_levels] = n_labels + np.arange(1, n_levels)
                n_labels += n_levels
        made = self.structure
        return BorderTable(
            len(made.types), made.max_components, made.longest_part, made.longest_gap, own, common, n_labels
        )

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return self.table.n_types * self.table.n_labels

    @cached_property
    def weightless_labels(self) -> NDArray[np.bool_]:
        """All labels have weights."""
        return np.zeros(self.n_labels, dtype=np.bool_)

    @cached_property
    def start_labels(self) -> NDArray[np.int64]:
        """The first word of any part, of every type: every feature may speak against it."""
        if self.start_role is None:
            return np.empty(0, dtype=np.int64)
        return np.arange(self.table.n_types) * self.table.n_labels + int(self.table.common[self.start_role])

    def label_name(self, label: int) -> str:
        """Name a label: its type, its role and its level."""
        type_id, of_type = divmod(label, self.table.n_labels)
        type = self.structure.types[type_id]
        for role, name in enumerate(self.roles):
            if of_type == self.table.common[role]:
                return f"{type} {name} {_thing(name)}".rstrip()
            level = np.flatnonzero(self.table.own[role] == of_type)
            if len(level):
                return f"{type} {name} {_thing(name, int(level[0]) + 1)}"
        raise IndexError(label)

    def add_levels(
        self, type_id: NDArray[np.int64], role: int, level: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the labels of a role at levels, and the numbers of those they are for: common ones, then own ones."""
        first, own = type_id * self.table.n_labels, self.table.own[role, level]
        has_own = np.flatnonzero(own >= 0)
        labels = np.concatenate([first + self.table.common[role], (first + own)[has_own]])
        return labels, np.concatenate([np.arange(len(level)), has_own])


def _thing(role: str, part: int | None = None) -> str:
    """Say what a role is of: ``part 1``, ``the gap after part 1``, ``a part``."""
    of_gap = role in ROLES[_LEFT:_END] or role == "gap"
    if part is None:
        return {"end": "after a part", "part": "", "gap": ""}.get(role, "a gap" if of_gap else "a part").strip()
    if role == "end":
        return f"after part {part}"
    if role in ("part", "gap"):
        return f"{part}" if role == "part" else f"after part {part}"
    return f"the gap after part {part}" if of_gap else f"part {part}"


def border_labels(structure: Segments) -> RoleLabels:
    """Return the labels that words have."""
    n_levels = structure.max_components
    return RoleLabels(
        structure, ROLES, (n_levels,) * _PART_ROLES + (n_levels - 1,) * (len(ROLES) - _PART_ROLES), _FIRST
    )


def span_labels(structure: Segments) -> RoleLabels:
    """Return the labels that whole spans have: they are parts or gaps."""
    return RoleLabels(structure, ("part", "gap"), (structure.max_components, structure.max_components - 1))


class PlacedLabels(NamedTuple):
    """Labels at places (words or spans) in the gold data, in rising order of places."""

    place: NDArray[np.int64]
    label: NDArray[np.int32]

    @classmethod
    def of(cls, found: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> PlacedLabels:
        """Put pairs of places and labels together."""
        place = np.concatenate([np.empty(0, np.int64), *(each for each, _ in found)])
        label = np.concatenate([np.empty(0, np.int64), *(each for _, each in found)])
        order = np.argsort(place, kind="stable")
        return cls(place[order], label[order].astype(np.int32))


def gold_borders(labels: RoleLabels, word: NDArray[np.int64], label: NDArray[np.int32]) -> PlacedLabels:
    """Return the labels of words that gold edges are made of."""
    segment = labels.structure.segment_of(label.astype(np.int64))
    found = []

    def add(role: int, which: NDArray[np.bool_], place: NDArray[np.int64]) -> None:
        made, whose = labels.add_levels(segment.type_id[which], role, segment.level[which])
        found.append((place[which][whose], made))

    def add_inside(role: int, which: NDArray[np.bool_], first: NDArray[np.int64], shorter: int) -> None:
        lengths = segment.length[which] - shorter
        steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        places = np.repeat(first[which], lengths) + steps
        made, whose = labels.add_levels(
            np.repeat(segment.type_id[which], lengths), role, np.repeat(segment.level[which], lengths)
        )
        found.append((places[whose], made))

    is_part, is_gap, is_end = (segment.what == what for what in (PART, GAP, END))
    add(_FIRST, is_part, word)
    add(_LAST, is_part, word + segment.length - 1)
    add_inside(_INSIDE, is_part, word, 1)
    add(_LEFT, is_gap, word)
    add(_RIGHT, is_gap, word + segment.length + 1)
    add_inside(_BETWEEN, is_gap, word + 1, 0)
    add(_END, is_end, word)
    return PlacedLabels.of(found)


def gold_spans(labels: RoleLabels, word: NDArray[np.int64], label: NDArray[np.int32]) -> PlacedLabels:
    """Return the labels of spans that gold edges are made of."""
    segment = labels.structure.segment_of(label.astype(np.int64))
    found = []
    for role, what in enumerate((PART, GAP)):
        which = (segment.what == what) & (segment.length <= SPAN_WORDS)
        first = word[which] + (what == GAP)
        made, whose = labels.add_levels(segment.type_id[which], role, segment.level[which])
        found.append(((SPAN_WORDS * first + segment.length[which] - 1)[whose], made))
    return PlacedLabels.of(found)


def expand(
    borders: RoleLabels,
    spans: RoleLabels,
    bias: Numbers,
    border_scores: Numbers,
    span_scores: Numbers,
    first_word: NDArray[np.int64],
    scores: Numbers,
) -> None:
    """Fill the scores of segments.

    Parameters
    ----------
    borders, spans : RoleLabels
    bias : float64 array of shape (n_labels of the structure,)
    border_scores : float64 array of shape (n_words, borders.n_labels)
    span_scores : float64 array of shape (SPAN_WORDS * n_words, spans.n_labels)
    first_word : int64 array of shape (n_sentences + 1,)
    scores : float64 array of shape (n_words, n_labels of the structure)
    """
    expand_kernel(borders.table, spans.table, bias, border_scores, span_scores, first_word, scores)


def contract(
    borders: RoleLabels, spans: RoleLabels, gradient: Numbers, first_word: NDArray[np.int64]
) -> tuple[Numbers, Numbers]:
    """Return the gradients by the scores of words and of spans, given that by the scores of segments."""
    of_borders = np.zeros((len(gradient), borders.n_labels))
    of_spans = np.zeros((SPAN_WORDS * len(gradient), spans.n_labels))
    contract_kernel(borders.table, spans.table, gradient, first_word, of_borders, of_spans)
    return of_borders, of_spans


@numba.njit(nogil=True, cache=True)
def level_scores_kernel(table, of_type, role, level, scores, begin, n_words, values):
    """Fill ``values`` with the score of a role at a level: the common one, and its own if it has one."""
    own, common, has_own = of_type + table.own[role, level], of_type + table.common[role], table.own[role, level] >= 0
    for word in range(n_words):
        values[word] = scores[begin + word, common] + (scores[begin + word, own] if has_own else 0.0)


@numba.njit(nogil=True, cache=True)
def expand_kernel(borders, spans, bias, border_scores, span_scores, first_word, scores):
    """Fill ``scores``: see `expand`. Sums over the words of a segment are differences of running sums."""
    n_levels, longest_part, longest_gap = borders.n_levels, borders.longest_part, borders.longest_gap
    n_labels = n_levels * longest_part + (n_levels - 1) * (longest_gap + 1)
    longest = 0
    for sentence in range(first_word.shape[0] - 1):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    left, right, running = np.empty(longest), np.empty(longest), np.zeros(longest + 1)
    for sentence in range(first_word.shape[0] - 1):
        begin, n_words = first_word[sentence], first_word[sentence + 1] - first_word[sentence]
        for type_id in range(borders.n_types):
            of_type, of_span, first_label = type_id * borders.n_labels, type_id * spans.n_labels, type_id * n_labels
            for level in range(n_levels):
                for is_gap in range(2 if level < n_levels - 1 else 1):
                    role = _LEFT if is_gap else _FIRST
                    level_scores_kernel(borders, of_type, role, level, border_scores, begin, n_words, left)
                    level_scores_kernel(borders, of_type, role + 1, level, border_scores, begin, n_words, right)
                    level_scores_kernel(borders, of_type, role + 2, level, border_scores, begin, n_words, running[1:])
                    for word in range(n_words):
                        running[word + 1] += running[word]
                    first = first_label + (
                        n_levels * longest_part + level * longest_gap if is_gap else level * longest_part
                    )
                    longest_here = longest_gap if is_gap else longest_part
                    own, common = of_span + spans.own[is_gap, level], of_span + spans.common[is_gap]
                    has_own = spans.own[is_gap, level] >= 0
                    for word in range(n_words):
                        row, start = scores[begin + word], word + is_gap
                        n_here = max(0, min(longest_here, n_words - start - is_gap))
                        ahead = left[word] - running[start] if n_here else 0.0
                        for place in range(n_here):
                            end = start + place + 1  # the first word after the segment
                            row[first + place] = (
                                bias[first + place]
                                + ahead
                                + running[end if is_gap else end - 1]
                                + right[end if is_gap else end - 1]
                            )
                        for place in range(n_here, longest_here):
                            row[first + place] = bias[first + place]
                        for place in range(min(n_here, SPAN_WORDS)):
                            span = SPAN_WORDS * (begin + start) + place
                            row[first + place] += span_scores[span, common]
                            if has_own:
                                row[first + place] += span_scores[span, own]
                if level < n_levels - 1:
                    level_scores_kernel(borders, of_type, _END, level, border_scores, begin, n_words, left)
                    label = first_label + n_levels * longest_part + (n_levels - 1) * longest_gap + level
                    for word in range(n_words):
                        scores[begin + word, label] = bias[label] + left[word]


@numba.njit(nogil=True, cache=True)
def add_level_kernel(table, of_type, role, level, values, begin, n_words, gradient):
    """Add values to the gradient of a role at a level: to the common label, and to its own if it has one."""
    own, common, has_own = of_type + table.own[role, level], of_type + table.common[role], table.own[role, level] >= 0
    for word in range(n_words):
        gradient[begin + word, common] += values[word]
        if has_own:
            gradient[begin + word, own] += values[word]


@numba.njit(nogil=True, cache=True)
def contract_kernel(borders, spans, gradient, first_word, of_borders, of_spans):
    """Add up the gradients by the labels of words and spans: what `expand_kernel` does, backwards."""
    n_levels, longest_part, longest_gap = borders.n_levels, borders.longest_part, borders.longest_gap
    n_labels = n_levels * longest_part + (n_levels - 1) * (longest_gap + 1)
    longest = 0
    for sentence in range(first_word.shape[0] - 1):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    left, right, change = np.empty(longest), np.empty(longest), np.empty(longest + 1)
    for sentence in range(first_word.shape[0] - 1):
        begin, n_words = first_word[sentence], first_word[sentence + 1] - first_word[sentence]
        for type_id in range(borders.n_types):
            of_type, of_span, first_label = type_id * borders.n_labels, type_id * spans.n_labels, type_id * n_labels
            for level in range(n_levels):
                for is_gap in range(2 if level < n_levels - 1 else 1):
                    role = _LEFT if is_gap else _FIRST
                    first = first_label + (
                        n_levels * longest_part + level * longest_gap if is_gap else level * longest_part
                    )
                    longest_here = longest_gap if is_gap else longest_part
                    own, common = of_span + spans.own[is_gap, level], of_span + spans.common[is_gap]
                    has_own = spans.own[is_gap, level] >= 0
                    right[:n_words] = 0.0
                    change[: n_words + 1] = 0.0
                    for word in range(n_words):
                        row, start, total = gradient[begin + word], word + is_gap, 0.0
                        n_here = max(0, min(longest_here, n_words - start - is_gap))
                        for place in range(n_here):
                            value, end = row[first + place], start + place + 1
                            total += value
                            border = end if is_gap else end - 1
                            right[border] += value
                            change[border] -= value
                        left[word] = total
                        if n_here:
                            change[start] += total
                        for place in range(min(n_here, SPAN_WORDS)):
                            span = SPAN_WORDS * (begin + start) + place
                            of_spans[span, common] += row[first + place]
                            if has_own:
                                of_spans[span, own] += row[first + place]
                    for word in range(1, n_words):
                        change[word] += change[word - 1]
                    add_level_kernel(borders, of_type, role, level, left, begin, n_words, of_borders)
                    add_level_kernel(borders, of_type, role + 1, level, right, begin, n_words, of_borders)
                    add_level_kernel(borders, of_type, role + 2, level, change, begin, n_words, of_borders)
                if level < n_levels - 1:
                    label = first_label + n_levels * longest_part + (n_levels - 1) * longest_gap + level
                    for word in range(n_words):
                        left[word] = gradient[begin + word, label]
                    add_level_kernel(borders, of_type, _END, level, left, begin, n_words, of_borders)
