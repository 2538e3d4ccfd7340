"""The phrase that a mention stands for, and the groups of mentions that share a part."""

from __future__ import annotations

import pytest

from examples import BLOOD, INFARCTIONS, LACERATION
from hyperspan import Mention, Sentence
from hyperspan.errors import MissingExtraError
from hyperspan.mentions import Document
from hyperspan.text import installed_annotators
from hyperspan.text.expansion import Expander, groups_of

LEFT, RIGHT = Mention("Anatomy", [(0, 1), (3, 4)]), Mention("Anatomy", [(2, 4)])
KIDNEYS = Sentence(["left", "and", "right", "kidneys"], [LEFT, RIGHT])


def texts(sentence: Sentence, groups) -> list[list[str]]:
    return [[sentence.text_of(mention) for mention in group] for group in groups]


def test_left_and_right_kidneys_are_one_group_of_two():
    assert groups_of(KIDNEYS.mentions) == [(LEFT, RIGHT)]
    expanded = Expander().expand(KIDNEYS)
    assert [each.attributes["expanded"] for each in expanded.mentions] == ["left kidneys", "right kidneys"]
    assert [each.attributes["group"] for each in expanded.mentions] == [1, 1]


def test_groups_of_the_examples():
    assert texts(INFARCTIONS, groups_of(INFARCTIONS.mentions)) == [
        ["Infarctions … water shed", "Infarctions … embolic"]
    ]
    assert texts(LACERATION, groups_of(LACERATION.mentions)) == [["blood in stomach", "stomach … lac"]]
    assert [len(group) for group in groups_of(BLOOD.mentions)] == [6]


def test_neither_nested_ones_nor_other_types_nor_crossing_parts_are_readings_of_one():
    nested = [Mention("A", [(0, 4)]), Mention("A", [(3, 4)])]
    other_type = [Mention("A", [(0, 1), (3, 4)]), Mention("B", [(2, 4)])]
    crossing = [Mention("A", [(0, 3)]), Mention("A", [(2, 5)])]
    assert groups_of(nested) == groups_of(other_type) == groups_of(crossing) == []


def test_a_mention_alone_stands_for_its_own_words():
    (mention,) = (
        Expander().expand(Sentence(["no", "fever"], [Mention("A", [(1, 2)], attributes={"cui": "C1"})])).mentions
    )
    assert dict(mention.attributes) == {"cui": "C1", "expanded": "fever"}


def test_a_text_keeps_its_spelling_and_loses_its_line_breaks():
    text = "T-cell (CD4+)\n  and B-cell lymphoma"
    unit = Document("a", text, [Mention("A", [(0, 13), (27, 35)]), Mention("A", [(20, 35)])])
    expanded = [each.attributes["expanded"] for each in Expander().expand(unit).mentions]
    assert expanded == ["T-cell (CD4+) lymphoma", "B-cell lymphoma"]


def test_groups_of_a_document_have_numbers_of_their_own():
    text = "left and right kidneys. left and right arms."
    moved = [
        mention
        for by in (0, 24)
        for mention in (
            Mention("A", [(by, by + 4), (by + 15, by + (22 if by == 0 else 19))]),
            Mention("A", [(by + 9, by + (22 if by == 0 else 19))]),
        )
    ]
    assert [each.attributes["group"] for each in Expander().expand(Document("a", text, moved)).mentions] == [1, 1, 2, 2]


def with_lemmas(sentence: Sentence, lemmas: str, tags: str) -> Sentence:
    return Sentence(sentence.tokens, sentence.mentions, columns={"lemma": lemmas.split(), "pos": tags.split()})


@pytest.fixture
def own_columns(monkeypatch):
    """Nothing is installed, but sentences bring their columns."""
    from hyperspan.text import annotators

    class Nothing(annotators._None):
        columns = ("pos", "lemma")

    monkeypatch.setattr("hyperspan.text.expansion.annotator", lambda *_, **__: Nothing())


def test_shared_nouns_become_singular(own_columns):
    sentence = with_lemmas(KIDNEYS, "left and right kidney", "ADJ CCONJ ADJ NOUN")
    expanded = Expander(singular=True).expand(sentence)
    assert [each.attributes["expanded"] for each in expanded.mentions] == ["left kidney", "right kidney"]
    alone = Expander(singular=True).expand(sentence.with_mentions([LEFT]))
    assert [each.attributes["expanded"] for each in alone.mentions] == ["left kidneys"]


def test_only_nouns_change_and_capitals_stay(own_columns):
    sentence = with_lemmas(INFARCTIONS, "infarction either water shed or embolic", "NOUN CCONJ NOUN NOUN CCONJ ADJ")
    expanded = [each.attributes["expanded"] for each in Expander(singular=True).expand(sentence).mentions]
    assert expanded == ["Infarctions", "Infarction water shed", "Infarction embolic"]
    verbs = with_lemmas(KIDNEYS, "left and right kidney", "ADJ CCONJ ADJ VERB")
    first, _ = Expander(singular=True).expand(verbs).mentions
    assert first.attributes["expanded"] == "left kidneys"


@pytest.mark.skipif(
    not any(installed_annotators()[name] for name in ("spacy", "hanta", "simplemma")),
    reason="no lemmatiser is installed",
)
def test_a_lemmatiser_does_it_in_texts():
    text = "No cysts in left and right kidneys."
    unit = Document("a", text, [Mention("A", [(12, 16), (27, 34)]), Mention("A", [(21, 34)])])
    expanded = [each.attributes["expanded"] for each in Expander(singular=True).expand(unit).mentions]
    assert expanded == ["left kidney", "right kidney"]


def test_without_a_lemmatiser_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("hyperspan.text.annotators.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"The singular needs the package 'simplemma'\. Install it with"):
        Expander(singular=True).check()
    Expander().check()
