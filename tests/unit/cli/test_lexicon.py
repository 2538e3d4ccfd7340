"""``hyperspan lexicon build``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hyperspan.cli import lexicon as command
from hyperspan.errors import FeatureError, MissingExtraError, UsageError, install_command
from hyperspan.features import lexicon_sources
from hyperspan.features.lexicon import Lexicon
from hyperspan.features.lexicon_sources import Package

app = typer.Typer()
app.add_typer(command.app, name="lexicon")


def run(*arguments: object):
    return CliRunner().invoke(app, ["lexicon", "build", *map(str, arguments)], catch_exceptions=False)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def packages(monkeypatch):
    """One package that is installed and one that is not."""
    there = Package("there", "json", "words", "data: free", lambda: iter([("hernia", "Free"), ("cough", "Free")]))
    gone = Package("gone", "surely_not_a_module", "words", "data: free", lambda: iter([]))
    monkeypatch.setattr(lexicon_sources, "PACKAGES", (there, gone))
    return there, gone


def test_all_sources_in_their_order(tmp_path, packages):
    umls = tmp_path / "umls"
    umls.mkdir()
    write(umls / "MRCONSO.RRF", "C0000001|ENG|P|L1|PF|S1|Y|A1||||OURS|PT|1|stomach|0|N||\n")
    write(umls / "MRSTY.RRF", "C0000001|T023|A1.2.3.1|Body Part|AT3||\n")
    ontology = write(tmp_path / "ours.obo", "format-version: 1.4\n\n[Term]\nid: X:1\nname: pain\n")
    result = run(
        "-o",
        tmp_path / "lexicon.npz",
        "--tsv",
        write(tmp_path / "words.tsv", "hernia\tMine\n"),
        "--obo",
        f"Thing={ontology}",
        "--umls",
        umls,
        "--packages",
        "--json",
    )
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert summary["missing"] == ["gone"]
    assert summary["phrases"] == 4
    assert summary["categories"] == ["Mine", "Thing", "Body Part", "Free"]
    assert summary["sources"] == [
        "words.tsv: table of phrases",
        "ours.obo: OBO ontology of Thing",
        "UMLS: MRCONSO.RRF and MRSTY.RRF (UMLS licence: do not pass it on)",
        "there: words (data: free)",
    ]
    lexicon = Lexicon.load(tmp_path / "lexicon.npz")
    assert lexicon.categories_of(["hernia", "pain", "stomach", "cough"]) == [
        ("Mine",),
        ("Thing",),
        ("Body Part",),
        ("Free",),
    ]
    assert list(lexicon.notes) == summary["sources"]


def test_packages_alone_with_their_licences(tmp_path, packages):
    result = run("-o", tmp_path / "lexicon.npz")
    assert result.stdout == "there: words (data: free)\n"
    assert f"not installed: gone ({install_command('lexicons')})" in result.stderr
    assert "wrote 2 phrases in 1 categories" in result.stderr


def test_packages_are_left_out_if_there_is_another_source(tmp_path, packages):
    result = run("-o", tmp_path / "lexicon.npz", "--tsv", write(tmp_path / "words.tsv", "hernia\tMine\n"))
    assert result.stdout == "words.tsv: table of phrases\n"


def test_no_package_and_no_source(tmp_path, packages, monkeypatch):
    monkeypatch.setattr(lexicon_sources, "PACKAGES", packages[1:])
    with pytest.raises(MissingExtraError, match=r"A lexicon without --tsv, --obo or --umls needs the package 'gone'"):
        run("-o", tmp_path / "lexicon.npz")
    with pytest.raises(UsageError, match=r"there is nothing to make a lexicon of; name a source"):
        run("-o", tmp_path / "lexicon.npz", "--no-packages")


def test_mistakes(tmp_path):
    with pytest.raises(UsageError, match=r"--obo is 'mondo\.obo'; expected a category and a file"):
        run("-o", tmp_path / "lexicon.npz", "--obo", "mondo.obo")
    with pytest.raises(UsageError, match=r"is a folder; expected the name of a file to write"):
        run("-o", tmp_path)
    with pytest.raises(FeatureError, match=r"words\.tsv:1: 'hernia' is not a phrase and a category"):
        run("-o", tmp_path / "lexicon.npz", "--tsv", write(tmp_path / "words.tsv", "hernia\n"))
    assert not (tmp_path / "lexicon.npz").exists()
