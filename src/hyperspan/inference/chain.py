"""Forward and backward along a chain of tags, compiled: scaled products where scores allow it.

Every tag can follow every other, so any two tags at a word are within exp of one word's score range of each other, and
a window of two words bounds what can underflow. Beyond `WINDOW_BOUND`, or where a transition is forbidden (-inf) over
too long a sentence, `paths` does the work in log space. See `chain_reference` for the same thing in plain words.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from hyperspan.inference.frontier import WINDOW_BOUND
from hyperspan.inference.paths import log_expected_kernel, log_forward_kernel, log_total_kernel


@numba.njit(nogil=True, cache=True)
def range_kernel(values):
    """Return the lowest and highest finite value, and whether some value is -inf."""
    lowest, highest, has_forbidden = 0.0, 0.0, False
    for value in values.flat:
        if value == -np.inf:
            has_forbidden = True
        else:
            lowest, highest = min(lowest, value), max(highest, value)
    return lowest, highest, has_forbidden


@numba.njit(nogil=True, cache=True, error_model="numpy")
def chain_expected_kernel(scores, begin, end, moves, states, scales, back, expected, expected_moves, wants_expected):
    """Return the log partition function of one sentence by scaled products.

    ``moves`` holds exp of the transitions. Room: ``states`` (n_words, n_tags), ``scales`` n_words, ``back`` (2,
    n_tags). If wanted, rows of ``expected`` are set and ``expected_moves`` is added to.
    """
    n_tags = moves.shape[0]
    log_total = 0.0
    for word in range(begin, end):
        slot = word - begin
        # Shifted by the greatest score of the word, so that exp cannot overflow.
        shift = -np.inf
        for tag in range(n_tags):
            shift = max(shift, scores[word, tag])
        if shift == -np.inf:
            return -np.inf
        if slot == 0:
            for tag in range(n_tags):
                states[0, tag] = 1.0
        else:
            for tag in range(n_tags):
                states[slot, tag] = 0.0
            for before in range(n_tags):
                weight = states[slot - 1, before]
                for tag in range(n_tags):
                    states[slot, tag] += weight * moves[before, tag]
        total = 0.0
        for tag in range(n_tags):
            states[slot, tag] *= math.exp(scores[word, tag] - shift)
            total += states[slot, tag]
        if total == 0.0:
            return -np.inf
        for tag in range(n_tags):
            states[slot, tag] /= total
        scales[slot] = total
        log_total += shift + math.log(total)
    if not wants_expected:
        return log_total
    for tag in range(n_tags):
        back[0, tag] = 1.0
    for word in range(end - 1, begin - 1, -1):
        slot = word - begin
        shift = -np.inf
        for tag in range(n_tags):
            expected[word, tag] = states[slot, tag] * back[0, tag]
            shift = max(shift, scores[word, tag])
        if slot == 0:
            break
        for tag in range(n_tags):
            back[1, tag] = back[0, tag] * math.exp(scores[word, tag] - shift) / scales[slot]
        for before in range(n_tags):
            weight, total = states[slot - 1, before], 0.0
            for tag in range(n_tags):
                moved = moves[before, tag] * back[1, tag]
                total += moved
                expected_moves[before, tag] += weight * moved
            back[0, before] = total
    return log_total


@numba.njit(nogil=True, cache=True)
def chain_batch_kernel(
    automaton,
    transitions,
    scores,
    first_word,
    begin,
    end,
    wants_expected,
    log_partition,
    expected,
    expected_transitions,
):
    """Sum the sentences from begin to end.

    ``log_partition`` of shape (n_sentences,) is set, and rows of ``expected`` (n_words, n_tags); counts are added to
    ``expected_transitions`` of shape (n_sentences, n_tags, n_tags), or (1, …) where they need not be kept apart.
    """
    n_tags = transitions.shape[0]
    longest = 1
    for sentence in range(begin, end):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    low_move, high_move, forbidden_move = range_kernel(transitions)
    moves = np.exp(transitions)
    states = np.empty((longest, n_tags))
    scales = np.empty(longest)
    back = np.empty((2, n_tags))
    for sentence in range(begin, end):
        first, last = first_word[sentence], first_word[sentence + 1]
        if first == last:
            log_partition[sentence] = 0.0
            continue
        counts = expected_transitions[sentence if expected_transitions.shape[0] > 1 else 0]
        low, high, forbidden = range_kernel(scores[first:last])
        spread = 2.0 * (high - low + high_move - low_move)
        if forbidden or forbidden_move:
            spread *= last - first
        if spread < WINDOW_BOUND:
            log_partition[sentence] = chain_expected_kernel(
                scores, first, last, moves, states, scales, back, expected, counts, wants_expected
            )
            if log_partition[sentence] > -np.inf or not wants_expected:
                continue
        sentence_scores = scores[first:last]
        log_forward = np.empty((last - first + 1, n_tags + 1))
        log_forward_kernel(automaton, sentence_scores, log_forward)
        log_partition[sentence] = log_total_kernel(automaton, log_forward)
        if wants_expected:
            expected[first:last] = 0.0
            if log_partition[sentence] > -np.inf:
                by_arc = np.zeros(automaton.arc_from.shape[0])
                log_expected_kernel(
                    automaton,
                    sentence_scores,
                    log_forward,
                    log_partition[sentence],
                    expected[first:last],
                    by_arc,
                )
                for arc in range(automaton.arc_from.shape[0]):
                    if automaton.arc_from[arc] < n_tags:
                        counts[automaton.arc_from[arc], automaton.arc_label[arc]] += by_arc[arc]
