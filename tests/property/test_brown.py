"""Brown clusters of any small text."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan.features.bigrams import count_bigrams
from hyperspan.features.brown import Clusters, average_mutual_information, brown_clusters
from hyperspan.features.brown_reference import brown_reference
from strategies import words

letters = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=9), min_size=1, max_size=8).filter(any)
texts = st.lists(st.lists(words, max_size=6), min_size=1, max_size=6).filter(any)


@pytest.mark.kernel
@settings(max_examples=60)
@given(letters, st.integers(1, 6))
def test_clusters_are_those_of_the_reference(sentences, n_clusters):
    expected = brown_reference(sentences, n_clusters)
    clusters = brown_clusters(sentences, n_clusters)
    assert list(clusters.words) == expected.words
    assert {word: clusters.path_of(word) for word in clusters.words} == expected.paths
    assert clusters.average_mutual_information == pytest.approx(expected.average_mutual_information, abs=1e-9)


@settings(max_examples=60)
@given(letters, st.integers(1, 6), st.randoms())
def test_the_order_of_sentences_does_not_matter(sentences, n_clusters, random):
    shuffled = list(sentences)
    random.shuffle(shuffled)
    assert brown_clusters(sentences, n_clusters) == brown_clusters(shuffled, n_clusters)


@settings(max_examples=60)
@given(texts, st.integers(1, 6))
def test_paths_form_a_tree_over_all_words(sentences, n_clusters):
    clusters = brown_clusters(sentences, n_clusters)
    assert clusters.n_clusters == min(n_clusters, len(clusters))
    assert len(set(clusters.paths)) == clusters.n_clusters
    if clusters.n_clusters > 1:
        # Of a full binary tree, the leaves' shares add up to the whole and none is a prefix of another.
        assert sum(2.0 ** -len(path) for path in clusters.paths) == 1.0
        ordered = sorted(clusters.paths)
        assert not any(after.startswith(before) for before, after in pairwise(ordered))


@settings(max_examples=60)
@given(letters, st.integers(1, 6))
def test_information_never_exceeds_that_of_the_words(sentences, n_clusters):
    bigrams = count_bigrams(sentences)
    most = average_mutual_information(bigrams, range(len(bigrams.words)))
    found = brown_clusters(sentences, n_clusters).average_mutual_information
    assert -1e-12 <= found <= most + 1e-12


@settings(max_examples=60)
@given(texts, st.integers(1, 6))
def test_writing_then_reading_is_the_identity(sentences, n_clusters):
    clusters = brown_clusters(sentences, n_clusters)
    with tempfile.TemporaryDirectory() as folder:
        clusters.save(Path(folder) / "paths")
        assert Clusters.load(Path(folder) / "paths") == clusters
