"""Which way words run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.render.directions import directions, equal_runs, visual_order


@pytest.mark.parametrize(
    ("text", "base", "on_the_page"),
    [
        ("no acute fever .", False, "no acute fever ."),
        ("כאב חריף בחזה .", True, ". בחזה חריף כאב"),
        ("כאב acute chest pain בחזה .", True, ". בחזה acute chest pain כאב"),
        ("pain כאב חריף - בחזה today", False, "pain בחזה - חריף כאב today"),
        ("12 , 13", False, "12 , 13"),
        ("ألم 12 - شديد", True, "شديد - 12 ألم"),
    ],
)
def test_words_stand_in_the_order_of_their_script(text: str, base: bool, on_the_page: str):
    tokens = text.split()
    found, words = directions(tokens)
    assert found == base
    assert " ".join(tokens[position] for position in visual_order(found, words)) == on_the_page


def test_no_words():
    assert directions([]) == (False, [])
    assert visual_order(False, []) == []


@given(st.booleans(), st.lists(st.booleans(), max_size=12))
def test_every_word_stands_once(base: bool, words: list[bool]):
    assert sorted(visual_order(base, words)) == list(range(len(words)))
    assert [position for first, last in equal_runs(words) for position in range(first, last)] == list(range(len(words)))
