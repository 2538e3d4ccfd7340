"""Text keeps its offsets, whatever it holds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Diagnostics, Document, Sentence
from hyperspan.mentions import to_characters
from hyperspan.text import find_sections, join_sentences, split_document, split_sentences, tokenize, whole_sentence
from hyperspan.text.marks import is_mark, mask_marks
from strategies import documents, mentions, sentences

PIECES = (
    *("\n", "\r\n", "\n\n", "\r", " ", "\t", "   ", ". ", ".", "? ", "! ", ": ", ":", ";", ",", "(", ")", "[**", "**]"),
    *(
        "[**Name 1**]",
        "- ",
        "* ",
        "1. ",
        "10) ",
        "PLAN:",
        "HPI",
        "Dr. ",
        "e.g. ",
        "don't ",
        "A. ",
        "|",
        "---",
        "\u200b",
    ),
    *("\u200d", "\ud800", "\U0001f600", "e\u0301", "\u05d0\u05d1", "\u3002", "\x00", "\x1f", "\u2028", "\ufeff", "..."),
    *("word ", "Word ", "stomach ", "B", "b-\n", "x" * 70),
)

any_text = st.text(st.characters(), max_size=80)
report_text = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
texts = any_text | report_text


def without_space(text: str) -> str:
    return "".join(character for character in text if not character.isspace())


@given(texts)
def test_every_visible_character_lies_in_one_token(text: str) -> None:
    spans = tokenize(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join(without_space(text[start:end]) for start, end in spans) == without_space(text)
    for start, end in spans:
        token = text[start:end]
        assert token
        assert is_mark(token) or without_space(token) == token


@given(texts, st.sampled_from(["auto", "always", "never"]))
@settings(max_examples=200)
def test_every_visible_character_lies_in_one_sentence(text: str, line_ends: str) -> None:
    spans = split_sentences(text, line_ends=line_ends)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join(without_space(text[start:end]) for start, end in spans) == without_space(text)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


@given(texts)
def test_no_sentence_ends_inside_a_mark(text: str) -> None:
    marks = [(start, end) for start, end in tokenize(text) if is_mark(text[start:end])]
    for sentence_start, _ in split_sentences(text):
        assert not any(start < sentence_start < end for start, end in marks)


@given(texts)
def test_masking_keeps_the_length(text: str) -> None:
    assert len(mask_marks(text)) == len(text)


@given(texts)
def test_sections_stand_where_they_say(text: str) -> None:
    found = find_sections(text)
    assert all(before.start < after.start for before, after in pairwise(found))
    for section in found:
        assert section.name
        assert mask_marks(text).find(section.title, section.start) >= section.start


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    text = draw(texts)
    found = draw(st.sets(mentions(len(text)), max_size=5)) if text else set()
    return Document("d", text, found)


@given(annotated() | documents())
@settings(max_examples=200)
def test_every_mention_is_kept_as_it_is_or_reported(document: Document) -> None:
    diagnostics = Diagnostics(on_error="skip")
    found = split_document(document, diagnostics)
    kept = [to_characters(mention, s.offsets or ()) for s in found for mention in s.mentions]
    assert len(kept) + diagnostics.total == len(document.mentions)
    originals = {(m.type, visible(document.text, m.words())) for m in document.mentions}
    for sentence in found:
        assert sentence.offsets is not None
        assert sentence.tokens == tuple(document.text[start:end] for start, end in sentence.offsets)
    # Parts with only white space between them become one; what is visible stays exactly the same.
    assert {(m.type, visible(document.text, m.words())) for m in kept} <= originals


def visible(text: str, positions: object) -> tuple[int, ...]:
    return tuple(position for position in positions if not text[position].isspace())  # type: ignore[attr-defined]


@given(annotated())
def test_widening_covers_the_mention(document: Document) -> None:
    diagnostics = Diagnostics(on_error="widen")
    whole = whole_sentence(document, diagnostics)
    assert whole.offsets is not None
    covers = [(mention.type, set(to_characters(mention, whole.offsets).words())) for mention in whole.mentions]
    lost = diagnostics.counts["no-token"]
    uncovered = [
        mention
        for mention in document.mentions
        if not any(t == mention.type and set(visible(document.text, mention.words())) <= c for t, c in covers)
    ]
    assert len(uncovered) <= lost


@given(annotated())
def test_sentences_join_to_the_document_they_came_from(document: Document) -> None:
    found = split_document(document, Diagnostics(on_error="skip"))
    if found:
        back = join_sentences(found, document.text)
        assert back.text == document.text
        assert split_document(back, Diagnostics()) == found


@given(st.lists(sentences(), min_size=1, max_size=4))
def test_joined_sentences_keep_their_tokens_and_mentions(given_sentences: list[Sentence]) -> None:
    same = [Sentence(s.tokens, s.mentions, "d") for s in given_sentences]
    document = join_sentences(same)
    texts = [document.text_of(mention) for mention in document.mentions]
    assert sorted(texts) == sorted(s.text_of(mention) for s in same for mention in s.mentions)
    assert document.text == "\n".join(" ".join(s.tokens) for s in same)
