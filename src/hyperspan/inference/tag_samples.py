"""Tag sequences drawn in proportion to their probability, and how often their readings have each mention.

Drawing goes through all samples word by word, from the last to the first: samples that have the same tag at a word
share the sums that say which tag came before. In readings, what is said of one type does not depend on the tags of
others; and a run of contiguous tags that touches no head is a mention whatever else there is. So such runs are counted
by a kernel, and only what is left is read, each distinct sequence of one type's tags once.
"""

from __future__ import annotations

from collections import Counter

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.frontier import WINDOW_BOUND
from hyperspan.mentions import Span
from hyperspan.structures.linear import Linear
from hyperspan.structures.linear_decoding import enough_readings_of_words

_FORMS = 6
"""Tags of a type: B, I, BD, ID, BH, IH."""

_CONTIGUOUS = 2
"""The first so many of them are contiguous."""


def are_within_bounds(scores: NDArray[np.float64], transitions: NDArray[np.float64]) -> bool:
    """Say whether scaled products lose nothing: as in `chain`, for scores none of which is -inf."""
    if not len(scores):
        return True
    spread = np.ptp(scores) + np.ptp(transitions) + np.log(len(transitions))
    return bool(2.0 * spread < WINDOW_BOUND)  # not where there is -inf: the spread then is inf, or not a number


def draw_tags(
    scores: NDArray[np.float64], transitions: NDArray[np.float64], uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Draw tag sequences, one for each row of random numbers.

    Parameters
    ----------
    scores : float64 array of shape (n_words, n_tags)
        Within bounds, as `are_within_bounds` says.
    transitions : float64 array of shape (n_tags, n_tags)
    uniform : float64 array of shape (n_samples, n_words + 1)
        In [0, 1): column w chooses the tag of word w - 1.

    Returns
    -------
    tags : int64 array of shape (n_samples, n_words)
    """
    tags = np.empty((len(uniform), len(scores)), dtype=np.int64)
    if len(scores):
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        moves = np.exp(transitions - transitions.max())
        draw_kernel(weights, moves, np.ascontiguousarray(moves.T), uniform, tags)
    return tags


@numba.njit(nogil=True, cache=True)
def draw_kernel(weights, moves, moves_into, uniform, tags):
    """Fill ``tags``; ``weights`` and ``moves`` are exp of scores and transitions, ``moves_into`` is turned around."""
    n_words, n_tags = weights.shape
    n_samples = tags.shape[0]
    states = np.empty((n_words, n_tags))
    for word in range(n_words):
        for tag in range(n_tags):
            states[word, tag] = 0.0 if word else 1.0
        if word:
            for before in range(n_tags):
                state = states[word - 1, before]
                for tag in range(n_tags):
                    states[word, tag] += state * moves[before, tag]
        total = 0.0
        for tag in range(n_tags):
            states[word, tag] *= weights[word, tag]
            total += states[word, tag]
        for tag in range(n_tags):
            states[word, tag] /= total
    sums = np.empty((n_tags, n_tags))
    known = np.full(n_tags, -1, dtype=np.int64)
    running = 0.0
    for tag in range(n_tags):
        running += states[n_words - 1, tag]
        sums[0, tag] = running
    for sample in range(n_samples):
        tags[sample, n_words - 1] = search_kernel(sums[0], uniform[sample, n_words])
    for word in range(n_words - 1, 0, -1):
        for sample in range(n_samples):
            tag = tags[sample, word]
            if known[tag] != word:
                known[tag] = word
                running = 0.0
                for before in range(n_tags):
                    running += states[word - 1, before] * moves_into[tag, before]
                    sums[tag, before] = running
            tags[sample, word - 1] = search_kernel(sums[tag], uniform[sample, word])


@numba.njit(nogil=True, cache=True)
def search_kernel(sums, draw):
    """Return the first place where the running sums exceed a share of their total."""
    last = sums.shape[0] - 1
    wanted = draw * sums[last]
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


Key = tuple[str, tuple[Span, ...]]
"""The type and the parts of a mention."""


def count_mentions(structure: Linear, tags: NDArray[np.int64]) -> dict[Key, int]:
    """Return in how many of some tag sequences the ``enough`` reading has each mention, by its type and parts.

    Parameters
    ----------
    structure : Linear
    tags : int64 array of shape (n_samples, n_words)

    Examples
    --------
    >>> count_mentions(Linear(("Finding",)), np.array([[1, 2, 0], [1, 0, 1]]))
    {('Finding', ((0, 1),)): 1, ('Finding', ((0, 2),)): 1, ('Finding', ((2, 3),)): 1}
    """
    n_words = tags.shape[1]
    runs, rest = np.empty(int(np.count_nonzero(tags)), dtype=np.int64), tags.copy()
    n_runs = runs_kernel(tags, runs, rest)
    counts: dict[Key, int] = {}
    keys, n_times = np.unique(runs[:n_runs], return_counts=True)
    for key, count in zip(keys.tolist(), n_times.tolist(), strict=True):
        place, end = divmod(key, n_words + 1)
        type_id, start = divmod(place, n_words)
        counts[structure.types[type_id], ((start, end),)] = count
    for type_id in np.unique((rest[rest > 0] - 1) // _FORMS).tolist():
        _add_rest(structure, rest, type_id, counts)
    return counts


def _add_rest(structure: Linear, rest: NDArray[np.int64], type_id: int, counts: dict[Key, int]) -> None:
    """Count what one type's heads, bodies and all that touches heads mean, reading each distinct sequence once."""
    first = type_id * _FORMS + 1
    of_type = np.where((rest >= first) & (rest < first + _FORMS), rest, 0)
    for raw, count in Counter(map(bytes, of_type[of_type.any(axis=1)])).items():
        row = np.frombuffer(raw, dtype=of_type.dtype)
        words = np.flatnonzero(row)
        tagged = zip(words.tolist(), row[words].tolist(), strict=True)
        for mention in enough_readings_of_words(structure, tagged):
            key = (mention.type, mention.parts)
            counts[key] = counts.get(key, 0) + count


@numba.njit(nogil=True, cache=True)
def runs_kernel(tags, runs, rest):
    """Write a key for every run of contiguous tags that touches no head, and strike it off the rest; returns how many.

    A key is (type * n_words + start) * (n_words + 1) + end. A run begins with a B, or with an I that follows something
    else, and goes on with I. A head after it joins it, and so does a head before an I.
    """
    n_samples, n_words = tags.shape
    n_runs = 0
    for sample in range(n_samples):
        word = 0
        while word < n_words:
            tag, start = tags[sample, word], word
            word += 1
            if tag == 0 or (tag - 1) % _FORMS >= _CONTIGUOUS:
                continue
            type_id = (tag - 1) // _FORMS
            inside, head = type_id * _FORMS + 2, type_id * _FORMS + 5
            while word < n_words and tags[sample, word] == inside:
                word += 1
            joins_after = word < n_words and head <= tags[sample, word] <= head + 1
            joins_before = tag == inside and start > 0 and head <= tags[sample, start - 1] <= head + 1
            if joins_after or joins_before:
                continue
            rest[sample, start:word] = 0
            runs[n_runs] = (type_id * n_words + start) * (n_words + 1) + word
            n_runs += 1
    return n_runs
