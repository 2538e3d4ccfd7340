"""The commands on the real corpora: the counts of their READMEs, and formats that give back what they took."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperspan import corpora
from hyperspan.cli import app

CHIA = {
    "sentences": {"train": 9815, "dev": 1306, "test": 1288, "all": 12409},
    "tokens": {"train": 147294, "dev": 19400, "test": 19002, "all": 185696},
    "mentions": {"train": 32534, "dev": 4173, "test": 4238, "all": 40945},
    "1": {"train": 31155, "dev": 3971, "test": 4048, "all": 39174},
    "2": {"train": 1345, "dev": 191, "test": 186, "all": 1722},
    "3": {"train": 33, "dev": 11, "test": 4, "all": 48},
    "4+": {"train": 1, "dev": 0, "test": 0, "all": 1},
    "overlaps": {"train": 3294, "dev": 454, "test": 390, "all": 1966 + 2172},
    "different_types": {"train": 1762, "dev": 205, "test": 205, "all": 2172},
    "discontiguous_sentences": {"train": 1026, "dev": 134, "test": 141, "all": 1301},
    "median": {"train": 2, "dev": 3, "test": 2, "all": 2},
    "p95": {"train": 10, "dev": 12, "test": 7, "all": 10},
    "max": {"train": 38, "dev": 24, "test": 11, "all": 38},
}
PGX = {
    "sentences": {"train": 763, "dev": 97, "test": 85, "all": 945},
    "tokens": {"train": 28171, "dev": 3675, "test": 3529, "all": 35375},
    "mentions": {"train": 5504, "dev": 645, "test": 612, "all": 6761},
    "1": {"train": 5158, "dev": 620, "test": 576, "all": 6354},
    "2": {"train": 330, "dev": 25, "test": 35, "all": 390},
    "3": {"train": 16, "dev": 0, "test": 1, "all": 17},
    "4+": {"train": 0, "dev": 0, "test": 0, "all": 0},
    "overlaps": {"train": 2948, "dev": 285, "test": 308, "all": 853 + 2688},
    "different_types": {"train": 2204, "dev": 238, "test": 246, "all": 2688},
    "discontiguous_sentences": {"train": 202, "dev": 17, "test": 22, "all": 241},
    "median": {"train": 5, "dev": 4, "test": 5, "all": 4},
    "p95": {"train": 20, "dev": 13, "test": 19, "all": 19},
    "max": {"train": 76, "dev": 15, "test": 23, "all": 76},
}


def stats(path: Path, *options: str) -> dict:
    result = CliRunner().invoke(app, ["stats", str(path), "--json", *options], catch_exceptions=False)
    assert result.exit_code == 0
    return json.loads(result.stdout)


def rows_of(table: dict) -> dict[str, int]:
    own = ("sentences", "tokens", "mentions", "discontiguous_sentences")
    overlaps = {"overlaps": table["overlaps"]["all"], "different_types": table["overlaps"]["different_types"]}
    return {**{name: table[name] for name in own}, **table["by_parts"], **overlaps, **table["gap"]}


@pytest.mark.parametrize(("name", "published"), [("chia", CHIA), ("pgxcorpus", PGX)])
def test_the_table_is_that_of_the_readme(name, published, shared_data):
    table = stats(shared_data / name)
    for split, counts in {**table["splits"], "all": table}.items():
        assert rows_of(counts) == {row: values[split] for row, values in published.items()}, split


@pytest.mark.parametrize(
    ("name", "documents", "mentions", "with_fragments"),
    [("chia", 60, 1362, 62), ("pgxcorpus", 95, 736, 55)],
)
def test_brat_samples(name, documents, mentions, with_fragments, shared_data):
    table = stats(shared_data / name / "native" / "sample")
    assert (table["sentences"], table["mentions"]) == (documents, mentions)
    assert table["mentions"] - table["by_parts"]["1"] == with_fragments


def test_all_of_pgxcorpus(shared_data, tmp_path):
    with zipfile.ZipFile(shared_data / "pgxcorpus" / "native" / "PGxCorpus.zip") as archive:
        archive.extractall(tmp_path)
    table = stats(tmp_path)
    assert (table["sentences"], table["mentions"], table["by_parts"]["1"]) == (945, 6761, 6761 - 409)


@pytest.mark.parametrize("folder", ["parseme/en", "parseme/en/native/en"])
def test_parseme(folder, shared_data):
    splits = stats(shared_data / folder)["splits"]
    assert {name: (counts["sentences"], counts["mentions"]) for name, counts in splits.items()} == {
        "train": (3471, 331),
        "test": (3965, 501),
    }


def test_the_discontiguous_subset(shared_data):
    table = stats(shared_data / "pgxcorpus", "--discontiguous-only")
    assert table["sentences"] == table["discontiguous_sentences"] == 241


@pytest.mark.parametrize(
    ("folder", "format"),
    [("chia/native/sample", "brat"), ("pgxcorpus/native/sample", "brat"), ("parseme/en/native/en", "cupt")],
)
def test_native_files_are_written_back_byte_for_byte(folder, format, shared_data, tmp_path):
    source = shared_data / folder
    result = CliRunner().invoke(
        app, ["convert", str(source), str(tmp_path / "out"), "--to", format], catch_exceptions=False
    )
    assert result.exit_code == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.suffix != ".conf"}
    assert written == {name: (source / name).read_bytes() for name in written}
    assert len(written) == sum(path.suffix in (".ann", ".txt", ".cupt") for path in source.iterdir())


@pytest.mark.parametrize("format", ["jsonl", "inline", "cupt"])
@pytest.mark.parametrize("folder", ["pgxcorpus", "parseme/en"])
def test_sentences_come_back_from_every_format_of_tokens(folder, format, shared_data, tmp_path):
    result = CliRunner().invoke(
        app, ["convert", str(shared_data / folder), str(tmp_path / "out"), "--to", format], catch_exceptions=False
    )
    assert result.exit_code == 0
    before, after = corpora.stream(shared_data / folder), corpora.stream(tmp_path / "out")
    for one, other in zip(before, after, strict=True):
        assert (one.tokens, one.mentions, one.split) == (other.tokens, other.mentions, other.split)
        assert format == "inline" or one.doc == other.doc


@pytest.mark.parametrize("format", ["jsonl", "brat", "bioc", "knowtator", "semeval"])
@pytest.mark.parametrize("folder", ["chia/native/sample", "pgxcorpus/native/sample"])
def test_texts_come_back_from_every_format_of_texts(folder, format, shared_data, tmp_path):
    units = list(corpora.stream(shared_data / folder))
    path = tmp_path / {"jsonl": "out.jsonl", "bioc": "out.xml"}.get(format, "out")
    corpora.write(units, path, format=format)
    again = {unit.doc: unit for unit in corpora.stream(path, format=format)}
    assert len(again) == len(units)
    for unit in units:
        assert (again[unit.doc].text, again[unit.doc].mentions) == (unit.text, unit.mentions)


def test_no_mention_is_lost_on_the_way_from_texts_to_sentences(shared_data, tmp_path):
    sample = shared_data / "pgxcorpus" / "native" / "sample"
    result = CliRunner().invoke(app, ["convert", str(sample), str(tmp_path / "out.inline")], catch_exceptions=False)
    assert result.exit_code == 0
    words = sorted("".join(unit.text_of(m).split()) for unit in corpora.stream(sample) for m in unit.mentions)
    again = corpora.stream(tmp_path / "out.inline")
    assert sorted("".join(unit.text_of(m).split()) for unit in again for m in unit.mentions) == words
