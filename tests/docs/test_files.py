"""docs/files.md names every key that commands print with --json, and every key of a model file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forging import arrays_of, header_of
from hyperspan import Recognizer, corpora
from hyperspan.cli.app import app
from hyperspan.cli.reference import commands, parameters
from hyperspan.corpora import demo

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
MODELS = Path(__file__).parents[1] / "golden" / "models"


def rows(section: str) -> dict[str, set[str]]:
    """Return the names in the second cell of each row of a section's tables, by each name in its first cell."""
    found: dict[str, set[str]] = {}
    (text,) = re.findall(rf"^## {section}.*?(?=^## )", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for names, values in re.findall(r"^\| (`.*?) \| (.*) \|$", text, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", names):
            found[name] = set(re.findall(r"`([^`]+)`", values))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    reports = demo.generate(12, unit="sentences")
    for split in reports.splits:
        corpora.write(reports.split(split), folder / f"{split}.jsonl")
    corpora.write(reports.split("test"), folder / "other.jsonl")
    recognizer = Recognizer(max_components=2, max_iterations=5)
    recognizer.fit(reports.split("train"), dev=reports.split("dev")).save(folder / "a.model")
    return folder


def test_every_command_with_json_has_a_row():
    names = {
        name.removeprefix("hyperspan ")
        for name, callback in commands(app)
        if any("--json" in each.names for each in parameters(callback))
    }
    assert names <= rows("JSON output").keys()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("check", "test.jsonl"),
        ("stats", "test.jsonl"),
        ("convert", "test.jsonl out.jsonl"),
        ("train", "train.jsonl --dev dev.jsonl -o b.model --max-iterations 2"),
        ("train", "train.jsonl --dev dev.jsonl -o c.model --max-iterations 2 --structure segments"),
        ("show", "a.model"),
        ("show", f"{MODELS / '0.2-segments.model'}"),
        ("show", f"{MODELS / '0.2-second-look.model'}"),
        ("threshold", "a.model dev.jsonl"),
        ("evaluate", "test.jsonl test.jsonl --compare test.jsonl --resamples 5"),
        ("explain", "a.model Fever."),
        ("agree", "test.jsonl other.jsonl --resamples 5 --rotations 2"),
        ("select", "a.model test.jsonl -n 1"),
        ("select", "a.model train.jsonl --simulate dev.jsonl --words 500 --rounds 1 --seeds 1 --max-iterations 2"),
        ("audit", "a.model test.jsonl --folds 2 --max-iterations 2 --plant 0.1"),
        ("features", "Fever."),
        ("brown", "test.jsonl -c 5 -o clusters.tsv"),
        ("lexicon build", "-o lexicon.npz --no-packages --tsv words.tsv"),
        ("ambiguity counts", "--max-words 3"),
        ("ambiguity matrix", ""),
    ],
)
def test_keys_of_commands(name, arguments, folder, monkeypatch):
    monkeypatch.chdir(folder)
    Path("words.tsv").write_text("fever\tFinding\n", encoding="utf-8")
    done = CliRunner().invoke(app, [*name.split(), *arguments.split(), "--json"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout).keys() <= rows("JSON output")[name]


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.model")), ids=lambda path: path.stem)
def test_keys_of_models(path):
    documented, header = rows("Model files"), header_of(path.read_bytes())
    assert header.keys() <= documented.keys()
    assert header["data"].keys() <= documented.keys() | documented["features"]


def test_arrays_of_models(folder):
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in arrays_of((folder / "a.model").read_bytes()) if f"`{name}`" not in text] == []
