"""Sums along tags, forward and backward, and what follows from them exactly: how probable runs of tags are.

A *run* is a B, or an I that follows neither a contiguous tag nor a head, with the I that come after it. Unless a head
follows, it is a mention whatever else there is. So its probability is a product: of the sum over all that can come
before it, of its own weights, and of the sum over all that can come after.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.exponentials import exp_kernel
from hyperspan.inference.frontier import WINDOW_BOUND
from hyperspan.inference.tag_readings import FORMS


class TagSums(NamedTuple):
    """Sums for all words of many sentences.

    Attributes
    ----------
    moves : float64 array of shape (n_tags, n_tags)
        exp of the transitions.
    weights : float64 array of shape (n_words, n_tags)
        exp of the scores, the greatest of a word being 1, over the total with which a word multiplies all sums.
    forward, backward : float64 arrays of shape (n_words, n_tags)
        Their product is the probability of a tag. ``forward`` sums to one at every word; it sums over what comes before
        a word, with the word, and ``backward`` over what comes after.
    """

    moves: NDArray[np.float64]
    weights: NDArray[np.float64]
    forward: NDArray[np.float64]
    backward: NDArray[np.float64]


def are_within_bounds(scores: NDArray[np.float64], transitions: NDArray[np.float64]) -> bool:
    """Say whether scaled products lose nothing: as in `chain`, for scores none of which is -inf."""
    if not len(scores):
        return True
    spread = np.ptp(scores) + np.ptp(transitions) + np.log(len(transitions))
    return bool(2.0 * spread < WINDOW_BOUND)  # not where there is -inf: the spread then is inf, or not a number


def tag_sums(scores: NDArray[np.float64], transitions: NDArray[np.float64], first_word: NDArray[np.int64]) -> TagSums:
    """Return the sums of sentences whose scores are within bounds.

    Examples
    --------
    >>> sums = tag_sums(np.log([[1.0, 3.0], [1.0, 1.0]]), np.zeros((2, 2)), np.array([0, 2]))
    >>> sums.forward * sums.backward
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    moves = np.exp(transitions - transitions.max(initial=-np.inf))
    weights, forward, backward = np.empty(scores.shape), np.empty(scores.shape), np.empty(scores.shape)
    sums_kernel(scores, moves, np.ascontiguousarray(moves.T), first_word, weights, forward, backward)
    return TagSums(moves, weights, forward, backward)


@numba.njit(nogil=True, cache=True)
def sums_kernel(scores, moves, moves_into, first_word, weights, forward, backward):
    """Fill the sums of all sentences; ``moves_into`` is ``moves`` turned around."""
    n_words, n_tags = scores.shape
    for word in range(n_words):
        highest = scores[word, 0]
        for tag in range(1, n_tags):
            highest = max(highest, scores[word, tag])
        for tag in range(n_tags):
            weights[word, tag] = scores[word, tag] - highest
    exp_kernel(weights.reshape(-1))
    for sentence in range(first_word.shape[0] - 1):
        first, last = first_word[sentence], first_word[sentence + 1]
        for word in range(first, last):
            for tag in range(n_tags):
                forward[word, tag] = 1.0 if word == first else 0.0
            if word > first:
                for before in range(n_tags):
                    state = forward[word - 1, before]
                    for tag in range(n_tags):
                        forward[word, tag] += state * moves[before, tag]
            total = 0.0
            for tag in range(n_tags):
                forward[word, tag] *= weights[word, tag]
                total += forward[word, tag]
            for tag in range(n_tags):
                forward[word, tag] /= total
                weights[word, tag] /= total
        for word in range(last - 1, first - 1, -1):
            for tag in range(n_tags):
                backward[word, tag] = 1.0 if word == last - 1 else 0.0
            if word < last - 1:
                for after in range(n_tags):
                    state = weights[word + 1, after] * backward[word + 1, after]
                    for tag in range(n_tags):
                        backward[word, tag] += state * moves_into[after, tag]


@numba.njit(nogil=True, cache=True)
def begins_kernel(sums, first, start, type_id):
    """Return the sum of all that ends with an I with which a run begins at a word; with a B it is ``forward``."""
    moves, forward = sums.moves, sums.forward
    inside, head = type_id * FORMS + 2, type_id * FORMS + 5
    if start == first:
        return forward[start, inside]
    total = 0.0
    for before in range(moves.shape[0]):
        if inside - 1 <= before <= inside or head <= before <= head + 1:
            continue
        total += forward[start - 1, before] * moves[before, inside]
    return total * sums.weights[start, inside]


@numba.njit(nogil=True, cache=True)
def ends_kernel(sums, last, end, tag, type_id):
    """Return the sum of all that can come after a run whose last tag is given, and that ends before ``end``."""
    if end == last:
        return 1.0
    moves, weights, backward = sums.moves, sums.weights, sums.backward
    inside, head = type_id * FORMS + 2, type_id * FORMS + 5
    total = 0.0
    for after in range(moves.shape[0]):
        if after == inside or head <= after <= head + 1:
            continue
        total += moves[tag, after] * weights[end, after] * backward[end, after]
    return total


@numba.njit(nogil=True, cache=True)
def run_prob_kernel(sums, first, last, start, end, type_id):
    """Return how probable it is that there is a run from start to end, in a sentence from first to last."""
    begin, inside = type_id * FORMS + 1, type_id * FORMS + 2
    with_begin, with_inside = sums.forward[start, begin], begins_kernel(sums, first, start, type_id)
    if end == start + 1:
        with_begin *= ends_kernel(sums, last, end, begin, type_id)
        return with_begin + with_inside * ends_kernel(sums, last, end, inside, type_id)
    total = with_begin * sums.moves[begin, inside] + with_inside * sums.moves[inside, inside]
    total *= sums.weights[start + 1, inside]
    for word in range(start + 2, end):
        total = total * sums.moves[inside, inside] * sums.weights[word, inside]
    return total * ends_kernel(sums, last, end, inside, type_id)


@numba.njit(nogil=True, cache=True)
def probable_runs_kernel(sums, first, last, threshold, runs, probs):
    """Write every run of a sentence that is at least so probable, as (type, start, end); return how many there are.

    -1 if there are more than there is room for. That a run begins at a word and goes on to another only becomes less
    probable the further it goes, and at most 1 / threshold runs that probable cover a word: so time is linear.
    """
    moves, weights, forward, backward = sums
    n_runs, n_types = 0, (moves.shape[0] - 1) // FORMS
    for start in range(first, last):
        for type_id in range(n_types):
            begin, inside = type_id * FORMS + 1, type_id * FORMS + 2
            with_begin = forward[start, begin]
            if with_begin * backward[start, begin] + forward[start, inside] * backward[start, inside] < threshold:
                continue
            with_inside = begins_kernel(sums, first, start, type_id)
            total = with_inside
            reaches = with_begin * backward[start, begin] + with_inside * backward[start, inside]
            end = start
            while reaches >= threshold:
                end += 1
                prob = total * ends_kernel(sums, last, end, inside, type_id)
                if end == start + 1:
                    prob += with_begin * ends_kernel(sums, last, end, begin, type_id)
                if prob >= threshold:
                    if n_runs == runs.shape[0]:
                        return -1
                    runs[n_runs, 0], runs[n_runs, 1], runs[n_runs, 2] = type_id, start - first, end - first
                    probs[n_runs] = prob
                    n_runs += 1
                if end == last:
                    break
                total *= moves[inside, inside]
                if end == start + 1:
                    total += with_begin * moves[begin, inside]
                total *= weights[end, inside]
                reaches = total * backward[end, inside]
    return n_runs
