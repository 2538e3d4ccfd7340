"""``hyperspan show``: settings, scores and features of a small model."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from examples import EXAMPLES
from hyperspan import Mention, Recognizer, Sentence, corpora
from hyperspan.cli import app
from hyperspan.cli.show import _shown
from hyperspan.errors import ModelError

HOSTILE = "Bad\x1b[2J[bold]"


def run(*arguments: object):
    return CliRunner().invoke(app, ["show", *map(str, arguments)], catch_exceptions=False, env={"COLUMNS": "40"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("show")
    sentences = list(EXAMPLES.values())
    corpora.write(sentences, folder / "train.jsonl")
    Recognizer(max_iterations=8).fit(sentences).save(folder / "plain.model")
    Recognizer(max_iterations=3, structure="linear").fit(sentences, dev=sentences).save(folder / "tags.model")
    hostile = [Sentence(["fever", "\x1b[31m"], [Mention(HOSTILE, [(0, 1)])])]
    corpora.write(hostile, folder / "hostile.jsonl")
    Recognizer(max_iterations=3).fit(hostile).save(folder / "hostile.model")
    return folder


def settings(out: str) -> dict[str, str]:
    return {line[:20].rstrip(): line[21:] for line in out.split("\n\n")[0].splitlines()}


def test_settings_stand_beside_their_names(folder):
    result = run(folder / "plain.model", "--top", 0)
    assert (result.exit_code, result.stderr) == (0, "")
    shown = settings(result.stdout)
    assert shown["structure"] == "shared"
    assert shown["max components"] == "3"
    assert shown["distribution"] == "encodings"
    assert shown["types"] == "Finding"
    assert not {"strongest", "training log", "dev scores", "templates"} & shown.keys()
    assert "dev " not in result.stdout


def test_scores_on_development_data_are_shown(folder):
    lines = run(folder / "tags.model", "--top", 0).stdout.splitlines()
    scores = [line for line in lines if line.startswith("dev ")]
    assert [line[:30].rstrip() for line in scores] == [
        "dev all",
        "dev discontiguous sentences",
        "dev discontiguous mentions",
    ]
    assert all(re.fullmatch(r" P \d\.\d{3}  R \d\.\d{3}  F1 \d\.\d{3}", line[30:]) for line in scores)


def features(out: str) -> dict[str, list[str]]:
    _, *blocks = out.rstrip("\n").split("\n\n")
    return {lines[0]: lines[1:] for lines in (block.splitlines() for block in blocks)}


def test_features_have_names_by_themselves(folder):
    result = run(folder / "plain.model", "--top", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "#" not in "".join(line[12:13] for lines in features(result.stdout).values() for line in lines)


def test_features_without_names_are_hashes(folder, tmp_path):
    Recognizer.load(folder / "plain.model").save(tmp_path / "nameless.model", with_names=False)
    result = run(tmp_path / "nameless.model", "--top", 2)
    assert result.stderr == "some features are shown by their hash; name them with --names-from and the training data\n"
    found = features(result.stdout)
    assert "Finding T→B0" in found
    for lines in found.values():
        assert 1 <= len(lines) <= 2
        assert all(re.match(r"  [ +-]*\d+\.\d{3}  #[0-9a-f]{16}", line) for line in lines), lines


def test_a_corpus_gives_them_names(folder):
    result = run(folder / "plain.model", "--top", 3, "--names-from", folder / "train.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    named = features(result.stdout)
    assert named.keys() == features(run(folder / "plain.model", "--top", 3).stdout).keys()
    assert "#" not in "".join(line[12:13] for lines in named.values() for line in lines)
    assert any("=" in line for line in named["Finding T→B0"])


def test_the_strongest_come_first(folder):
    shown = json.loads(run(folder / "plain.model", "--json", "--top", 4).stdout)
    for label, of_label in shown["strongest"].items():
        weights = [abs(feature["weight"]) for feature in of_label]
        assert weights == sorted(weights, reverse=True), label
        assert len(of_label) <= 4


def test_json_is_the_whole_summary(folder):
    result = run(folder / "tags.model", "--json", "--top", 0)
    shown = json.loads(result.stdout)
    assert shown["structure"] == "linear"
    assert len(shown["training_log"]) == 3
    assert shown["dev_scores"]["all"].keys() >= {"precision", "recall", "f1"}
    assert "strongest" not in shown
    assert result.stderr == ""


def test_defects_of_the_naming_corpus_are_said(folder, tmp_path):
    good = (folder / "train.jsonl").read_text(encoding="utf-8")
    (tmp_path / "broken.jsonl").write_text("{nonsense\n" + good, encoding="utf-8")
    result = run(folder / "plain.model", "--top", 1, "--names-from", tmp_path / "broken.jsonl")
    assert result.exit_code == 0
    assert "warning: skipped with 1 problem" in result.stderr
    assert "broken.jsonl:1" in result.stderr
    assert features(result.stdout)


def test_hostile_names_neither_steer_nor_style(folder):
    result = run(folder / "hostile.model", "--top", 9, "--names-from", folder / "hostile.jsonl")
    assert "\x1b" not in result.stdout
    assert settings(result.stdout)["types"] == "Bad\\x1b[2J[bold]"
    assert "Bad\\x1b[2J[bold] T→B0" in features(result.stdout)


def test_long_lines_stay_whole_in_a_pipe(folder):
    lines = run(folder / "plain.model", "--names-from", folder / "train.jsonl").stdout.splitlines()
    assert max(map(len, lines)) > 40


def test_no_model(tmp_path):
    with pytest.raises(ModelError, match=r"there is no model file '.*nothing\.model'; expected one written by"):
        run(tmp_path / "nothing.model")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(["a", "b"], "a, b"), ([], ""), (1234567, "1,234,567"), (True, "True"), (0.5, "0.5"), (None, "None")],
)
def test_values(value, shown):
    assert _shown(value) == shown
