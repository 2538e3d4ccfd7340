"""Lexicons of any phrases, over any sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan.features.lexicon import Lexicon
from strategies import words

letters = st.sampled_from("abcd")
phrases = st.lists(st.tuples(st.lists(letters, min_size=1, max_size=4), st.sampled_from("XYZ")), max_size=10)


def match_reference(entries: list[tuple[list[str], str]], tokens: list[str]) -> list[tuple[str, ...]]:
    """The category of the longest phrase that covers each token, the leftmost and first given of several."""
    found = []
    for position in range(len(tokens)):
        candidates = [
            (-len(phrase), start, order, category)
            for order, (phrase, category) in enumerate(entries)
            for start in range(max(position - len(phrase) + 1, 0), position + 1)
            if tokens[start : start + len(phrase)] == phrase
        ]
        found.append((min(candidates)[-1],) if candidates else ())
    return found


@pytest.mark.kernel
@settings(max_examples=150)
@given(phrases, st.lists(st.lists(letters, max_size=10), max_size=4))
def test_matches_are_those_of_the_definition(entries, sentences):
    lexicon = Lexicon.from_entries([(" ".join(phrase), category) for phrase, category in entries])
    ids = lexicon.match(sentences)
    for tokens, numbers in zip(sentences, ids, strict=True):
        names = [(lexicon.categories[number],) if number >= 0 else () for number in numbers.tolist()]
        assert names == match_reference(entries, tokens)
        assert names == lexicon.categories_of(tokens)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.text(max_size=20), st.text(min_size=1, max_size=3)), max_size=8), st.lists(words, max_size=8)
)
def test_any_text_can_be_entered_saved_and_matched(entries, tokens):
    lexicon = Lexicon.from_entries(entries)
    again = Lexicon.from_bytes(lexicon.to_bytes())
    assert again.categories_of(tokens) == lexicon.categories_of(tokens)
    assert again.pieces == lexicon.pieces


@settings(max_examples=100)
@given(st.lists(words, min_size=1, max_size=5))
def test_a_phrase_matches_its_own_words_in_any_case(tokens):
    lexicon = Lexicon.from_entries([(" ".join(tokens), "X")])
    if len(lexicon) and all(any(character.isalnum() for character in token) for token in tokens):
        assert lexicon.categories_of(tokens) == [("X",)] * len(tokens)
