"""``hyperspan predict`` reads texts of all kinds and writes whatever ``convert`` writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.cli import app
from hyperspan.recognizer import Recognizer

TEXTS = {"a": "No fever. Blood in stomach.\n", "b": "Blood seen in stomach and mouth.\n"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "notes.model"
    sentences = [
        Sentence(["Blood", "in", "stomach", "."], [Mention("Finding", [(0, 3)])]),
        Sentence(["No", "fever", "."], [Mention("Finding", [(1, 2)])]),
        Sentence(["Blood", "seen", "in", "stomach", "and", "mouth", "."], [Mention("Finding", [(0, 1), (2, 4)])]),
    ] * 8
    Recognizer(max_components=2, threshold=0.5).fit(sentences).save(path)
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def run(*arguments: object):
    return CliRunner().invoke(app, ["predict", *map(str, arguments)])


WORDS = {"fever", "Blood in stomach", "Blood … in stomach"}


def words_in(path: Path, **options) -> set[str]:
    return {unit.text_of(mention) for unit in corpora.read(path, **options) for mention in unit.mentions}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("out.jsonl", "jsonl"),
        ("out", "brat"),
        ("out.cupt", "cupt"),
        ("out.inline", "inline"),
        ("out.xml", "bioc"),
        ("out.json", "bioc"),
    ],
)
def test_the_suffix_decides_what_is_written(model, notes, tmp_path, name, format):
    result = run(model, notes, "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    assert f"found 3 mentions in 3 sentences of 2 documents; wrote {tmp_path / name} ({format})" in result.stderr
    assert corpora.find_items(tmp_path / name)[0].name == format
    assert words_in(tmp_path / name) == WORDS


@pytest.mark.parametrize("format", ["knowtator", "semeval", "cupt"])
def test_an_option_decides_against_the_suffix(model, notes, tmp_path, format):
    assert run(model, notes, "-o", tmp_path / "out.x", "--format", format).exit_code == 0
    assert words_in(tmp_path / "out.x", format=format) == WORDS


@pytest.mark.parametrize(("name", "begin"), [("o.html", "<!doctype html>"), ("o.svg", "<svg "), ("o.txt", "No fever")])
def test_drawings_by_their_suffix(model, notes, tmp_path, name, begin):
    result = run(model, notes, "-o", tmp_path / name)
    assert result.exit_code == 0
    content = (tmp_path / name).read_text()
    assert content.startswith(begin)
    assert "Finding" in content


def test_what_is_predicted_is_read_by_evaluate(model, notes, tmp_path):
    run(model, notes, "-o", tmp_path / "gold.cupt")
    assert run(model, tmp_path / "gold.cupt", "-o", tmp_path / "out.cupt").exit_code == 0
    scored = CliRunner().invoke(app, ["evaluate", str(tmp_path / "gold.cupt"), str(tmp_path / "out.cupt"), "--json"])
    assert json.loads(scored.stdout)["all"]["f1"] == 1.0


def test_a_suffix_that_says_nothing_is_refused_before_any_work(model, notes, tmp_path):
    result = run(model, notes, "-o", tmp_path / "out.docx")
    assert "'out.docx' does not say which format to write; use .csv, .cupt, .htm, .html," in str(result.exception)
    result = run(model, notes, "--format", "parchment")
    assert "--format is 'parchment'; expected one of bigbio, bioc," in str(result.exception)
    result = run(model, notes, "-o", tmp_path / "x.cupt", "--top", 2)
    assert "--top is 2, but the format 'cupt' cannot hold other outcomes; expected jsonl" in str(result.exception)


def test_a_format_of_one_file_goes_to_stdout(model, notes):
    result = run(model, notes, "--format", "inline")
    assert "1,1 Finding" in result.stdout


def test_several_paths_are_read_one_after_another(model, notes):
    result = run(model, notes / "b.txt", notes / "a.txt")
    assert [json.loads(line)["doc"] for line in result.stdout.splitlines()] == ["b", "a"]


def test_defects_of_annotations_do_not_stop_prediction(model, notes, tmp_path):
    (notes / "a.ann").write_text("T1\tFinding 0 5;3 8\tNo fever\n")
    result = run(model, notes, "-o", tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert words_in(tmp_path / "out.jsonl") == WORDS
    result = run(model, notes, "--keep-gold")
    assert "a.ann:1: part '3 8' overlaps another part of the same mention" in str(result.exception)


@pytest.mark.parametrize("name", ["out", "out.jsonl", "out.cupt"])
def test_gold_is_kept_beside_what_is_found_if_asked_for(model, notes, tmp_path, name):
    (notes / "a.ann").write_text(
        "T1\tFinding 3 8\tfever\nT2\tNegation 0 2\tNo\nA1\tChecked T1\nR1\tOf Arg1:T2 Arg2:T1\n"
        "#1\tAnnotatorNotes T2\tso\n"
    )
    result = run(model, notes, "-o", tmp_path / name, "--keep-gold")
    assert result.exit_code == 0, result.output
    assert words_in(tmp_path / name) == {*WORDS, "No"}
    if name == "out.cupt":
        return
    unit = corpora.read(tmp_path / name).units[0]
    gold, both, found = unit.mentions
    assert (gold.type, gold.prob) == ("Negation", None)
    assert both.attributes == {"Checked": True}
    assert both.prob > 0.5
    assert found.prob > 0.5
    if name == "out":
        assert "R1\tOf Arg1:T2 Arg2:T1" in (tmp_path / "out" / "a.ann").read_text()
    else:
        record = json.loads((tmp_path / name).read_text().splitlines()[0])
        assert record["relations"][0]["arguments"][0]["target"] == "T2"
        assert record["notes"][0]["text"] == "so"


def test_documents_are_scored_by_their_sentences(tmp_path):
    text = "No fever. Arms and legs weak. No pain."
    gold = [Mention("F", [(3, 8)]), Mention("F", [(10, 14), (24, 28)])]
    corpora.write([Document("a", text, gold)], tmp_path / "gold")
    corpora.write([Document("a", text)], tmp_path / "found.jsonl")
    with open(tmp_path / "gold" / "a.ann", "a") as file:
        file.write("T9\tF 8 3\tlost\n")
    arguments = [
        tmp_path / "gold",
        tmp_path / "found.jsonl",
        "--errors",
        tmp_path / "errors.jsonl",
        "--on-error",
        "skip",
    ]
    result = CliRunner().invoke(app, ["evaluate", *map(str, arguments)])
    assert "over 3 sentences" in result.stdout
    assert "skipped in reading, and counted as missed: 1 gold mention\n" in result.stderr
    assert "wrote 2 errors in 2 sentences" in result.stderr
    shown = json.loads(CliRunner().invoke(app, ["evaluate", *map(str, arguments), "--json"]).stdout)
    assert (shown["all"]["fn"], shown["discontiguous_sentences"]["fn"], shown["lost"]) == (3, 1, 1)
