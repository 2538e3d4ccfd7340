"""Eight sums side by side are the sums one after another."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan.inference import lanes
from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.frontier import frontier_block_kernel, staircase_table
from hyperspan.inference.lanes import FEWEST_LANES, LANES, chance_of_mentions, sum_blocks
from hyperspan.structures import Hypergraph, structure

CASES = [("shared", 3, 1), ("shared", 2, 3), ("split", 3, 2), ("mention", 1, 2), ("shared", 4, 2)]


def one_by_one(held: Hypergraph, scores: np.ndarray, first_word: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n_sentences = len(first_word) - 1
    log_partition, expected = np.empty((len(held.blocks), n_sentences)), np.empty_like(scores)
    for row, block in zip(log_partition, held.blocks, strict=True):
        table, automaton = staircase_table(block.staircase), staircase_automaton(block.staircase)
        frontier_block_kernel(
            table, automaton, block.first_label, scores, first_word, 0, n_sentences, True, row, expected
        )
    return log_partition, expected


def random_case(
    name: str, max_components: int, n_types: int, size: float, n_sentences: int, seed: int
) -> tuple[Hypergraph, np.ndarray, np.ndarray]:
    held = structure(name, [f"T{number}" for number in range(n_types)], max_components)
    assert isinstance(held, Hypergraph)
    rng = np.random.default_rng(seed)
    first_word = np.concatenate([[0], np.cumsum(rng.integers(0, 7, size=n_sentences))])
    return held, size * rng.normal(size=(first_word[-1], held.n_labels)) - size, first_word


@pytest.mark.kernel
@pytest.mark.parametrize(("name", "max_components", "n_types"), CASES)
@pytest.mark.parametrize("size", [0.0, 1.0, 30.0, 400.0])
def test_lanes_agree_with_one_after_another(name, max_components, n_types, size):
    held, scores, first_word = random_case(name, max_components, n_types, size, 2 * LANES - 3, 1)
    expected = np.empty_like(scores)
    log_partition = sum_blocks(held, scores, first_word, expected)
    wanted, wanted_expected = one_by_one(held, scores, first_word)
    np.testing.assert_allclose(log_partition, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(expected, wanted_expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_sentences", [0, 1, FEWEST_LANES - 1, FEWEST_LANES, LANES, LANES + 1])
def test_any_number_of_sentences(n_sentences):
    held, scores, first_word = random_case("shared", 3, 1, 1.0, n_sentences, 2)
    expected = np.empty_like(scores)
    log_partition = sum_blocks(held, scores, first_word, expected)
    wanted, wanted_expected = one_by_one(held, scores, first_word)
    np.testing.assert_allclose(log_partition, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(expected, wanted_expected, rtol=1e-9, atol=1e-12)


def test_forbidden_edges_and_lanes_that_are_given_up():
    held, scores, first_word = random_case("shared", 2, 2, 1.0, LANES, 3)
    scores[::3, 1] = -np.inf  # no mention of the first type starts there
    scores[first_word[2] : first_word[3], 2] = 5_000.0  # beyond all scaling: must go the way of logs
    expected = np.empty_like(scores)
    log_partition = sum_blocks(held, scores, first_word, expected)
    wanted, wanted_expected = one_by_one(held, scores, first_word)
    np.testing.assert_allclose(log_partition, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(expected, wanted_expected, rtol=1e-9, atol=1e-12)


def test_a_lane_does_not_depend_on_its_neighbours(monkeypatch):
    held, scores, first_word = random_case("shared", 3, 1, 2.0, 6 * LANES, 4)
    expected = np.empty_like(scores)
    together = sum_blocks(held, scores, first_word, expected)[0]
    monkeypatch.setattr(lanes, "FEWEST_LANES", 1)
    for sentence in range(0, 6 * LANES, 5):
        words = slice(first_word[sentence], first_word[sentence + 1])
        alone = np.empty_like(scores[words])
        of_one = sum_blocks(held, scores[words].copy(), np.array([0, len(alone)]), alone)
        assert of_one[0, 0] == together[sentence]
        assert alone.tobytes() == expected[words].tobytes()


@pytest.mark.kernel
@pytest.mark.parametrize(("name", "max_components", "n_types"), CASES[:-1])
def test_the_chance_of_any_mention_is_what_the_sums_say(name, max_components, n_types):
    held, scores, first_word = random_case(name, max_components, n_types, 1.0, 2 * LANES - 3, 5)
    wanted = []
    for row, block in zip(one_by_one(held, scores, first_word)[0], held.blocks, strict=True):
        nothing = np.concatenate([[0.0], np.cumsum(scores[:, block.first_label])])
        wanted.append(1.0 - np.exp(np.diff(nothing[first_word]) - row))
    np.testing.assert_allclose(chance_of_mentions(held, scores, first_word), wanted, rtol=1e-9, atol=1e-12)


def test_where_the_chance_is_not_certain_it_is_one():
    held, scores, first_word = random_case("shared", 3, 2, 1.0, LANES, 3)
    scores[first_word[2] : first_word[3], 2] = 5_000.0
    scores[first_word[4] : first_word[5], :2] = -np.inf  # nothing is possible
    chance = chance_of_mentions(held, scores, first_word)
    assert chance[0, 2] == chance[0, 4] == 1.0
    assert np.count_nonzero(chance == 1.0) == 2
    wide = structure("shared", ["A", "B"], 4)
    assert isinstance(wide, Hypergraph)
    assert np.all(chance_of_mentions(wide, np.zeros((9, wide.n_labels)), np.arange(10)) == 1.0)


@pytest.mark.kernel
def test_empty_sentences_at_the_end_read_nothing():
    held, scores, _ = random_case("shared", 3, 2, 1.0, 1, 6)
    scores = np.vstack([scores, np.zeros((3, held.n_labels))])[:3].copy()
    first_word = np.array([0, 1, 2, 3, 3])
    assert np.all(chance_of_mentions(held, scores, first_word)[:, 3] == 0.0)
    expected = np.empty_like(scores)
    log_partition = sum_blocks(held, scores, first_word, expected)
    wanted, wanted_expected = one_by_one(held, scores, first_word)
    np.testing.assert_allclose(log_partition, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(expected, wanted_expected, rtol=1e-9, atol=1e-12)
