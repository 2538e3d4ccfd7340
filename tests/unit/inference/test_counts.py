"""At zero scores sums are counts, which the theory gives and brute force confirms."""

from __future__ import annotations

import numpy as np
import pytest

import brute_force
from enumeration import single
from hyperspan.ambiguity import count_encodings, count_mention_sets
from hyperspan.inference.automaton import chain_automaton
from hyperspan.inference.reference.algebra import COUNT
from hyperspan.inference.reference.automaton import total
from hyperspan.structures import structure

pytestmark = pytest.mark.kernel

PUBLISHED = {
    "shared": [2, 8, 80, 3584, 533504, 371425280],
    "split": [2, 8, 80, 6656, 2367488, 29700128768],
}


def summed(made, n_words: int, over: str = "encodings") -> float:
    return float(single(made, np.zeros((n_words, made.n_labels)), over).log_partition()[0])


@pytest.mark.parametrize("name", PUBLISHED)
def test_training_kernel_and_counter_give_the_published_counts(name: str) -> None:
    made = structure(name, ["Finding"])
    for n_words, count in enumerate(PUBLISHED[name], start=1):
        assert count_encodings(made, n_words) == count
        assert summed(made, n_words) == pytest.approx(np.log(count), rel=1e-14)


def test_one_component_counts_agree_with_every_union_of_paths() -> None:
    made = structure("mention", ["Finding"])
    for n_words in range(1, 7):
        count = brute_force.count_encodings(made, n_words)
        assert count_encodings(made, n_words) == count
        assert summed(made, n_words) == pytest.approx(np.log(count), rel=1e-14)


@pytest.mark.parametrize("name", ["shared", "split"])
@pytest.mark.parametrize("max_components", [1, 2, 3])
def test_counts_agree_with_encoding_every_set_of_mentions(name: str, max_components: int) -> None:
    made = structure(name, ["Finding"], max_components)
    for n_words in range(1, 5):
        count = len(brute_force.all_encodings(made, n_words))
        assert count_encodings(made, n_words) == count
        assert summed(made, n_words) == pytest.approx(np.log(count), rel=1e-14)


@pytest.mark.parametrize("name", ["shared", "split"])
@pytest.mark.parametrize("max_components", [1, 2, 3])
def test_five_words_agree_with_every_union_of_paths(name: str, max_components: int) -> None:
    made = structure(name, ["Finding"], max_components)
    assert count_encodings(made, 5) == brute_force.count_encodings(made, 5)


@pytest.mark.parametrize("name", ["mention", "shared", "split"])
def test_types_multiply(name: str) -> None:
    one, three = structure(name, ["A"]), structure(name, ["A", "B", "C"])
    for n_words in range(4):
        assert count_encodings(three, n_words) == count_encodings(one, n_words) ** 3
        assert summed(three, n_words) == pytest.approx(3 * summed(one, n_words), rel=1e-14)
        assert summed(three, n_words, "mention-sets") == pytest.approx(3 * summed(one, n_words, "mention-sets"))


@pytest.mark.parametrize("name", ["shared", "split"])
@pytest.mark.parametrize("max_components", [1, 2, 3, 4])
def test_sets_of_mentions_are_two_to_the_number_of_mentions(name: str, max_components: int) -> None:
    made = structure(name, ["Finding"], max_components)
    for n_words in range(1, 8):
        n_mentions = len(brute_force.all_mentions(n_words, max_parts=max_components))
        assert count_mention_sets(made, n_words) == 2**n_mentions
        for over in ("mention-sets", "derivations"):
            assert summed(made, n_words, over) == pytest.approx(n_mentions * np.log(2), rel=1e-13)


def test_published_numbers_of_sets() -> None:
    made = structure("shared", ["Finding"])
    assert [count_mention_sets(made, n_words) for n_words in range(1, 6)] == [2**1, 2**3, 2**7, 2**15, 2**31]


def test_chain_has_seven_to_the_number_of_words() -> None:
    made = structure("linear", ["Finding"])
    for n_words in range(1, 7):
        assert summed(made, n_words) == pytest.approx(n_words * np.log(7), rel=1e-14)
        assert total(chain_automaton(np.zeros((7, 7))), [[0.0] * 7] * n_words, COUNT) == 7**n_words


@pytest.mark.parametrize("name", ["mention", "shared", "split"])
def test_a_sentence_without_words_has_one_outcome(name: str) -> None:
    made = structure(name, ["A", "B"])
    assert count_encodings(made, 0) == count_mention_sets(made, 0) == 1
