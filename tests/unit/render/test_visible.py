"""Text made safe to show."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.render.visible import cut, visible, visible_word, xml_text

anything = st.text(st.characters(), max_size=20)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fever", "fever"),
        ("\x1b[2J", "␛[2J"),
        ("a\x00b\x7f", "a␀b␡"),
        ("line\r\n\tend", "line␍␊␉end"),
        ("1\xa0000", "1␣000"),
        ("abc\u202ecba", "abc�cba"),
        ("\u2066x\u2069", "�x�"),
        ("\ud800", "�"),
        ("\x9b31m", "�31m"),
        ("کتاب\u200cها", "کتاب�ها"),
    ],
)
def test_what_does_not_show_becomes_a_sign(text: str, shown: str):
    assert visible(text) == shown


def test_joiners_stay_where_they_are_needed():
    assert visible("کتاب\u200cها", keep_joiners=True) == "کتاب\u200cها"


def test_ascii_only_writes_escapes():
    assert visible("Nö\x1b→\ud800", ascii_only=True) == "N\\xf6\\x1b\\u2192\\ud800"


def test_a_word_that_takes_no_room_stands_on_a_dotted_circle():
    assert visible_word("\u0301") == "◌\u0301"
    assert visible_word("e\u0301") == "e\u0301"


def test_long_texts_are_cut():
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


@given(anything)
def test_everything_shown_is_printable(text: str):
    assert visible(text).isprintable()
    ascii_text = visible(text, ascii_only=True)
    assert ascii_text.isascii()
    assert ascii_text.isprintable()


@given(anything)
def test_xml_holds_every_text(text: str):
    element = ElementTree.fromstring(f'<a b="{xml_text(text)}">{xml_text(text)}</a>')
    assert (element.text or "") == element.get("b") == visible(text, keep_joiners=True)
