"""How probable mentions are over tag sequences, and the search for all that are probable enough, compiled."""

from __future__ import annotations

import numba
import numpy as np

from hyperspan.inference.numba.runs import probable_runs_kernel, run_prob_kernel
from hyperspan.inference.numba.tag_readings import WIDTH
from hyperspan.inference.numba.tag_samples import clear_kernel, count_linked_kernel, slot_kernel


@numba.njit(nogil=True, cache=True)
def probable_kernel(
    messages, first_word, is_within, begin, threshold, max_components, n_samples, pool, work, whose, rows, probs
):
    """Write the probable mentions of sentences until there is no more room; return the next sentence and how many."""
    slots, counted, counts = work.slots, work.rows, work.counts
    n_rows, capacity = 0, probs.shape[0]
    runs, run_probs = np.empty((capacity, 3), dtype=np.int64), np.empty(capacity)
    row = np.zeros(WIDTH, dtype=np.int32)
    for sentence in range(begin, is_within.shape[0]):
        if not is_within[sentence]:
            continue
        first, last = first_word[sentence], first_word[sentence + 1]
        n_counted, share = count_linked_kernel(messages, first, last, max_components, n_samples, pool, work)
        n_runs = probable_runs_kernel(messages, first, last, threshold, runs, run_probs)
        if n_counted < 0 or n_runs < 0 or n_rows + n_counted + n_runs > capacity:
            return sentence, n_rows
        for number in range(n_runs):
            row[0], row[1], row[2], row[3] = runs[number, 0], 1, runs[number, 1], runs[number, 2]
            if n_counted == 0 or slots[slot_kernel(row, slots, counted)] < 0:
                whose[n_rows], probs[n_rows], rows[n_rows] = sentence, run_probs[number], row
                n_rows += 1
        for number in range(n_counted):
            prob = prob_kernel(messages, first, last, counted[number], share * counts[number])
            if prob >= threshold:
                whose[n_rows], probs[n_rows], rows[n_rows] = sentence, prob, counted[number]
                n_rows += 1
        clear_kernel(work, n_counted)
    return is_within.shape[0], n_rows


@numba.njit(nogil=True, cache=True)
def mention_probs_kernel(
    messages, first_word, is_within, begin, max_components, n_samples, pool, work, first_row, rows, probs
):
    """Fill the probabilities of the mentions of sentences until there is no more room; return the next sentence."""
    slots, counted, counts = work.slots, work.rows, work.counts
    for sentence in range(begin, is_within.shape[0]):
        if not is_within[sentence] or first_row[sentence] == first_row[sentence + 1]:
            continue
        first, last = first_word[sentence], first_word[sentence + 1]
        n_counted, share = count_linked_kernel(messages, first, last, max_components, n_samples, pool, work)
        if n_counted < 0:
            return sentence
        for number in range(first_row[sentence], first_row[sentence + 1]):
            place = slots[slot_kernel(rows[number], slots, counted)]
            probs[number] = prob_kernel(
                messages, first, last, rows[number], share * counts[place] if place >= 0 else 0.0
            )
        clear_kernel(work, n_counted)
    return is_within.shape[0]


@numba.njit(nogil=True, cache=True)
def prob_kernel(messages, first, last, row, counted):
    """Return how probable a mention is, given how probable it is that it comes from bodies and heads."""
    if row[1] == 1:
        counted += run_prob_kernel(messages, first, last, first + row[2], first + row[3], row[0])
    return min(1.0, counted)
