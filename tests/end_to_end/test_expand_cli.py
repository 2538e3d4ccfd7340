"""``--expand`` of ``hyperspan predict`` and ``hyperspan convert``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperspan import Mention, Recognizer, Sentence, corpora
from hyperspan.mentions import Document

TEXT = "cysts in left and right kidneys ."
WORDS = TEXT.split()
LEFT, RIGHT = Mention("Anatomy", [(2, 3), (5, 6)]), Mention("Anatomy", [(4, 6)])


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "kidneys.model"
    sentences = [Sentence(WORDS, [LEFT, RIGHT]), Sentence(["no", "cysts", "."])] * 5
    Recognizer(max_components=2, max_iterations=30).fit(sentences).save(path)
    return path


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    corpora.write([Document("twice", f"{TEXT}\n\n{TEXT}\n"), Sentence(WORDS, doc="words")], path)
    return path


PHRASES = [("left kidneys", 1), ("right kidneys", 1)]


def test_predicted_mentions_carry_what_they_stand_for(run, model, texts, tmp_path: Path):
    code, _, _ = run("predict", model, texts, "-o", tmp_path / "found.jsonl", "--expand")
    assert code == 0
    text, words = (json.loads(line) for line in (tmp_path / "found.jsonl").read_text("utf-8").splitlines())
    assert [(each["expanded"], each["group"]) for each in words["mentions"]] == PHRASES
    # Groups of a document have numbers of their own.
    assert [(each["expanded"], each["group"]) for each in text["mentions"]] == [
        *PHRASES,
        *((phrase, 2) for phrase, _ in PHRASES),
    ]


def test_predicted_mentions_have_a_note_in_brat(run, model, texts, tmp_path: Path):
    code, _, _ = run("predict", model, texts, "-o", tmp_path / "found", "--format", "brat", "--expand")
    assert code == 0
    notes = (tmp_path / "found" / "words.ann").read_text("utf-8")
    assert "AnnotatorNotes T1\texpanded=left kidneys\n" in notes
    assert "AnnotatorNotes T2\tgroup=1\n" in notes


def test_without_expand_nothing_is_added(run, model, texts):
    _, out, _ = run("predict", model, texts)
    assert "expanded" not in out
    assert "group" not in out


def test_convert_expands_gold(run, tmp_path: Path):
    source, target, back = tmp_path / "gold.jsonl", tmp_path / "brat", tmp_path / "back.jsonl"
    corpora.write([Sentence(WORDS, [LEFT, RIGHT], doc="words")], source)
    assert run("convert", source, target, "--expand")[0] == 0
    assert run("convert", target, back)[0] == 0
    (record,) = map(json.loads, back.read_text("utf-8").splitlines())
    assert [(each["expanded"], each["group"]) for each in record["mentions"]] == PHRASES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--singular"], "--singular says how --expand writes phrases; give both"),
        (["--expand", "--format", "text"], "--expand cannot be written in the format 'text'; expected jsonl or brat"),
    ],
)
def test_options_that_would_do_nothing_are_refused(run, model, texts, arguments, message):
    code, _, err = run("predict", model, texts, *arguments)
    assert code == 2
    assert message in err
