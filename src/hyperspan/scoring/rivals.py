"""What other candidates say of one: rivals for its words in the sentence, and the same string in the document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import inlined, kernel

RIVALS = (
    "shares a word",
    "lies inside it",
    "covers it",
    "shares a part",
    "is of another type and shares a word",
    "is of another type and has the same words",
)
"""The kinds of rivals of a candidate, by number."""

MOST_BITS = 64
"""Words of candidates are compared as bits of one number; candidates that reach further are compared part by part."""


def word_bits(parts: NDArray[np.int64], n_parts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a bit for each word of a candidate, from its first word on; none if it reaches beyond `MOST_BITS` words.

    Examples
    --------
    >>> word_bits(np.array([[[4, 5], [7, 9]], [[0, 65], [0, 0]]]), np.array([2, 1])).tolist()
    [25, 0]
    """
    bits = np.zeros(len(parts), dtype=np.uint64)
    bits_kernel(parts, n_parts, bits)
    return bits


@kernel
def bits_kernel(parts, n_parts, bits):
    """Fill in the bits of each candidate's words."""
    for row in range(bits.shape[0]):
        start = parts[row, 0, 0]
        if parts[row, n_parts[row] - 1, 1] - start <= MOST_BITS:
            for part in range(n_parts[row]):
                for word in range(parts[row, part, 0] - start, parts[row, part, 1] - start):
                    bits[row] |= np.uint64(1) << np.uint64(word)


@inlined
def overlap_kernel(candidates, row, other):
    """Return whether two candidates share a word, whether the other lies inside the one, and whether it covers it."""
    own, of_other, parts = candidates.bits[row], candidates.bits[other], candidates.parts
    if own == 0 or of_other == 0:
        n_shared = n_shared_kernel(parts, candidates.n_parts, row, other)
        n_words = n_shared_kernel(parts, candidates.n_parts, row, row)
        n_of_other = n_shared_kernel(parts, candidates.n_parts, other, other)
        return n_shared > 0, n_shared == n_of_other, n_shared == n_words
    shift = parts[other, 0, 0] - parts[row, 0, 0]
    if shift >= 0:
        ahead = np.uint64(shift)
        shared = (own >> ahead) & of_other
        return shared != 0, shared == of_other, shared << ahead == own
    ahead = np.uint64(-shift)
    shared = own & (of_other >> ahead)
    return shared != 0, shared << ahead == of_other, shared == own


@inlined
def n_shared_kernel(parts, n_parts, one, other):
    """Return the number of words that two candidates share."""
    n_shared = 0
    for part in range(n_parts[one]):
        for of_other in range(n_parts[other]):
            start = max(parts[one, part, 0], parts[other, of_other, 0])
            end = min(parts[one, part, 1], parts[other, of_other, 1])
            n_shared += max(end - start, 0)
    return n_shared


@inlined
def shares_part_kernel(parts, n_parts, one, other):
    """Return whether two candidates share a part."""
    for part in range(n_parts[one]):
        for of_other in range(n_parts[other]):
            if parts[one, part, 0] == parts[other, of_other, 0] and parts[one, part, 1] == parts[other, of_other, 1]:
                return True
    return False


@inlined
def rivals_kernel(candidates, sentence, row, best):
    """Fill ``best`` with the highest log odds of each kind of rival, -inf where there is none."""
    parts, n_parts = candidates.parts, candidates.n_parts
    best[:] = -np.inf
    start, end = parts[row, 0, 0], parts[row, n_parts[row] - 1, 1]
    for other in range(candidates.first[sentence], candidates.first[sentence + 1]):
        if parts[other, 0, 0] >= end:
            break  # parts are in order
        if other == row or parts[other, n_parts[other] - 1, 1] <= start:
            continue
        is_rival, is_inside, covers = overlap_kernel(candidates, row, other)
        if not is_rival:
            continue
        odds = candidates.log_odds[other]
        if candidates.type_id[other] != candidates.type_id[row]:
            best[4] = max(best[4], odds)
            if is_inside and covers:
                best[5] = max(best[5], odds)
            continue
        best[0] = max(best[0], odds)
        if is_inside:
            best[1] = max(best[1], odds)
        elif covers:
            best[2] = max(best[2], odds)
        if odds > best[3] and shares_part_kernel(parts, n_parts, row, other):
            best[3] = odds


@kernel
def elsewhere_kernel(order, typed, document, sentence, log_odds, elsewhere, n_elsewhere):
    """Fill in the highest log odds of the same string and type in other sentences of the document, and their number.

    ``order`` groups candidates by document and string, and within a group by sentence.
    """
    begin, n_rows = 0, order.shape[0]
    while begin < n_rows:
        first = order[begin]
        end, best, second, best_sentence = begin, -np.inf, -np.inf, -1
        while end < n_rows and document[order[end]] == document[first] and typed[order[end]] == typed[first]:
            row = order[end]
            if log_odds[row] > best:
                if sentence[row] != best_sentence:
                    second = best
                best, best_sentence = log_odds[row], sentence[row]
            elif sentence[row] != best_sentence:
                second = max(second, log_odds[row])
            end += 1
        own = begin
        while own < end:
            after = own
            while after < end and sentence[order[after]] == sentence[order[own]]:
                after += 1
            for place in range(own, after):
                row = order[place]
                n_elsewhere[row] = end - begin - (after - own)
                elsewhere[row] = second if sentence[row] == best_sentence else best
            own = after
        begin = end
