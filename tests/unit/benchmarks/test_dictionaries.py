"""Features as dictionaries are the templates' features under other names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.data import Data
from benchmarks.dictionaries import TEMPLATES, dictionaries
from hyperspan import Sentence
from hyperspan.features import Extractor

words = st.text(st.sampled_from("aAbB12-.µ"), min_size=1, max_size=8) | st.sampled_from(["[**2014-03-02**]", "fever"])


def assert_same_features(sentences: list[Sentence]) -> None:
    extractor = Extractor(TEMPLATES)
    block = extractor.fit_transform(sentences)
    names = [
        f"{key}:{value}"
        for sentence in sentences
        for features in dictionaries(sentence.tokens)
        for key, value in features.items()
    ]
    ids = block.feature.tolist()
    assert len(ids) == len(names)
    assert len(set(zip(names, ids, strict=True))) == len(set(names)) == len(set(ids))


@given(st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=3))
def test_the_same_features_under_other_names(tokens):
    assert_same_features([Sentence(tuple(each)) for each in tokens])


def test_the_same_features_of_reports():
    assert_same_features(Data("demo", most_tokens=3000).sentences)
