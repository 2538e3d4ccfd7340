"""``hyperspan select`` and ``hyperspan audit``, from files to exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperspan import Recognizer, corpora
from hyperspan.corpora import demo
from hyperspan.diagnostics import Diagnostics
from hyperspan.text import as_sentences

QUICK = ("--folds", 2, "--max-iterations", 5, "--on-error", "skip")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A model, the reports it was trained on, and a pool of others."""
    folder = tmp_path_factory.mktemp("annotation")
    train = demo.generate(12, split="train")
    corpora.write(train, folder / "train", format="brat")
    corpora.write(demo.generate(20, split="dev"), folder / "pool", format="brat")
    for structure in ("shared", "linear"):
        made = Recognizer(structure=structure, max_components=2, max_iterations=15)
        made.fit(as_sentences(train, Diagnostics("skip")))
        made.save(folder / f"{structure}.model")
    return folder


def test_chosen_documents_are_written_with_their_mentions(run, folder, tmp_path: Path):
    code, out, err = run("select", folder / "shared.model", folder / "pool", "-n", 4, "-o", tmp_path / "next")
    assert code == 0
    assert "chose 4 of 20 documents" in err
    assert "expected errors are exact; the entropy is exact, over encodings" in err
    written = list(corpora.stream(tmp_path / "next"))
    assert len(written) == 4
    assert all(mention.prob is not None for unit in written for mention in unit.mentions)
    assert any(unit.mentions for unit in written)
    assert all(unit.doc in out for unit in written)


def test_the_order_is_that_of_worth_and_the_budget_is_kept(run, folder):
    code, out, _ = run(
        "select", folder / "shared.model", folder / "pool", "--words", 500, "--strategy", "entropy", "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert found["words"] == sum(row["words"] for row in found["chosen"]) <= 500
    values = [row["worth"] for row in found["chosen"]]
    assert values == sorted(values, reverse=True)
    assert values == pytest.approx([row["entropy"] / row["words"] for row in found["chosen"]])


def test_what_is_sampled_is_said(run, folder):
    _, out, _ = run("select", folder / "linear.model", folder / "pool", "-n", 1, "--json")
    found = json.loads(out)
    assert (found["errors_are"], found["entropy_is"]) == ("sampled", "exact, over tag sequences")


def test_with_a_second_look_select_says_which_look_it_used(run, folder, tmp_path: Path):
    made = Recognizer(rescore="on", max_components=2, max_iterations=5, n_threads=1)
    made.fit(as_sentences(demo.generate(12, split="train"), Diagnostics("skip"))).save(tmp_path / "twice.model")
    code, _, err = run("select", tmp_path / "twice.model", folder / "pool", "-n", 1)
    assert code == 0
    assert "expected errors are those of the second look; the entropy is exact, over encodings of the first look" in err


def test_what_is_annotated_already_is_not_chosen(run, folder):
    options = ["-n", 20, "--annotated", folder / "pool"]
    _, out, _ = run("select", folder / "shared.model", folder / "pool", *options, "--json")
    found = json.loads(out)
    assert (found["chosen"], found["annotated"]) == ([], 20)
    _, _, err = run("select", folder / "shared.model", folder / "pool", *options)
    assert "chose 0 of 20 documents, 0 words; skipped 20 that are annotated, 0 that are too similar and 0 that" in err


def test_learning_curves(run, folder, tmp_path: Path):
    arguments = ["--simulate", folder / "train", "--words", 150, "--rounds", 1, "--seeds", 1, "--max-iterations", 8]
    arguments += ["--on-error", "skip"]
    code, out, _ = run(
        "select", folder / "shared.model", folder / "pool", *arguments, "--plot", tmp_path / "a.svg", "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert {curve["strategy"] for curve in found["curves"]} == {"errors", "entropy", "margin", "random"}
    assert len(found["points"]) == 8
    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<svg")
    code, out, _ = run("select", folder / "shared.model", folder / "pool", *arguments)
    assert "of random choice" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say how much to choose: -n for documents, --words for words, or both"),
        (["-n", "1", "--plot", "a.svg"], "--plot draws the curves of --simulate; give both"),
        (["--simulate", "pool", "-o", "next"], "--simulate chooses nothing to annotate"),
        (["--simulate", "pool", "-n", "1"], "--simulate compares all strategies by words, so -n has no effect"),
        (["--simulate", "pool", "--strategy", "margin"], "all strategies by words, so --strategy has no effect"),
        (["-n", "1", "--rounds", "2"], "--rounds only applies to --simulate; give it too"),
        (["-n", "1", "--to", "jsonl"], "--to and --overwrite say how -o is written"),
        (["-n", "1", "-o", "."], "the folder . is not empty; choose another, or replace it with --overwrite"),
        (["-n", "1", "-o", "next.jpg"], "'next.jpg' does not say which format to write"),
    ],
)
def test_wrong_usage_of_select(run, folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    code, _, err = run("select", "shared.model", "pool", *arguments)
    assert code == 2
    assert message in err


def test_doubts_with_their_places(run, folder, tmp_path: Path):
    arguments = ["--folds", 2, "--max-iterations", 8, "-n", 15, "--plant", 0.1, "--on-error", "skip"]
    code, out, _ = run(
        "audit", folder / "shared.model", folder / "train", *arguments, "--html", tmp_path / "page.html", "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert len(found["doubts"]) == 15
    doubts = [each["doubt"] for each in found["doubts"]]
    assert doubts == sorted(doubts, reverse=True)
    assert set(found["planted"]["precision_at"]) == {"20", "50", "100"}
    texts = {unit.doc: unit.text for unit in corpora.stream(folder / "train")}
    for each in found["doubts"]:
        assert each["kind"] in ("improbable", "missing")
        covered = " … ".join(texts[each["doc"]][start:end] for start, end in each["spans"])
        assert covered.split() == each["text"].split() or "".join(covered.split()) == "".join(each["text"].split())
    assert "Doubtful annotations" in (tmp_path / "page.html").read_text("utf-8")


def test_doubts_are_drawn_for_people(run, folder):
    code, out, err = run("audit", folder / "shared.model", folder / "train", *QUICK, "-n", 2)
    assert code == 0
    assert out.startswith("1. train-000")
    assert "doubts about" in err


def test_a_place_names_the_line_of_the_annotation(run, folder):
    _, out, _ = run("audit", folder / "shared.model", folder / "train", *QUICK, "-n", 500, "--json")
    improbable = [each for each in json.loads(out)["doubts"] if each["kind"] == "improbable"]
    assert improbable
    path, line = improbable[0]["place"].rsplit(":", 1)
    assert f"\t{improbable[0]['type']} " in Path(path).read_text("utf-8").splitlines()[int(line) - 1]


def test_a_corpus_without_mentions_is_refused(run, folder, tmp_path: Path):
    corpora.write([unit.with_mentions(()) for unit in demo.generate(4)], tmp_path / "bare.jsonl")
    code, _, err = run("audit", folder / "shared.model", tmp_path / "bare.jsonl")
    assert code == 2
    assert "there is no mention in it; expected a corpus with gold mentions" in err
