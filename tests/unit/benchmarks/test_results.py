"""Tests of the results table: the commands run, models are kept, and mistakes are told."""

from __future__ import annotations

import pytest

from benchmarks import results
from hyperspan import corpora
from hyperspan.corpora import demo
from hyperspan.errors import UsageError
from in_process import run_here


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    reports = demo.generate(40, unit="sentences")
    (folder / "reports").mkdir()
    for name in ("train", "dev", "test"):
        corpora.write(reports.split(name), folder / "reports" / f"{name}.jsonl", format="jsonl")
    return folder


def test_rows_of_a_structure_and_a_kept_model(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "run_python", run_here)
    options = ("--max-iterations=2", "--threads=1")
    made = [*results.rows(folder, ["reports:Finding"], ["mention"], ["dev"], tmp_path, options)]
    assert [row["decode"] for row in made] == ["all", "enough", "probable"]
    assert [bool(row["calibration"]) for row in made] == [False, False, True]
    assert results.row_text(made[2]).startswith("| reports:Finding | dev | mention | probable | ")
    kept = corpora.read(tmp_path / "reports-Finding" / "train.jsonl")
    assert {mention.type for sentence in kept for mention in sentence.mentions} == {"Finding"}
    model = tmp_path / "reports-Finding.mention.model"
    written = model.stat().st_mtime_ns
    again = [*results.rows(folder, ["reports:Finding"], ["mention"], ["dev"], tmp_path, options)]
    assert model.stat().st_mtime_ns == written
    assert again == made


@pytest.mark.parametrize(
    ("names", "structures", "splits", "message"),
    [
        (
            ["notes"],
            ["shared"],
            ["dev"],
            r"there is no file '.*train\.jsonl'; expected a corpus as 'hyperspan convert'",
        ),
        (["reports"], ["tree"], ["dev"], "there is no structure 'tree'; expected one of linear, mention, shared"),
        (["reports"], ["shared"], ["train"], "the split is 'train'; expected one of test, dev"),
    ],
)
def test_mistakes_are_told(folder, tmp_path, names, structures, splits, message):
    with pytest.raises(UsageError, match=message):
        next(results.rows(folder, names, structures, splits, tmp_path))
