"""The order of mentions that are rows of numbers."""

from __future__ import annotations

import numpy as np

from hyperspan.compiled.kernel import inlined, kernel


@inlined
def comes_before_kernel(rows, rank, one, other):
    """Say whether one mention of a sentence comes before another: by parts, an absent one first, and by type."""
    for part in range(min(rows.n_parts[one], rows.n_parts[other])):
        for side in range(2):
            if rows.parts[one, part, side] != rows.parts[other, part, side]:
                return rows.parts[one, part, side] < rows.parts[other, part, side]
    if rows.n_parts[one] != rows.n_parts[other]:
        return rows.n_parts[one] < rows.n_parts[other]
    return rank[rows.block[one]] < rank[rows.block[other]]


@kernel
def order_kernel(rows, rank, first, order):
    """Fill in the order of rows, and where those of each sentence begin: they are few, and nearly in order already."""
    n_rows, n_sentences = rows.sentence.shape[0], first.shape[0] - 1
    for row in range(n_rows):
        first[rows.sentence[row] + 1] += 1
    for sentence in range(n_sentences):
        first[sentence + 1] += first[sentence]
    n_placed = np.zeros(n_sentences, dtype=np.int64)
    for row in range(n_rows):
        sentence = rows.sentence[row]
        place = first[sentence] + n_placed[sentence]
        n_placed[sentence] += 1
        while place > first[sentence] and comes_before_kernel(rows, rank, row, order[place - 1]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = row
