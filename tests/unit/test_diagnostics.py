"""Defects are raised, or counted and kept within bounds."""

from __future__ import annotations

import pytest

from hyperspan import diagnostics as diagnostics_module
from hyperspan.diagnostics import Diagnostic, Diagnostics, quoted
from hyperspan.errors import CorpusError, UsageError


def test_error_raises_with_place_and_advice():
    with pytest.raises(CorpusError) as raised:
        Diagnostics().report("odd", "this is odd", path="note.ann", line=3)
    assert str(raised.value) == (
        "note.ann:3: this is odd. "
        'Correct it, or read with on_error="skip" (--on-error skip) to drop and count such cases.'
    )


def test_the_advice_can_be_another():
    with pytest.raises(CorpusError, match=r"^this is odd\. Ask Ann\.$"):
        Diagnostics(advice="Ask Ann.").report("odd", "this is odd")


@pytest.mark.parametrize("on_error", ["skip", "widen"])
def test_otherwise_defects_are_counted(on_error):
    diagnostics = Diagnostics(on_error)
    diagnostics.report("odd", "one", path="a", line=1)
    diagnostics.report("odd", "two")
    diagnostics.report("even", "three")
    assert diagnostics.counts == {"odd": 2, "even": 1}
    assert diagnostics.total == 3
    assert diagnostics.summary() == "3 problems: 1 even, 2 odd"
    assert [str(finding) for finding in diagnostics.items] == [
        "a:1: one [odd]",
        "<input>: two [odd]",
        "<input>: three [even]",
    ]
    assert diagnostics.widens == (on_error == "widen")


def test_summary_of_nothing_and_of_one():
    diagnostics = Diagnostics("skip")
    assert diagnostics.summary() == "no problems"
    diagnostics.report("odd", "one")
    assert diagnostics.summary() == "1 problem: 1 odd"


def test_an_unknown_policy_is_refused():
    with pytest.raises(UsageError, match="on_error is 'ignore', but must be one of error, skip, widen"):
        Diagnostics("ignore")


def test_only_the_first_findings_are_kept_word_for_word(monkeypatch):
    monkeypatch.setattr(diagnostics_module, "KEPT_DIAGNOSTICS", 3)
    diagnostics, more = Diagnostics("skip"), Diagnostics("skip")
    for number in range(2):
        diagnostics.report("odd", str(number))
    for number in range(5):
        more.report("odd", str(number))
    diagnostics.merge(more)
    assert [finding.message for finding in diagnostics.items] == ["0", "1", "0"]
    assert diagnostics.counts == {"odd": 7}


def test_notes_never_raise_and_do_not_count_as_defects():
    diagnostics, more = Diagnostics("error"), Diagnostics("error")
    diagnostics.note("lost", "first")
    more.note("lost", "second")
    more.note("other", "third", path="a", line=2)
    diagnostics.merge(more)
    assert diagnostics.total == 0
    assert diagnostics.note_counts == {"lost": 2, "other": 1}
    assert {kind: str(note) for kind, note in diagnostics.notes.items()} == {
        "lost": "<input>: first [lost]",
        "other": "a:2: third [other]",
    }


def test_a_finding_as_plain_data():
    assert Diagnostic("odd", "this is odd", "a", 3).as_dict() == {
        "kind": "odd",
        "path": "a",
        "line": 3,
        "message": "this is odd",
    }


def test_values_are_quoted_within_bounds():
    assert quoted("short") == "'short'"
    assert quoted(7) == "7"
    for long in ("x" * 10**6, ["x"] * 10**4, "\n" * 79, "x" * 81):
        assert len(quoted(long)) <= 80
        assert "..." in quoted(long)
    assert quoted("x" * 78) == repr("x" * 78)
