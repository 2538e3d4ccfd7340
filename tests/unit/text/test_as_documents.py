"""Sentences of one document become its text again, and what a text has no place for is noted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hyperspan.diagnostics import Diagnostics
from hyperspan.mentions import Document, Mention, Sentence
from hyperspan.text import as_documents
from strategies import sentences


def test_neighbouring_sentences_of_a_document_are_joined_and_documents_pass():
    document = Document("b", "as it is")
    units = [
        Sentence(["no", "fever"], [Mention("F", [(1, 2)])], "a"),
        Sentence(["Rest"], [Mention("F", [(0, 1)])], "a"),
        document,
        Sentence(["again"], doc="a"),
    ]
    first, second, third = as_documents(units)
    assert (first.text, first.mentions) == ("no fever\nRest", (Mention("F", [(3, 8)]), Mention("F", [(9, 13)])))
    assert second is document
    assert (third.doc, third.text) == ("a", "again")


def test_the_same_name_in_another_split_is_another_document():
    units = [Sentence(["no"], doc="a", split="train"), Sentence(["no"], doc="a", split="test")]
    assert [document.split for document in as_documents(units)] == ["train", "test"]


def test_what_a_text_cannot_hold_is_noted():
    diagnostics = Diagnostics("error")
    units = [
        Sentence(["no"], doc="a", columns={"pos": ["DT"]}, attributes={"section": "plan", "ward": 7}),
        Sentence(["no"], doc="a", offsets=[(5, 7)], attributes={"ward": 7}),
    ]
    (document,) = as_documents(units, diagnostics)
    assert document.attributes == {"ward": 7}
    assert {kind: note.message for kind, note in diagnostics.notes.items()} == {
        "columns-not-held": "a text holds no column 'pos' of its tokens",
        "offsets-not-held": "tokens are joined by blanks, not as they stood before",
        "attributes-not-held": "a text holds no attribute 'section' that only some sentences have",
    }


@given(st.lists(sentences(), max_size=6))
def test_every_mention_keeps_its_words(units):
    expected = sorted((mention.type, unit.text_of(mention)) for unit in units for mention in unit.mentions)
    found = [(m.type, document.text_of(m)) for document in as_documents(units) for m in document.mentions]
    assert sorted(found) == expected
