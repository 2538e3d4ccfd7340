"""The exact probability of runs of tags, as a product of messages.

A *run* is a B, or an I that follows neither a contiguous tag nor a head, with the I tags after it. Unless a head
follows, it is a mention whatever the other tags are. So its probability is the product of the sum over everything
before it, its own potentials, and the sum over everything after it.

``messages`` are those of `chain`. ``with_begin`` and ``with_inside`` are sums over everything up to a word of the run
whose tag is B or I.
"""

from __future__ import annotations

from hyperspan.compiled.kernel import kernel
from hyperspan.inference.numba.tag_readings import FORMS


@kernel
def run_starts_kernel(messages, first, start, type_id):
    """Return the sums for a run that begins at a word, given the first word of its sentence."""
    begin, inside, head = type_id * FORMS + 1, type_id * FORMS + 2, type_id * FORMS + 5
    if start == first:
        return messages.alpha[start, begin], messages.alpha[start, inside]
    total = 0.0
    for before in range(messages.moves.shape[0]):
        if not (begin <= before <= inside or head <= before <= head + 1):
            total += messages.alpha[start - 1, before] * messages.moves[before, inside]
    return messages.alpha[start, begin], total * messages.potentials[start, inside]


@kernel
def run_goes_on_kernel(messages, word, with_begin, with_inside, type_id):
    """Return the sums for a run that continues to a word."""
    begin, inside = type_id * FORMS + 1, type_id * FORMS + 2
    total = with_begin * messages.moves[begin, inside] + with_inside * messages.moves[inside, inside]
    return 0.0, total * messages.potentials[word, inside]


@kernel
def run_ends_kernel(messages, last, end, with_begin, with_inside, type_id):
    """Return the probability of a run that ends before ``end``, in a sentence that ends before ``last``."""
    if end == last:
        return with_begin + with_inside
    moves, potentials, beta = messages.moves, messages.potentials, messages.beta
    begin, inside, head = type_id * FORMS + 1, type_id * FORMS + 2, type_id * FORMS + 5
    total = 0.0
    for after in range(moves.shape[0]):
        if after != inside and not head <= after <= head + 1:
            before = with_begin * moves[begin, after] + with_inside * moves[inside, after]
            total += before * potentials[end, after] * beta[end, after]
    return total


@kernel
def add_run_probs_kernel(messages, first_word, is_within, rows, probs):
    """Add the probability of the run to that of each mention with one part."""
    for number in range(rows.shape[0]):
        sentence, type_id = rows[number, 0], rows[number, 1]
        first, last = first_word[sentence], first_word[sentence + 1]
        start, end = first + rows[number, 2], first + rows[number, 3]
        if is_within[sentence] and start < end and rows[number, 5] == 0:
            with_begin, with_inside = run_starts_kernel(messages, first, start, type_id)
            for word in range(start + 1, end):
                with_begin, with_inside = run_goes_on_kernel(messages, word, with_begin, with_inside, type_id)
            probs[number] += run_ends_kernel(messages, last, end, with_begin, with_inside, type_id)


@kernel
def probable_runs_kernel(messages, first_word, is_within, threshold, rows):
    """Write every run at least as probable as the threshold; return how many there are, or -1 if there is no space.

    The longer a run, the less probable it is, and at most 1 / threshold runs that probable cover a word, so time is
    linear.
    """
    alpha, beta = messages.alpha, messages.beta
    n_rows, n_types = 0, (alpha.shape[1] - 1) // FORMS
    for sentence in range(is_within.shape[0]):
        first, last = first_word[sentence], first_word[sentence + 1]
        for start in range(first, last if is_within[sentence] else first):
            for type_id in range(n_types):
                begin, inside = type_id * FORMS + 1, type_id * FORMS + 2
                if alpha[start, begin] * beta[start, begin] + alpha[start, inside] * beta[start, inside] < threshold:
                    continue
                with_begin, with_inside = run_starts_kernel(messages, first, start, type_id)
                for end in range(start + 1, last + 1):
                    if with_begin * beta[end - 1, begin] + with_inside * beta[end - 1, inside] < threshold:
                        break
                    if run_ends_kernel(messages, last, end, with_begin, with_inside, type_id) >= threshold:
                        if n_rows == rows.shape[0]:
                            return -1
                        rows[n_rows] = 0
                        rows[n_rows, 0], rows[n_rows, 1] = sentence, type_id
                        rows[n_rows, 2], rows[n_rows, 3] = start - first, end - first
                        n_rows += 1
                    if end < last:
                        with_begin, with_inside = run_goes_on_kernel(messages, end, with_begin, with_inside, type_id)
    return n_rows
