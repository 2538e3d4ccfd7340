"""Features of whole parts and gaps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hyperspan import Sentence
from hyperspan.errors import FeatureError
from hyperspan.features import TemplateSet
from hyperspan.features.spans import SPAN_WORDS, SpanExtractor, spans_reference

pytestmark = pytest.mark.kernel

SENTENCES = [
    Sentence(
        ["No", "blood", "in", "the", "stomach", "of", "him"], columns={"pos": ["DT", "NN", "IN", "DT", "NN", "", "PRP"]}
    ),
    Sentence([]),
    Sentence(["Fever"], columns={"pos": ["NN"]}),
    Sentence(["a|b", "and\\c"]),
]


def test_kernels_hash_what_the_reference_says():
    extractor = SpanExtractor("segments")
    for sentence in SENTENCES:
        wanted = spans_reference(extractor.active, sentence, extractor)
        assert len(wanted) == SPAN_WORDS * len(sentence)
        for block in extractor.hash_blocks([sentence]):
            firsts = block.first_feature.tolist()
            found = [block.hash[one:other].tolist() for one, other in itertools.pairwise(firsts)]
            assert found == [[bits for _, bits in of_span] for of_span in wanted]


def test_only_features_of_the_given_spans_are_known():
    extractor = SpanExtractor(TemplateSet.parse('[a]\nwhole = "lower[span]"\nbeside = "lower[left] lower[right]"'))
    extractor.fit_spans(SENTENCES, np.array([1, 7]), np.array([2, 1]))
    block, names = extractor.transform(SENTENCES), extractor.names(SENTENCES)
    assert sorted(names.names.values()) == [
        "lower[left]=<s-1>|lower[right]=<s+1>",
        "lower[left]=no|lower[right]=the",
        "lower[span]=blood in",
        "lower[span]=fever",
    ]
    spans = np.repeat(np.arange(block.n_tokens), np.diff(block.first_feature))
    found = {(int(span) // SPAN_WORDS, int(span) % SPAN_WORDS + 1) for span in spans}
    assert found == {(1, 2), (7, 1), (8, 2)}
    assert (
        extractor.fit_spans(SENTENCES, np.array([1, 7]), np.array([2, 1]), min_count=2)
        .transform(SENTENCES)
        .feature.tolist()
        == []
    )


def test_it_is_the_same_after_saving_and_whatever_the_threads():
    extractor = SpanExtractor("default").fit_spans(SENTENCES, np.array([1, 4]), np.array([2, 1]))
    again = SpanExtractor.from_state(*extractor.to_state(), threads=3)
    np.testing.assert_array_equal(extractor.transform(SENTENCES).feature, again.transform(SENTENCES).feature)
    assert [each.template for each in again.skipped] == [each.template for each in extractor.skipped]


def test_a_file_without_templates_for_spans_gets_ours():
    assert TemplateSet.load("default").of_spans() == TemplateSet.load("segments")
    own = TemplateSet.parse('[a]\nword = "word[0]"\nwhole = "word[span]"')
    assert [template.name for template in own.of_spans()] == ["whole"]
    assert own.with_spans() == own


def test_places_and_offsets_do_not_mix():
    with pytest.raises(FeatureError, match="combines words at offsets with places of a part or gap"):
        TemplateSet.parse('[a]\nmixed = "word[span] word[-1]"')
    with pytest.raises(FeatureError, match="or one of span, first, last, left, right"):
        TemplateSet.parse('[a]\nwrong = "word[middle]"')
