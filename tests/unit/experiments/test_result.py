"""Rows, columns, conclusions, and how they are written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperspan.errors import UsageError
from hyperspan.experiments import (
    Column,
    Conclusion,
    Result,
    Settings,
    experiment_named,
    names,
    page_of,
    parse_penalties,
)
from hyperspan.experiments.result import beside, conclude, paper_columns
from hyperspan.experiments.table import shown, table_lines


def document(**changes):
    result = Result(
        (Column("name", "name"), Column("f1", "F1")),
        [{"name": "a|b", "f1": 60.04}],
        conclusions=(Conclusion("It holds", True, "1 > 0"), Conclusion("Ours", None, "nothing", "ours")),
        notes=("Of note.",),
    )
    made = {
        "experiment": "main",
        "title": "a title",
        "command": "hyperspan experiment run main",
        "environment": {"date": "today", "cpu": "one", "cores": 2, "seconds": 3.4, "versions": {"hyperspan": "0"}},
        **result.as_dict(),
    }
    return {**made, **changes}


def test_a_page_has_everything():
    page = page_of(document())
    assert page.startswith("# main: a title\n\n| name |   F1 |\n| ---- | ---: |\n| a\\|b | 60.0 |\n")
    assert "- **holds**: It holds\n  (1 > 0)\n" in page
    assert "- **undecided**: Ours (ours)\n" in page
    assert "- Of note.\n" in page
    assert "    hyperspan experiment run main\n" in page
    assert page.endswith("today, hyperspan 0, one, 2 cores, 3 s\n")


def test_a_page_without_conclusions_and_notes():
    assert "**" not in page_of(document(conclusions=[], notes=[]))


def test_plain_data_survives_json():
    made = document()
    assert json.loads(json.dumps(made)) == made


@given(st.lists(st.tuples(st.booleans(), st.text(min_size=1)), max_size=5))
def test_a_claim_holds_if_every_comparison_does(comparisons):
    made = conclude("claim", [(text, holds) for holds, text in comparisons])
    assert made.holds is (all(holds for holds, _ in comparisons) if comparisons else None)
    for _, text in comparisons:
        assert text in made.evidence


def test_published_values_stand_beside_rows_with_the_same_keys():
    published = [{"a": 1, "b": 2, "f1": 6.0}, {"a": 2, "b": 2, "f1": 7.0}]
    rows = beside([{"a": 1, "b": 2, "f1": 5.0}], published, ["a", "b"], ["f1"])
    assert rows == [{"a": 1, "b": 2, "f1": 5.0, "paper_f1": 6.0}]
    assert paper_columns([Column("f1", "F1", 2)]) == (Column("paper_f1", "paper F1", 2),)


@given(st.lists(st.fixed_dictionaries({"n": st.integers(), "t": st.text("ab|é", max_size=9)}), max_size=4))
def test_all_lines_of_a_table_are_as_wide(rows):
    columns = [{"name": "n", "title": "number", "digits": 1}, {"name": "t", "title": "text", "digits": 1}]
    assert len({len(line) for line in table_lines(columns, rows)}) == 1


def test_what_a_table_cannot_show():
    assert (shown(True, 1), shown(False, 1), shown(1234.5, 2)) == ("yes", "no", "1,234.50")
    with pytest.raises(TypeError, match="no place for"):
        shown([], 1)


@pytest.mark.parametrize("text", ["", "a", "0", "-1", "1,,2", "inf", "nan"])
def test_penalties_that_make_no_sense(text):
    with pytest.raises(UsageError, match="expected numbers above 0 separated by commas"):
        parse_penalties(text)


def test_penalties_are_in_order_and_once():
    assert parse_penalties("0.5,2,0.5") == (2.0, 0.5)


def test_settings_are_plain_data():
    assert Settings.of(quick=True, penalties=(2.0,)).as_dict()["penalties"] == [2.0]
    assert Settings().max_iterations == 100
    assert Settings().penalties == (2.0, 1.0, 0.5, 0.25, 0.125)


def test_names():
    assert len(names()) == 9
    assert experiment_named("main").name == "main"
    with pytest.raises(UsageError, match=r"there is no experiment 'mian'; expected all, .* Did you mean 'main'"):
        experiment_named("mian")
