"""``hyperspan experiment`` as a user runs it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from hyperspan import corpora
from hyperspan.cli.app import app
from hyperspan.corpora import demo
from hyperspan.errors import CorpusError, FeatureError, UsageError
from hyperspan.experiments import names
from releases import write_releases, write_shareclef2013

KEYS = ("data", "training", "structure", "decoder", "model")
SHORT = ("--quick", "--max-iterations", 8, "--l2", "1,0.5")


def run(*arguments: object):
    result = CliRunner().invoke(app, ["experiment", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def clinical(tmp_path_factory) -> dict[str, Path]:
    return write_releases(tmp_path_factory.mktemp("clinical"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The folder and the output of everything on the embedded corpus."""
    folder = tmp_path_factory.mktemp("results")
    return folder, run("run", "all", "--data", "demo", *SHORT, "-o", folder)


def test_list_names_every_experiment():
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(names())
    listed = json.loads(run("list", "--json").stdout)
    assert [row["name"] for row in listed] == list(names())
    assert {row["name"]: row["needs"] for row in listed}["ambiguity"] == ["train", "dev"]


def test_everything_is_printed_and_written(results):
    folder, result = results
    for name in names():
        assert f"# {name}: " in result.stdout
        document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        assert (
            document["command"] == f"hyperspan experiment run {name} --data demo --quick --l2 1,0.5 --max-iterations 8"
        )
        assert (folder / f"{name}.md").read_text(encoding="utf-8") in result.stdout
        if name != "data-stats":
            ElementTree.parse(folder / f"{name}.svg")
    assert "conclusions in 9 experiments" in result.stdout.splitlines()[-1]
    assert "demo, 4 types, Train-Disc: linear (encodings), λ of 1, 0.5" in result.stderr


def test_the_warning_about_templates_comes_once(results):
    assert results[1].stderr.count("templates are skipped") == 2  # of words, and of whole parts and gaps


def test_what_is_there_is_not_done_again(results):
    folder, first = results
    again = run("run", "all", "--data", "demo", *SHORT, "-o", folder)
    assert again.stdout == first.stdout
    for name in names():
        assert f"{name} has results already (--again repeats it)" in again.stderr
    assert "λ of" not in again.stderr
    once_more = run("run", "data-stats", "--data", "demo", *SHORT, "-o", folder, "--again")
    assert "has results already" not in once_more.stderr


def test_a_killed_run_goes_on_where_it_was(results, tmp_path):
    folder, _ = results
    kept = list((folder / "parts").iterdir())
    assert len(kept) == 12 + 3 + 12 + 4  # cells of main, distributions, groups of features, and those of segments
    (folder / "main.json").rename(tmp_path / "main.json")
    again = run("run", "main", "--data", "demo", *SHORT, "-o", folder)
    assert "λ of" not in again.stderr
    before = json.loads((tmp_path / "main.json").read_text(encoding="utf-8"))
    after = json.loads((folder / "main.json").read_text(encoding="utf-8"))
    assert before["rows"] == after["rows"]


def test_json_is_one_document():
    document = json.loads(run("run", "canonical-counts", "--json").stdout)
    assert document["experiment"] == "canonical-counts"
    assert document["data"] == {}
    everything = json.loads(run("run", "ambiguity", "--data", "demo", "--quick", "--json").stdout)
    assert everything["rows"][0]["structure"] == "linear"
    assert everything["data"]["given"]["data"] == "demo"


def differences_shown(document) -> int:
    """Return how many numbers of a table stand beside a published one and their difference, which is checked."""
    shown = {column["name"] for column in document["columns"]}
    pairs = {name: f"difference_{name}" for name in shown if f"paper_{name}" in shown}
    assert pairs
    assert shown >= set(pairs.values())
    count = 0
    for row in document["rows"]:
        for name, difference in pairs.items():
            ours, paper = row[name], row[f"paper_{name}"]
            if isinstance(ours, int | float) and isinstance(paper, int | float):
                assert row[difference] == pytest.approx(ours - paper, abs=0.001)
                count += 1
            else:
                assert row[difference] is None
    return count


def test_the_set_up_of_the_paper_in_one_command(tmp_path):
    """Every table from the folders as they are released: 60 documents, four note types, SMALL and LARGE."""
    given = write_releases(tmp_path)
    write_shareclef2013(tmp_path / "clef")
    result = run(
        *("run", "all", "--as-published", "--semeval2014", given["semeval"], "--shareclef2013", tmp_path / "clef"),
        *("--mrsty", given["mrsty"], "--quick", "--max-iterations", 4, "--l2", 1, "--json", "-o", tmp_path / "out"),
    )
    assert "skipped while reading: 5 crosses-sentence; the first: " in result.stderr
    made = {document["experiment"]: document for document in json.loads(result.stdout)["results"]}
    assert list(made) == list(names())
    for name, document in made.items():
        assert document["settings"]["features"] == "published"
        told = "\n".join(document["notes"])
        assert ("As published: the paper's templates and no others" in told) is (
            name not in ("data-stats", "canonical-counts", "ambiguity")
        )
        assert ("sentences, tokens and section names are by our own rules" in told) is (name != "canonical-counts")
        if document["table"] != "ours":
            assert differences_shown(document) > 0, name
        page = (tmp_path / "out" / f"{name}.md").read_text(encoding="utf-8")
        assert all(f" {column['title']} " in page.splitlines()[2] for column in document["columns"])
    places = [(data, training) for data in ("SMALL", "LARGE") for training in ("Train-Disc", "Train-Orig")]
    main = {tuple(row[key] for key in KEYS): row for row in made["main"]["rows"]}
    assert list(dict.fromkeys((data, training) for data, training, *_ in main)) == places
    row = main["SMALL", "Train-Orig", "shared", "enough", "derivations"]
    assert (row["paper_f1"], row["difference_f1"]) == (60.6, pytest.approx(row["f1"] - 60.6, abs=0.001))
    assert {row["l2"] for row in made["regularisation"]["rows"]} == {1.0}
    assert list(dict.fromkeys((row["data"], row["training"]) for row in made["regularisation"]["rows"])) == places
    assert {row["type"] for row in made["multi-type"]["rows"]} == {"A", "B", "N", "Total"}
    assert [row["split"] for row in made["data-stats"]["rows"]][::2] == ["Train", "Tr80", "Tr20", "Dev", "Test"]
    train = next(row for row in made["data-stats"]["rows"] if (row["split"], row["subset"]) == ("Train", "all"))
    assert (train["paper_sentences"], train["difference_sentences"]) == (10_405, train["sentences"] - 10_405)
    assert "5 crosses-sentence. Both releases have the reports of Train and Dev" in "\n".join(
        made["data-stats"]["notes"]
    )
    notes = "\n".join(made["main"]["notes"])
    for what in (
        "parts of speech and lemmas",
        "sentences, tokens and section names",
        "Brown clusters: 50 of",
        "no lexicon is given",
    ):
        assert what in notes
    assert "from zero weights" in made["regularisation"]["notes"][0]
    page = (tmp_path / "out" / "main.md").read_text(encoding="utf-8")
    assert "Not the same: sentences, tokens and section names are by our own rules" in page
    assert "--as-published" in made["main"]["command"]
    with pytest.raises(
        UsageError, match=r"--as-published takes the published features, but --features is 'mine\.toml'"
    ):
        run("run", "main", "--data", "demo", "--as-published", "--features", "mine.toml")


def test_without_semantic_types_multi_type_is_passed_over(clinical, monkeypatch):
    from hyperspan import experiments

    kept = {name: experiments.EXPERIMENTS[name] for name in ("canonical-counts", "multi-type")}
    monkeypatch.setattr(experiments, "EXPERIMENTS", kept)
    result = run("run", "all", "--shareclef2013", clinical["shareclef"], "--quick", "--json")
    passed_over = json.loads(result.stdout)["passed_over"]
    assert list(passed_over) == ["multi-type"]
    assert "give --mrsty MRSTY.RRF for its types A, B and N" in passed_over["multi-type"]
    assert "multi-type is skipped" in result.stderr
    with pytest.raises(UsageError, match="give --mrsty"):
        run("run", "multi-type", "--shareclef2013", clinical["shareclef"], "--quick")


def test_a_release_without_concept_codes_has_no_several_types(clinical, tmp_path):
    root = tmp_path / "release"
    shutil.copytree(clinical["shareclef"], root)
    for path in root.rglob("*.pipe"):
        path.write_text(re.sub(r"\|\|C\d+\|\|", "||CUI-less||", path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(UsageError, match="has only the type N; its concept codes tell no others"):
        run("run", "multi-type", "--shareclef2013", root, "--mrsty", clinical["mrsty"], "--quick")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["main"], "no data is given; expected one of: --data demo"),
        (["all"], "no data is given"),
        (["mian", "--data", "demo"], "Did you mean 'main'"),
        (["main", "--data", "demo", "--l2", "weak"], "--l2 is 'weak'"),
        (["main", "--data", "demo", "--types", "Drug,,"], "--types is 'Drug,,'"),
        (["main", "--data", "demo", "--types", "Dragon"], "expected some of Anatomy, Drug, Finding, Procedure"),
        (["main", "--data", "demo", "--train", "x.jsonl"], "data is given in several ways"),
        (["canonical-counts", "--train", "nowhere.jsonl"], "there is no such file or folder"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises((UsageError, CorpusError), match=message):
        run("run", *arguments)


def test_a_split_that_is_missing(tmp_path):
    corpora.write(demo.stream(2, unit="sentences"), tmp_path / "mine.jsonl")
    with pytest.raises(UsageError, match=r"the split 'dev' of 'given' is needed, but there is train; .* --dev"):
        run("run", "ambiguity", "--train", tmp_path / "mine.jsonl")


def test_all_skips_what_a_missing_split_does_not_allow(tmp_path, monkeypatch):
    from hyperspan import experiments

    kept = {name: experiments.EXPERIMENTS[name] for name in ("ambiguity", "main", "data-stats")}
    monkeypatch.setattr(experiments, "EXPERIMENTS", kept)
    corpora.write(demo.stream(4, unit="sentences"), tmp_path / "mine.jsonl")
    contiguous = [sentence for sentence in demo.stream(9, unit="sentences") if not sentence.is_discontiguous]
    corpora.write(contiguous, tmp_path / "contiguous.jsonl")
    mine = ("--train", tmp_path / "mine.jsonl", "--test", tmp_path / "mine.jsonl")
    everything = json.loads(run("run", "all", *mine, "--quick", "--json").stdout)
    assert [document["experiment"] for document in everything["results"]] == ["data-stats"]
    assert list(everything["passed_over"]) == ["ambiguity", "main"]
    result = run("run", "all", *mine, "--dev", tmp_path / "contiguous.jsonl", "--quick", "--json")
    assert "main is skipped: the split 'dev' of 'given' has no sentence with a discontiguous mention" in result.stderr
    assert list(json.loads(result.stdout)["passed_over"]) == ["main"]


def test_a_resource_that_is_missing_stops_everything_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for option in ("--clusters", "--lexicon"):
        with pytest.raises(FeatureError, match="nowhere: cannot be read"):
            run("run", "all", "--data", "demo", *SHORT, "-o", "out", option, "nowhere")
    assert not Path("out").exists()


def test_an_output_that_is_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(UsageError, match="is a file; expected the name of a folder"):
        run("run", "canonical-counts", "-o", path)


def test_real_corpora_can_be_counted(shared_data: Path):
    document = json.loads(run("run", "data-stats", "--data", shared_data / "pgxcorpus", "--json").stdout)
    rows = {(row["split"], row["subset"]): row for row in document["rows"]}
    assert sum(rows[split, "all"]["mentions"] for split in ("Train", "Dev", "Test")) == 6761
