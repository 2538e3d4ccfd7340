"""``python -m benchmarks`` as a developer runs it."""

from __future__ import annotations

import json
import re
import sys

import pytest
from typer.testing import CliRunner

from benchmarks import compare, results
from benchmarks.__main__ import app
from benchmarks.compare import ROOT
from benchmarks.harness import Disagreement
from benchmarks.reporting import number
from benchmarks.tasks import TASKS, sweeps
from hyperspan import corpora
from hyperspan.corpora import demo
from hyperspan.errors import UsageError
from in_process import run_here

in_a_checkout = pytest.mark.skipif(
    not (ROOT / ".venv" / "bin" / "python").exists(), reason="there is no .venv in this checkout (make .venv/.ready)"
)


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    monkeypatch.setattr("benchmarks.setting.QUICK_TOKENS", 300)


def bench(*arguments: object, exit_code: int = 0):
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return result


def test_the_list_of_tasks():
    assert [line.split()[0] for line in bench("run", "--list").stdout.splitlines()] == list(TASKS)
    assert json.loads(bench("run", "--list", "--json").stdout) == TASKS


def test_a_task_as_json_and_in_a_file(tmp_path):
    path = tmp_path / "bench.json"
    document = json.loads(bench("run", "sweeps", "--quick", "--json", "--threads", 1, "--seed", 3, "-o", path).stdout)
    assert json.loads(path.read_text(encoding="utf-8")) == document
    assert document["quick"] is True
    assert document["seed"] == 3
    assert document["data"] == "demo"
    assert document["env"]["threads"] == 1
    assert {"python", "numpy", "python-crfsuite", "torch-struct"} <= set(document["env"]["versions"])
    names = [row["ours"] for row in document["rows"]]
    assert names[:4] == [f"shared, K=3: {name}" for name in ("log_partition", "marginals", "best", "probable")]
    for row in document["rows"]:
        assert row["task"] == "sweeps"
        assert row["holds"] is None
        assert row["agrees"] is True
        low, high = row["ours_spread"]
        assert 0 < low <= row["ours_median"] <= high


def test_a_table_with_a_corpus_of_your_own(tmp_path):
    corpora.write(demo.generate(3, unit="sentences"), tmp_path / "notes.jsonl")
    result = bench("run", "features", "--quick", "--data", tmp_path / "notes.jsonl", "--threads", 1)
    head, *rows = result.stdout.splitlines()
    assert head.startswith("features: tokens a second, ")
    assert head.endswith("/notes")
    assert len(rows) == 4
    assert all(re.search(r"; Python strings.*: .*; ratio .*; wanted: ratio at least 10$", row) for row in rows)
    assert "features, extractor, 1 threads, known words: 3" in result.stderr


def test_results_that_differ_end_with_1(monkeypatch):
    def differ(_: object) -> None:
        raise Disagreement("ours is 1, the peer's 2; nothing was timed")

    monkeypatch.setattr(sweeps, "check_references", differ)
    result = bench("run", "sweeps", "--quick", "--json", exit_code=1)
    (row,) = json.loads(result.stdout)["rows"]
    assert row["agrees"] is False
    assert row["note"] == "ours is 1, the peer's 2; nothing was timed"


def test_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="there is no task 'speed'"):
        bench("run", "speed")
    with pytest.raises(UsageError, match="is a folder; expected the name of a file to write"):
        bench("run", "sweeps", "--quick", "-o", tmp_path)
    with pytest.raises(UsageError, match="there is no such file or folder; expected a corpus, or 'demo'"):
        bench("run", "features", "--quick", "--data", tmp_path / "nothing")
    assert "Invalid value for '--threads'" in bench("run", "--threads", 0, exit_code=2).stderr


@in_a_checkout
def test_this_checkout_beside_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "STRUCTURES", ("linear",))
    path = tmp_path / "compare.json"
    result = bench("compare", "--against", ROOT, "--quick", "--only", "loading", "--threads", 1, "-o", path)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["differences"] == []
    assert document["env"]["threads"] == 1
    assert document["checkouts"]["new"] == document["checkouts"]["old"]
    assert [row["measure"] for row in document["rows"]] == ["loading"]
    for row in document["rows"]:
        assert row["ratio"] == pytest.approx(row["new_median"] / row["old_median"])
    assert re.search(
        r"^loading: milliseconds\n  linear +new .* \(.* to .*\); old .*; ratio \d", result.stdout, re.MULTILINE
    )


@in_a_checkout
def test_what_cannot_be_compared_is_said(tmp_path):
    with pytest.raises(UsageError, match=r"there is no '\.venv/bin/python'; expected a checkout in which 'make test'"):
        bench("compare", "--against", tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    with pytest.raises(UsageError, match=r"its interpreter has hyperspan from '.*'; expected that of the checkout"):
        bench("compare", "--against", tmp_path)
    with pytest.raises(UsageError, match="there is no measurement 'iterations'; did you mean 'iteration'"):
        bench("compare", "--against", ROOT, "--only", "iterations")


def test_results_need_their_corpora(tmp_path):
    with pytest.raises(UsageError, match=r"there is no file '.*chia/train\.jsonl'; expected a corpus"):
        bench("results", tmp_path)
    with pytest.raises(UsageError, match="there is no structure 'chain'; expected one of linear, "):
        bench("results", tmp_path, "--structure", "chain")
    with pytest.raises(UsageError, match="the split is 'train'; expected one of test, dev"):
        bench("results", tmp_path, "--split", "train")


def test_results_of_a_corpus(tmp_path):
    reports = demo.generate(40, unit="sentences")
    splits = {name: reports.split(name) for name in ("train", "dev", "test")}
    corpora.write_splits(splits, tmp_path / "small", format="jsonl")
    path = tmp_path / "results.json"
    options = ("--corpus", "small", "--structure", "mention", "--option=--max-iterations=3", "-o", path)
    printed = bench("results", tmp_path, *options).stdout
    head, line, *rows = printed.splitlines()
    assert head.startswith("| corpus | split | structure | decoding |")
    assert line.startswith("| --- |")
    assert [row.split(" | ")[:4] for row in rows] == [
        ["| small", "test", "mention", decode] for decode in ("all", "enough", "probable")
    ]
    written = [json.loads(row) for row in path.read_text().splitlines()]
    assert [row["decode"] for row in written] == ["all", "enough", "probable"]
    assert written[0]["env"]["versions"]["numpy"]
    assert bench("table", path, path).stdout == printed


def test_rows_with_and_without_a_second_look(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "run_python", run_here)
    reports = demo.generate(40, unit="sentences")
    splits = {name: reports.split(name) for name in ("train", "dev", "test")}
    corpora.write_splits(splits, tmp_path / "small", format="jsonl")
    path, models = tmp_path / "rescoring.jsonl", tmp_path / "models"
    options = ("--corpus", "small:Finding,Drug", "--structure", "shared", "--option=--max-iterations=3")
    printed = bench("rescoring", tmp_path, *options, "--models", models, "-o", path).stdout
    head, line, *lines = printed.splitlines()
    assert {each.count("|") for each in (head, line, *lines)} == {11}
    rows = [json.loads(row) for row in path.read_text().splitlines()]
    assert [(row["split"], row["rescore"]) for row in rows] == [
        (split, rescore) for split in ("dev", "test") for rescore in ("off", "on")
    ]
    assert sorted(model.name for model in models.glob("*.model")) == [
        "small-Finding,Drug.shared.model",
        "small-Finding,Drug.shared.rescored.model",
    ]
    for split, without, with_it in (("dev", *rows[:2]), ("test", *rows[2:])):
        assert (without["rescoring"], without["significance"]) == ({}, None)
        assert with_it["rescoring"]["kept"]
        assert with_it["significance"]["all"]["other_f1"] == without["all"]["f1"]
        assert with_it["all"]["tp"] + with_it["all"]["fn"] == sum(
            mention.type in ("Finding", "Drug") for sentence in splits[split] for mention in sentence.mentions
        )
    assert rows[1]["seconds"] == rows[3]["seconds"] > 0
    assert bench("table", path).stdout == printed
    with pytest.raises(UsageError, match=r"there is no file '.*chia/.*\.jsonl'; expected a corpus"):
        bench("rescoring", tmp_path)


def test_a_table_of_what_are_no_rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    with pytest.raises(UsageError, match=r"rows\.jsonl: No such file or directory"):
        bench("table", path)
    path.write_text('{"corpus": "small"}\n{}\n')
    message = r"rows\.jsonl:2: this is not a row; expected a file that results or rescoring wrote"
    with pytest.raises(UsageError, match=message):
        bench("table", path)
    row = {"corpus": "small", "split": "dev", "structure": "shared"}
    path.write_text(json.dumps(row | {"decode": "all"}) + "\n" + json.dumps(row | {"rescore": "on"}))
    with pytest.raises(UsageError, match="some rows are from results, others from rescoring; make one table for each"):
        bench("table", path)


def test_thresholds_of_a_corpus(tmp_path):
    reports = demo.generate(40, unit="sentences")
    splits = {name: reports.split(name) for name in ("train", "dev")}
    corpora.write_splits(splits, tmp_path / "small", format="jsonl")
    path = tmp_path / "thresholds.json"
    options = ("--structure", "mention", "--types", "Finding,Drug", "--max-iterations", 5, "--cuts", 2, "-o", path)
    head, line, *rows = bench("thresholds", "--data", tmp_path / "small", *options).stdout.splitlines()
    assert head.startswith("| chosen by | highest F1 | chosen | gain |")
    assert line.startswith("| ---: |")
    sizes = [row["n_sentences"] for row in json.loads(path.read_text())["rows"]]
    assert [int(row.split("|")[1]) for row in rows] == sizes
    assert sizes[:2] == [10, 25]


def test_how_probable_gold_is(tmp_path):
    reports = demo.generate(40, unit="sentences")
    splits = {name: reports.split(name) for name in ("train", "dev", "test")}
    corpora.write_splits(splits, tmp_path / "small", format="jsonl")
    path = tmp_path / "gold.json"
    options = ("--merge-types", "--max-iterations", 5, "--sentences", 60, "--discontiguous", 10, "--clusters", 8)
    result = bench("gold", "--data", tmp_path / "small", *options, "-o", path)
    head, _, *rows = result.stdout.splitlines()
    assert head.startswith("| gold mentions | number | mean probability | highest | at least 0.3 |")
    kept = json.loads(path.read_text())["rows"]
    assert [row.split("|")[1].strip() for row in rows] == [row["which"] for row in kept]
    held_out = {(s, m.parts) for name in ("dev", "test") for s in splits[name] for m in s.mentions}
    assert sum(row["n_mentions"] for row in kept[:2]) == len(held_out)
    assert "training on 60 sentences" in result.stderr


def shown_commands():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile", *(ROOT / "docs").glob("*.md")]:
        for line in page.read_text(encoding="utf-8").splitlines():
            _, _, shown = line.partition("python -m benchmarks ")
            if shown:
                yield page.name, re.findall(r"[^\s`]+", shown.partition("#")[0])


def test_commands_that_are_shown_exist():
    shown = list(shown_commands())
    assert len(shown) > 5
    for page, (command, *words) in shown:
        known = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "300"})
        assert known.exit_code == 0, f"{page}: {command}"
        for word in words:
            option, _, _ = word.partition("=")
            assert not option.startswith("-") or option in known.stdout, f"{page}: {command} {word}"


def test_numbers_that_matter():
    assert [number(value) for value in (123456.7, 0.00123, 1.0)] == ["123,457", "0.00123", "1"]
