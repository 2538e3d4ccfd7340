"""Relations, events, equivalences and notes go from brat to JSON lines and back, whole or announced."""

from __future__ import annotations

import json

import pytest

from hyperspan import Diagnostics, Document, Mention, corpora
from hyperspan.corpora.jsonl import record_of
from hyperspan.corpora.links import links_of
from hyperspan.errors import CorpusError

TEXT = "Aspirin caused severe bleeding in two patients"
ANNOTATIONS = (
    "T1\tDrug 0 7\tAspirin\n"
    "T2\tCause 8 14\tcaused\n"
    "T3\tFinding 22 30\tbleeding\n"
    "T4\tPeople 38 46\tpatients\n"
    "T5\tFinding 15 30\tsevere bleeding\n"
    "E1\tCause:T2 Agent:T1 Theme:T3\n"
    "E2\tReport:T2 Theme:E1\n"
    "R7\tIn Arg1:T3 Arg2:T4\t\n"
    "*\tEquiv T3 T5\n"
    "A1\tNegated E1\n"
    "A2\tLevel E1 high\n"
    "A3\tCertain T1\n"
    "N1\tReference R7 SNOMED:12\taspirin\n"
    "#1\tAnnotatorNotes E1\tlook here\tand there\n"
    "#2\tAnnotatorNotes T1\twho?\n"
    "#3\tAnnotatorNotes T1\tprob=0.5\n"
)


@pytest.fixture
def document(tmp_path) -> Document:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.ann").write_text(ANNOTATIONS)
    (found,) = corpora.read(tmp_path / "a.ann")
    return found


def test_json_lines_hold_what_brat_says(document):
    record = record_of(document)
    assert [mention["id"] for mention in record["mentions"]] == ["T1", "T2", "T5", "T3", "T4"]
    assert record["relations"] == [
        {
            "id": "R7",
            "type": "In",
            "arguments": [{"role": "Arg1", "target": "T3"}, {"role": "Arg2", "target": "T4"}],
            "attributes": {"normalisations": ["SNOMED:12"]},
        }
    ]
    assert record["events"] == [
        {
            "id": "E1",
            "type": "Cause",
            "trigger": "T2",
            "arguments": [{"role": "Agent", "target": "T1"}, {"role": "Theme", "target": "T3"}],
            "attributes": {"Negated": True, "Level": "high"},
        },
        {"id": "E2", "type": "Report", "trigger": "T2", "arguments": [{"role": "Theme", "target": "E1"}]},
    ]
    assert record["equivalences"] == [{"type": "Equiv", "targets": ["T3", "T5"]}]
    assert record["notes"] == [
        {"id": "#1", "type": "AnnotatorNotes", "target": "E1", "text": "look here\tand there"},
        {"id": "#2", "type": "AnnotatorNotes", "target": "T1", "text": "who?"},
    ]


def test_they_survive_the_way_there_and_back(document, tmp_path):
    corpora.write([document], tmp_path / "a.jsonl")
    (between,) = corpora.read(tmp_path / "a.jsonl")
    corpora.write([between], tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    corpora.write([between], tmp_path / "brat")
    (again,) = corpora.read(tmp_path / "brat")
    assert again == document
    before, after = links_of(document), links_of(again)
    assert after is not None
    assert after.ids == before.ids
    plain = json.loads(json.dumps(before.as_record()).replace("look here\\tand", "look here and"))
    assert after.as_record() == plain
    lines = set((tmp_path / "brat" / "a.ann").read_text().splitlines())
    assert {"E1\tCause:T2 Agent:T1 Theme:T3", "*\tEquiv T3 T5", "R7\tIn Arg1:T3 Arg2:T4"} <= lines


def test_ids_that_brat_cannot_have_are_replaced(tmp_path):
    mentions = [{"type": "F", "spans": [[0, 2]], "id": "one"}, {"type": "F", "spans": [[3, 8]], "id": "T1"}]
    arguments = [{"role": "a:b", "target": "one"}, {"role": "c", "target": "T1"}]
    relation = {"id": "r", "type": "is of", "arguments": arguments}
    record = {"doc": "a", "text": "no fever", "mentions": mentions, "relations": [relation]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    corpora.write(corpora.read(tmp_path / "a.jsonl"), tmp_path / "brat")
    lines = (tmp_path / "brat" / "a.ann").read_text().splitlines()
    assert lines == ["T2\tF 0 2\tno", "T1\tF 3 8\tfever", "R1\tis_of a_b:T2 c:T1"]
    assert len(corpora.read(tmp_path / "brat").units[0].mentions) == 2


def test_what_refers_to_a_mention_that_is_gone_is_noted(document, tmp_path):
    without = document.with_mentions(mention for mention in document.mentions if mention.type != "Drug")
    diagnostics = Diagnostics()
    corpora.write([without], tmp_path / "a.jsonl", diagnostics=diagnostics)
    record = json.loads((tmp_path / "a.jsonl").read_text())
    assert "events" not in record  # one refers to the other
    assert "notes" not in record
    assert len(record["relations"]) == 1
    assert diagnostics.note_counts["dropped-reference"] == 4
    message = "the event 'E1' refers to a mention that was removed, so it is lost too"
    assert diagnostics.notes["dropped-reference"].message == message


def test_keys_of_others_are_not_taken_for_links(tmp_path):
    record = {"doc": "a", "text": "no fever", "mentions": [], "relations": [{"head": 0, "child": 1}], "notes": "none"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    (unit,) = corpora.read(tmp_path / "a.jsonl")
    assert links_of(unit) is None
    assert record_of(unit) == record


def test_a_link_to_nothing_is_a_defect(tmp_path):
    record = {"doc": "a", "text": "no", "mentions": [], "equivalences": [{"type": "Same", "targets": ["T1"]}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    with pytest.raises(CorpusError, match=r"a\.jsonl:1: a link \(equivalence\) refers to 'T1', which is not the id of"):
        corpora.read(tmp_path / "a.jsonl")


def test_a_mention_that_is_there_twice_is_meant_by_both_ids(tmp_path):
    (tmp_path / "a.txt").write_text("no fever")
    (tmp_path / "a.ann").write_text("T1\tF 3 8\tfever\nT2\tF 3 8\tfever\nT3\tN 0 2\tno\nR1\tOf Arg1:T2 Arg2:T3\n")
    (document,) = corpora.read(tmp_path / "a.ann", on_error="skip")
    assert document.mentions == (Mention("N", [(0, 2)]), Mention("F", [(3, 8)]))
    assert record_of(document)["relations"][0]["arguments"][0] == {"role": "Arg1", "target": "T1"}
