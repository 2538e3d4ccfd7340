"""Model files of earlier versions load, and predict what they predicted then.

The files in ``golden/models`` were written, and the mentions beside them found, by the version whose model files have
format 1 and whose inference was another: they must never be written again by a later one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Prediction, Recognizer

FOLDER = Path(__file__).parent.parent.parent / "golden" / "models"
NAMES = ("v1-shared", "v1-linear", "v1-published")
LOWEST = 0.05


def plain(mentions: tuple[Mention, ...]) -> list[dict[str, Any]]:
    return [
        {"type": mention.type, "parts": [list(part) for part in mention.parts]}
        | ({} if mention.prob is None else {"prob": pytest.approx(mention.prob, abs=1e-9)})
        for mention in mentions
    ]


@pytest.fixture(params=NAMES)
def old(request: pytest.FixtureRequest) -> tuple[str, Recognizer, dict[str, Any]]:
    expected = json.loads((FOLDER / f"{request.param}.json").read_text(encoding="utf-8"))
    return request.param, Recognizer.load(FOLDER / f"{request.param}.model"), expected


def found_by(recognizer: Recognizer, expected: dict[str, Any], decode: str, **options: Any) -> list[Prediction]:
    sentences = [Sentence(row["tokens"]) for row in expected["sentences"]]
    return list(recognizer.find(sentences, decode=decode, **options))


def test_settings_come_back(old):
    name, recognizer, expected = old
    assert recognizer.structure == ("linear" if name == "v1-linear" else "shared")
    assert recognizer.distribution == ("derivations" if name == "v1-published" else "encodings")
    assert recognizer.scorer == "linear"
    assert recognizer.threshold_ == expected["threshold"]


@pytest.mark.parametrize(("decode", "options"), [("probable", {"threshold": LOWEST}), ("enough", {}), ("all", {})])
def test_mentions_and_probabilities_are_those_of_then(old, decode, options):
    _, recognizer, expected = old
    found = found_by(recognizer, expected, decode, **options)
    assert any(here.mentions for here in found)
    for row, here in zip(expected["sentences"], found, strict=True):
        assert row[decode] == plain(here.mentions), row["tokens"]


def test_the_best_outcomes_are_those_of_then(old):
    _, recognizer, expected = old
    for row, here in zip(expected["sentences"], found_by(recognizer, expected, "enough", top=3), strict=True):
        assert row["alternatives"] == [
            {"prob": pytest.approx(prob, abs=1e-9), "mentions": plain(mentions)} for prob, mentions in here.alternatives
        ], row["tokens"]


def test_saved_again_they_predict_the_same(old, tmp_path):
    _, recognizer, expected = old
    recognizer.save(tmp_path / "again")
    again = Recognizer.load(tmp_path / "again")
    assert found_by(again, expected, "all") == found_by(recognizer, expected, "all")
    assert again.weights_.tobytes() == recognizer.weights_.tobytes()
