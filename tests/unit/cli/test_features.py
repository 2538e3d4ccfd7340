"""``hyperspan features``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hyperspan.cli.features import features
from hyperspan.errors import FeatureError, UsageError
from hyperspan.features import Clusters, Lexicon

app = typer.Typer()
app.command()(features)

EGD = "EGD showed hiatal hernia."


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_one_word_in_words():
    result = run(EGD, "--word", "hiatal", "--features", "published")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == "3 hiatal"
    assert lines[1] == "  neighbours   word[-3]=<s-1>"
    assert "  pairs        word[-1]=showed|word[0]=hiatal" in lines
    assert lines[-1] == "  orthography  capitals[0]=lower"
    assert "skipped cluster: no Brown clusters were given" in result.stderr
    assert "skipped section: no sentence has the attribute 'section'" in result.stderr


def test_every_word_and_words_by_number():
    table = json.loads(run(EGD, "--json").stdout)
    assert [row["word"] for row in table["words"]] == ["EGD", "showed", "hiatal", "hernia", "."]
    assert table["words"][0]["features"]["word"] == ["word[0]=EGD", "lower[0]=egd"]
    assert table["templates"] == "default"
    assert {"group": "lexicon", "template": "category", "reason": "no lexicon was given"} in table["skipped"]
    assert json.loads(run(EGD, "--word", 2, "--json").stdout)["words"] == table["words"][1:2]


def test_a_word_that_is_a_number_is_the_word():
    table = json.loads(run("take 1 of 2 , 1 daily", "--word", "1", "--json").stdout)
    assert [row["number"] for row in table["words"]] == [2, 6]


@pytest.mark.parametrize("word", ["0", "6", "lac", "99999999999999999999"])
def test_a_word_that_is_not_there(word: str):
    with pytest.raises(UsageError) as caught:
        run(EGD, "--word", word)
    assert str(caught.value) == (
        f"--word is {word!r}; expected a number from 1 to 5, or one of 'EGD showed hiatal hernia .'"
    )


def test_all_resources(tmp_path: Path):
    (tmp_path / "clusters").write_text("010\thiatal\t3\n011\thernia\t2\n", encoding="utf-8")
    assert Clusters.load(tmp_path / "clusters").path_of("hiatal") == "010"
    Lexicon.from_entries([("hiatal hernia", "Disease")]).save(tmp_path / "lexicon.npz")
    (tmp_path / "mine.toml").write_text(
        '[mine]\na = "cluster[0]"\nb = "category[0]"\nc = "section"\nd = "note_type"\n', encoding="utf-8"
    )
    result = run(
        *(EGD, "--word", "hiatal", "--features", tmp_path / "mine.toml", "--clusters", tmp_path / "clusters"),
        *("--lexicon", tmp_path / "lexicon.npz", "--section", "findings", "--note-type", "echo", "--json"),
    )
    table = json.loads(result.stdout)
    assert table["skipped"] == []
    assert table["words"][0]["features"]["mine"] == [
        "cluster[0]=0",
        "cluster[0]=01",
        "cluster[0]=010",
        "category[0]=Disease",
        "section=findings",
        "note_type=echo",
    ]


def test_a_template_file_that_cannot_be_used(tmp_path: Path):
    (tmp_path / "mine.toml").write_text('[mine]\na = "wrod"\n', encoding="utf-8")
    with pytest.raises(FeatureError, match="template 'a' in group 'mine': there is no column 'wrod'"):
        run(EGD, "--features", tmp_path / "mine.toml")


def test_what_a_terminal_could_misread_is_made_visible():
    result = run("\x1b[31m \u200b \ud800 " + "a" * 5000, "--features", "default")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert "word[0]=\\x1b" in result.stdout
    assert "\\ud800" in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 300
    assert "… (5,000 characters)" in result.stdout


def test_no_words_no_features():
    assert run(" ").stdout == ""
