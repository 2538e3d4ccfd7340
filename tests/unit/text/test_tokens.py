from __future__ import annotations

import pytest

from hyperspan.text import tokenize


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\r\n\u00a0\u2028", []),
        ("no fever.", ["no", "fever", "."]),
        ("dark/black", ["dark", "/", "black"]),
        ("(<=7 days).", ["(", "<=", "7", "days", ")", "."]),
        ("oxaliplatin-, 5", ["oxaliplatin", "-", ",", "5"]),
        ("don't", ["don", "'", "t"]),
        ("wait ... 5 +/- 2", ["wait", "...", "5", "+/-", "2"]),
        ("by [**Doctor Last Name 7**]'s", ["by", "[**Doctor Last Name 7**]", "'", "s"]),
        ("[**2014-03-02**][**Hospital 12**]", ["[**2014-03-02**]", "[**Hospital 12**]"]),
        ("[**a [**b**]", ["[", "**", "a", "[**b**]"]),
        ("e\u0301te\u0301 हिन्दी", ["e\u0301te\u0301", "हिन्दी"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("שלום, עולם", ["שלום", ",", "עולם"]),
        ("ok 👩\u200d⚕\ufe0f!", ["ok", "👩\u200d⚕\ufe0f!"]),
        ("a\u200bb", ["a", "\u200b", "b"]),
        ("a\x00b\x1fc", ["a", "\x00", "b", "c"]),
        ("a\ud800b", ["a", "\ud800", "b"]),
        ("one\r\ntwo", ["one", "two"]),
    ],
)
def test_tokens_of(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_part_of_the_text_has_offsets_in_the_whole() -> None:
    assert tokenize("one two three", 4, 7) == [(4, 7)]


@pytest.mark.parametrize(
    "text",
    ["[**" * 100_000, "[*" * 150_000, "[** a " * 50_000, "[**" + "a**" * 100_000, "[**" + "x" * 300_000],
    ids=["marks", "half-marks", "open", "stars", "long"],
)
def test_hostile_marks_are_read_to_the_end(text: str) -> None:
    spans = tokenize(text)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text.rstrip())


def test_one_enormous_token_is_one_token() -> None:
    assert tokenize("x" * 1_000_000) == [(0, 1_000_000)]
