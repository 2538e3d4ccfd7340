"""Rows of OMOP's NOTE_NLP: every mention one row, and nothing that CSV or the table would break."""

from __future__ import annotations

import csv

import pytest
from typer.testing import CliRunner

from hyperspan import Diagnostics, Document, Mention, corpora
from hyperspan.cli import app
from hyperspan.corpora.omop import COLUMNS
from hyperspan.errors import FormatError

TEXT = 'Blood, "bright", in his mouth\nand on his tongue.'
NOTE = Document(
    "4711",
    TEXT,
    [
        Mention("Finding", [(0, 5), (17, 29)], prob=0.8125, attributes={"cui": "C9000001"}),
        Mention("Finding", [(0, 47)]),
    ],
)


def rows_of(path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_mention_is_a_row(tmp_path):
    diagnostics = Diagnostics()
    other = Document("4712", "No.", [Mention("F", [(0, 2)])])
    corpora.write([NOTE, other], tmp_path / "note_nlp.csv", diagnostics=diagnostics)
    second, first, third = rows_of(tmp_path / "note_nlp.csv")
    assert tuple(first) == COLUMNS
    assert second["note_nlp_id"] == "1"
    assert (first["note_id"], first["offset"]) == ("4711", "0")
    assert first["lexical_variant"] == 'Blood, "bright", in his mouth and on his tongue'
    assert first["term_modifiers"] == "type=Finding; parts=0-47"
    assert second["lexical_variant"] == "Blood … in his mouth"
    assert second["term_modifiers"] == "type=Finding; parts=0-5,17-29; prob=0.8125; cui=C9000001"
    assert second["snippet"] == 'Blood, "bright", in his mouth and on his tongue.'
    assert (third["note_nlp_id"], third["note_id"], third["nlp_system"]) == ("3", "4712", "hyperspan")
    assert first["nlp_datetime"].startswith(first["nlp_date"])
    concepts = ("section_concept_id", "note_nlp_concept_id", "note_nlp_source_concept_id")
    assert [first[name] for name in concepts] == ["0"] * 3
    assert not diagnostics.notes


def test_what_does_not_fit_is_noted(tmp_path):
    diagnostics = Diagnostics()
    long = Document("note-7", "x" * 400, [Mention("F", [(0, 400)])])
    corpora.write([long], tmp_path / "x.csv", diagnostics=diagnostics)
    assert diagnostics.notes["note-id"].message == "note_id is an integer in OMOP, but the document is called 'note-7'"
    assert diagnostics.notes["cut"].message == "lexical_variant is cut to 250 characters (document 'note-7')"
    assert len(rows_of(tmp_path / "x.csv")[0]["lexical_variant"]) == 250


def test_convert_writes_it_and_nothing_reads_it(tmp_path):
    corpora.write([NOTE], tmp_path / "a.jsonl")
    result = CliRunner().invoke(app, ["convert", str(tmp_path / "a.jsonl"), str(tmp_path / "a.csv")])
    assert result.exit_code == 0, result.output
    assert "wrote 1 document with 2 mentions" in result.stderr
    assert len(rows_of(tmp_path / "a.csv")) == 2
    with pytest.raises(FormatError, match="the format is not recognised"):
        corpora.read(tmp_path / "a.csv")
    with pytest.raises(FormatError, match="there is no corpus format 'omop'"):
        corpora.read(tmp_path / "a.csv", format="omop")
