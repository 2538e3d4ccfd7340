"""Compiled decoding of tags: the mentions that `enough_readings` of `hyperspan.structures.linear_decoding` yields.

That module explains the algorithm. Here a mention is a row of `WIDTH` numbers: its sentence, its type, and the start
and end of each part, with zeros for missing parts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.mentions import Span
from hyperspan.structures.linear import Linear

FORMS = 6
"""Tags of a type: B, I, BD, ID, BH, IH."""

MOST_PARTS = 3
"""The most parts of a mention read from tags."""

WIDTH = 2 + 2 * MOST_PARTS

_BODY, _HEAD = 1, 2
_KIND, _BEGINS, _START, _END, _USED = range(5)

Rows = NDArray[np.int32]


def parts_of(row: list[int]) -> tuple[Span, ...]:
    """Return the parts of a mention.

    Examples
    --------
    >>> parts_of([7, 0, 3, 4, 6, 8, 0, 0])
    ((3, 4), (6, 8))
    """
    if not row[5]:
        return ((row[2], row[3]),)
    return tuple([(row[place], row[place + 1]) for place in range(2, WIDTH, 2) if row[place + 1]])


def read_tags(structure: Linear, tags: NDArray[np.int64], first_word: NDArray[np.int64]) -> Rows:
    """Return the mentions that the tags of consecutive sentences are read as.

    Examples
    --------
    >>> rows = read_tags(Linear(("Finding",)), np.array([1, 2, 0, 3, 0, 3]), np.array([0, 2, 6]))
    >>> [(row[0], parts_of(row)) for row in rows.tolist()]
    [(0, ((0, 2),)), (1, ((1, 2), (3, 4)))]
    """
    rows = np.empty((2 * len(tags), WIDTH), dtype=np.int32)
    n_rows = read_batch_kernel(tags, first_word, len(structure.types), structure.max_components, rows)
    return rows[:n_rows]


@kernel
def read_batch_kernel(tags, first_word, n_types, max_components, rows):
    """Fill ``rows`` with the mentions of all sentences; return how many there are."""
    component, is_read = np.empty((tags.shape[0], 5), dtype=np.int32), np.empty(n_types, dtype=np.bool_)
    n_rows = 0
    for sentence in range(first_word.shape[0] - 1):
        here = tags[first_word[sentence] : first_word[sentence + 1]]
        n_rows = read_kernel(here, sentence, max_components, True, component, is_read, rows, n_rows)
    return n_rows


@kernel
def read_kernel(tags, sentence, max_components, with_runs, component, is_read, rows, n_rows):
    """Append the mentions of one sentence to the ``n_rows`` existing ones; return how many there are now.

    Without ``with_runs``, runs of contiguous tags that touch no head are left out: they are mentions whatever the other
    tags are. Two ``rows`` and one ``component`` per word are always enough.
    """
    before = n_rows
    is_read[:] = False
    for tag in tags:
        if tag > 0 and (with_runs or is_linking(tag)) and not is_read[(tag - 1) // FORMS]:
            type_id = (tag - 1) // FORMS
            is_read[type_id] = True
            components = component[: components_kernel(tags, type_id, max_components, component)]
            n_rows = bodies_kernel(components, max_components, type_id, rows, n_rows)
            n_rows = runs_kernel(components, with_runs, type_id, rows, n_rows)
    rows[before:n_rows, 0] = sentence
    return n_rows


@kernel
def is_linking(tag):
    """Return whether a tag is a body or a head: only sequences with such tags have mentions other than plain runs."""
    return tag > 0 and (tag - 1) % FORMS > 1


@kernel
def components_kernel(tags, type_id, max_components, component):
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
            here = component[n_components]
            here[_KIND], here[_BEGINS], here[_START], here[_END] = kind, begins, word, word + 1
            here[_USED] = kind == _BODY and max_components == 1
            n_components += 1
    return n_components


@kernel
def bodies_kernel(component, max_components, type_id, rows, n_rows):
    """Append the mentions of heads and their bodies, then those of the remaining bodies; return the number of rows."""
    n_free = 0
    for number in range(component.shape[0]):
        n_free += component[number, _KIND] == _BODY and not component[number, _USED]
    for head in range(component.shape[0]):
        if component[head, _KIND] != _HEAD:
            continue
        for turn in range(n_free if n_free <= 3 else 2):  # the third is taken if it is the last one
            side = 1 if turn == 1 else -1
            body = nearest_kernel(component, head, side, 1)
            if body < 0:
                body = nearest_kernel(component, head, -side, 1)
            if body < 0:
                break
            n_rows = append_kernel(component, (min(head, body), max(head, body), -1), type_id, rows, n_rows)
            component[head, _USED] = component[body, _USED] = 1
            n_free -= 1
    for one in range(component.shape[0]):
        if component[one, _KIND] != _BODY or component[one, _USED]:
            continue
        if n_free == 3 and max_components >= 3:
            middle = nearest_kernel(component, one, 1, 0)
            chosen = (one, middle, nearest_kernel(component, middle, 1, 0))
            n_rows = append_kernel(component, chosen, type_id, rows, n_rows)
            return n_rows if rows[n_rows - 1, 5] else n_rows - 1  # all three touch: they leave no gap
        other = nearest_kernel(component, one, 1, 1)
        if other < 0:
            break
        n_rows = append_kernel(component, (one, other, -1), type_id, rows, n_rows)
        component[other, _USED] = 1
        n_free -= 2
    return n_rows


@kernel
def nearest_kernel(component, here, side, least_gap):
    """Return the nearest unused body to the left (-1) or right (1) with at least this gap; -1 if there is none."""
    number = here + side
    while 0 <= number < component.shape[0]:
        if component[number, _KIND] == _BODY and not component[number, _USED]:
            gap = component[max(here, number), _START] - component[min(here, number), _END]
            if gap >= least_gap:
                return number
        number += side
    return -1


@kernel
def runs_kernel(component, with_runs, type_id, rows, n_rows):
    """Append runs of adjacent contiguous and head components, and heads left alone; return the number of rows.

    A run must have a contiguous component, and a head unless runs without heads are wanted.
    """
    first, n_components = 0, component.shape[0]
    while first < n_components:
        end, n_heads = first, 0
        while end < n_components and component[end, _KIND] != _BODY:
            goes_on = component[end, _KIND] == _HEAD or not component[end, _BEGINS]
            if end > first and not (goes_on and component[end - 1, _END] == component[end, _START]):
                break
            n_heads += component[end, _KIND] == _HEAD
            end += 1
        if n_heads < end - first:
            if n_heads or with_runs:
                component[first, _END] = component[end - 1, _END]
                n_rows = append_kernel(component, (first, -1, -1), type_id, rows, n_rows)
        else:
            for head in range(first, end):
                if not component[head, _USED]:
                    n_rows = append_kernel(component, (head, -1, -1), type_id, rows, n_rows)
        first = max(end, first + 1)
    return n_rows


@kernel
def append_kernel(component, chosen, type_id, rows, n_rows):
    """Append the mention of up to three sorted components (-1: none), joining those that touch."""
    row, place = rows[n_rows], 0
    row[:] = 0
    row[1] = type_id
    for number in chosen:
        if number >= 0:
            if place == 0 or row[place + 1] < component[number, _START]:
                place += 2
                row[place] = component[number, _START]
            row[place + 1] = component[number, _END]
    return n_rows + 1
