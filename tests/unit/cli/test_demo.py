"""``hyperspan demo``."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from examples import EXAMPLES
from hyperspan.cli import app
from hyperspan.cli.demo import worth_seeing
from hyperspan.mentions import Mention, Sentence


def run(*arguments: object):
    return CliRunner().invoke(app, ["demo", *map(str, arguments)], catch_exceptions=False)


def test_counts_scores_and_drawn_sentences():
    result = run("--documents", 30, "--draw", 1)
    assert result.exit_code == 0
    assert "not by any hospital" in result.stderr
    assert result.stdout.split()[:4] == ["train", "dev", "test", "all"]
    assert "discontiguous mentions" in result.stdout
    words, *lanes = result.stdout.rstrip().rsplit("\n\n", 1)[1].splitlines()
    assert lanes
    assert all(len(lane.split()[0]) <= len(words) for lane in lanes)
    assert "╌" in "".join(lanes)


def test_the_same_seed_gives_the_same():
    assert run("--documents", 12, "--seed", 3).stdout == run("--documents", 12, "--seed", 3).stdout
    assert run("--documents", 12, "--seed", 3).stdout != run("--documents", 12, "--seed", 4).stdout


def test_json_is_the_table_with_the_scores():
    table = json.loads(run("--documents", 12, "--json").stdout)
    assert set(table["scores"]["all"]) >= {"precision", "recall", "f1"}
    assert list(table["splits"]) == ["train", "dev", "test"]
    assert set(table["types"]) == {"Anatomy", "Drug", "Finding", "Procedure"}


def test_nothing_but_results_under_quiet():
    result = CliRunner().invoke(app, ["--quiet", "demo", "--documents", "6"])
    assert result.stderr == ""


def test_worth_seeing_are_different_tangles():
    flat = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])])
    twin = Sentence(["Opiate", "overdose", "and", "dependence"], EXAMPLES["ethanol"].mentions)
    chosen = worth_seeing([flat, EXAMPLES["ethanol"], twin, EXAMPLES["blood"], EXAMPLES["infarctions"]], 10)
    assert chosen == [EXAMPLES["blood"], EXAMPLES["infarctions"], EXAMPLES["ethanol"]]
    assert worth_seeing(chosen, 1) == [EXAMPLES["blood"]]
