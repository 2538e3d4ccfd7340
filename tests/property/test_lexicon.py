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


def entry_reference(entries: list[tuple[list[str], str]], tokens: list[str]) -> str:
    """The category of the first entry that is these tokens, or nothing."""
    return next((category for phrase, category in entries if phrase == tokens), "")


@pytest.mark.kernel
@settings(max_examples=150)
@given(phrases, st.lists(st.lists(letters, max_size=10), max_size=4), st.integers(1, 4))
def test_whole_and_interrupted_entries_are_those_of_the_definition(entries, sentences, longest):
    lexicon = Lexicon.from_entries([(" ".join(phrase), category) for phrase, category in entries])
    names, first = [*lexicon.categories, ""], 0
    whole, joined = lexicon.entries(sentences, longest)
    for tokens in sentences:
        for word in range(len(tokens)):
            for end in range(word + 1, word + longest + 1):
                found = [names[ids[first + word, end - word - 1]] for ids in (whole, joined)]
                inside, around = (
                    tokens[word:end] if end <= len(tokens) else [],
                    [
                        tokens[begin:word] + tokens[end:last]
                        for begin in range(max(0, word - longest), word)
                        for last in range(end + 1, min(end + longest, len(tokens)) + 1)
                    ],
                )
                around.sort(key=len, reverse=True)
                matches = [entry_reference(entries, each) for each in around]
                assert found == [entry_reference(entries, inside), next(filter(None, matches), "")]
        first += len(tokens)


@settings(max_examples=100)
@given(st.lists(st.lists(words, min_size=1, max_size=3), max_size=4), st.lists(words, max_size=6))
def test_entries_of_any_words_are_those_that_are_asked_for_one_by_one(entries, tokens):
    lexicon = Lexicon.from_entries([(" ".join(phrase), str(number)) for number, phrase in enumerate(entries)])
    whole, _ = lexicon.entries([tokens], 3)
    for word in range(len(tokens)):
        for n_words in range(1, min(3, len(tokens) - word) + 1):
            assert whole[word, n_words - 1] == lexicon.entry_of(tokens[word : word + n_words])
