"""The scores of words: laid out in blocks or added up pair by pair, they are the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.features import FeatureBlock
from hyperspan.scoring.parameters import Parameters
from hyperspan.scoring.weight_table import WeightTable
from hyperspan.structures import structure

pytestmark = pytest.mark.kernel

LINEAR = structure("linear", ["Finding", "Place"], 2)


def offsets(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    """Rows with any of the dense labels: none, a few, as many as fill blocks, all."""
    dense = draw(st.lists(st.integers(0, LINEAR.n_labels - 1), unique=True))
    rows = draw(st.lists(st.one_of(st.just(dense), st.sets(st.sampled_from(dense)) if dense else st.just(dense))))
    labels = [[label for label in dense if label in row] for row in rows]
    row_of_feature = draw(st.lists(st.integers(0, len(rows) - 1), max_size=20)) if rows else []
    return Parameters(
        LINEAR.n_labels,
        LINEAR.n_labels**2,
        np.array(row_of_feature, np.int32),
        offsets([len(of_row) for of_row in labels]),
        np.array([label for of_row in labels for label in of_row], np.int32),
        np.array(dense, np.int32),
        np.zeros(LINEAR.n_labels),
    )


@st.composite
def words(draw: st.DrawFn, n_features: int) -> FeatureBlock:
    of_words = draw(st.lists(st.lists(st.integers(0, n_features - 1), max_size=40) if n_features else st.just([])))
    features = np.array([feature for of_word in of_words for feature in of_word], np.int32)
    return FeatureBlock(offsets([len(of_words)]), offsets([len(of_word) for of_word in of_words]), features)


def scores_pair_by_pair(parameters: Parameters, weights: np.ndarray, block: FeatureBlock) -> np.ndarray:
    """Add the weights of rows with some labels as they come, and the sum of those with all labels at the end."""
    n_first = parameters.n_labels + parameters.n_transitions
    scores = np.tile(weights[: parameters.n_labels], (block.n_tokens, 1))
    for word, row in enumerate(scores):
        dense = np.zeros(len(parameters.dense_label))
        for feature in block.of(0, word):
            first, last = parameters.first_pair[parameters.row_of_feature[feature] + np.arange(2)]
            of_row = weights[n_first + first : n_first + last]
            if len(of_row) == len(dense):
                dense += of_row
            else:
                row[parameters.pair_label[first:last]] += of_row
        row[parameters.dense_label] += dense
    return scores


@given(data=st.data(), chosen=parameters(), seed=st.integers(0, 2**32 - 1))
def test_weights_are_added_in_the_order_of_the_features(data: st.DataObject, chosen: Parameters, seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=chosen.n_weights)
    block = data.draw(words(len(chosen.row_of_feature)))
    scores = np.empty((block.n_tokens, LINEAR.n_labels))
    WeightTable.of(LINEAR, chosen, weights).add_up(block, scores)
    np.testing.assert_array_equal(scores, scores_pair_by_pair(chosen, weights, block))
