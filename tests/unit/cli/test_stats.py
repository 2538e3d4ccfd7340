"""``hyperspan stats``: the paper's data table."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from examples import EXAMPLES
from hyperspan import corpora
from hyperspan.cli import app
from hyperspan.cli.stats import table_of
from hyperspan.mentions import Document, Mention, Sentence


def run(*arguments: object):
    return CliRunner().invoke(app, ["stats", *map(str, arguments)], catch_exceptions=False)


def put(folder, **splits):
    for name, units in splits.items():
        corpora.write(units, folder / f"{name}.jsonl")
    return folder


def test_the_sentences_every_reader_knows(tmp_path):
    table = json.loads(run(put(tmp_path, all=EXAMPLES.values()), "--json").stdout)
    assert table == {
        "sentences": 5,
        "tokens": 18 + 6 + 17 + 18 + 4,
        "mentions": 4 + 3 + 6 + 3 + 2,
        "by_parts": {"1": 5, "2": 12, "3": 1, "4+": 0},
        "overlaps": {"all": 1 + 3 + 10 + 1 + 1, "different_types": 0},
        "discontiguous_sentences": 5,
        "types": {"Finding": 18},
        "gap": {"median": 4, "p95": 11, "max": 11},
    }


def test_only_the_discontiguous_subset(tmp_path):
    flat = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])])
    put(tmp_path, all=[flat, EXAMPLES["ethanol"], flat])
    table = json.loads(run(tmp_path, "--discontiguous-only", "--json").stdout)
    assert (table["sentences"], table["discontiguous_sentences"], table["mentions"]) == (1, 1, 2)


def test_each_split_has_a_column_in_the_usual_order(tmp_path):
    put(tmp_path, test=[EXAMPLES["mouth"]], train=[EXAMPLES["ethanol"], EXAMPLES["blood"]], dev=[EXAMPLES["blood"]])
    table = json.loads(run(tmp_path, "--json").stdout)
    assert list(table["splits"]) == ["train", "dev", "test"]
    assert [counts["sentences"] for counts in table["splits"].values()] == [2, 1, 1]
    header, first, *_ = run(tmp_path).stdout.splitlines()
    assert header.split() == ["train", "dev", "test", "all"]
    assert first.split() == ["sentences", "2", "1", "1", "4"]


def test_a_document_counts_as_one_sentence_and_its_gaps_in_words():
    document = Document("a", "Infarctions either water shed", [Mention("F", [(0, 11), (19, 29)])])
    table = table_of([document])
    assert (table["sentences"], table["tokens"], table["gap"]["max"]) == (1, 4, 1)


def test_an_empty_corpus_has_zeros(tmp_path):
    table = json.loads(run(put(tmp_path, all=[]), "--json").stdout)
    assert (table["sentences"], table["gap"]) == (0, {"median": 0, "p95": 0, "max": 0})
    assert "splits" not in table


def test_names_of_types_are_shown_as_they_are(tmp_path):
    kinds = ["[bold]x[/bold]", "\x1b[2J", "a" * 200]
    put(tmp_path, all=[Sentence(["no"], [Mention(kind, [(0, 1)]) for kind in kinds])])
    shown = run(tmp_path).stdout
    assert "  [bold]x[/bold]" in shown
    assert "\x1b" not in shown
    assert shown.count("a") >= 200


def test_many_types_are_cut_and_said(tmp_path):
    put(tmp_path, all=[Sentence(["no"], [Mention(f"T{i:03}", [(0, 1)]) for i in range(25)])])
    result = run(tmp_path)
    assert "T019" in result.stdout
    assert "T020" not in result.stdout
    assert "and 5 rarer types" in result.stderr
    assert len(json.loads(run(tmp_path, "--json").stdout)["types"]) == 25


def test_defects_are_skipped_and_said(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["no"]}\n{"tokens": 5}\n')
    result = run(tmp_path, "--on-error", "skip", "--json")
    assert json.loads(result.stdout)["sentences"] == 1
    assert "warning: skipped with 1 problem: 1 malformed" in result.stderr
    assert "a.jsonl:2: 'tokens' is 5; expected a JSON list" in result.stderr
