"""How probable runs of tags are, exactly: a product of messages.

A *run* is a B, or an I that follows neither a contiguous tag nor a head, with the I that come after it. Unless a head
follows, it is a mention whatever else there is. So its probability is a product: of the sum over all that can come
before it, of its own potentials, and of the sum over all that can come after.
"""

from __future__ import annotations

import numba

from hyperspan.inference.numba.tag_readings import FORMS

# ``messages`` are those of `chain`.


@numba.njit(nogil=True, cache=True)
def begins_kernel(messages, first, start, type_id):
    """Return the sum of all that ends with an I with which a run begins at a word; with a B it is ``alpha``."""
    moves, alpha = messages.moves, messages.alpha
    inside, head = type_id * FORMS + 2, type_id * FORMS + 5
    if start == first:
        return alpha[start, inside]
    total = 0.0
    for before in range(moves.shape[0]):
        if inside - 1 <= before <= inside or head <= before <= head + 1:
            continue
        total += alpha[start - 1, before] * moves[before, inside]
    return total * messages.potentials[start, inside]


@numba.njit(nogil=True, cache=True)
def ends_kernel(messages, last, end, tag, type_id):
    """Return the sum of all that can come after a run whose last tag is given, and that ends before ``end``."""
    if end == last:
        return 1.0
    moves, potentials, beta = messages.moves, messages.potentials, messages.beta
    inside, head = type_id * FORMS + 2, type_id * FORMS + 5
    total = 0.0
    for after in range(moves.shape[0]):
        if after == inside or head <= after <= head + 1:
            continue
        total += moves[tag, after] * potentials[end, after] * beta[end, after]
    return total


@numba.njit(nogil=True, cache=True)
def run_prob_kernel(messages, first, last, start, end, type_id):
    """Return how probable it is that there is a run from start to end, in a sentence from first to last."""
    begin, inside = type_id * FORMS + 1, type_id * FORMS + 2
    with_begin, with_inside = messages.alpha[start, begin], begins_kernel(messages, first, start, type_id)
    if end == start + 1:
        with_begin *= ends_kernel(messages, last, end, begin, type_id)
        return with_begin + with_inside * ends_kernel(messages, last, end, inside, type_id)
    total = with_begin * messages.moves[begin, inside] + with_inside * messages.moves[inside, inside]
    total *= messages.potentials[start + 1, inside]
    for word in range(start + 2, end):
        total = total * messages.moves[inside, inside] * messages.potentials[word, inside]
    return total * ends_kernel(messages, last, end, inside, type_id)


@numba.njit(nogil=True, cache=True)
def probable_runs_kernel(messages, first, last, threshold, runs, probs):
    """Write every run of a sentence that is at least so probable, as (type, start, end); return how many there are.

    -1 if there are more than there is room for. That a run begins at a word and goes on to another only becomes less
    probable the further it goes, and at most 1 / threshold runs that probable cover a word: so time is linear.
    """
    moves, potentials, alpha, beta = messages
    n_runs, n_types = 0, (moves.shape[0] - 1) // FORMS
    for start in range(first, last):
        for type_id in range(n_types):
            begin, inside = type_id * FORMS + 1, type_id * FORMS + 2
            with_begin = alpha[start, begin]
            if with_begin * beta[start, begin] + alpha[start, inside] * beta[start, inside] < threshold:
                continue
            with_inside = begins_kernel(messages, first, start, type_id)
            total = with_inside
            reaches = with_begin * beta[start, begin] + with_inside * beta[start, inside]
            end = start
            while reaches >= threshold:
                end += 1
                prob = total * ends_kernel(messages, last, end, inside, type_id)
                if end == start + 1:
                    prob += with_begin * ends_kernel(messages, last, end, begin, type_id)
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
                total *= potentials[end, inside]
                reaches = total * beta[end, inside]
    return n_runs
