"""How segments are scored: by the words at their borders and inside, and as whole spans.

A part is scored by its first word, its last word and the words after which it continues; a gap by the word before it,
the word after it and all words in it; an end by its word. Each of these *roles* has one weight that all levels (numbers
of the part in the mention) share, and another for every level but the first, which adds the difference. Whole spans
have features of their own, as parts and as gaps. And every label has a bias, so each length of a part or gap has one at
each level.

So a word has few labels, whatever the lengths, and its features are summed once. `expand` adds these scores up to those
of `Segments`; `contract` is the backward pass, from the gradient of the latter to that of the former.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.features.spans import SPAN_WORDS
from hyperspan.inference.numba.segments import labels_of_level_kernel
from hyperspan.structures.segments import END, GAP, PART, Segments

ROLES = ("first word of", "last word of", "continuing word of", "word before", "word after", "word in", "end")
_FIRST, _LAST, _INSIDE, _LEFT, _RIGHT, _BETWEEN, _END = range(len(ROLES))
_PART_ROLES = 3

Numbers = NDArray[np.float64]


class BorderTable(NamedTuple):
    """The sizes of a structure, and the labels of each role and level within a type.

    Attributes
    ----------
    n_types, n_levels, longest_part, longest_gap : int
    own, common : int64 arrays of shape (n_roles, n_levels) and (n_roles,)
        The label of a role at a level, and the one that all levels share; -1 if there is none, as at the first level.
    n_labels : int
        The number of labels of a type.
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
    """The labels of some roles for each type: one that all levels share, and one for every level but the first."""

    structure: Segments
    roles: tuple[str, ...]
    n_levels_of_role: tuple[int, ...]
    start_role: int | None = None

    has_transitions = False

    @cached_property
    def table(self) -> BorderTable:
        """The labels as arrays for kernels."""
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
        """The number of labels."""
        return self.table.n_types * self.table.n_labels

    @cached_property
    def weightless_labels(self) -> NDArray[np.bool_]:
        """All labels have weights."""
        return np.zeros(self.n_labels, dtype=np.bool_)

    @cached_property
    def start_labels(self) -> NDArray[np.int64]:
        """The first word of any part, of every type: every feature may lower its score."""
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
        """Return the labels of a role at each level, shared ones before own ones, and which level each is for."""
        first, own = type_id * self.table.n_labels, self.table.own[role, level]
        has_own = np.flatnonzero(own >= 0)
        labels = np.concatenate([first + self.table.common[role], (first + own)[has_own]])
        return labels, np.concatenate([np.arange(len(level)), has_own])


def _thing(role: str, part: int | None = None) -> str:
    """Name what a role belongs to: ``part 1``, ``the gap after part 1``, ``a part``."""
    of_gap = role in ROLES[_LEFT:_END] or role == "gap"
    if part is None:
        return {"end": "after a part", "part": "", "gap": ""}.get(role, "a gap" if of_gap else "a part").strip()
    if role == "end":
        return f"after part {part}"
    if role in ("part", "gap"):
        return f"{part}" if role == "part" else f"after part {part}"
    return f"the gap after part {part}" if of_gap else f"part {part}"


def border_labels(structure: Segments) -> RoleLabels:
    """Return the labels of words."""
    n_levels = structure.max_components
    return RoleLabels(
        structure, ROLES, (n_levels,) * _PART_ROLES + (n_levels - 1,) * (len(ROLES) - _PART_ROLES), _FIRST
    )


def span_labels(structure: Segments) -> RoleLabels:
    """Return the labels of whole spans, which are parts or gaps."""
    return RoleLabels(structure, ("part", "gap"), (structure.max_components, structure.max_components - 1))


class PlacedLabels(NamedTuple):
    """Labels of words or spans in the gold data, in increasing order of their indices."""

    place: NDArray[np.int64]
    label: NDArray[np.int32]

    @classmethod
    def of(cls, found: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> PlacedLabels:
        """Merge pairs of indices and labels."""
        place = np.concatenate([np.empty(0, np.int64), *(each for each, _ in found)])
        label = np.concatenate([np.empty(0, np.int64), *(each for _, each in found)])
        order = np.argsort(place, kind="stable")
        return cls(place[order], label[order].astype(np.int32))


def gold_borders(labels: RoleLabels, word: NDArray[np.int64], label: NDArray[np.int32]) -> PlacedLabels:
    """Return the labels of words in gold edges."""
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


def words_of_roles(labels: RoleLabels, label: NDArray[np.int32]) -> Numbers:
    """Return how many words of one part or gap have each label, on average over the gold words that have it.

    It is 1 but for the words inside parts and gaps. Where the gold data has none, it is the longest length.
    """
    segment = labels.structure.segment_of(label.astype(np.int64))
    n_words = np.ones((labels.table.n_types, labels.table.n_labels))
    inside = ((PART, _INSIDE, 1, labels.table.longest_part), (GAP, _BETWEEN, 0, labels.table.longest_gap))
    for what, role, shorter, longest in inside:
        own = labels.table.own[role]
        of_role = [int(each) for each in (labels.table.common[role], *own[own >= 0]) if each >= 0]
        for type_id in range(labels.table.n_types):
            lengths = segment.length[(segment.type_id == type_id) & (segment.what == what)] - shorter
            total = int(lengths.sum())
            n_words[type_id, of_role] = max(1.0, float(lengths @ lengths) / total if total else longest)
    return n_words.reshape(-1)


def gold_spans(labels: RoleLabels, word: NDArray[np.int64], label: NDArray[np.int32]) -> PlacedLabels:
    """Return the labels of spans in gold edges."""
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
    first_type: int = 0,
) -> None:
    """Fill in the scores of segments of some consecutive types.

    Parameters
    ----------
    borders, spans : RoleLabels
    bias : float64 array of shape (n_labels of the structure,)
    border_scores : float64 array of shape (n_words, borders.n_labels)
    span_scores : float64 array of shape (SPAN_WORDS * n_words, spans.n_labels)
    first_word : int64 array of shape (n_sentences + 1,)
    scores : float64 array of shape (n_words, labels of these types)
    first_type : int
        The first of these types.
    """
    expand_kernel(borders.table, spans.table, first_type, bias, border_scores, span_scores, first_word, scores)


def contract(
    borders: RoleLabels,
    spans: RoleLabels,
    gradient: Numbers,
    first_word: NDArray[np.int64],
    of_borders: Numbers,
    of_spans: Numbers,
    first_type: int = 0,
) -> None:
    """Replace the scores of words and spans of some types by their gradients.

    Parameters
    ----------
    borders, spans, first_word, first_type
        As for `expand`.
    gradient : float64 array of shape (n_words, labels of these types)
        The gradient with respect to the scores of segments.
    of_borders, of_spans : float64 arrays of the shapes of ``border_scores`` and ``span_scores``
        Filled in; columns of other types are unchanged.
    """
    contract_kernel(borders.table, spans.table, first_type, gradient, first_word, of_borders, of_spans)


@kernel
def level_scores_kernel(table, of_type, role, level, scores, begin, n_words, values):
    """Fill ``values`` with the score of a role at a level: the shared one plus its own, if it has one."""
    own, common, has_own = of_type + table.own[role, level], of_type + table.common[role], table.own[role, level] >= 0
    for word in range(n_words):
        values[word] = scores[begin + word, common] + (scores[begin + word, own] if has_own else 0.0)


@kernel
def expand_kernel(borders, spans, first_type, bias, border_scores, span_scores, first_word, scores):
    """Fill ``scores``, as `expand` says. Sums over the words of a segment are differences of running sums."""
    n_levels, longest_part, longest_gap = borders.n_levels, borders.longest_part, borders.longest_gap
    n_labels = labels_of_level_kernel(borders, 0, n_levels - 1)[2]  # where an end of the last level would be
    longest = 0
    for sentence in range(first_word.shape[0] - 1):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    left, right, running = np.empty(longest), np.empty(longest), np.zeros(longest + 1)
    for sentence in range(first_word.shape[0] - 1):
        begin, n_words = first_word[sentence], first_word[sentence + 1] - first_word[sentence]
        for number in range(scores.shape[1] // n_labels):
            type_id, first_label = first_type + number, number * n_labels
            of_type, of_span, of_bias = type_id * borders.n_labels, type_id * spans.n_labels, bias[type_id * n_labels :]
            for level in range(n_levels):
                first_part, first_gap, end_label = labels_of_level_kernel(borders, 0, level)
                for is_gap in range(2 if level < n_levels - 1 else 1):
                    role = _LEFT if is_gap else _FIRST
                    level_scores_kernel(borders, of_type, role, level, border_scores, begin, n_words, left)
                    level_scores_kernel(borders, of_type, role + 1, level, border_scores, begin, n_words, right)
                    level_scores_kernel(borders, of_type, role + 2, level, border_scores, begin, n_words, running[1:])
                    for word in range(n_words):
                        running[word + 1] += running[word]
                    first = first_gap if is_gap else first_part
                    longest_here = longest_gap if is_gap else longest_part
                    own, common = of_span + spans.own[is_gap, level], of_span + spans.common[is_gap]
                    has_own = spans.own[is_gap, level] >= 0
                    for word in range(n_words):
                        row, start = scores[begin + word, first_label:], word + is_gap
                        n_here = max(0, min(longest_here, n_words - start - is_gap))
                        ahead = left[word] - running[start] if n_here else 0.0
                        for place in range(n_here):
                            end = start + place + 1  # the first word after the segment
                            row[first + place] = (
                                of_bias[first + place]
                                + ahead
                                + running[end if is_gap else end - 1]
                                + right[end if is_gap else end - 1]
                            )
                        for place in range(n_here, longest_here):
                            row[first + place] = of_bias[first + place]
                        for place in range(min(n_here, SPAN_WORDS)):
                            span = SPAN_WORDS * (begin + start) + place
                            row[first + place] += span_scores[span, common]
                            if has_own:
                                row[first + place] += span_scores[span, own]
                if level < n_levels - 1:
                    level_scores_kernel(borders, of_type, _END, level, border_scores, begin, n_words, left)
                    for word in range(n_words):
                        scores[begin + word, first_label + end_label] = of_bias[end_label] + left[word]


@kernel
def add_level_kernel(table, of_type, role, level, values, begin, n_words, gradient):
    """Add values to the gradient of a role at a level: to the shared label, and to its own if it has one."""
    own, common, has_own = of_type + table.own[role, level], of_type + table.common[role], table.own[role, level] >= 0
    for word in range(n_words):
        gradient[begin + word, common] += values[word]
        if has_own:
            gradient[begin + word, own] += values[word]


@kernel
def set_to_zero_kernel(values, first, n_columns):
    """Set some columns to zero."""
    for row in range(values.shape[0]):
        of_row = values[row, first : first + n_columns]
        for column in range(n_columns):
            of_row[column] = 0.0


@kernel
def contract_kernel(borders, spans, first_type, gradient, first_word, of_borders, of_spans):
    """Fill in the gradients of the labels of words and spans: the backward pass of `expand_kernel`."""
    n_levels, longest_part, longest_gap = borders.n_levels, borders.longest_part, borders.longest_gap
    n_labels = labels_of_level_kernel(borders, 0, n_levels - 1)[2]  # where an end of the last level would be
    n_types = gradient.shape[1] // n_labels
    set_to_zero_kernel(of_borders, first_type * borders.n_labels, n_types * borders.n_labels)
    set_to_zero_kernel(of_spans, first_type * spans.n_labels, n_types * spans.n_labels)
    longest = 0
    for sentence in range(first_word.shape[0] - 1):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    left, right, change = np.empty(longest), np.empty(longest), np.empty(longest + 1)
    for sentence in range(first_word.shape[0] - 1):
        begin, n_words = first_word[sentence], first_word[sentence + 1] - first_word[sentence]
        for number in range(n_types):
            type_id, first_label = first_type + number, number * n_labels
            of_type, of_span = type_id * borders.n_labels, type_id * spans.n_labels
            for level in range(n_levels):
                first_part, first_gap, end_label = labels_of_level_kernel(borders, first_label, level)
                for is_gap in range(2 if level < n_levels - 1 else 1):
                    role = _LEFT if is_gap else _FIRST
                    first = first_gap if is_gap else first_part
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
                    for word in range(n_words):
                        left[word] = gradient[begin + word, end_label]
                    add_level_kernel(borders, of_type, _END, level, left, begin, n_words, of_borders)
