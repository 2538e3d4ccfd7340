"""The weights of a linear scorer in a layout with one lookup per feature, and the kernel that sums them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.compiled.prefetch import AHEAD, prefetch
from hyperspan.features import FeatureBlock
from hyperspan.scoring.parameters import Parameters
from hyperspan.structures.structure import Labels

BLOCK = 4
"""How many weights are added at a time: rows are so short that mispredicted loop ends are expensive."""

_ALL_LABELS = -1
_NUMBERS_A_LINE = 8


class WeightTable(NamedTuple):
    """The weights of a linear scorer, with one lookup per feature.

    The pairs of a row are contiguous, padded to whole blocks by weights of zero. Block b has the pairs ``BLOCK * b :
    BLOCK * (b + 1)``.

    Attributes
    ----------
    bias : float64 array of shape (n_labels,)
        The score of each label by itself.
    dense_label : int32 array of shape (n_dense,)
        The labels of a row that has all of them, in the order of its pairs.
    blocks : int32 array of shape (n_features, 2)
        The first block of the feature's row, and the number of blocks: -1 for a row with all labels.
    label : uint32 array of shape (n_pairs,)
        The label of each pair. Unsigned: for signed indices the compiler adds a check for negative ones.
    weight : float64 array of shape (n_pairs,)
    """

    bias: NDArray[np.float64]
    dense_label: NDArray[np.int32]
    blocks: NDArray[np.int32]
    label: NDArray[np.uint32]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, structure: Labels, parameters: Parameters, weights: NDArray[np.float64]) -> WeightTable:
        """Lay out the weights of a model."""
        bias, _, pair_weight = parameters.split(weights, structure.weightless_labels)
        n_pairs = np.diff(parameters.first_pair)
        n_blocks = -(-n_pairs // BLOCK)
        first_block = np.cumsum(n_blocks) - n_blocks
        is_dense = n_pairs == len(parameters.dense_label)
        blocks = np.column_stack([first_block, np.where(is_dense, _ALL_LABELS, n_blocks)]).astype(np.int32)
        place = np.arange(len(pair_weight)) + np.repeat(BLOCK * first_block - parameters.first_pair[:-1], n_pairs)
        label = np.zeros(BLOCK * n_blocks.sum(), np.uint32)
        weight = np.zeros(len(label))
        label[place], weight[place] = parameters.pair_label, pair_weight
        return cls(bias, parameters.dense_label, blocks[parameters.row_of_feature], label, weight)

    def add_up(self, features: FeatureBlock, scores: NDArray[np.float64]) -> None:
        """Fill ``scores``, of shape (n_words, n_labels), with the score of every label at every word."""
        scores_kernel(features.first_feature, features.feature, *self, scores)


@kernel
def scores_kernel(first_feature, feature, bias, dense_label, blocks, label, weight, scores):
    """Fill rows of ``scores``: biases plus the weights of every feature's labels."""
    n_dense, n_features = dense_label.shape[0], feature.shape[0]
    dense = np.empty(n_dense)
    for word in range(scores.shape[0]):
        row = scores[word]
        for number in range(bias.shape[0]):  # loops, because a slice copy takes seconds to compile
            row[number] = bias[number]
        for number in range(n_dense):
            dense[number] = 0.0
        for occurrence in range(first_feature[word], first_feature[word + 1]):
            if occurrence + 2 * AHEAD < n_features:
                prefetch(blocks, 2 * np.int64(feature[occurrence + 2 * AHEAD]))
            if occurrence + AHEAD < n_features:
                ahead = BLOCK * np.int64(blocks[feature[occurrence + AHEAD], 0])
                prefetch(label, ahead)
                prefetch(weight, ahead)
                prefetch(weight, ahead + _NUMBERS_A_LINE)
            first, n_blocks = BLOCK * np.int64(blocks[feature[occurrence], 0]), blocks[feature[occurrence], 1]
            if n_blocks == _ALL_LABELS:
                of_row = weight[first : first + n_dense]  # a slice, so that the compiler uses vectors
                for place in range(of_row.shape[0]):
                    dense[place] += of_row[place]
            else:
                for place in range(first, first + BLOCK * n_blocks, BLOCK):
                    labels, numbers = label[place : place + BLOCK], weight[place : place + BLOCK]
                    for number in range(BLOCK):
                        row[labels[number]] += numbers[number]
        for place in range(n_dense):
            row[dense_label[place]] += dense[place]
