"""Notes: what is worth knowing but no defect."""

from __future__ import annotations

from hyperspan.diagnostics import Diagnostics


def test_notes_never_raise_and_are_no_diagnostics() -> None:
    diagnostics = Diagnostics("error")
    diagnostics.note("columns-not-held", "the format 'inline' holds no column 'pos'", path="a.jsonl", line=3)
    assert diagnostics.total == 0
    assert diagnostics.items == []
    assert diagnostics.summary() == "no problems"
    assert str(diagnostics.notes["columns-not-held"]) == (
        "a.jsonl:3: the format 'inline' holds no column 'pos' [columns-not-held]"
    )


def test_the_first_note_of_each_kind_is_kept_and_all_are_counted() -> None:
    diagnostics = Diagnostics()
    for line in range(1, 4):
        diagnostics.note("doc-not-held", "names are lost", line=line)
    diagnostics.note("prob-not-held", "probabilities are lost")
    assert diagnostics.note_counts == {"doc-not-held": 3, "prob-not-held": 1}
    assert diagnostics.notes["doc-not-held"].line == 1


def test_merge_adds_notes() -> None:
    first, second = Diagnostics("skip"), Diagnostics("skip")
    first.note("doc-not-held", "first")
    second.note("doc-not-held", "second")
    second.note("prob-not-held", "other")
    first.merge(second)
    assert first.note_counts == {"doc-not-held": 2, "prob-not-held": 1}
    assert first.notes["doc-not-held"].message == "first"
