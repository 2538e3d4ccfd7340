from __future__ import annotations

import pytest

from hyperspan.text.lines import split_lines, title_of
from hyperspan.text.sections import known_headings


def kind(line: str, before: str = "Some prose before it") -> str:
    return split_lines(f"{before}\n{line}", known_headings())[-1].kind


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Physical exam:", "heading"),
        ("HPI", "heading"),
        ("** Past Medical History **", "heading"),
        ("3. Social History:", "heading"),
        ("with one of the following:", "prose"),
        ("SOME TITLE", "prose"),
        ("He was well. Then the following:", "prose"),
        ("- item", "item"),
        ("* item", "item"),
        ("12) item", "item"),
        ("(a) item", "item"),
        ("iv. item", "item"),
        ("1.2. item", "item"),
        ("#3 hypertension", "item"),
        ("o   item", "item"),
        ("o paciente", "prose"),
        ("1.Aspirin", "item"),
        ("e.g. aspirin", "prose"),
        ("p.o. every day", "prose"),
        ("2.5 mg daily", "prose"),
        ("-5 degrees", "prose"),
        ("-----", "rule"),
        ("* * * *", "rule"),
        ("Na 140   K 4.1   Cl 100", "row"),
        ("a\tb\tc", "row"),
        ("a | b", "row"),
        ("two  spaces.  Between sentences.", "prose"),
        ("   ", "blank"),
    ],
)
def test_a_line_after_prose_is(line: str, expected: str) -> None:
    assert kind(line) == expected


def test_capitals_after_a_blank_line_are_a_heading() -> None:
    assert kind("SOME TITLE", before="") == "heading"
    assert kind("HIV", before="") == "prose"
    assert kind("ALL CAPITALS, BUT A SENTENCE.", before="") == "prose"


def test_lines_know_where_they_are() -> None:
    text = "  one \r\n\r\ntwo"
    lines = split_lines(text)
    assert [(text[line.start : line.end], line.indent) for line in lines] == [("one", 2), ("", 0), ("two", 0)]


def test_a_title_loses_its_ornaments() -> None:
    assert title_of("## 1.2. Diagnostics: ##") == "Diagnostics"
    assert title_of("----") == ""
