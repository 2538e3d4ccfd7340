"""Features of whole parts and gaps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hyperspan import Sentence
from hyperspan.errors import FeatureError
from hyperspan.features import Lexicon, TemplateSet
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


LEXICON = Lexicon.from_entries(
    [("blood", "fluid"), ("blood stomach", "finding"), ("blood in stomach", "a|b"), ("No blood", "finding")]
)


@pytest.mark.parametrize("lexicon", [None, LEXICON], ids=["alone", "lexicon"])
def test_kernels_hash_what_the_reference_says(lexicon):
    extractor = SpanExtractor("segments", lexicon=lexicon)
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


def test_a_span_may_be_an_entry_of_the_lexicon_or_interrupt_one():
    templates = TemplateSet.parse('[a]\nwhole = "category[whole]"\njoined = "category[joined]"')
    names = SpanExtractor(templates, lexicon=LEXICON).describe(SENTENCES[0])
    found = {(span // SPAN_WORDS, span % SPAN_WORDS + 1): of_span for span, of_span in enumerate(names) if of_span}
    assert found == {
        (0, 2): ["category[whole]=finding"],  # No blood
        (1, 1): ["category[whole]=fluid"],  # blood
        (2, 2): ["category[joined]=finding"],  # blood [in the] stomach
        (3, 1): ["category[joined]=a\\|b"],  # blood in [the] stomach: not "blood stomach", whose words are not there
    }


def test_of_several_entries_around_a_span_the_longest_counts_and_then_the_leftmost():
    entries = ["a x", "b a x", "a x y", "b a x y z", "y x", "a x z"]
    lexicon = Lexicon.from_entries([(entry, entry) for entry in entries])
    extractor = SpanExtractor(TemplateSet.parse('[a]\njoined = "category[joined]"'), lexicon=lexicon)
    wanted = {"b a - x y": "b a x", "a - x y": "a x y", "a - x": "a x", "b b a - x y z z": "b a x y z"}
    for text, entry in wanted.items():
        tokens = text.replace("-", "gap").split()
        span = SPAN_WORDS * tokens.index("gap")
        assert extractor.describe(Sentence(tokens))[span] == [f"category[joined]={entry}"]


def test_without_a_lexicon_features_are_what_they_were():
    entries = [template for template in TemplateSet.load("segments") if template.asks_for_entries]
    assert [template.pattern for template in entries] == ["category[whole]", "category[joined]"]
    before = TemplateSet(tuple(template for template in TemplateSet.load("segments") if template not in entries))
    one, other = (next(SpanExtractor(each).hash_blocks(SENTENCES)) for each in (TemplateSet.load("segments"), before))
    np.testing.assert_array_equal(one.hash, other.hash)


def test_a_lexicon_that_knows_no_entries_is_asked_for_none():
    class Bare:
        categories = ("long",)

        def match(self, sentences):
            return [np.array([0 if len(token) > 4 else -1 for token in tokens], np.int32) for tokens in sentences]

    extractor = SpanExtractor("segments", lexicon=Bare())
    skipped = {each.template.name: each.reason for each in extractor.skipped}
    assert skipped["entry"] == skipped["joined_entry"] == "the lexicon does not say which spans are entries"
    assert ["category[span]=long"] in [
        [name for name in names if name.startswith("category[span]=")] for names in extractor.describe(SENTENCES[0])
    ]


def test_only_categories_have_entries():
    with pytest.raises(FeatureError, match=r"'lower' does not come from one; write category\[whole\]"):
        TemplateSet.parse('[a]\nwrong = "lower[whole]"')
