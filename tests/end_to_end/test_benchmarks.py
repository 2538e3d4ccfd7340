"""``hyperspan bench`` as a user runs it."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from hyperspan import corpora
from hyperspan.bench import TASKS, Disagreement, sweeps
from hyperspan.cli.app import app
from hyperspan.cli.bench import number
from hyperspan.corpora import demo
from hyperspan.errors import UsageError


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    monkeypatch.setattr("benchmarks.setting.QUICK_TOKENS", 300)


def bench(*arguments: object, exit_code: int = 0):
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return result


def test_the_list_of_tasks():
    assert [line.split()[0] for line in bench("--list").stdout.splitlines()] == list(TASKS)
    assert json.loads(bench("--list", "--json").stdout) == TASKS


def test_a_task_as_json_and_in_a_file(tmp_path):
    path = tmp_path / "bench.json"
    document = json.loads(bench("sweeps", "--quick", "--json", "--threads", 1, "--seed", 3, "-o", path).stdout)
    assert json.loads(path.read_text(encoding="utf-8")) == document
    assert document["quick"] is True
    assert document["seed"] == 3
    assert document["data"] == "demo"
    assert document["env"]["threads"] == 1
    assert {"python", "numpy", "python-crfsuite", "torch-struct"} <= set(document["env"]["versions"])
    names = [row["ours"] for row in document["rows"]]
    assert names[:3] == ["shared, K=3: sum", "shared, K=3: gradient", "shared, K=3: best"]
    for row in document["rows"]:
        assert row["task"] == "sweeps"
        assert row["holds"] is None
        assert row["agrees"] is True
        low, high = row["ours_spread"]
        assert 0 < low <= row["ours_median"] <= high


def test_a_table_with_a_corpus_of_your_own(tmp_path):
    corpora.write(demo.generate(3, unit="sentences"), tmp_path / "notes.jsonl")
    result = bench("features", "--quick", "--data", tmp_path / "notes.jsonl", "--threads", 1)
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
    result = bench("sweeps", "--quick", "--json", exit_code=1)
    (row,) = json.loads(result.stdout)["rows"]
    assert row["agrees"] is False
    assert row["note"] == "ours is 1, the peer's 2; nothing was timed"


def test_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="there is no task 'speed'"):
        bench("speed")
    with pytest.raises(UsageError, match="is a folder; expected the name of a file to write"):
        bench("sweeps", "--quick", "-o", tmp_path)
    with pytest.raises(UsageError, match="there is no such file or folder; expected a corpus, or 'demo'"):
        bench("features", "--quick", "--data", tmp_path / "nothing")
    assert "Invalid value for '--threads'" in bench("--threads", 0, exit_code=2).stderr


def test_numbers_that_matter():
    assert [number(value) for value in (123456.7, 0.00123, 1.0)] == ["123,457", "0.00123", "1"]
