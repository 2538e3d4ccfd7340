"""Every measure, on small corpora for which it can be computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan import Mention, Sentence
from hyperspan.agreement import agreement, disagreements, share
from hyperspan.errors import UsageError
from hyperspan.evaluation import evaluate
from hyperspan.mentions import Document
from hyperspan.text import split_sentences, tokenize
from three_annotators import ANN, BOB, CAT, EMBOLIC, SHED, WORDS


def test_every_measure_of_one_sentence_by_hand():
    found = agreement(share({"ann": [ANN], "bob": [BOB]}))
    (pair,) = found.pairs
    assert (pair.f1.value, pair.relaxed_f1.value) == (0.5, 1.0)
    # Both find the same words in findings, so κ is 1; parts differ at the first and the last word.
    assert pair.kappa.value == 1.0
    # Infarctions: {1/2 begins} on both sides, since sets do not say how often. embolic: 2/2 begins against 1/1 begins.
    # Four of twelve values are empty, two each 1/2-begins and 2/2-begins of water and 2/2-goes-on of shed, one each
    # of embolic: 2/2-begins and 1/1-begins. So 2/2-begins occurs 3 times.
    # Observed 2; expected the sum over ordered pairs of unlike values: 144 - (16 + 4 + 9 + 4 + 1) = 110.
    assert found.alpha.value == pytest.approx(1 - 11 * 2 / 110)
    # The one difference costs (1 / 3)² for two mentions an annotator.
    assert pair.chance.observed == pytest.approx((1 / 9) / 2)
    assert pair.confusion.boundaries == {"equal": 1, "start": 1}
    assert pair.confusion.types == {("Finding", "Finding"): 2}
    assert pair.f1.low is None


def test_three_annotators_and_their_mean():
    found = agreement(share({"ann": [ANN], "bob": [BOB], "cat": [CAT]}))
    assert [(pair.first, pair.second) for pair in found.pairs] == [("ann", "bob"), ("ann", "cat"), ("bob", "cat")]
    assert found.mean("relaxed_f1") == pytest.approx((1.0 + 0.5 + 0.5) / 3)
    assert found.by_type["Finding"].n_mentions == {"ann": 2, "bob": 2, "cat": 1}
    assert found.by_type["Finding"].f1 == pytest.approx((0.5 + 2 / 3 + 2 / 3) / 3)
    assert found.pairs[2].confusion.types[("Finding", "Drug")] == 1
    assert found.by_document["a"].cost == pytest.approx((1 / 9 + (1 / 9 + 1) + 1) / 3)


def test_scores_are_those_of_evaluate():
    text = "No fever. Blood in his mouth and on his tongue. Rash."
    blood, tongue = Mention("Finding", [(10, 28)]), Mention("Finding", [(10, 15), (33, 46)])
    ann = Document("a", text, [Mention("Finding", [(3, 8)]), blood, tongue])
    bob = Document("a", text, [Mention("Finding", [(3, 7)]), blood, Mention("Site", [(40, 46)])])
    (pair,) = agreement(share({"ann": [ann], "bob": [bob]})).pairs
    theirs = evaluate([ann], [bob], tokenize=tokenize, split=split_sentences).as_dict()
    assert pair.scores.as_dict() == theirs
    # "Blood … on his tongue" against the site "tongue": (3 / 5)² and 1 for the type. A boundary inside a word is a
    # disagreement too, but one that costs nothing.
    assert [round(each.cost, 2) for each in disagreements(share({"ann": [ann], "bob": [bob]}))] == [1.36, 0.0]


def test_discontiguous_sentences_are_those_of_either():
    flat = Sentence(WORDS, [Mention("Finding", [(0, 1)])], doc="a")
    for order in ({"ann": [ANN], "bob": [flat]}, {"bob": [flat], "ann": [ANN]}):
        (pair,) = agreement(share(order)).pairs
        assert not pair.scores.discontiguous_sentences.is_empty


def test_nothing_in_common_is_an_error():
    with pytest.raises(UsageError, match="ann, bob have no document in common"):
        agreement(share({"ann": [ANN], "bob": [Sentence(["fever"], doc="b")]}))
    with pytest.raises(UsageError, match="agreement needs two or more"):
        share({"ann": [ANN]})


def test_nobody_has_any_mention():
    empty = ANN.with_mentions([])
    found = agreement(share({"ann": [empty], "bob": [empty]})).as_dict()
    assert found["mean"] == {"f1": None, "relaxed_f1": None, "kappa": None, "gamma": None}
    assert found["alpha"] == {"value": None, "interval": None}


def test_intervals_hold_the_value_and_repeat():
    rng = np.random.default_rng(2)
    ours = [Sentence(WORDS, [SHED, EMBOLIC], doc=str(n)) for n in range(30)]
    theirs = [each.with_mentions(each.mentions[: 1 + rng.integers(2)]) for each in ours]
    found, again = (agreement(share({"ann": ours, "bob": theirs}), seed=3) for _ in range(2))
    assert found.as_dict() == again.as_dict()
    for measured in (found.pairs[0].f1, found.pairs[0].kappa, found.pairs[0].gamma, found.alpha):
        assert measured.low is not None
        assert measured.high is not None
        assert measured.low < measured.value < measured.high
    # Of documents with F1 1 or 2/3 the interval of F1 stays between the two.
    assert 2 / 3 < found.pairs[0].f1.low < 1.0
