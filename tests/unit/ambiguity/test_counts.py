"""Numbers of encodings, for short sentences as published and for long ones exactly."""

from __future__ import annotations

import pytest

from brute_force import count_encodings as count_by_brute_force
from hyperspan.ambiguity import (
    canonical_encodings,
    count_encodings,
    count_mention_sets,
    count_table,
    mention_sets_log2,
)
from hyperspan.ambiguity.counts import segments_log2, staircase_counts
from hyperspan.errors import StructureError, UsageError
from hyperspan.structures import Staircase, structure


def test_published_numbers():
    assert count_table(6) == {
        "max_components": 3,
        "words": [1, 2, 3, 4, 5, 6],
        "linear": [2, 8, 46, 310, 2049, 12663],
        "mention": [2, 8, 40, 208, 1088, 5696],
        "shared": [2, 8, 80, 3584, 533504, 371425280],
        "split": [2, 8, 80, 6656, 2367488, 29700128768],
        "mention_sets_log2": [1, 3, 7, 15, 31, 63],
        "segments_log2": [1, 3, 7, 15, 31, 63],
    }


def test_segments_have_as_many_encodings_as_there_are_sets_of_mentions():
    for max_components in range(1, 6):
        for n_words in range(1, 8):
            assert segments_log2(n_words, max_components) == mention_sets_log2(n_words, max_components)
    assert segments_log2(40) == mention_sets_log2(40)


@pytest.mark.parametrize("name", ["mention", "shared", "split"])
@pytest.mark.parametrize("max_components", [1, 2, 3])
def test_equals_brute_force(name, max_components):
    hypergraph = structure(name, ["Finding"], max_components)
    expected = [count_by_brute_force(hypergraph, n_words) for n_words in range(1, 6)]
    assert canonical_encodings(name, 5, max_components) == expected


@pytest.mark.parametrize("name", ["mention", "shared", "split"])
@pytest.mark.parametrize("max_components", [1, 2, 4, 5])
def test_equals_the_sweep_of_inference(name, max_components):
    hypergraph = structure(name, ["Finding"], max_components)
    assert canonical_encodings(name, 7, max_components)[-1] == count_encodings(hypergraph, 7)


@pytest.mark.parametrize("max_components", [1, 2, 3, 4])
def test_sets_of_mentions(max_components):
    hypergraph = structure("shared", ["Finding"], max_components)
    for n_words in range(1, 8):
        assert 1 << mention_sets_log2(n_words, max_components) == count_mention_sets(hypergraph, n_words)


def test_any_number_of_parts_makes_every_set_of_words_a_mention():
    assert mention_sets_log2(9, max_components=5) == 2**9 - 1


def test_long_sentences_are_exact():
    counts = staircase_counts(Staircase(1), 1000)
    # The eigenvalues of its matrix are 3 ± √5, the roots of λ² − 6λ + 4.
    assert all(counts[n] == 6 * counts[n - 1] - 4 * counts[n - 2] for n in range(2, 1000))
    assert counts[999].bit_length() == 2387


def test_no_words_are_refused():
    with pytest.raises(UsageError, match="max_words is 0; expected at least 1"):
        count_table(0)


@pytest.mark.parametrize("name", ["linear", "shared"])
def test_too_many_parts_are_refused(name):
    with pytest.raises(StructureError, match="max_components is 9; expected a number from 1 to 8"):
        canonical_encodings(name, 3, 9)


def test_unknown_structure_is_refused():
    with pytest.raises(StructureError, match="there is no structure 'tree' to count; expected one of linear, mention"):
        canonical_encodings("tree", 3)
