"""Structures, scorers and decoders of others plug in: each is one file, and everything else works with them."""

from __future__ import annotations

import pytest

from hyperspan import Mention, Recognizer, Sentence
from hyperspan.errors import UsageError
from hyperspan.inference import DECODERS, DISTRIBUTIONS
from hyperspan.recognizer.training import TRAINERS
from hyperspan.scoring import SCORERS
from hyperspan.structures import STRUCTURES, structure_names
from unit.plugins import toy_decoder, toy_scorer, toy_structure

TRAIN = [
    Sentence(["blood", "in", "stomach"], [Mention("Finding", [(0, 1)])]),
    Sentence(["no", "fever", "seen"], [Mention("Finding", [(1, 2)])]),
    Sentence(["fever", "and", "blood"], [Mention("Finding", [(0, 1)]), Mention("Finding", [(2, 3)])]),
    Sentence(["nothing", "to", "report"]),
] * 6


@pytest.fixture(autouse=True)
def _plugged_in():
    """Register all three, and take them out again: other tests look at what there is."""
    registries = (STRUCTURES, DISTRIBUTIONS, DECODERS, SCORERS, TRAINERS)
    before = [dict(registry) for registry in registries]
    for toy in (toy_structure, toy_scorer, toy_decoder):
        toy.register()
    yield
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.mark.parametrize(
    "how",
    [
        {"structure": "singlewords"},
        {"scorer": "memory"},
        {"decode": "confident"},
        {"structure": "singlewords", "scorer": "memory", "decode": "confident"},
    ],
    ids=["structure", "scorer", "decoder", "all three"],
)
def test_they_train_predict_save_and_load(how, tmp_path):
    recognizer = Recognizer(**how).fit(TRAIN, dev=TRAIN[:4])
    assert recognizer.score(TRAIN[:4]) == 1.0
    sentence = Sentence(["no", "blood", "seen"])
    found = recognizer.predict([sentence])[0]
    assert [sentence.text_of(mention) for mention in found] == ["blood"]
    recognizer.save(tmp_path / "model")
    again = Recognizer.load(tmp_path / "model")
    assert again.get_params()["structure"] == how.get("structure", "shared")
    assert again.predict([sentence])[0] == found
    assert [mention.prob for mention in again.predict([sentence])[0]] == [mention.prob for mention in found]
    assert again.summary()["structure"] == how.get("structure", "shared")
    assert again.explain(sentence).reasons[found[0]]


def test_a_scorer_without_features_says_so():
    recognizer = Recognizer(scorer="memory").fit(TRAIN)
    assert recognizer.strongest() == {}
    for name in ("features", "weights"):
        with pytest.raises(UsageError, match=f"the scorer 'memory' has no {name}; 'linear' has"):
            getattr(recognizer, "n_features_" if name == "features" else "weights_")


def test_their_names_are_choices():
    assert "singlewords" in structure_names()
    assert "confident" in DECODERS
