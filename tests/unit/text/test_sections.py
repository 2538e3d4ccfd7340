from __future__ import annotations

import pytest

from hyperspan.errors import UsageError
from hyperspan.text import find_sections, section_name
from hyperspan.text.sections import known_headings, section_at


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("hx of present illness", "history_of_present_illness"),
        ("HPI", "history_of_present_illness"),
        ("History of Present Illness (HPI):", "history_of_present_illness"),
        ("PMHx", "past_medical_history"),
        ("Assessment/Plan", "assessment"),
        ("A/P", "assessment"),
        ("Meds on Admission", "medications_on_admission"),
        ("Follow-up", "follow_up"),
        ("Labs", "laboratory"),
        ("Transfusion notes", "transfusion_notes"),
        ("Überweisung", "überweisung"),
    ],
)
def test_titles_become_one_name(title: str, name: str) -> None:
    assert section_name(title) == name


def test_names_are_bounded() -> None:
    assert len(section_name("word " * 1000)) <= 40


def test_languages_without_a_table_keep_titles_as_they_are() -> None:
    assert section_name("HPI", language="de") == "hpi"
    assert known_headings("EN_us")["hpi"] == "history_of_present_illness"
    with pytest.raises(UsageError, match="language is ''; expected a code such as 'en'"):
        known_headings("")


def test_sections_are_found_in_a_report() -> None:
    text = (
        "Admission Date: [**2014-03-02**]\n"
        "\n"
        "HISTORY OF PRESENT ILLNESS: He fell.\n"
        "Patient states: nothing\n"
        "WBC: 9.1\n"
        "HEART: regular rate\n"
        "\n"
        "Physical exam\n"
        "well\n"
        "\n"
        "SPECIAL TESTS\n"
        "none\n"
        "Plan of care:\n"
        "rest\n"
    )
    assert [(section.name, section.title) for section in find_sections(text)] == [
        ("admission_date", "Admission Date"),
        ("history_of_present_illness", "HISTORY OF PRESENT ILLNESS"),
        ("heart", "HEART"),
        ("physical_examination", "Physical exam"),
        ("special_tests", "SPECIAL TESTS"),
        ("plan", "Plan of care"),
    ]
    for section in find_sections(text):
        assert text[section.start :].startswith(section.title)


def test_a_position_lies_in_the_section_before_it() -> None:
    sections = find_sections("before\nPlan:\nrest")
    assert [section_at(sections, position) for position in (0, 6, 7, 15)] == [None, None, "plan", "plan"]


@pytest.mark.parametrize("text", ["", "\n\n", ":", "::::", "a:" * 10_000, "A" * 100_000 + ":", "X: " * 50_000])
def test_odd_text_has_no_known_sections(text: str) -> None:
    known = set(known_headings().values())
    assert not known & {section.name for section in find_sections(text)}
