"""From reports to splits: what a user does with a corpus, one command after another, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from hyperspan import Diagnostics, Document, corpora
from hyperspan.corpora import demo
from hyperspan.text import split_document


def hyperspan(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hyperspan", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> Path:
    """Forty reports whose mentions all lie in one sentence, as wrapped lines do not always let them."""
    folder = tmp_path_factory.mktemp("corpus") / "reports"
    corpora.write(islice(filter(_splits_well, demo.stream(split=None)), 40), folder)
    return folder


def _splits_well(document: Document) -> bool:
    diagnostics = Diagnostics("skip")
    split_document(document, diagnostics)
    return not diagnostics.total


def test_from_reports_to_splits(reports, tmp_path):
    done = hyperspan("check", reports)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout

    before = json.loads(hyperspan("stats", reports, "--json").stdout)
    assert before["sentences"] == 40

    done = hyperspan(
        "convert", reports, tmp_path / "notes", "--to", "jsonl", "--split", "80,10,10", "--seed", 1, "--json"
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["mentions"], report["skipped"]) == (0, before["mentions"], {})

    after = json.loads(hyperspan("stats", tmp_path / "notes", "--json").stdout)
    assert after["types"] == before["types"]
    assert after["by_parts"] == before["by_parts"]
    assert sum(counts["mentions"] for counts in after["splits"].values()) == before["mentions"]

    subset = hyperspan("convert", tmp_path / "notes", tmp_path / "subset.jsonl", "--discontiguous-only", "--json")
    assert json.loads(subset.stdout)["units"] == after["discontiguous_sentences"]


def test_a_defect_stops_or_is_skipped(reports, tmp_path):
    broken = tmp_path / "broken"
    corpora.write(corpora.stream(reports), broken)
    victim = next(path for path in sorted(broken.glob("*.ann")) if path.stat().st_size)
    lines = victim.read_text().splitlines(keepends=True)
    number = next(i for i, line in enumerate(lines) if line.startswith("T"))
    name, place, text = lines[number].split("\t")
    lines[number] = f"{name}\t{place.split()[0]} 9 3\t{text}"
    victim.write_text("".join(lines))

    done = hyperspan("check", broken)
    assert done.returncode == 1
    assert f"{victim}:{number + 1}: part '9 3' ends before it starts" in done.stdout

    done = hyperspan("convert", broken, tmp_path / "out.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: {victim}:{number + 1}: part '9 3'" in done.stderr
    assert "--on-error skip" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()

    done = hyperspan("convert", broken, tmp_path / "out.jsonl", "--on-error", "skip")
    assert done.returncode == 0
    assert "warning: skipped with 1 problem: 1 reversed-part" in done.stderr
    assert (tmp_path / "out.jsonl").exists()
