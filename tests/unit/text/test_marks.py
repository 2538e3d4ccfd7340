from __future__ import annotations

import pytest

from hyperspan.text.marks import CATEGORIES, LONGEST_MARK, category_of, is_mark, mask_marks, normal_form


@pytest.mark.parametrize(
    ("inside", "category"),
    [
        ("doctor first name 77", "doctor_name"),
        ("Doctor Last Name (STitle) 12", "doctor_name"),
        ("Name (STitle) 5", "doctor_name"),
        ("Attending Info 3", "doctor_name"),
        ("Known lastname 1234", "name"),
        ("Female First Name (un) 4", "name"),
        ("Name Initial (NameIs) 2", "name"),
        ("Initials (NamePattern4) 7", "initials"),
        ("2014-03-02", "date"),
        ("3-2", "date"),
        ("3/2/14", "date"),
        ("2014", "date"),
        ("Date range (1) 3", "date"),
        ("Month/Day/Year 5", "date"),
        ("Holiday 1", "date"),
        ("Hospital 12", "hospital"),
        ("Hospital1 69", "hospital"),
        ("Hospital Ward Name 3", "ward"),
        ("Hospital Unit Name 10", "ward"),
        ("Wardname 5", "ward"),
        ("Location (un) 620", "location"),
        ("State 3", "location"),
        ("Country 9", "location"),
        ("Street Address(2) 4", "address"),
        ("Telephone/Fax (1) 3", "contact"),
        ("Pager number 8", "contact"),
        ("E-mail address 2", "contact"),
        ("University/College 1", "school"),
        ("Company 5", "company"),
        ("Age over 90 3", "age"),
        ("Medical Record Number 5", "number"),
        ("MD Number(1) 44", "number"),
        ("Clip Number (Radiology) 3", "number"),
        ("Social Security Number 4", "number"),
        ("Numeric Identifier 4", "number"),
        ("", "removed"),
        ("something else", "removed"),
        ("Known\nlastname 3", "name"),
    ],
)
def test_marks_become_their_category(inside: str, category: str) -> None:
    mark = f"[**{inside}**]"
    assert is_mark(mark)
    assert category_of(mark) == normal_form(mark) == category
    assert category in CATEGORIES


@pytest.mark.parametrize("token", ["[12]", "[**", "**]", "[**a[**b**]", "[**a**] ", "fever", "", f"[**{'a' * 201}**]"])
def test_what_is_no_mark_stays_itself(token: str) -> None:
    assert not is_mark(token)
    assert normal_form(token) == token


def test_a_mark_may_be_as_long_as_the_bound_says() -> None:
    assert is_mark(f"[**{'a' * LONGEST_MARK}**]")


def test_masking_keeps_every_other_character_and_the_length() -> None:
    text = "seen by [**Name 1**], [**\n2**]. [** open"
    masked = mask_marks(text)
    assert masked == "seen by Xxxxxxxxxxxx, Xxxxxxxx. [** open"
    assert len(masked) == len(text)
