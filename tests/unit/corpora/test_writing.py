"""A corpus is written whole or not at all, in the format that its name implies."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from hyperspan import corpora
from hyperspan.corpora import writing
from hyperspan.corpora.writing import format_of_output, write_splits
from hyperspan.errors import CorpusError, FormatError, UsageError
from hyperspan.mentions import Document, Mention, Sentence

SENTENCE = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])], doc="a")
DOCUMENT = Document("a", "no fever", [Mention("Finding", [(3, 8)])])


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.jsonl", "jsonl"),
        ("A.JSONL", "jsonl"),
        ("a.cupt", "cupt"),
        ("a.inline", "inline"),
        ("a.xml", "bioc"),
        ("a.json", "bioc"),
        ("notes", "brat"),
    ],
)
def test_the_name_of_the_output_implies_its_format(name, format):
    assert format_of_output(name) == format


def test_a_folder_is_brat_whatever_its_name(tmp_path):
    (tmp_path / "corpus.v2").mkdir()
    assert format_of_output(tmp_path / "corpus.v2") == "brat"


def test_a_name_that_implies_nothing_is_refused():
    with pytest.raises(UsageError, match=r"'out\.odd' does not say which format to write; use .*\.jsonl.*--to"):
        format_of_output("some/out.odd")


def test_writes_a_file_or_a_folder(tmp_path):
    corpora.write([SENTENCE], tmp_path / "out.jsonl")
    assert corpora.read(tmp_path / "out.jsonl").units == (SENTENCE,)
    corpora.write([DOCUMENT], tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["a.ann", "a.txt", "annotation.conf"]


def test_files_are_replaced_and_folders_on_demand(tmp_path):
    for unit in (SENTENCE, replace(SENTENCE, doc="b")):
        corpora.write([unit], tmp_path / "out.jsonl")
    assert [unit.doc for unit in corpora.read(tmp_path / "out.jsonl")] == ["b"]
    corpora.write([DOCUMENT], tmp_path / "out")
    with pytest.raises(UsageError, match="is not empty"):
        corpora.write([DOCUMENT], tmp_path / "out")
    corpora.write([replace(DOCUMENT, doc="b")], tmp_path / "out", overwrite=True)
    assert sorted(os.listdir(tmp_path / "out")) == ["annotation.conf", "b.ann", "b.txt"]


@pytest.mark.parametrize("name", ["out.jsonl", "out"])
def test_a_failure_half_way_leaves_nothing(tmp_path, name):
    def units():
        yield SENTENCE if name == "out.jsonl" else DOCUMENT
        raise CorpusError("the source dried up")

    with pytest.raises(CorpusError, match="the source dried up"):
        corpora.write(units(), tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(FormatError, match=r"there is no corpus format 'odd'; expected one of bigbio, .*, omop"):
        corpora.write([SENTENCE], tmp_path / "out", format="odd")
    assert os.listdir(tmp_path) == []


def test_a_format_that_can_only_be_read_is_refused(tmp_path, monkeypatch):
    only_read = replace(corpora.format_named("jsonl"), write_file=None)
    monkeypatch.setattr(writing, "format_named", lambda name: only_read)
    with pytest.raises(UsageError, match="the format 'jsonl' can only be read; choose another with --to"):
        corpora.write([SENTENCE], tmp_path / "out.jsonl")
    assert os.listdir(tmp_path) == []


def test_splits_become_files_or_folders_and_come_back(tmp_path):
    write_splits({"train": [SENTENCE], "test": [SENTENCE]}, tmp_path / "files", format="jsonl")
    assert sorted(os.listdir(tmp_path / "files")) == ["test.jsonl", "train.jsonl"]
    assert corpora.read(tmp_path / "files").splits == ("test", "train")
    write_splits({"train": [DOCUMENT], "dev": []}, tmp_path / "folders", format="brat")
    assert sorted(os.listdir(tmp_path / "folders")) == ["dev", "train"]
    again = corpora.read(tmp_path / "folders")
    assert [(unit.doc, unit.split) for unit in again] == [("train/a", "train")]
    write_splits({"train": again}, tmp_path / "again", format="brat")
    assert [unit.doc for unit in corpora.read(tmp_path / "again")] == ["train/a"]


def test_splits_are_written_in_the_flavour_of_their_suffix(tmp_path, monkeypatch):
    bioc = corpora.format_named("bioc")
    monkeypatch.setattr(writing, "format_named", lambda name: replace(bioc, suffixes=(".json",)))
    write_splits({"train": [DOCUMENT]}, tmp_path / "out", format="bioc")
    assert (tmp_path / "out" / "train.json").read_bytes().startswith(b'{"bioctype":"BioCCollection"')
