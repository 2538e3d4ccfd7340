"""``hyperspan brown``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hyperspan.cli.brown import brown, words_of
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError, UsageError
from hyperspan.features.brown import Clusters

app = typer.Typer()
app.command()(brown)

LINES = "No fever or chills.\n\nNo nausea or vomiting.\nNo pain or chills.\n"


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def text_file(folder: Path, text: str = LINES) -> Path:
    path = folder / "notes.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_clusters_of_a_text(tmp_path):
    result = run(text_file(tmp_path), "-c", 5, "-o", tmp_path / "clusters", "--json")
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    clusters = Clusters.load(tmp_path / "clusters")
    assert summary["output"] == str(tmp_path / "clusters")
    assert (summary["words"], summary["tokens"], summary["clusters"]) == (len(clusters), 15, 5)
    assert summary["average_mutual_information"] > 0
    assert clusters.counts.tolist()[clusters.words.index("No")] == 3


def test_in_words(tmp_path):
    result = run(text_file(tmp_path), "-c", 5, "-o", tmp_path / "clusters", "--min-count", 2)
    assert result.stdout == ""
    assert f"wrote 4 words in 4 clusters to {tmp_path / 'clusters'}; average mutual information" in result.stderr


def test_lines_are_sentences_and_marks_are_words_for_their_category(tmp_path):
    path = text_file(tmp_path, "Seen by [**Doctor First Name 77**] .\nNo fever.\n")
    assert list(words_of(path, format=None, diagnostics=Diagnostics())) == [
        ["Seen", "by", "doctor_name", "."],
        ["No", "fever", "."],
    ]


def test_a_corpus_brings_its_own_sentences(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"tokens": ["no", "fever"], "mentions": []}\n{"text": "Rest. Fluids.", "mentions": []}\n')
    assert list(words_of(path, format=None, diagnostics=Diagnostics())) == [
        ["no", "fever"],
        ["Rest", "."],
        ["Fluids", "."],
    ]


def test_what_is_not_there_or_cannot_be_written(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere: there is no such file or folder"):
        run(tmp_path / "nowhere", "-o", tmp_path / "clusters")
    with pytest.raises(UsageError, match=r"is a folder; expected the name of a file to write"):
        run(text_file(tmp_path), "-o", tmp_path)


def test_a_text_that_is_not_utf8(tmp_path):
    (tmp_path / "notes.txt").write_bytes(b"fine\nf\xe9ver\n")
    with pytest.raises(CorpusError, match=r"notes\.txt:2: byte 0xe9"):
        run(tmp_path / "notes.txt", "-o", tmp_path / "clusters")
    assert run(tmp_path / "notes.txt", "-o", tmp_path / "clusters", "--on-error", "skip").exit_code == 0
