"""The kernels of an evaluation of the objective: from weights to scores, and from residuals to the gradient.

The most frequent operation adds a row of numbers, one for each column (an index into ``dense_label``). Such rows are
padded to whole blocks in memory, and blocks are added in loops of constant length, which compile to a few instructions.
Slices are used instead of indices because the compiler then vectorises without checks for negative indices. The work
for every row of a word is written inline: a function would count references to its array arguments, which takes longer
than the work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import inlined, kernel
from hyperspan.compiled.prefetch import AHEAD, prefetch, prefetch_numbers

BLOCK = 8
"""How many numbers are added at a time."""


class Pairs(NamedTuple):
    """The pairs in the form for kernels: by row and column, an index into ``dense_label``.

    Attributes
    ----------
    first : int64 array of shape (n_rows + 1,)
        Where the weights of each row's pairs begin.
    place : int64 array of shape (n_rows,)
        Where they begin in padded arrays, in which rows with all columns take whole blocks.
    column : integer array
        The column of each pair, padded.
    n_columns : int
    width : int
        The same, padded to whole blocks.
    """

    first: NDArray[np.int64]
    place: NDArray[np.int64]
    column: NDArray[Any]
    n_columns: int
    width: int

    @classmethod
    def of_columns(cls, first: NDArray[np.int64], column: NDArray[Any], n_columns: int) -> Pairs:
        """Lay out pairs, given the column of each."""
        width = -(-n_columns // BLOCK) * BLOCK
        n_pairs = np.diff(first)
        border = np.concatenate([[0], np.cumsum(np.where(n_pairs == n_columns, width, n_pairs))])
        padded = np.zeros(border[-1], column.dtype)
        padded[np.arange(len(column)) + np.repeat(border[:-1] - first[:-1], n_pairs)] = column
        return cls(first, border[:-1], padded, n_columns, width)


@inlined
def add_blocks_kernel(source, place, width, sums):
    """Add a padded row of numbers to sums."""
    for block in range(0, width, BLOCK):
        numbers, of_block = source[place + block : place + block + BLOCK], sums[block : block + BLOCK]
        for number in range(BLOCK):
            of_block[number] += numbers[number]


@kernel
def scale_kernel(pairs, scale, preconditioner, begin, end, weight, scaled):
    """Fill in what the pairs of rows add to scores, and return the sum of their squares as it counts in the penalty."""
    total = 0.0
    for row in range(begin, end):
        first, last = pairs.first[row], pairs.first[row + 1]
        place = pairs.place[row]
        units, weights, of_row = preconditioner[first:last], weight[first:last], scaled[place : place + last - first]
        for pair in range(of_row.shape[0]):
            own = units[pair] * weights[pair]
            of_row[pair] = scale[row] * own
            total += own * own
    return total


@kernel
def group_scores_kernel(pairs, scaled, first_row, row_of, begin, end, group_scores):
    """Fill rows of ``group_scores``, padded and one after another, with the sums of the groups' rows."""
    first_pair, first_place, column, n_columns, width = pairs
    scores = np.empty(width)
    for group in range(begin, end):
        scores[:] = 0.0
        for place in range(first_row[group], first_row[group + 1]):
            row = row_of[place]
            first, n_pairs = first_place[row], first_pair[row + 1] - first_pair[row]
            if n_pairs == n_columns:
                add_blocks_kernel(scaled, first, width, scores)
            else:
                for pair in range(first, first + n_pairs):
                    scores[column[pair]] += scaled[pair]
        of_group = group_scores[group * width : (group + 1) * width]
        for number in range(of_group.shape[0]):
            of_group[number] = scores[number]


@kernel
def word_scores_kernel(
    pairs,
    scaled,
    label_of,
    bias,
    first_group,
    group_of,
    group_scores,
    first_row,
    place_of,
    size_of,
    begin,
    end,
    scores,
):
    """Fill rows of ``scores`` for the words from begin to end: biases, the sums of groups, the weights of rows.

    For each row of a word, ``place_of`` says where its pairs begin, and ``size_of`` how many there are.
    """
    column, n_columns, width = pairs.column, pairs.n_columns, pairs.width
    n_groups, n_rows = first_group[end], first_row[end]
    by_column = np.empty(width)
    for word in range(begin, end):
        by_column[:] = 0.0
        for place in range(first_group[word], first_group[word + 1]):
            if place + AHEAD < n_groups:
                prefetch_numbers(group_scores, np.int64(group_of[place + AHEAD]) * width, width)
            add_blocks_kernel(group_scores, np.int64(group_of[place]) * width, width, by_column)
        for place in range(first_row[word], first_row[word + 1]):
            if place + AHEAD < n_rows:
                prefetch_numbers(scaled, place_of[place + AHEAD], size_of[place + AHEAD])
                prefetch(column, place_of[place + AHEAD])
            first, n_pairs = place_of[place], size_of[place]
            if n_pairs == n_columns:
                add_blocks_kernel(scaled, first, width, by_column)
            else:
                for pair in range(first, first + n_pairs):
                    by_column[column[pair]] += scaled[pair]
        row = scores[word - begin]
        for label in range(bias.shape[0]):
            row[label] = bias[label]
        for number in range(n_columns):
            row[label_of[number]] += by_column[number]


@kernel
def residual_kernel(label_of, width, gradient, begin, end, residual, by_label):
    """Store the residuals (empirical minus expected counts) by word and column, and sum them by label.

    ``gradient`` (n_words, n_labels) is that of the negative log-likelihood by the scores: expected minus empirical.
    """
    for word in range(begin, end):
        row = gradient[word - begin]
        for label in range(by_label.shape[0]):
            by_label[label] -= row[label]
        of_word = residual[word * width : (word + 1) * width]
        for column in range(label_of.shape[0]):
            of_word[column] = -row[label_of[column]]


@kernel
def group_residuals_kernel(width, first_word, word_of, residual, begin, end, group_residual):
    """Fill rows of ``group_residual`` with the sums of the residuals of the groups' words."""
    n_places = first_word[end]
    total = np.empty(width)
    for group in range(begin, end):
        total[:] = 0.0
        for place in range(first_word[group], first_word[group + 1]):
            if place + AHEAD < n_places:
                prefetch_numbers(residual, np.int64(word_of[place + AHEAD]) * width, width)
            add_blocks_kernel(residual, np.int64(word_of[place]) * width, width, total)
        of_group = group_residual[group * width : (group + 1) * width]
        for number in range(of_group.shape[0]):
            of_group[number] = total[number]


@kernel
def row_gradient_kernel(
    pairs,
    scale,
    preconditioner,
    weight,
    l2,
    first_word,
    word_of,
    residual,
    first_group,
    group_of,
    group_residual,
    begin,
    end,
    gradient,
):
    """Fill in the gradient of the pairs of rows: the penalty's minus the residuals of their words."""
    first_pair, first_place, column, n_columns, width = pairs
    n_places = first_word[end]
    total = np.empty(width)
    for row in range(begin, end):
        first, last, at = first_pair[row], first_pair[row + 1], first_place[row]
        total[:] = 0.0
        for place in range(first_word[row], first_word[row + 1]):
            if place + AHEAD < n_places:
                prefetch_numbers(residual, np.int64(word_of[place + AHEAD]) * width, width)
            of_word = np.int64(word_of[place]) * width
            if last - first == n_columns:
                add_blocks_kernel(residual, of_word, width, total)
            else:
                for pair in range(last - first):
                    total[pair] += residual[of_word + column[at + pair]]
        for place in range(first_group[row], first_group[row + 1]):
            of_group = np.int64(group_of[place]) * width
            if last - first == n_columns:
                add_blocks_kernel(group_residual, of_group, width, total)
            else:
                for pair in range(last - first):
                    total[pair] += group_residual[of_group + column[at + pair]]
        units, weights, of_row = preconditioner[first:last], weight[first:last], gradient[first:last]
        for pair in range(of_row.shape[0]):
            of_row[pair] = units[pair] * (2.0 * l2 * units[pair] * weights[pair] - scale[row] * total[pair])
