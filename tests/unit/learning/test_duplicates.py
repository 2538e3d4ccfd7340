"""Duplicate features share a row; a search with shared rows ends where one without does."""

from __future__ import annotations

import numpy as np
import pytest

from examples import EXAMPLES
from hyperspan.features import Extractor, FeatureBlock, TemplateSet
from hyperspan.inference import distribution_class, encode_gold
from hyperspan.learning import Objective, State, choose_parameters, minimise
from hyperspan.learning.duplicates import find_duplicates, first_duplicate_kernel
from hyperspan.scoring.parameters import Parameters, first_of_rows
from hyperspan.structures import structure

TEMPLATES = TemplateSet.parse(
    '[a]\nhere = "word[0]"\nbefore = "word[-1]"\npair = "word[-1] word[0]"\nsuffix = "suffix2[0]"\nbias = "bias"'
)


def block_of(*words: list[int]) -> FeatureBlock:
    first = np.cumsum([0, *map(len, words)])
    return FeatureBlock(
        np.array([0, len(words)]), first, np.array([feature for word in words for feature in word], dtype=np.int32)
    )


def duplicates_by_hand(block: FeatureBlock, n_features: int) -> list[int]:
    words = [
        tuple(word for word in range(block.n_tokens) for here in block.of(0, word) if here == feature)
        for feature in range(n_features)
    ]
    distinct = list(dict.fromkeys(words))
    return [distinct.index(occurrences) for occurrences in words]


@pytest.mark.kernel
@pytest.mark.parametrize("seed", range(5))
def test_features_share_a_row_exactly_if_they_occur_at_the_same_words(seed):
    rng = np.random.default_rng(seed)
    words = [rng.integers(0, 12, size=rng.integers(0, 5)).tolist() for _ in range(6)]
    block = block_of(*words)
    assert find_duplicates(block, 12).tolist() == duplicates_by_hand(block, 12)


@pytest.mark.kernel
def test_a_feature_that_is_twice_at_a_word_is_no_duplicate_of_one_that_is_there_once():
    assert find_duplicates(block_of([0, 1, 1], [2]), 3).tolist() == [0, 1, 2]


@pytest.mark.kernel
def test_the_lists_decide_where_keys_are_equal_by_chance():
    first, item = np.array([0, 1, 2, 3]), np.array([4, 5, 4], dtype=np.int32)
    first_duplicate = np.empty(3, dtype=np.int64)
    first_duplicate_kernel(first, item, np.zeros(3, dtype=np.uint64), np.arange(3), first_duplicate)
    assert first_duplicate.tolist() == [0, 1, 2]  # at worst duplicates are not noticed


def test_rows_are_numbered_in_the_order_of_their_first_feature():
    rows = find_duplicates(block_of([3, 0], [1, 2], [3, 0]), 4)
    assert rows.tolist() == [0, 1, 1, 0]
    assert first_of_rows(rows).tolist() == [0, 1]


def without_duplicates(parameters: Parameters) -> Parameters:
    """Give every feature a row of its own, with the same pairs."""
    pieces = [
        parameters.pair_label[parameters.first_pair[row] : parameters.first_pair[row + 1]]
        for row in parameters.row_of_feature
    ]
    return parameters._replace(
        row_of_feature=np.arange(len(pieces), dtype=np.int32),
        first_pair=np.cumsum([0, *map(len, pieces)]),
        pair_label=np.concatenate(pieces),
    )


@pytest.mark.parametrize("name", ["shared", "linear"])
def test_a_search_ends_at_the_same_weights_with_and_without_shared_rows(name):
    sentences = list(EXAMPLES.values()) * 2
    types = sorted({mention.type for sentence in sentences for mention in sentence.mentions})
    chosen, extractor = structure(name, types, 2), Extractor(TEMPLATES, threads=1)
    block = extractor.fit_transform(sentences)
    over = distribution_class(chosen)
    gold = encode_gold(over, chosen, sentences)
    assert extractor.index_ is not None
    shared = choose_parameters(chosen, block, gold, len(extractor.index_), frequent=4)
    alone = without_duplicates(shared)
    assert shared.n_rows < alone.n_rows
    models = []
    for parameters in (shared, alone):
        function = Objective(chosen, block, gold, parameters, over, group_key=extractor.group_key_, dtype=np.float64)
        states = list(minimise(function, State(np.zeros(parameters.n_weights)), tolerance=0.0, gradient_tolerance=1e-6))
        models.append((function.to_model(states[-1].weights), states[-1].value))
    assert models[0][1] == pytest.approx(models[1][1], rel=1e-8)
    first = shared.n_labels + shared.n_transitions
    for feature, row in enumerate(shared.row_of_feature):
        here = models[0][0][first + shared.first_pair[row] : first + shared.first_pair[row + 1]]
        there = models[1][0][first + alone.first_pair[feature] : first + alone.first_pair[feature + 1]]
        np.testing.assert_allclose(here, there, rtol=1e-3, atol=1e-4)


def test_single_precision_between_the_stages_changes_little():
    sentences = list(EXAMPLES.values()) * 2
    types = sorted({mention.type for sentence in sentences for mention in sentence.mentions})
    chosen, extractor = structure("shared", types, 3), Extractor(TEMPLATES, threads=1)
    block = extractor.fit_transform(sentences)
    over = distribution_class(chosen)
    gold = encode_gold(over, chosen, sentences)
    assert extractor.index_ is not None
    parameters = choose_parameters(chosen, block, gold, len(extractor.index_))
    weights = 0.4 * np.random.default_rng(0).normal(size=parameters.n_weights)
    (single, single_gradient), (double, double_gradient) = (
        Objective(chosen, block, gold, parameters, over, group_key=extractor.group_key_, dtype=dtype)(weights)
        for dtype in (np.float32, np.float64)
    )
    assert single == pytest.approx(double, rel=1e-6)
    assert np.linalg.norm(single_gradient - double_gradient) < 1e-5 * np.linalg.norm(double_gradient)
