"""Compiled feature extraction says what the plain one says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Sentence
from hyperspan.features import Extractor, FeatureIndex, TemplateSet
from hyperspan.features.columns import column_names
from hyperspan.features.extraction_reference import hash_feature_reference
from hyperspan.features.state import ClusterMap, packed, unpacked

pytestmark = pytest.mark.kernel

# Any characters at all, lone surrogates too, with those that mean something in a feature's name made likely.
characters = st.one_of(st.sampled_from("ab|\\=<>s+-1[*\ud800\x00"), st.characters(exclude_categories=()))
words = st.one_of(st.text(characters, min_size=1, max_size=6), st.sampled_from(["<s-1>", "<s+1>", "[**Hospital 7**]"]))
paths = st.text("01", max_size=5)


class ByLength:
    """A lexicon in which the length of a word is its category."""

    categories = ("one", "a|b", "<s-1>")

    def match(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        return [np.array([len(token) % 4 - 1 for token in tokens], np.int32) for tokens in sentences]


@st.composite
def any_sentences(draw: st.DrawFn) -> Sentence:
    tokens = draw(st.lists(words, max_size=7))
    values = st.lists(st.one_of(st.just(""), words), min_size=len(tokens), max_size=len(tokens))
    columns = draw(st.dictionaries(st.sampled_from(["pos", "lemma", "other"]), values))
    attributes = draw(
        st.dictionaries(st.sampled_from(["section", "note_type", "ward"]), st.one_of(words, st.integers()))
    )
    return Sentence(tokens, columns=columns, attributes=attributes)


@st.composite
def template_sets(draw: st.DrawFn) -> TemplateSet:
    names = st.sampled_from([*column_names(), "column.other", "attribute.ward", "prefix9"])
    patterns = draw(
        st.lists(st.lists(st.tuples(names, st.integers(-9, 9)), min_size=1, max_size=3), min_size=1, max_size=6)
    )
    rows: dict[frozenset[str], tuple[str, str, str]] = {}
    for number, parts in enumerate(patterns):
        texts = [
            name if name in ("section", "note_type", "bias", "attribute.ward") else f"{name}[{offset}]"
            for name, offset in parts
        ]
        rows[frozenset(texts)] = "group", f"t{number}", " ".join(dict.fromkeys(texts))
    return TemplateSet.of(rows.values())


@settings(max_examples=150)
@given(st.lists(any_sentences(), max_size=4), template_sets(), st.dictionaries(words, paths, max_size=6))
def test_kernel_and_reference_give_the_same_features(
    sentences: list[Sentence], templates: TemplateSet, paths: dict[str, str]
):
    extractor = Extractor(templates, ClusterMap(paths), ByLength())
    texts = [features for sentence in sentences for features in extractor.describe(sentence)]
    hashes = [block.hash for block in extractor.hash_blocks(sentences)]
    sizes = [np.diff(block.first_feature) for block in extractor.hash_blocks(sentences)]
    assert [size for block in sizes for size in block.tolist()] == [len(features) for features in texts]
    assert [hash for block in hashes for hash in block.tolist()] == [
        hash_feature_reference(feature) for features in texts for feature in features
    ]
    assert all(len(set(features)) == len(features) for features in texts)


@settings(max_examples=100)
@given(
    st.lists(any_sentences(), min_size=1, max_size=3),
    st.lists(st.lists(any_sentences(), max_size=3), max_size=3),
    template_sets(),
    st.dictionaries(words, paths, max_size=6),
)
def test_what_is_remembered_with_words_is_what_is_looked_up(
    seen: list[Sentence], batches: list[list[Sentence]], templates: TemplateSet, paths: dict[str, str]
):
    extractor = Extractor(templates, ClusterMap(paths), ByLength())
    for learned in (seen, seen[1:]):  # with another index, what was remembered no longer holds
        index = extractor.fit(learned).index_
        for batch in (seen, *batches, *batches):
            block = extractor.transform(batch)
            ids = [
                [id for id in index.ids_of(hashes).tolist() if id >= 0]
                for one in extractor.hash_blocks(batch)
                for hashes in np.split(one.hash, one.first_feature[1:-1])
            ]
            assert np.diff(block.first_feature).tolist() == [len(of_token) for of_token in ids[: block.n_tokens]]
            assert block.feature.tolist() == [id for of_token in ids for id in of_token]


@settings(max_examples=50)
@given(st.lists(any_sentences(), min_size=1, max_size=4), st.integers(1, 3))
def test_names_are_found_again_and_state_is_complete(sentences: list[Sentence], min_count: int):
    extractor = Extractor("default", ClusterMap({"a": "01"}))
    block = extractor.fit_transform(sentences, min_count=min_count)
    names = extractor.names(sentences)
    texts = [features for sentence in sentences for features in extractor.describe(sentence)]
    known = set(names.names.values())
    assert len(known) == len(extractor.index_)
    for token, features in enumerate(texts):
        ids = block.feature[block.first_feature[token] : block.first_feature[token + 1]]
        assert [names[id] for id in ids.tolist()] == [feature for feature in features if feature in known]
    again = Extractor.from_state(*extractor.to_state())
    assert again.transform(sentences).feature.tolist() == block.feature.tolist()


@given(st.lists(st.lists(st.integers(1, 2**64 - 1), max_size=20), max_size=5))
def test_the_index_is_a_dictionary_of_first_appearances(batches: list[list[int]]):
    index = FeatureIndex()
    expected: dict[int, int] = {}
    for batch in batches:
        ids = [expected.setdefault(hash, len(expected)) for hash in batch]
        assert index.add(np.array(batch, np.uint64)).tolist() == ids
    assert index.hashes.tolist() == list(expected)
    again = FeatureIndex(index.hashes)
    assert again.ids_of(index.hashes).tolist() == list(range(len(expected)))


@given(st.lists(st.text(characters)))
def test_packed_texts_come_back(texts: list[str]):
    assert unpacked(*packed(texts)) == texts
