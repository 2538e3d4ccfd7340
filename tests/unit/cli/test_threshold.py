"""``hyperspan threshold``: the curve, the choice, and writing it into the model."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hyperspan import Recognizer, corpora
from hyperspan.cli import app
from hyperspan.corpora import demo
from hyperspan.errors import UsageError


def run(*arguments: object):
    return CliRunner().invoke(app, ["threshold", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("threshold")
    reports = demo.generate(20, unit="sentences")
    corpora.write(reports.split("dev"), folder / "dev.jsonl")
    corpora.write([sentence.with_mentions(()) for sentence in reports.split("dev")], folder / "bare.jsonl")
    Recognizer(max_iterations=15).fit(reports.split("train")).save(folder / "notes.model")
    return folder


def test_the_curve_is_printed_and_plotted(folder):
    result = run(folder / "notes.model", folder / "dev.jsonl")
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head.split()[:4] == ["threshold", "precision", "recall", "F1"]
    chosen = [line for line in lines if line.startswith(">")]
    assert len(chosen) == 1
    for line in lines:
        assert line.index("F") == head.index("0P" if "0P" in head else "0 ") + round(40 * float(line[2:].split()[3]))
    own = Recognizer.load(folder / "notes.model").threshold_
    assert own == 0.3
    assert f"the model's own threshold is 0.3; --set makes it {float(chosen[0].split()[1]):g}" in result.stderr


def test_json_has_every_threshold(folder):
    result = run(folder / "notes.model", folder / "dev.jsonl", "--json", "--beta", "0.5")
    told = json.loads(result.stdout)
    assert told["own"] == 0.3
    assert [row["threshold"] for row in told["curve"]] == [number / 100 for number in range(2, 100)]
    assert set(told["curve"][0]) == {"threshold", "precision", "recall", "f1", "tp", "fp", "fn"}
    plain = json.loads(run(folder / "notes.model", folder / "dev.jsonl", "--json").stdout)
    assert told["chosen"] > plain["chosen"], "precision counts more"


def test_high_precision_is_set_in_the_model(folder, tmp_path):
    model = tmp_path / "own.model"
    model.write_bytes((folder / "notes.model").read_bytes())
    result = run(model, folder / "dev.jsonl", "--precision", "0.9", "--set", "--json")
    told = json.loads(result.stdout)
    assert f"the threshold is {told['chosen']:g} now" in result.stderr
    at = next(row for row in told["curve"] if row["threshold"] == told["chosen"])
    assert at["precision"] >= 0.9
    assert all(row["precision"] < 0.9 for row in told["curve"] if row["threshold"] < told["chosen"])
    recognizer = Recognizer.load(model)
    assert recognizer.threshold_ == told["own"] == told["chosen"]
    dev = list(corpora.read(folder / "dev.jsonl"))
    assert recognizer.evaluate(dev).all.precision == pytest.approx(at["precision"])


def test_recall_takes_the_highest_threshold_that_has_it(folder):
    told = json.loads(run(folder / "notes.model", folder / "dev.jsonl", "--recall", "0.4", "--json").stdout)
    assert all(row["recall"] < 0.4 for row in told["curve"] if row["threshold"] > told["chosen"])


def test_what_cannot_be_reached_is_said_and_nothing_is_set(folder, tmp_path):
    model = tmp_path / "own.model"
    model.write_bytes((folder / "notes.model").read_bytes())
    result = run(model, folder / "dev.jsonl", "--recall", "1.0", "--set")
    assert result.exit_code == 1
    assert "no threshold has a recall of 1 on this data; the highest is 0." in result.stderr
    assert model.read_bytes() == (folder / "notes.model").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--precision", "90"], "--precision is 90; expected a number above 0 and up to 1, such as 0.9 for 90 %"),
        (["--recall", "0"], "--recall is 0; expected a number above 0 and up to 1"),
        (["--beta", "0"], "--beta is 0; expected a number above 0, such as 0.5"),
        (["--precision", "0.9", "--recall", "0.9"], "--precision and --recall ask for different thresholds"),
        (
            ["--precision", "0.9", "--beta", "2"],
            "--precision and --beta ask for different thresholds; give one of them",
        ),
    ],
)
def test_options_that_make_no_sense(folder, options, message):
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        run(folder / "notes.model", folder / "dev.jsonl", *options)


def test_development_data_without_mentions_is_refused(folder):
    with pytest.raises(UsageError, match="there is no mention in it; expected development data with gold mentions"):
        run(folder / "notes.model", folder / "bare.jsonl")
