"""Doubts about a corpus, and whether planted errors are among them."""

from __future__ import annotations

import pytest

from hyperspan import Mention, Sentence
from hyperspan.annotation import Doubt, audit, plant
from hyperspan.annotation.page import described, doubt_pieces
from hyperspan.annotation.planting import KINDS
from hyperspan.corpora import demo

SETTINGS = {"max_components": 2, "max_iterations": 25}


def corpus(n: int = 24) -> list[Sentence]:
    """Notes in which fever, rash and cough are findings, aspirin is a drug, and everything else is nothing."""
    found = []
    for number in range(n):
        finding = ("fever", "rash", "cough")[number % 3]
        words = f"patient {number} had {finding} and took aspirin today".split()
        found.append(Sentence(words, [Mention("Finding", [(3, 4)]), Mention("Drug", [(6, 7)])], doc=f"note {number}"))
    return found


def test_a_missing_mention_and_a_wrong_one_stand_at_the_top():
    sentences = corpus()
    sentences[5] = sentences[5].with_mentions([Mention("Drug", [(6, 7)])])
    sentences[9] = sentences[9].with_mentions([*sentences[9].mentions, Mention("Drug", [(0, 1)])])
    found = audit(SETTINGS, sentences, n_folds=4)
    assert {(each.kind, each.sentence, each.mention.parts) for each in found.doubts[:2]} == {
        ("missing", 5, ((3, 4),)),
        ("improbable", 9, ((0, 1),)),
    }
    assert [each.doubt for each in found.doubts] == sorted((each.doubt for each in found.doubts), reverse=True)
    assert found.n_mentions == sum(len(sentence.mentions) for sentence in sentences)


def test_no_second_look_is_trained_only_to_be_ignored(monkeypatch):
    def train(*_):
        raise AssertionError

    monkeypatch.setattr("hyperspan.recognizer.rescoring.take_second_look", train)
    sentences = corpus()
    assert audit({**SETTINGS, "rescore": "on"}, sentences, n_folds=2) == audit(SETTINGS, sentences, n_folds=2)


def test_a_wrong_type_is_improbable_and_the_right_one_missing():
    sentences = corpus()
    sentences[7] = sentences[7].with_mentions([Mention("Finding", [(3, 4)]), Mention("Finding", [(6, 7)])])
    found = [each for each in audit(SETTINGS, sentences, n_folds=4).doubts if each.sentence == 7]
    kinds = {each.kind: each for each in found}
    assert kinds["missing"].mention == Mention("Drug", [(6, 7)])
    assert kinds["missing"].instead == kinds["improbable"].mention == Mention("Finding", [(6, 7)])
    assert kinds["improbable"].instead == Mention("Drug", [(6, 7)])


def test_a_type_that_one_fold_only_has_is_not_judged():
    sentences = corpus()
    rare = Mention("Person", [(0, 1)])
    sentences[3] = sentences[3].with_mentions([*sentences[3].mentions, rare])
    found = audit(SETTINGS, sentences, n_folds=4)
    assert found.unjudged == [(3, rare)]
    assert not [each for each in found.doubts if each.mention == rare]


def test_nothing_is_judged_by_a_model_that_has_seen_it():
    # Every document has a finding of its own that is a finding nowhere else. A model that had seen it would know it.
    sentences = [
        Sentence(
            ["seen", f"thing{number}", "and", "fever"],
            [Mention("Finding", [(1, 2)]), Mention("Finding", [(3, 4)])]
            if number < 2
            else [Mention("Finding", [(3, 4)])],
            doc=str(number),
        )
        for number in range(12)
    ]
    doubts = audit({"max_iterations": 30, "frequent": 1}, sentences, n_folds=6).doubts
    assert {(each.kind, each.sentence) for each in doubts} == {("improbable", 0), ("improbable", 1)}


def test_planting_counts_what_it_plants():
    sentences = corpus(40)
    planted = plant(sentences, 0.2, seed=1)
    assert set(planted.kinds) == set(KINDS)
    assert sum(planted.kinds.values()) <= 16
    assert len(planted.removed) == planted.kinds["dropped"] + planted.kinds["type"] + planted.kinds["boundary"]
    assert len(planted.added) == planted.kinds["invented"] + planted.kinds["type"] + planted.kinds["boundary"]
    for place, mention in planted.removed:
        assert mention in sentences[place].mentions
        assert mention not in planted.sentences[place].mentions
    assert plant(sentences, 0.2, seed=1).sentences == planted.sentences
    assert plant(sentences, 0.0).sentences == sentences


def test_precision_and_recall_by_hand():
    sentence = Sentence(["no", "fever", "seen"], [Mention("A", [(1, 2)])])
    planted = plant([sentence] * 8, 1.0)
    wrong, right = sorted(planted.added)[0], sorted(planted.removed)[0]
    doubts = [
        Doubt("improbable", wrong[1], wrong[0], 0.9),
        Doubt("missing", wrong[1], wrong[0], 0.8),
        Doubt("missing", right[1], right[0], 0.7),
        Doubt("improbable", right[1], right[0], 0.6),
    ]
    assert planted.precision_at(doubts, 1) == 1.0
    assert planted.precision_at(doubts, 4) == 0.5
    assert planted.recall_at(doubts, 4) == pytest.approx(2 / sum(planted.kinds.values()))


def test_planted_errors_in_the_embedded_corpus_are_found():
    sentences = [sentence for sentence in demo.generate(36, split="train", unit="sentences") if sentence.mentions]
    planted = plant(sentences, 0.05)
    found = audit({"max_iterations": 20}, planted.sentences, n_folds=3)
    assert planted.precision_at(found.doubts, 20) >= 0.6


def test_doubts_are_described_and_drawn_escaped():
    sentence = Sentence(["<b>", "fever"], [Mention("Drug", [(1, 2)])], doc="<a>")
    doubt = Doubt("improbable", Mention("Drug", [(1, 2)], 0.02), 0, 0.9, Mention("Finding", [(1, 2)], 0.9))
    assert described(doubt, sentence) == "improbable 0.02: Drug “fever”; the model has Finding “fever” with 0.90"
    page = "".join(doubt_pieces([doubt], [sentence]))
    assert "<b>" not in page
    assert "&lt;a&gt;" in page
    assert "<script" not in page
