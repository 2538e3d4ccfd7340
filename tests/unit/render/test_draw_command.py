"""``hyperspan draw``."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

from examples import EXAMPLES
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.cli.draw import draw
from hyperspan.corpora.writing import write
from hyperspan.errors import CorpusError, UsageError

app = typer.Typer()
app.command()(draw)
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper.jsonl"
    write([replace(sentence, doc="paper") for sentence in EXAMPLES.values()], path)
    return path


def test_svg_of_a_corpus_and_of_one_sentence(paper: Path):
    whole, one = run(paper), run(paper, "--sentence", 2)
    assert ElementTree.fromstring(whole.stdout).findtext(f"{SVG}title") == "5 sentences"
    title = ElementTree.fromstring(one.stdout).findtext(f"{SVG}title")
    assert title == "Infarctions either water shed or embolic"
    assert whole.exit_code == one.exit_code == 0


def test_text(paper: Path):
    assert run(paper, "--format", "text", "--sentence", 5).stdout.splitlines() == [
        "Ethanol Intoxication and withdrawal",
        "━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌━━━━━━━━━━ Finding",
        "━━━━━━━━━━━━━━━━━━━━ Finding",
    ]


def test_text_into_a_file_is_the_same_as_on_stdout(paper: Path, tmp_path: Path):
    result = run(paper, "--format", "text", "-o", tmp_path / "out" / "paper.txt")
    assert result.stdout == ""
    assert f"wrote 5 sentences to {tmp_path / 'out' / 'paper.txt'}" in result.stderr
    written = (tmp_path / "out" / "paper.txt").read_text(encoding="utf-8")
    assert written == run(paper, "--format", "text").stdout


def test_html(paper: Path):
    page = run(paper, "--format", "html", "--limit", 2).stdout
    assert page.count('class="hs-sentence"') == 2
    assert page.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("name", "begin"),
    [("a.svg", "<svg"), ("a.HTML", "<!doctype html>"), ("a.htm", "<!doctype html>"), ("a.txt", "EGD ")],
)
def test_the_suffix_of_the_output_is_the_format(paper: Path, tmp_path: Path, name: str, begin: str):
    run(paper, "-o", tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)


def test_the_option_overrules_the_suffix(paper: Path, tmp_path: Path):
    run(paper, "--format", "text", "--sentence", 5, "-o", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("Ethanol Intoxication and withdrawal\n")
    run(paper, "-o", tmp_path / "plain")
    assert (tmp_path / "plain").read_text(encoding="utf-8").startswith("<svg")


def test_an_unknown_suffix(paper: Path, tmp_path: Path):
    message = r"'a\.png' does not say which format to write; use \.htm, \.html, \.svg, \.txt, or name it with --format"
    with pytest.raises(UsageError, match=message):
        run(paper, "-o", tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize("structure", ["linear", "mention", "shared", "split"])
def test_hypergraphs(paper: Path, structure: str):
    svg = run(paper, "--hypergraph", "--structure", structure, "--sentence", 2).stdout
    title = ElementTree.fromstring(svg).findtext(f"{SVG}title") or ""
    assert title.startswith("tags: Infarctions" if structure == "linear" else f"{structure} hypergraph: Infarctions")
    page = run(paper, "--hypergraph", "--structure", structure, "--format", "html").stdout
    assert page.count("<svg") == 5


def test_hypergraph_as_text(paper: Path):
    lines = run(paper, "--hypergraph", "--format", "text", "--sentence", 2).stdout.splitlines()
    assert lines[0] == "Infarctions  Finding: T→B0 B0→O1,X"
    assert lines[-1] == "embolic      Finding: T→X B1→X"


def test_mentions_that_the_structure_cannot_write_are_named(paper: Path):
    result = run(paper, "--hypergraph", "--structure", "shared", "--max-components", 1, "--sentence", 5)
    assert "left out, 'shared' cannot encode it: Finding Ethanol … withdrawal" in result.stderr
    assert result.exit_code == 0


def test_a_text_is_split_and_has_no_mentions():
    assert run("--text", "No fever. Rest.", "--format", "text").stdout == "No fever .\n\nRest .\n"
    svg = run("--text", "a <b> & c").stdout
    assert "no mentions" in svg
    assert "&lt;" in svg


def test_a_text_without_sentences():
    result = run("--text", " ", "--format", "text")
    assert result.stdout == ""
    assert result.stderr == "there is no sentence to draw\n"


def test_documents_are_split(tmp_path: Path):
    document = Document("note", "No fever. Severe pain.", [Mention("Finding", [(17, 21)])])
    write([document], tmp_path / "notes")
    drawn = run(tmp_path / "notes", "--format", "text", "--sentence", 2).stdout
    assert drawn == "Severe pain .\n       ━━━━ Finding\n"


def test_what_does_not_fit_is_an_error_or_counted(tmp_path: Path):
    path = tmp_path / "notes.jsonl"
    write([Document("note", "No fever. Severe pain.", [Mention("Finding", [(3, 21)])])], path)
    with pytest.raises(CorpusError, match="lies in 2 sentences"):
        run(path, "-o", tmp_path / "out.svg")
    assert not (tmp_path / "out.svg").exists()
    assert "skipped with 1 problem: 1 crosses-sentence" in run(path, "--on-error", "skip").stderr


def test_a_large_corpus_as_svg_is_cut_and_says_so(tmp_path: Path):
    path = tmp_path / "many.jsonl"
    write([Sentence([f"w{number}"]) for number in range(101)], path)
    result = run(path)
    assert "drew the first 100 sentences; there are more" in result.stderr
    assert ">w99<" in result.stdout
    assert ">w100<" not in result.stdout
    assert ">w100<" in run(path, "--limit", 101).stdout
    assert "w100" in run(path, "--format", "text").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "draw needs a corpus or --text, but neither was given; expected one of them"),
        (["{paper}", "--text", "x"], "draw needs a corpus or --text, but both were given; expected one of them"),
        (["{paper}", "--sentence", "6"], "--sentence is 6, but there are only 5 sentences"),
        (
            ["{paper}", "--structure", "split"],
            "--structure and --max-components only apply to --hypergraph; give it too",
        ),
    ],
)
def test_wrong_usage(paper: Path, arguments: list[str], message: str):
    with pytest.raises(UsageError) as caught:
        run(*(argument.format(paper=paper) for argument in arguments))
    assert str(caught.value) == message


def test_the_format_can_be_named(paper: Path, tmp_path: Path):
    renamed = paper.rename(tmp_path / "paper.data")
    with pytest.raises(corpora.reading.FormatError, match="the format is not recognised"):
        run(renamed)
    assert run(renamed, "--from", "jsonl", "--sentence", 1).exit_code == 0


def test_a_terminal_that_knows_only_ascii(paper: Path):
    result = subprocess.run(
        [sys.executable, "-m", "hyperspan", "draw", "--text", "Nö fever.", "--format", "text"],
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, b"N\\xf6 fever .\n")
