"""``hyperspan agree``, from files to exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from examples import EXAMPLES
from hyperspan import Mention, Sentence, corpora
from hyperspan.cli import main
from hyperspan.cli.agree import names_of
from hyperspan.corpora import demo
from hyperspan.errors import UsageError

NAMED = [Sentence(sentence.tokens, sentence.mentions, doc=name) for name, sentence in EXAMPLES.items()]


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command; return exit code, results and what is said to the person."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["hyperspan", "agree", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capsys.readouterr()
        return int(caught.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """The examples, and the same with only the first part of every mention; one document is missing."""
    ann, bob = tmp_path / "ann.jsonl", tmp_path / "bob.jsonl"
    corpora.write(NAMED, ann)
    first_parts = [
        each.with_mentions({Mention(mention.type, mention.parts[:1]) for mention in each.mentions}) for each in NAMED
    ]
    corpora.write(first_parts[:-1], bob)
    return ann, bob


def test_json_has_everything(run, sides):
    code, out, err = run(*sides, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["annotators"] == ["ann", "bob"]
    assert found["lacking"] == {"ann": [], "bob": ["ethanol"]}
    assert found["documents"] == 4
    (pair,) = found["pairs"]
    # hiatal hernia, blood in stomach, Infarctions and blood in his mouth are the same; so is no other.
    assert (pair["scores"]["all"]["tp"], pair["scores"]["discontiguous_mentions"]["tp"]) == (4, 0)
    assert set(found["mean"]) == {"f1", "relaxed_f1", "kappa", "gamma"}
    assert found["alpha"]["interval"][0] <= found["alpha"]["value"] <= found["alpha"]["interval"][1]
    assert {each["doc"] for each in found["by_document"]} == {"laceration", "infarctions", "blood", "mouth"}
    assert pair["confusion"]["boundaries"]["end"] > 0
    assert "bob lacks a document that others have: ethanol" in err


def test_tables_are_for_people(run, sides):
    code, out, _ = run(*sides)
    assert code == 0
    for shown in ("ann and bob", "Krippendorff's alpha", "by type", "by document", "discontiguous mentions"):
        assert shown in out


def test_page_list_and_merged_corpus(run, sides, tmp_path: Path):
    page, table, lines, merged = (tmp_path / name for name in ("page.html", "list.csv", "list.jsonl", "merged"))
    code, _, err = run(*sides, "--html", page, "--list", table, "--adjudicate", "union", "-o", merged)
    assert code == 0
    assert "disputed mentions in" in err
    assert "Finding" in page.read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    assert {row["by"] for row in rows} == {"ann", "bob"}
    assert [float(row["cost"]) for row in rows] == sorted((float(row["cost"]) for row in rows), reverse=True)
    by_name = {unit.doc: unit for unit in corpora.stream(merged)}
    assert set(by_name) == set(EXAMPLES)
    who = {each.attributes["annotators"] for each in by_name["infarctions"].mentions}
    assert who == {("ann",), ("ann", "bob")}
    assert run(*sides, "--adjudicate", "union", "-o", tmp_path / "merged.csv")[0] == 0
    assert "laceration" in (tmp_path / "merged.csv").read_text(encoding="utf-8")
    run(*sides, "--list", lines)
    records = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert sum(len(record["disputed"]) for record in records) == len(rows)


def test_brat_folders_of_three(run, tmp_path: Path):
    documents = demo.load().units[:3]
    for name in ("ann", "bob", "cat"):
        corpora.write(documents, tmp_path / name, format="brat")
    code, out, _ = run(*(tmp_path / name for name in ("ann", "bob", "cat")), "--json", "--resamples", 20)
    assert code == 0
    assert json.loads(out)["mean"] == {"f1": 1.0, "relaxed_f1": 1.0, "kappa": 1.0, "gamma": 1.0}


def test_sentences_without_names_go_by_their_number(run, tmp_path: Path):
    for name in ("ann", "bob"):
        lines = [json.dumps({"tokens": each.tokens, "mentions": []}) for each in NAMED]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code, out, _ = run(tmp_path / "ann.jsonl", tmp_path / "bob.jsonl", "--json")
    assert code == 0
    assert json.loads(out)["documents"] == len(NAMED)


def test_a_mention_that_is_there_twice_counts_once(run, tmp_path: Path):
    mention = {"type": "Finding", "spans": [[0, 1]]}
    for name, mentions in {"ann": [mention, mention], "bob": [mention]}.items():
        record = {"doc": "a", "tokens": ["fever", "today"], "mentions": mentions}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record), encoding="utf-8")
    code, out, err = run(tmp_path / "ann.jsonl", tmp_path / "bob.jsonl", "--json")
    assert code == 0
    assert json.loads(out)["mean"]["f1"] == 1.0
    assert "was given before" in err


def test_too_little_agreement_exits_with_one(run, sides):
    assert run(*sides, "--min-f1", "0.2")[0] == 0
    code, _, err = run(*sides, "--min-f1", "0.9")
    assert code == 1
    assert "below the 0.9 of --min-f1" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ann.jsonl"], "agreement needs those of two annotators or more"),
        (["ann.jsonl", "bob.jsonl", "-o", "out"], "--adjudicate and -o belong together"),
        (["ann.jsonl", "bob.jsonl", "--list", "bob.jsonl"], "bob.jsonl is an input and would be overwritten"),
        (["ann.jsonl", "ann.jsonl"], "ann.jsonl is given more than once"),
        (["ann.jsonl", "bob.jsonl", "--to", "brat"], "--to and --overwrite say how -o is written"),
        (["ann.jsonl", "bob.jsonl", "--html", "."], ". is a folder; expected the name of a file to write"),
    ],
)
def test_wrong_usage(run, sides, monkeypatch, arguments, message):
    monkeypatch.chdir(sides[0].parent)
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err


def test_names_are_as_long_as_they_must_be(tmp_path: Path):
    assert list(names_of([tmp_path / "a" / "x.jsonl", tmp_path / "b" / "x.jsonl"])) == ["a/x", "b/x"]
    with pytest.raises(UsageError, match="more than once"):
        names_of([tmp_path, tmp_path])
