"""A model that meets another annotator than the one it was trained with says so, once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.recognizer.annotating import described
from hyperspan.text import Annotator

SENTENCES = [
    Sentence(["no", "blood", "seen"], [Mention("Finding", [(1, 2)])]),
    Sentence(["all", "is", "well"]),
] * 4
QUICK: dict[str, Any] = {"max_components": 1, "max_iterations": 5, "n_threads": 1, "annotator": "tagger"}


class Tagger(Annotator):
    """Calls every word a word."""

    name = "tagger"
    columns = ("pos",)
    language = "en"
    tagset = "own"

    def __init__(self, version: str) -> None:
        self.version = version

    def columns_of(self, batch: Sequence[Sequence[str]]) -> Iterable[dict[str, list[str]]]:
        return [{"pos": ["WORD"] * len(tokens)} for tokens in batch]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Annotator]:
    """What annotators there are; change it to install others."""
    annotators: dict[str, Annotator] = {"tagger": Tagger("1.0")}
    monkeypatch.setattr("hyperspan.recognizer.recognizer.annotator_named", annotators.__getitem__)
    return annotators


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "hyperspan.recognizer.annotating"]


def test_another_version_is_noticed_once(installed, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    Recognizer(**QUICK).fit(SENTENCES).save(tmp_path / "m")
    installed["tagger"] = Tagger("2.0")
    recognizer = Recognizer.load(tmp_path / "m")
    assert not warnings_in(caplog)
    for _ in range(3):
        recognizer.predict(SENTENCES)
    recognizer.explain(SENTENCES[0])
    assert warnings_in(caplog) == [
        "this model was trained with the annotator 'tagger' 1.0 (language 'en', tags 'own'), but here it is "
        "'tagger' 2.0 (language 'en', tags 'own'). Parts of speech and lemmas may differ from those in training, so "
        "mentions may be missed. Install what it was trained with, or train again"
    ]
    ours = [record for record in caplog.records if record.name == "hyperspan.recognizer.annotating"]
    assert all(record.levelno == logging.WARNING for record in ours)


def test_the_same_annotator_is_nothing_to_speak_of(installed, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    recognizer = Recognizer(**QUICK).fit(SENTENCES)
    recognizer.predict(SENTENCES)
    recognizer.save(tmp_path / "m")
    Recognizer.load(tmp_path / "m").predict(SENTENCES)
    assert not warnings_in(caplog)


def test_training_again_is_with_what_is_here(installed, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    Recognizer(**QUICK).fit(SENTENCES).save(tmp_path / "m")
    installed["tagger"] = Tagger("2.0")
    recognizer = Recognizer.load(tmp_path / "m")
    recognizer.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    recognizer.fit(SENTENCES).predict(SENTENCES)
    assert not warnings_in(caplog)
    installed["tagger"] = Tagger("3.0")
    recognizer.check_annotator()
    assert not warnings_in(caplog), "it was compared before"


def test_several_annotators_are_described_one_by_one():
    record: dict[str, Any] = {
        "name": "a+b",
        "version": "1+2",
        "members": [{"name": "a", "version": "1"}, {"name": "b", "version": "2"}],
    }
    assert described(record) == "'a' 1 + 'b' 2"


def test_a_column_that_is_missing_is_noticed_once(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    tagged = [replace(sentence, columns={"pos": ["WORD"] * len(sentence)}) for sentence in SENTENCES]
    Recognizer(**{**QUICK, "annotator": "none"}).fit(tagged).save(tmp_path / "m")
    recognizer = Recognizer.load(tmp_path / "m")
    recognizer.predict(tagged)
    assert not warnings_in(caplog)
    for _ in range(2):
        recognizer.predict(SENTENCES)
    (said,) = warnings_in(caplog)
    expected = "but the given sentences have none, so mentions may be missed."
    assert said.startswith(f"this model was trained with the column 'pos', {expected}")


def test_a_model_that_had_no_column_misses_none(caplog: pytest.LogCaptureFixture):
    Recognizer(**{**QUICK, "annotator": "none"}).fit(SENTENCES).predict(SENTENCES)
    assert not warnings_in(caplog)


def test_a_missing_column_is_noticed_before_other_processes_do_the_work(caplog: pytest.LogCaptureFixture):
    tagged = [replace(sentence, columns={"pos": ["WORD"] * len(sentence)}) for sentence in SENTENCES]
    recognizer = Recognizer(**{**QUICK, "annotator": "none"}).fit(tagged)
    list(recognizer.annotate(SENTENCES, n_workers=2))
    list(recognizer.find_in(SENTENCES, n_workers=2))
    assert len(warnings_in(caplog)) == 1
