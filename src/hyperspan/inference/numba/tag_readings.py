"""What tags mean, compiled: the mentions that `enough_readings` of `hyperspan.structures.linear_decoding` yields.

That module says in plain words what is done here with rows of numbers. A mention is a row of `WIDTH` numbers: its type,
how many parts it has, and where each begins and ends; what is not needed is zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.mentions import Span
from hyperspan.structures.linear import Linear

FORMS = 6
"""Tags of a type: B, I, BD, ID, BH, IH."""

MOST_PARTS = 3
"""How many parts a mention read from tags can have."""

WIDTH = 2 + 2 * MOST_PARTS

_CONTIGUOUS, _BODY, _HEAD = 0, 1, 2
_KIND, _BEGINS, _START, _END, _USED = range(5)

Rows = NDArray[np.int32]


def parts_of(row: list[int]) -> tuple[Span, ...]:
    """Return the parts of a mention.

    Examples
    --------
    >>> parts_of([0, 2, 3, 4, 6, 8, 0, 0])
    ((3, 4), (6, 8))
    """
    if row[1] == 1:
        return ((row[2], row[3]),)
    return tuple([(row[place], row[place + 1]) for place in range(2, 2 + 2 * row[1], 2)])


def read_tags(
    structure: Linear, tags: NDArray[np.int64], first_word: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Rows]:
    """Return the mentions that the tags of sentences mean.

    Parameters
    ----------
    structure : Linear
    tags : int64 array of shape (n_words,)
        The tags of all sentences.
    first_word : int64 array of shape (n_sentences + 1,)

    Returns
    -------
    first_row : int64 array of shape (n_sentences + 1,)
        Sentence s has the rows ``first_row[s] : first_row[s + 1]``.
    rows : int32 array of shape (n_rows, WIDTH)

    Examples
    --------
    >>> first_row, rows = read_tags(Linear(("Finding",)), np.array([1, 2, 0, 3, 0, 3]), np.array([0, 2, 6]))
    >>> first_row.tolist(), [parts_of(row) for row in rows.tolist()]
    ([0, 1, 2], [((0, 2),), ((1, 2), (3, 4))])
    """
    longest = int(np.diff(first_word).max(initial=0))
    first_row = np.zeros(len(first_word), dtype=np.int64)
    rows = np.empty((2 * len(tags), WIDTH), dtype=np.int32)
    room = ReadingWorkspace.of(structure, longest)
    read_batch_kernel(tags, first_word, structure.max_components, room, first_row, rows)
    return first_row, rows[: first_row[-1]]


class ReadingWorkspace(NamedTuple):
    """The memory that reading one sentence takes: types, whether each was seen, components, and bodies among them."""

    is_seen: NDArray[np.bool_]
    seen: NDArray[np.int64]
    component: Rows
    body: NDArray[np.int64]

    @classmethod
    def of(cls, structure: Linear, longest: int) -> ReadingWorkspace:
        """Return room for sentences of up to so many words."""
        n_types = len(structure.types)
        return cls(
            np.zeros(n_types, dtype=np.bool_),
            np.empty(n_types, dtype=np.int64),
            np.empty((longest, 5), dtype=np.int32),
            np.empty(longest, dtype=np.int64),
        )


@numba.njit(nogil=True, cache=True)
def read_batch_kernel(tags, first_word, max_components, room, first_row, rows):
    """Fill ``rows`` with the mentions of all sentences, and ``first_row`` with where those of each begin."""
    for sentence in range(first_word.shape[0] - 1):
        row = tags[first_word[sentence] : first_word[sentence + 1]]
        first_row[sentence + 1] = read_kernel(row, max_components, True, room, rows, first_row[sentence])


@numba.njit(nogil=True, cache=True)
def read_kernel(tags, max_components, with_runs, room, rows, n_rows):
    """Append the mentions of one sentence to the ``n_rows`` that there are; return how many there are now.

    Without ``with_runs``, runs of contiguous tags that touch no head are left out: they are mentions whatever else
    there is. Two ``rows`` for every word are always enough.
    """
    is_seen, seen, component, body = room
    n_seen = 0
    for word in range(tags.shape[0]):
        tag = tags[word]
        if tag > 0 and (with_runs or is_linking(tag)) and not is_seen[(tag - 1) // FORMS]:
            is_seen[(tag - 1) // FORMS] = True
            seen[n_seen] = (tag - 1) // FORMS
            n_seen += 1
    for place in range(n_seen):
        is_seen[seen[place]] = False
        n_components = components_kernel(tags, seen[place], component)
        n_bodies = 0
        for number in range(n_components):
            if component[number, _KIND] == _BODY and max_components > 1:
                body[n_bodies] = number
                n_bodies += 1
        for number in range(n_components):
            if component[number, _KIND] == _HEAD:
                n_bodies, n_rows = head_kernel(component, number, body, n_bodies, seen[place], rows, n_rows)
        n_rows = groups_kernel(component, body, n_bodies, max_components, seen[place], rows, n_rows)
        n_rows = runs_kernel(component, n_components, with_runs, seen[place], rows, n_rows)
    return n_rows


@numba.njit(nogil=True, cache=True)
def is_linking(tag):
    """Say whether a tag is of a body or a head: only sequences with such tags have mentions other than plain runs."""
    return tag > 0 and (tag - 1) % FORMS > 1


@numba.njit(nogil=True, cache=True)
def components_kernel(tags, type_id, component):
    """Cut the tags of one type into components; return how many there are."""
    n_components = 0
    for word in range(tags.shape[0]):
        form = tags[word] - 1 - type_id * FORMS
        if form < 0 or form >= FORMS:
            continue
        kind, begins = form // 2, form % 2 == 0
        last = n_components - 1
        if last >= 0 and component[last, _END] == word and not begins and component[last, _KIND] == kind:
            component[last, _END] = word + 1
        else:
            component[n_components, _KIND] = kind
            component[n_components, _BEGINS] = begins
            component[n_components, _START] = word
            component[n_components, _END] = word + 1
            component[n_components, _USED] = 0
            n_components += 1
    return n_components


@numba.njit(nogil=True, cache=True)
def head_kernel(component, head, body, n_bodies, type_id, rows, n_rows):
    """Give a head its bodies, taken out of those that are unused; return how many are left, and how many rows."""
    middle = 0
    while middle < n_bodies and component[body[middle], _START] < component[head, _START]:
        middle += 1
    # The nearest on its left, then those on its right, then the others on its left: of these the first two. Three on
    # either side hold the two nearest, whether or not the first of them touches the head.
    first, second = -1, -1
    for place in range(middle - 1, max(0, middle - 3) - 1, -1):
        if first < 0 and is_apart(component, body[place], head):
            first = place
    left = first
    for place in range(middle, min(middle + 3, n_bodies)):
        if is_apart(component, head, body[place]):
            if first < 0:
                first = place
            elif second < 0:
                second = place
    if second < 0 and left >= 0:
        for place in range(left - 1, max(0, middle - 3) - 1, -1):
            if second < 0 and is_apart(component, body[place], head):
                second = place
    if first >= 0:
        n_rows = pair_kernel(component, head, body[first], type_id, rows, n_rows)
    if second >= 0:
        n_rows = pair_kernel(component, head, body[second], type_id, rows, n_rows)
    n_left = 0
    for place in range(n_bodies):
        if place != first and place != second:
            body[n_left] = body[place]
            n_left += 1
    if n_left == 1 and (is_apart(component, body[0], head) or is_apart(component, head, body[0])):
        n_rows = pair_kernel(component, head, body[0], type_id, rows, n_rows)
        n_left = 0
        first = 0
    if first >= 0:
        component[head, _USED] = 1
    return n_left, n_rows


@numba.njit(nogil=True, cache=True)
def is_apart(component, one, other):
    """Say whether there is a gap between a component and one after it."""
    return component[one, _END] < component[other, _START]


@numba.njit(nogil=True, cache=True)
def pair_kernel(component, one, other, type_id, rows, n_rows):
    """Append the mention of two components that do not touch; return how many rows there are."""
    if component[one, _START] > component[other, _START]:
        one, other = other, one
    rows[n_rows, 0], rows[n_rows, 1] = type_id, 2
    rows[n_rows, 2], rows[n_rows, 3] = component[one, _START], component[one, _END]
    rows[n_rows, 4], rows[n_rows, 5] = component[other, _START], component[other, _END]
    rows[n_rows, 6], rows[n_rows, 7] = 0, 0
    return n_rows + 1


@numba.njit(nogil=True, cache=True)
def groups_kernel(component, body, n_bodies, max_components, type_id, rows, n_rows):
    """Put the bodies that are left together, two by two, the last three at once; return how many rows there are."""
    first = 0
    while n_bodies - first > 1:
        if n_bodies - first == 3 and max_components >= 3:
            one, middle, last = body[first], body[first + 1], body[first + 2]
            first = n_bodies
            if not is_apart(component, one, middle) and not is_apart(component, middle, last):
                continue
            n_parts = 0
            rows[n_rows, :] = 0
            for number in (one, middle, last):
                if n_parts and rows[n_rows, 1 + 2 * n_parts] >= component[number, _START]:
                    rows[n_rows, 1 + 2 * n_parts] = component[number, _END]
                else:
                    rows[n_rows, 2 + 2 * n_parts] = component[number, _START]
                    rows[n_rows, 3 + 2 * n_parts] = component[number, _END]
                    n_parts += 1
            rows[n_rows, 0], rows[n_rows, 1] = type_id, n_parts
            n_rows += 1
            continue
        partner = first + 1
        if not is_apart(component, body[first], body[partner]):
            partner += 1
        if partner >= n_bodies:
            break
        if is_apart(component, body[first], body[partner]):
            n_rows = pair_kernel(component, body[first], body[partner], type_id, rows, n_rows)
        if partner > first + 1:
            body[partner] = body[first + 1]
        first += 2
    return n_rows


@numba.njit(nogil=True, cache=True)
def runs_kernel(component, n_components, with_runs, type_id, rows, n_rows):
    """Append runs of adjacent contiguous and head components, and heads that nothing came to; return how many rows.

    A run must have a contiguous component, and a head unless runs without any are wanted.
    """
    first, end = -1, -1
    has_head, has_contiguous = False, False
    for number in range(n_components + 1):
        if number < n_components:
            if component[number, _KIND] == _BODY:
                continue
            goes_on = component[number, _KIND] == _HEAD or not component[number, _BEGINS]
            if first >= 0 and goes_on and component[number, _START] == end:
                end = component[number, _END]
                has_head |= component[number, _KIND] == _HEAD
                has_contiguous |= component[number, _KIND] == _CONTIGUOUS
                continue
        if first >= 0:
            if has_contiguous:
                if has_head or with_runs:
                    n_rows = span_kernel(component[first, _START], end, type_id, rows, n_rows)
            else:
                for head in range(first, number):
                    if component[head, _KIND] == _HEAD and not component[head, _USED]:
                        n_rows = span_kernel(component[head, _START], component[head, _END], type_id, rows, n_rows)
        if number < n_components:
            first, end = number, component[number, _END]
            has_head = component[number, _KIND] == _HEAD
            has_contiguous = component[number, _KIND] == _CONTIGUOUS
    return n_rows


@numba.njit(nogil=True, cache=True)
def span_kernel(start, end, type_id, rows, n_rows):
    """Append a mention of one part; return how many rows there are."""
    rows[n_rows, :] = 0
    rows[n_rows, 0], rows[n_rows, 1], rows[n_rows, 2], rows[n_rows, 3] = type_id, 1, start, end
    return n_rows + 1
