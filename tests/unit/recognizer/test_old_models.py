"""Model files and checkpoints of earlier versions load, and predict what they predicted then.

The files ``v1-*`` in ``golden/models`` were written, and the mentions beside them found, by the version before 0.2,
whose inference was another. ``tests/golden_models.py`` wrote the files ``0.2-*``, and tells how to write more. No later
version may write any of them again.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from golden_models import CHECKPOINT_AFTER, FOLDER, LOWEST, TRAIN, recognizer
from hyperspan.learning import Record
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Prediction, Recognizer

SETTINGS = {
    "v1-shared": {"structure": "shared"},
    "v1-linear": {"structure": "linear"},
    "v1-published": {"structure": "shared", "distribution": "derivations"},
    "0.2-segments": {"structure": "segments", "l2": 0.1},
    "0.2-second-look": {"structure": "shared", "rescore": "on"},
}
"""What each model file must come back with, beside the usual."""


def plain(mentions: tuple[Mention, ...]) -> list[dict[str, Any]]:
    return [
        {"type": mention.type, "parts": [list(part) for part in mention.parts]}
        | ({} if mention.prob is None else {"prob": pytest.approx(mention.prob, abs=1e-9)})
        for mention in mentions
    ]


@pytest.fixture(params=SETTINGS)
def old(request: pytest.FixtureRequest) -> tuple[str, Recognizer, dict[str, Any]]:
    expected = json.loads((FOLDER / f"{request.param}.json").read_text(encoding="utf-8"))
    return request.param, Recognizer.load(FOLDER / f"{request.param}.model"), expected


def found_by(recognizer: Recognizer, expected: dict[str, Any], decode: str, **options: Any) -> list[Prediction]:
    sentences = [Sentence(row["tokens"]) for row in expected["sentences"]]
    return list(recognizer.find(sentences, decode=decode, **options))


def test_settings_come_back(old):
    name, recognizer, expected = old
    usual = {"distribution": "encodings", "scorer": "linear", "rescore": "off"}
    for setting, value in {**usual, **SETTINGS[name]}.items():
        assert getattr(recognizer, setting) == value, setting
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


def test_training_resumes_from_an_old_checkpoint(tmp_path):
    path = tmp_path / "c"
    path.write_bytes((FOLDER / "0.2-checkpoint.checkpoint").read_bytes())
    records: list[Record] = []
    resumed = recognizer("0.2-checkpoint").fit(TRAIN, checkpoint=path, resume=True, on_iteration=records.append)
    assert records[0].iteration == CHECKPOINT_AFTER + 1
    whole = recognizer("0.2-checkpoint").fit(TRAIN)
    np.testing.assert_allclose(resumed.weights_, whole.weights_, rtol=1e-6, atol=1e-9)
