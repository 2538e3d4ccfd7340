"""BigBIO rows: everything in them is read, kept and written back, in JSON, JSON lines, Parquet and as dictionaries."""

from __future__ import annotations

import copy
import json

import pytest

from fuzzing import assert_reader_survives
from hyperspan import Diagnostics, Document, Mention, corpora
from hyperspan.corpora.bigbio import document_of_row, row_of
from hyperspan.corpora.links import links_of
from hyperspan.errors import CorpusError, MissingExtraError

TEXT = "Aspirin and bleeding. Aspirin caused bleeding in the stomach and mouth."


def placed(*parts: tuple[int, int]) -> dict:
    return {"text": [TEXT[start:end] for start, end in parts], "offsets": [list(part) for part in parts]}


ROW = {
    "id": "1",
    "document_id": "PMID-7",
    "passages": [
        {"id": "p1", "type": "title", "text": [TEXT[:21]], "offsets": [[0, 21]]},
        {"id": "p2", "type": "abstract", "text": [TEXT[22:]], "offsets": [[22, 71]]},
    ],
    "entities": [
        {
            "id": "e1",
            "type": "Drug",
            **placed((22, 29)),
            "normalized": [{"db_name": "UMLS", "db_id": "C0004057"}, {"db_name": "MESH", "db_id": "D001241"}],
        },
        {"id": "e2", "type": "Finding", **placed((37, 45), (65, 70)), "normalized": []},
        {"id": "e3", "type": "Finding", **placed((37, 60)), "normalized": []},
    ],
    "events": [
        {
            "id": "v1",
            "type": "Causing",
            "trigger": placed((30, 36)),
            "arguments": [{"role": "Agent", "ref_id": "e1"}, {"role": "Theme", "ref_id": "e3"}],
        }
    ],
    "coreferences": [{"id": "c1", "entity_ids": ["e2", "e3"]}],
    "relations": [{"id": "r1", "type": "causes", "arg1_id": "e1", "arg2_id": "e2", "normalized": []}],
}


def put(folder, name: str, *rows: object):
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        path.write_text(json.dumps(list(rows)))
    return path


def test_a_row_is_a_document():
    document = document_of_row(ROW)
    assert (document.doc, document.text) == ("PMID-7", TEXT)
    drug, trigger, apart, whole = document.mentions
    assert (drug.type, drug.attributes) == ("Drug", {"cui": "C0004057", "normalisations": ("MESH:D001241",)})
    assert trigger == Mention("Causing", [(30, 36)])
    assert apart.parts == ((37, 45), (65, 70))
    assert document.text_of(whole) == "bleeding in the stomach"
    links = links_of(document)
    assert links.kinds() == ("relations", "events", "equivalences")
    assert links.events[0]["trigger"] == links.ids[trigger]


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.parquet"])
def test_files_are_recognised_read_and_written_back(tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed (pip install 'hyperspan[arrow]')")
    other = {**copy.deepcopy(ROW), "document_id": "PMID-8"}
    corpora.write([document_of_row(ROW), document_of_row(other)], tmp_path / name, format="bigbio")
    assert corpora.find_items(tmp_path / name)[0].name == "bigbio"
    corpus = corpora.read(tmp_path / name)
    assert [unit.doc for unit in corpus] == ["PMID-7", "PMID-8"]
    assert [row_of(unit) for unit in corpus] == [ROW, other]
    corpora.write(corpus, tmp_path / f"again-{name}", format="bigbio")
    assert [row_of(unit) for unit in corpora.read(tmp_path / f"again-{name}")] == [ROW, other]


def test_other_shapes_of_json(tmp_path):
    for number, content in enumerate((ROW, {"train": [ROW], "test": [ROW]})):
        (tmp_path / f"{number}.json").write_text(json.dumps(content))
        assert len(corpora.read(tmp_path / f"{number}.json")) == number + 1


def test_bioc_and_json_lines_are_told_apart(tmp_path):
    note = Document("a", "No fever.", [Mention("F", [(3, 8)])])
    for name, format in (("a.json", "bioc"), ("a.jsonl", "jsonl")):
        corpora.write([note], tmp_path / name)
        assert corpora.find_items(tmp_path / name)[0].name == format


def test_other_mentions_leave_passages_and_links_that_still_hold(tmp_path):
    document = document_of_row(ROW)
    kept = [mention for mention in document.mentions if mention.type != "Drug"]
    diagnostics = Diagnostics()
    row = row_of(document.with_mentions([*kept, Mention("New", [(0, 7)])]), diagnostics)
    assert row["passages"] == ROW["passages"]
    assert [entity["id"] for entity in row["entities"]] == ["PMID-7-entity-1", "v1-trigger", "e2", "e3"]
    assert (row["events"], row["relations"]) == ([], [])
    assert row["coreferences"][0]["entity_ids"] == ["e2", "e3"]
    assert diagnostics.note_counts["dropped-reference"] == 2


def test_to_brat_and_back(tmp_path):
    corpora.write([document_of_row(ROW)], tmp_path / "brat")
    lines = (tmp_path / "brat" / "PMID-7.ann").read_text().splitlines()
    assert "T2\tCausing 30 36\tcaused" in lines
    assert "E1\tCausing:T2 Agent:T1 Theme:T4" in lines
    assert "R1\tcauses Arg1:T1 Arg2:T3" in lines
    assert "*\tCoref T3 T4" in lines
    (document,) = corpora.read(tmp_path / "brat")
    row = row_of(document)
    assert [entity["type"] for entity in row["entities"]] == ["Drug", "Finding", "Finding"]
    assert row["events"][0]["trigger"] == ROW["events"][0]["trigger"]
    assert row["entities"][0]["normalized"] == ROW["entities"][0]["normalized"]
    assert document_of_row(row).mentions == document.mentions


def damaged(**changes) -> dict:
    return {**copy.deepcopy(ROW), **changes}


PASSAGE = {"id": "p", "type": "x", "text": ["No fever."], "offsets": [[0, 9]]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], r"row 1: \[\] is not a BigBIO row; expected an object with 'passages'"),
        (damaged(passages=[{**PASSAGE, "offsets": [[0, 8]]}]), "passage 1 has 9 characters, but the offsets 0 to 8"),
        (damaged(passages=[PASSAGE, PASSAGE]), "passage 2 begins at 0, before the previous one ends at 9"),
        (damaged(passages=[{**PASSAGE, "offsets": [[2_000_000, 2_000_009]]}]), "more than 1,000,000 after 0"),
        (damaged(passages=[{**PASSAGE, "text": 7}]), "'text' is 7; expected a list of texts"),
        (damaged(entities="none"), "'entities' is 'none'; expected a list of objects"),
        (damaged(entities=[{"id": "e", "type": "F", "offsets": [[1]]}]), r"entity 'e' has the offsets \[\[1\]\]; exp"),
        (damaged(entities=[{"id": "e", "type": None, "offsets": [[0, 1]]}]), "entity 'e' has the type None; expected"),
        (damaged(entities=[{"id": "e", "type": "F", "offsets": [[0, 900]]}]), "part '0 900' ends beyond the end"),
        (
            damaged(entities=[{"id": "e", "type": "F", "offsets": [[0, 7]], "text": ["Ibuprofen"]}]),
            r"the text at the offsets of entity 'e' is 'Aspirin', but it records \['Ibuprofen'\]",
        ),
    ],
)
def test_defects_are_told(tmp_path, row, message):
    path = put(tmp_path, "a.jsonl", row)
    with pytest.raises(CorpusError, match=message) as caught:
        corpora.read(path, format="bigbio")
    assert str(caught.value).startswith(f"{path}:1: ")
    assert corpora.read(path, format="bigbio", on_error="skip").diagnostics.total == 1


def test_an_event_without_a_trigger_and_a_link_to_nothing_are_noted(tmp_path):
    event = {"id": "v2", "type": "X", "trigger": {"text": [], "offsets": []}, "arguments": []}
    relation = {**ROW["relations"][0], "arg2_id": "e9"}
    diagnostics = Diagnostics()
    document_of_row(damaged(events=[event], relations=[relation]), diagnostics)
    assert diagnostics.notes["no-trigger"].message == "event 'v2' has no trigger with offsets, and is not read"
    assert "refers to 'e9'" in diagnostics.notes["unknown-reference"].message


def test_without_pyarrow_parquet_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1....")
    with pytest.raises(MissingExtraError, match="Parquet needs the package 'pyarrow'"):
        corpora.read(tmp_path / "a.parquet")


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_damaged_file_is_survived(tmp_path, name):
    data = put(tmp_path, name, ROW).read_bytes()
    assert_reader_survives("bigbio", {name: data}, name, tmp_path, n_mutations=500)
