"""What is known of a word."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan import Sentence
from hyperspan.errors import FeatureError
from hyperspan.features.columns import Source, boundary, capitals_of, column_named, column_names, hash_text, keys_of
from hyperspan.features.state import ClusterMap


def values(column: str, key: object) -> tuple[str, ...]:
    return column_named(column).values_of(key)


def test_affixes_have_up_to_four_characters_and_none_is_cut_short():
    assert [values(f"prefix{length}", "lac") for length in (1, 2, 3, 4)] == [("l",), ("la",), ("lac",), ()]
    assert [values(f"suffix{length}", "lac") for length in (1, 2, 3, 4)] == [("c",), ("ac",), ("lac",), ()]


def test_affixes_of_other_lengths_can_be_named():
    assert values("suffix6", "esophagus") == ("phagus",)


@pytest.mark.parametrize(
    ("word", "capitals", "shape"),
    [
        ("hernia", "lower", "x"),
        ("EGD", "upper", "X"),
        ("Infarctions", "title", "Xx"),
        ("pH", "mixed", "xX"),
        ("McBurney", "mixed", "XxXx"),
        ("A", "title", "X"),
        ("B12", "title", "Xd"),
        ("T2-weighted", "title", "Xd-x"),
        ("2.5", "none", "d.d"),
        ("病院", "none", "c"),
        ("ﬁ", "lower", "x"),
        ("ǅ", "title", "X"),
        ("🩺", "none", "🩺"),
    ],
)
def test_capitalisation_and_shape(word: str, capitals: str, shape: str):
    assert (capitals_of(word), values("shape", word)) == (capitals, (shape,))


def test_lower_case_is_that_of_unicode():
    assert values("lower", "ΟΔΟΣ") == ("οδος",)


def test_marks_are_words_by_category():
    assert values("word", "[**Hospital 12**]") == values("word", "[**Hospital 7**]") == ("[**hospital**]",)
    assert values("mark", "[**2014-03-02**]") == ("date",)
    assert values("mark", "date") == ()
    assert values("word", "date") != values("word", "[**2014-03-02**]")


def test_clusters_give_every_prefix_of_the_path():
    clusters = ClusterMap({"hernia": "0110", "date": "10"})
    column = column_named("cluster")
    assert column.values_of("hernia", clusters) == ("0", "01", "011", "0110")
    assert column.values_of("lac", clusters) == ()
    assert column.values_of("[**2014-03-02**]", clusters) == ("1", "10")


def test_values_that_would_be_misread_are_marked():
    assert values("word", "a|b\\c") == ("a\\|b\\\\c",)
    assert values("word", boundary(-1)) == ("\\<s-1>",)
    assert values("word", "\\<s-1>") == ("\\\\<s-1>",)
    assert values("word", "<s") == ("<s",)


def test_an_empty_value_is_no_value():
    assert values("pos", "") == ()


def test_a_column_must_hold_texts():
    with pytest.raises(FeatureError, match="the column 'pos' has the value 7; expected a text"):
        values("pos", 7)


def test_attributes_may_be_texts_or_numbers():
    sentence = Sentence(["a", "b"], attributes={"ward": 7, "section": "history", "notes": ["x"]}, place="n.jsonl:3")
    assert keys_of(Source("sentence", "ward"), sentence) == ("7", "7")
    assert keys_of(Source("sentence", "section"), sentence) == ("history", "history")
    assert keys_of(Source("sentence", "nothing"), sentence) is None
    with pytest.raises(FeatureError, match=r"n.jsonl:3: the attribute 'notes' is \['x'\]; expected a text or a number"):
        keys_of(Source("sentence", "notes"), sentence)


def test_a_lexicon_must_fit_the_sentence():
    class Short:
        categories = ("x",)

        def match(self, sentences):
            return [np.zeros(1, np.int32) for _ in sentences]

    with pytest.raises(FeatureError, match="the lexicon gave categories of 1 tokens, but the sentence has 2"):
        keys_of(Source("lexicon"), Sentence(["a", "b"]), Short())


@pytest.mark.parametrize("name", ["prefix0", "prefix10", "suffix", "column.", "attribute.a b", "", "word[0]"])
def test_names_that_are_no_columns(name: str):
    with pytest.raises(FeatureError, match="there is no column"):
        column_named(name)


def test_every_listed_column_can_be_named():
    assert [column_named(name).name for name in column_names()] == list(column_names())


def test_hashes_are_the_same_in_every_run():
    assert hash_text("hernia") == 0x74709300AEEE5F8
    assert hash_text("") == 0xB4B2797457A0A6E4


def test_any_text_has_a_hash():
    texts = ["\ud800", "\udfff", "\x00", "\u200b", "🩺", "שלום", "a" * 1_000_000]
    assert len({hash_text(text) for text in texts}) == len(texts)
