"""Notes: what is worth knowing but no defect."""

from __future__ import annotations

from hyperspan.findings import Findings


def test_notes_never_raise_and_are_no_findings() -> None:
    findings = Findings("error")
    findings.note("columns-not-held", "the format 'inline' holds no column 'pos'", path="a.jsonl", line=3)
    assert findings.total == 0
    assert findings.items == []
    assert findings.summary() == "nothing found"
    assert str(findings.notes["columns-not-held"]) == (
        "a.jsonl:3: the format 'inline' holds no column 'pos' [columns-not-held]"
    )


def test_the_first_note_of_each_kind_is_kept_and_all_are_counted() -> None:
    findings = Findings()
    for line in range(1, 4):
        findings.note("doc-not-held", "names are lost", line=line)
    findings.note("prob-not-held", "probabilities are lost")
    assert findings.note_counts == {"doc-not-held": 3, "prob-not-held": 1}
    assert findings.notes["doc-not-held"].line == 1


def test_merge_adds_notes() -> None:
    first, second = Findings("skip"), Findings("skip")
    first.note("doc-not-held", "first")
    second.note("doc-not-held", "second")
    second.note("prob-not-held", "other")
    first.merge(second)
    assert first.note_counts == {"doc-not-held": 2, "prob-not-held": 1}
    assert first.notes["doc-not-held"].message == "first"
