"""The compiled way to cut tokens agrees with the regular expression."""

from __future__ import annotations

import sys
from itertools import pairwise

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.mentions import Span
from hyperspan.text.marks import LONGEST_MARK
from hyperspan.text.token_kernel import cut_tokens
from hyperspan.text.tokens import Tokens, tokenize, tokenize_parts

pytestmark = pytest.mark.kernel

ANY_CHARACTER = st.characters(exclude_categories=())
"""All of Unicode, with the halves of surrogate pairs and what is not assigned."""

PIECES = [*"[]*(a \n", "[**", "**]", "[**Name 1**]", "\n]", "e\u0301", "\u200d", ">=", "x_1"]


def reference(text: str, spans: list[Span]) -> list[Tokens]:
    offsets = [tuple(tokenize(text, start, end)) for start, end in spans]
    return [(tuple(text[start:end] for start, end in places), places) for places in offsets]


def spans_of(text: str, cuts: list[int]) -> list[Span]:
    places = [0, *sorted({cut % (len(text) + 1) for cut in cuts}), len(text)]
    return list(pairwise(places))


@given(st.text(ANY_CHARACTER), st.lists(st.integers(min_value=0), max_size=3))
def test_any_text_is_cut_as_the_expression_says(text, cuts):
    spans = spans_of(text, cuts)
    assert cut_tokens([text], [spans]) == [reference(text, spans)]


@given(st.lists(st.sampled_from(PIECES) | ANY_CHARACTER), st.lists(st.integers(min_value=0), max_size=3))
def test_marks_and_joiners_are_cut_as_the_expression_says(pieces, cuts):
    text = "".join(pieces)
    spans = spans_of(text, cuts)
    assert cut_tokens([text], [spans]) == [reference(text, spans)]


@pytest.mark.parametrize("length", [0, 1, LONGEST_MARK - 1, LONGEST_MARK, LONGEST_MARK + 1, LONGEST_MARK + 2])
@pytest.mark.parametrize("filling", ["x", "*", "\n", "] "])
def test_a_mark_is_as_long_as_the_expression_says(length, filling):
    mark = "[**" + (filling * length)[:length] + "**]"
    for text in (mark, f"a{mark}b", mark + mark):
        spans = [(0, len(text))]
        assert cut_tokens([text], [spans]) == [reference(text, spans)]


def test_a_part_that_ends_inside_a_mark_has_none():
    text = "by [**Name 1**] now"
    for end in range(len(text) + 1):
        spans = [(0, end), (end, len(text))]
        assert cut_tokens([text], [spans]) == [reference(text, spans)]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes long with the compiler off")
def test_every_character_is_of_the_kind_the_expression_says():
    for first in range(0, 0x110000, 0x10000):
        text = " ".join(f"a{character}+{character}" for character in map(chr, range(first, first + 0x10000)))
        spans = [(0, len(text))]
        assert cut_tokens([text], [spans]) == [reference(text, spans)]


@given(st.lists(st.text(st.sampled_from(" a.[*]"), max_size=8), max_size=4), st.lists(st.integers(0, 9), max_size=3))
def test_texts_do_not_touch_one_another(texts, cuts):
    spans = [spans_of(text, cuts) for text in texts]
    assert cut_tokens(texts, spans) == [reference(*each) for each in zip(texts, spans, strict=True)]


def test_there_may_be_nothing_to_cut():
    assert cut_tokens([], []) == []
    assert cut_tokens([""], [[]]) == [[]]
    assert cut_tokens([" \n"], [[(0, 2)]]) == [[((), ())]]
    assert cut_tokens(["a b"], [[]]) == [[]]


def test_without_compiled_code_the_tokens_are_the_same(monkeypatch):
    text, spans = "No fever (38 °C). Seen by [**Name 1**].", [(0, 17), (18, 39)]
    compiled = tokenize_parts([text], [spans], compiled=True)
    monkeypatch.delitem(sys.modules, "hyperspan.text.token_kernel")
    assert tokenize_parts([text], [spans]) == compiled
    assert "hyperspan.text.token_kernel" not in sys.modules
