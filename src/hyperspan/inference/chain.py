"""Forward and backward along a chain of tags, compiled: scaled products where scores allow it.

Every tag can follow every other, so any two tags at a word are within exp of one word's score range of each other, and
a window of two words bounds what can underflow. Beyond `WINDOW_BOUND`, or where forbidden tags or transitions (-inf)
keep tags apart over too long a sentence, `paths` does the work in log space. See `chain_reference` for the same thing
in plain words.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from hyperspan.inference.exponentials import exp_kernel
from hyperspan.inference.frontier import WINDOW_BOUND, range_kernel
from hyperspan.inference.paths import log_expected_kernel, log_forward_kernel, log_total_kernel


@numba.njit(nogil=True, cache=True)
def allowed_range_kernel(values, begin, end):
    """Return the lowest and highest of 0 and of the values from row begin to row end, and whether some are -inf."""
    lowest, highest = range_kernel(values, begin, end, 0, values.shape[1])
    if lowest > -np.inf:
        return lowest, highest, False
    lowest = 0.0
    for row in range(begin, end):
        for value in values[row]:
            if -np.inf < value < lowest:
                lowest = value
    return lowest, highest, True


@numba.njit(nogil=True, cache=True, error_model="numpy")
def chain_expected_kernel(
    scores, begin, end, moves, exps, states, scales, back, expected, expected_moves, wants_expected
):
    """Return the log partition function of one sentence by scaled products.

    ``moves`` holds exp of the transitions. Room: ``exps`` and ``states`` (n_words, n_tags), ``scales`` n_words,
    ``back`` (2, n_tags). If wanted, rows of ``expected`` are set and ``expected_moves`` is added to.
    """
    n_words, n_tags = end - begin, moves.shape[0]
    exps[:n_words] = scores[begin:end]
    exp_kernel(exps[:n_words].reshape(-1))
    log_total = 0.0
    for slot in range(n_words):
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
            states[slot, tag] *= exps[slot, tag]
            total += states[slot, tag]
        if total == 0.0:
            return -np.inf
        for tag in range(n_tags):
            states[slot, tag] /= total
        scales[slot] = total
        log_total += math.log(total)
    if not wants_expected:
        return log_total
    for tag in range(n_tags):
        back[0, tag] = 1.0
    for slot in range(n_words - 1, -1, -1):
        for tag in range(n_tags):
            expected[begin + slot, tag] = states[slot, tag] * back[0, tag]
        if slot == 0:
            break
        for tag in range(n_tags):
            back[1, tag] = back[0, tag] * exps[slot, tag] / scales[slot]
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

    ``log_partition`` of shape (n_sentences,) is set, and rows of ``expected`` (n_words, n_tags) if wanted; counts are
    added to ``expected_transitions`` of shape (n_tags, n_tags).
    """
    n_tags = transitions.shape[0]
    longest = 1
    for sentence in range(begin, end):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    low_move, high_move, forbidden_move = allowed_range_kernel(transitions, 0, n_tags)
    moves = np.exp(np.minimum(transitions, WINDOW_BOUND))
    exps = np.empty((longest, n_tags))
    states = np.empty((longest, n_tags))
    scales = np.empty(longest)
    back = np.empty((2, n_tags))
    for sentence in range(begin, end):
        first, last = first_word[sentence], first_word[sentence + 1]
        if first == last:
            log_partition[sentence] = 0.0
            continue
        low, high, forbidden = allowed_range_kernel(scores, first, last)
        spread = 2.0 * (high - low + high_move - low_move + math.log(n_tags))
        if forbidden or forbidden_move:
            spread *= last - first
        if spread < WINDOW_BOUND:
            log_partition[sentence] = chain_expected_kernel(
                scores,
                first,
                last,
                moves,
                exps,
                states,
                scales,
                back,
                expected,
                expected_transitions,
                wants_expected,
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
                        expected_transitions[automaton.arc_from[arc], automaton.arc_label[arc]] += by_arc[arc]
