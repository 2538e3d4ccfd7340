"""Recorded results: put into their pages by a script, and told in one table."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperspan.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("record", DOCS / "record.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pages(script, tmp_path, monkeypatch):
    """Copies of the pages, which the script may write."""
    folder = tmp_path / "docs"
    shutil.copytree(DOCS / "experiments", folder / "experiments")
    shutil.copy(DOCS / "experiments.md", folder)
    monkeypatch.setattr(script, "DOCS", folder)
    return folder


def contents(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}


def record(script, monkeypatch, *results):
    monkeypatch.setattr("sys.argv", ["record.py", *results])
    script.main()


def test_the_table_of_conclusions_is_what_the_pages_say(script, pages, monkeypatch):
    before = contents(pages)
    record(script, monkeypatch)
    assert contents(pages) == before, "python docs/record.py"


def test_a_section_is_replaced_and_the_others_stay(script, pages, tmp_path, monkeypatch):
    results = tmp_path / "results"
    made = CliRunner().invoke(app, ["experiment", "run", "data-stats", "--data", "demo", "-o", str(results)])
    assert made.exit_code == 0, made.output
    before = contents(pages)
    record(script, monkeypatch, f"PGxCorpus={results}", f"Embedded corpus={results}")
    after = contents(pages)
    assert [name for name in after if after[name] != before.get(name)] == ["experiments.md", "data-stats.md"]
    of = {name: script.sections(text["data-stats.md"])[1] for name, text in (("before", before), ("after", after))}
    assert list(of["after"]) == [*of["before"], "Embedded corpus"]
    assert of["after"]["Chia, type Condition"] == of["before"]["Chia, type Condition"]
    assert of["after"]["PGxCorpus"] == of["after"]["Embedded corpus"]
    assert "```sh\nhyperspan experiment run data-stats --data demo\n```" in of["after"]["PGxCorpus"]
    said = re.search(r"^\| \[data-stats\].* half of the mentions .*$", after["experiments.md"], flags=re.MULTILINE)
    assert said
    assert said[0].endswith("| holds | **does not** |  |")


def test_words_before_the_table_and_the_place_of_corpora(script, tmp_path):
    page = "# p\n\n## Recorded runs\n\n### A\n\nOne penalty only.\n\n| old |\n"
    assert script.replaced(page, "A", "| new |").endswith("### A\n\nOne penalty only.\n\n| new |\n")
    command = "hyperspan experiment run x --data {} --quick"
    for where in ("/some/where/chia", "../shared/data/chia", "chia/data/chia/", "/chia"):
        (tmp_path / "x.md").write_text(f"# title\n\n| t |\n\n    {command.format(where)}\n\n2026, one/two, 3 s\n")
        made = f"| t |\n\n```sh\n{command.format('$CORPORA/chia')}\n```\n\n2026, one/two, 3 s"
        assert script.recorded(tmp_path / "x.md") == made
    (tmp_path / "x.md").write_text(f"# title\n\n| t |\n\n    {command.format('demo')}\n")
    assert f"```sh\n{command.format('demo')}\n```" in script.recorded(tmp_path / "x.md")


@pytest.mark.parametrize("given", ["PGxCorpus={}", "{}", "PGxCorpus="])
def test_a_folder_without_results_is_refused_before_anything_is_written(
    script, pages, tmp_path, monkeypatch, capsys, given
):
    before, results = contents(pages), tmp_path / "results"
    made = CliRunner().invoke(app, ["experiment", "run", "canonical-counts", "-o", str(results)])
    assert made.exit_code == 0, made.output
    with pytest.raises(SystemExit):
        record(script, monkeypatch, f"PGxCorpus={results}", given.format(tmp_path / "nothing"))
    assert "has no results; expected NAME=FOLDER with what 'experiment run -o FOLDER' wrote" in capsys.readouterr().err
    assert contents(pages) == before


def test_experiments_on_some_pages_only_and_new_columns(script, pages, tmp_path, monkeypatch):
    """What one machine wrote of all experiments, and another of one in another set-up."""
    results = tmp_path / "results"
    for name in ("data-stats", "canonical-counts"):
        made = CliRunner().invoke(
            app, ["experiment", "run", name, "--data", "demo", "--types", "Finding", "-o", str(results)]
        )
        assert made.exit_code == 0, made.output
    record(script, monkeypatch, f"Chia={results}")
    after = contents(pages)
    for name in ("data-stats.md", "canonical-counts.md"):
        assert list(script.sections(after[name])[1]) == ["PGxCorpus", "Chia, type Condition", "Chia"]
    (said,) = re.findall(r"^\| \[canonical-counts\].* A_r ≥ 10/3 .*$", after["experiments.md"], flags=re.MULTILINE)
    assert said.endswith("| holds | holds | holds |")
    assert after["main.md"] == contents(DOCS / "experiments")["main.md"]
