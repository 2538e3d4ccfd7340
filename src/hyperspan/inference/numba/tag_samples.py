"""Tag sequences with bodies or heads drawn in proportion to their probability, and how often each mention is read.

Mentions other than plain runs (whose probability `runs` knows) are only in sequences with *linking* tags, those of
bodies and heads. So only such sequences are drawn to count these mentions: first the last linking tag, then what comes
before it, then how far a run goes on after it. Such samples count only for as much as their tags are probable, p in
all, so p² times as many give the same precision.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.numba.tag_readings import FORMS, WIDTH, ReadingWorkspace, is_linking, read_kernel
from hyperspan.structures.linear import Linear

LEAST_LINKING = 0.005
"""How probable linking tags must be in a sentence to be looked at: no probability is off by more."""

_POOL = 65_537
_SPREAD, _LOW_BITS = 0x61C88647, 0x7FFFFFFF


class CountingWorkspace(NamedTuple):
    """The room that counting the mentions of one sentence takes, above all a table of them, which is empty at first.

    Attributes
    ----------
    slots : int32 array
        A power of two in length; which row of the table is there, -1 for none.
    rows : int32 array of shape (capacity, WIDTH)
        The mentions counted so far.
    counts : int32 array of shape (capacity,)
        How often each was counted.
    reading : ReadingWorkspace
    found : int32 array of shape (2 * longest, WIDTH)
        The mentions of one sequence.
    tags : int64 array of shape (longest,)
        One sequence.
    after : float64 array of shape (longest, n_tags)
        Sums over what comes after a word without linking tags.
    """

    slots: NDArray[np.int32]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    reading: ReadingWorkspace
    found: NDArray[np.int32]
    tags: NDArray[np.int64]
    after: NDArray[np.float64]

    @classmethod
    def of(cls, structure: Linear, longest: int, capacity: int) -> CountingWorkspace:
        """Return room for sentences of up to so many words and so many different mentions."""
        return cls(
            np.full(1 << (2 * capacity).bit_length(), -1, dtype=np.int32),
            np.empty((capacity, WIDTH), dtype=np.int32),
            np.empty(capacity, dtype=np.int32),
            ReadingWorkspace.of(structure, longest),
            np.empty((2 * longest, WIDTH), dtype=np.int32),
            np.empty(longest, dtype=np.int64),
            np.empty((longest, structure.n_labels)),
        )


@lru_cache(maxsize=4)
def pool_of(seed: int) -> NDArray[np.float64]:
    """Return random numbers in [0, 1), taken from the beginning for every sentence, and again when they run out."""
    return np.random.default_rng(seed).random(_POOL)


@numba.njit(nogil=True, cache=True)
def slot_kernel(row, slots, rows):
    """Return the slot of a mention in a table: where it is, or where it would be."""
    bits, mask = np.int64(0), slots.shape[0] - 1
    for number in row:
        bits = ((bits ^ np.int64(number)) * _SPREAD) & _LOW_BITS
        bits ^= bits >> 15
    slot = bits & mask
    while slots[slot] >= 0:
        is_same = True
        for place in range(WIDTH):
            if rows[slots[slot], place] != row[place]:
                is_same = False
                break
        if is_same:
            break
        slot = (slot + 1) & mask
    return slot


@numba.njit(nogil=True, cache=True)
def add_kernel(room, n_found, n_rows):
    """Count the mentions of one sequence; return how many different ones there are now, -1 if there is no room."""
    slots, rows, counts, found = room.slots, room.rows, room.counts, room.found
    for number in range(n_found):
        slot = slot_kernel(found[number], slots, rows)
        if slots[slot] >= 0:
            counts[slots[slot]] += 1
            continue
        if n_rows == rows.shape[0]:
            return -1
        slots[slot] = n_rows
        rows[n_rows] = found[number]
        counts[n_rows] = 1
        n_rows += 1
    return n_rows


@numba.njit(nogil=True, cache=True)
def clear_kernel(room, n_rows):
    """Empty the table, the rows last in it first, so that each is found."""
    slots, rows = room.slots, room.rows
    for number in range(n_rows - 1, -1, -1):
        slots[slot_kernel(rows[number], slots, rows)] = -1


@numba.njit(nogil=True, cache=True)
def after_kernel(moves, potentials, first, last, after):
    """Fill ``after`` (n_words, n_tags): the sums over all that can come after a word without linking tags."""
    n_tags = moves.shape[0]
    for word in range(last - 1, first - 1, -1):
        here = after[word - first]
        here[:] = 1.0 if word == last - 1 else 0.0
        if word == last - 1:
            continue
        for next in range(n_tags):
            if not is_linking(next):
                state = potentials[word + 1, next] * after[word + 1 - first, next]
                for tag in range(n_tags):
                    here[tag] += moves[tag, next] * state


@numba.njit(nogil=True, cache=True)
def linking_kernel(alpha, other, first, last, shift):
    """Return the sum of products at all linking tags of a sentence; the rows of ``other`` begin ``shift`` earlier."""
    total = 0.0
    for word in range(first, last):
        for tag in range(1, alpha.shape[1]):
            if is_linking(tag):
                total += alpha[word, tag] * other[word - shift, tag]
    return total


@numba.njit(nogil=True, cache=True)
def count_linked_kernel(messages, first, last, max_components, n_samples, pool, room):
    """Count the mentions, other than plain runs, of sampled sequences with linking tags.

    Returns how many different ones there are, -1 if there is no room for them, and for how much each time counts.
    """
    moves, potentials, alpha, beta = messages
    after, tags = room.after, room.tags
    # The sum of the probabilities of linking tags is at least the probability that there is any.
    if linking_kernel(alpha, beta, first, last, 0) < LEAST_LINKING:
        return 0, 0.0
    after_kernel(moves, potentials, first, last, after)
    prob = min(1.0, linking_kernel(alpha, after, first, last, first))
    if prob < LEAST_LINKING:
        return 0, 0.0
    n_words, n_tags = last - first, moves.shape[0]
    n_drawn = math.ceil(n_samples * prob * prob)
    n_rows, next, last_draw = 0, 0, pool.shape[0] - 1
    word, tag, so_far = 0, 0, 0.0
    for sample in range(n_drawn):
        # One in each of n_drawn equal shares, so that none is drawn much more often than it should be.
        wanted = (sample + pool[next]) / n_drawn * prob
        next = next + 1 if next < last_draw else 0
        while so_far <= wanted:
            tag += 1
            if tag == n_tags:
                if word == n_words - 1:
                    tag -= 1
                    break
                word, tag = word + 1, 1
            if is_linking(tag):
                so_far += alpha[first + word, tag] * after[word, tag]
        tags[word:n_words] = 0
        tags[word] = tag
        if (tag - 1) % FORMS > 3:  # a head: a run may go on after it
            inside, here, at = tag - (tag - 1) % FORMS + 1, tag, word
            while at + 1 < n_words:
                goes_on = moves[here, inside] * potentials[first + at + 1, inside] * after[at + 1, inside]
                draw = pool[next] * after[at, here]
                next = next + 1 if next < last_draw else 0
                if draw >= goes_on:
                    break
                at, here = at + 1, inside
                tags[at] = inside
        here = tag
        for at in range(word - 1, -1, -1):
            draw = pool[next] * alpha[first + at + 1, here] / potentials[first + at + 1, here]
            next = next + 1 if next < last_draw else 0
            before, running = 0, alpha[first + at, 0] * moves[0, here]
            while running <= draw and before < n_tags - 1:
                before += 1
                running += alpha[first + at, before] * moves[before, here]
            tags[at] = here = before
        n_found = read_kernel(tags[:n_words], max_components, False, room.reading, room.found, 0)
        n_rows = add_kernel(room, n_found, n_rows)
        if n_rows < 0:
            break
    return n_rows, prob / n_drawn
