"""The scores that a model gives the labels of words: biases, and the weights of the words' features."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.learning.parameters import Parameters, weightless_labels
from hyperspan.prefetching import AHEAD, prefetch, prefetch_numbers
from hyperspan.structures import Hypergraph, Linear


@numba.njit(nogil=True, cache=True)
def feature_scores_kernel(
    first_feature, feature, row_of, first_pair, pair_label, dense_label, bias, weight, begin, end, scores
):
    """Fill rows of ``scores`` for the words from begin to end: bias plus the weights of every feature's labels."""
    n_dense, n_features = dense_label.shape[0], first_feature[end]
    dense = np.empty(n_dense)
    for word in range(begin, end):
        row = scores[word - begin]
        for label in range(bias.shape[0]):
            row[label] = bias[label]
        dense[:] = 0.0
        for occurrence in range(first_feature[word], first_feature[word + 1]):
            if occurrence + 2 * AHEAD < n_features:
                prefetch(first_pair, row_of[feature[occurrence + 2 * AHEAD]])
            if occurrence + AHEAD < n_features:
                ahead = first_pair[row_of[feature[occurrence + AHEAD]]]
                prefetch_numbers(weight, ahead, 0)
                prefetch(pair_label, ahead)
            first = first_pair[row_of[feature[occurrence]]]
            last = first_pair[row_of[feature[occurrence]] + 1]
            if last - first == n_dense:
                of_row = weight[first:last]  # a slice, so that the compiler uses vectors
                for place in range(of_row.shape[0]):
                    dense[place] += of_row[place]
            else:
                for pair in range(first, last):
                    row[pair_label[pair]] += weight[pair]
        for place in range(n_dense):
            row[dense_label[place]] += dense[place]


def split_weights(
    parameters: Parameters, weights: NDArray[np.float64], weightless: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what a vector of weights holds: the score of each label by itself, transitions, and pairs."""
    n_labels, n_transitions = parameters.n_labels, parameters.n_transitions
    bias = parameters.base_score + np.where(weightless, 0.0, weights[:n_labels])
    transitions = weights[n_labels : n_labels + n_transitions].reshape(-1, n_labels)
    return bias, transitions, weights[n_labels + n_transitions :]


def score_words(
    structure: Hypergraph | Linear, parameters: Parameters, weights: NDArray[np.float64], features: FeatureBlock
) -> NDArray[np.float64]:
    """Return the scores of every label at every word, of shape (n_words, n_labels)."""
    bias, _, pair_weight = split_weights(parameters, weights, weightless_labels(structure))
    scores = np.empty((features.n_tokens, parameters.n_labels))
    feature_scores_kernel(
        features.first_feature,
        features.feature,
        parameters.row_of_feature,
        parameters.first_pair,
        parameters.pair_label,
        parameters.dense_label,
        bias,
        pair_weight,
        0,
        features.n_tokens,
        scores,
    )
    return scores
