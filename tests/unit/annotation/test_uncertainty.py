"""Entropy, margin and expected errors, against going through every outcome."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest

from enumeration import (
    FOR_ENCODINGS,
    FOR_MENTION_SETS,
    FOR_TAGS,
    batch_of,
    case_name,
    enumeration,
    random_scores,
    single,
)
from hyperspan import Mention, Recognizer, Sentence
from hyperspan.annotation import candidates, uncertainties
from hyperspan.annotation.uncertainty import entropies, expected_errors, margins
from hyperspan.inference import distribution
from hyperspan.mentions import Document

pytestmark = pytest.mark.kernel


def entropy_of(probs) -> float:
    probs = probs[probs > 0.0]
    return float(-(probs * np.log(probs)).sum())


def small(cases):
    return [case for case in cases if case[1] < 4 or case[0].max_components < 3]


@pytest.mark.parametrize("forbidden", [0.0, 0.15])
@pytest.mark.parametrize(("made", "n_words"), small(FOR_ENCODINGS), ids=case_name)
def test_entropy_over_encodings(made, n_words: int, forbidden: float):
    scores = random_scores(np.random.default_rng(4), made, n_words, forbidden=forbidden)
    wanted = entropy_of(enumeration(made, n_words).probs(scores))
    assert entropies(single(made, scores))[0] == pytest.approx(wanted, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("made", "n_words"), small(FOR_MENTION_SETS), ids=case_name)
def test_entropy_over_mention_sets(made, n_words: int):
    scores = random_scores(np.random.default_rng(5), made, n_words) - 1.0
    wanted = entropy_of(enumeration(made, n_words, "mention-sets").probs(scores))
    assert entropies(single(made, scores, "mention-sets"))[0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("made", "n_words"), FOR_TAGS, ids=case_name)
def test_entropy_over_tags_with_their_transitions(made, n_words: int):
    rng = np.random.default_rng(6)
    scores, transitions = random_scores(rng, made, n_words), rng.normal(size=(made.n_labels, made.n_labels))
    wanted = entropy_of(enumeration(made, n_words).probs(scores, transitions))
    found = single(made, scores, transitions=transitions)
    assert entropies(found)[0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    both = distribution(made, batch_of([scores, scores[:1]], transitions), "encodings")
    assert entropies(both)[0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("made", "n_words"), small(FOR_ENCODINGS)[:4], ids=case_name)
def test_no_two_encodings_have_one_reading_so_the_entropy_is_that_of_readings_too(made, n_words: int):
    outcomes = enumeration(made, n_words).outcomes
    readings = {made.decode(edges, "enough").mentions for edges in outcomes}
    assert len(readings) == len(outcomes)


@pytest.mark.parametrize(("made", "n_words"), small(FOR_ENCODINGS), ids=case_name)
def test_margin_is_the_log_ratio_of_the_two_best(made, n_words: int):
    scores = random_scores(np.random.default_rng(7), made, n_words)
    best, second = sorted(enumeration(made, n_words).probs(scores))[:-3:-1]
    assert margins(single(made, scores))[0] == pytest.approx(log(best / second), rel=1e-9, abs=1e-9)


def test_expected_errors_by_hand():
    mentions = [Mention("A", [(0, 1)], 0.9), Mention("A", [(1, 2)], 0.3), Mention("A", [(2, 3)], 0.25)]
    # One of ten is wrong, seven of ten are wrong, and a quarter is missed.
    assert expected_errors(mentions, 0.3) == pytest.approx(0.1 + 0.7 + 0.25)
    assert expected_errors([], 0.3) == 0.0


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    sentences = [
        Sentence(["blood", "in", "stomach"], [Mention("Finding", [(0, 3)])]),
        Sentence(["no", "blood", "seen"], [Mention("Finding", [(1, 2)])]),
    ] * 10
    return Recognizer(max_components=2, max_iterations=20).fit(sentences)


def test_a_document_is_the_sum_of_its_sentences_and_their_least_margin(recognizer):
    pool = candidates([Document("a", "No blood seen. Blood in stomach."), Sentence(["blood"], doc="b")])
    assert [(each.doc, each.n_words, len(list(each.sentences))) for each in pool] == [("a", 8, 2), ("b", 1, 1)]
    whole, alone = uncertainties(recognizer, pool)
    over = recognizer.distribution_over(list(pool[0].sentences))
    assert whole.entropy == pytest.approx(entropies(over).sum())
    assert whole.margin == pytest.approx(margins(over).min())
    wanted = [expected_errors(each.mentions, recognizer.threshold_) for each in over.probable(0.01)]
    assert whole.errors == pytest.approx(sum(wanted))
    (predicted,) = whole.predicted
    assert list(predicted.mentions) == recognizer.predict([pool[0].units[0]])[0]
    assert all(mention.prob is not None for mention in predicted.mentions)
    assert alone.predicted == tuple(recognizer.annotate(pool[1].units))


def test_a_second_look_says_which_mentions_are_predicted_and_how_probable_they_are():
    words, parts = ["no", "blood", "or", "pain", "in", "stomach"], ([(1, 2)], [(3, 6)], [(1, 2), (4, 6)])
    some = [Sentence(words, [Mention("Finding", one) for one in parts[n % 3 :]], doc=str(n)) for n in range(12)]
    looked_twice = Recognizer(rescore="on", max_components=2, max_iterations=5).fit(some)
    looked_twice.threshold_ = 0.5
    bare = [sentence.with_mentions(()) for sentence in some[:3]]
    found = list(uncertainties(looked_twice, candidates(bare)))
    assert [each.predicted for each in found] == [(unit,) for unit in looked_twice.annotate(bare)]
    second = [each.mentions for each in looked_twice.find(bare, decode="probable", threshold=0.01)]
    assert [each.errors for each in found] == pytest.approx([expected_errors(here, 0.5) for here in second])
    first = [each.mentions for each in looked_twice.distribution_over(bare).probable(0.01)]
    assert second != first
    assert [each.entropy for each in found] == pytest.approx(entropies(looked_twice.distribution_over(bare)))


def test_gold_mentions_of_the_pool_are_not_looked_at(recognizer):
    gold = Sentence(["no", "blood", "seen"], [Mention("Finding", [(2, 3)])], doc="a")
    with_gold, without = (
        list(uncertainties(recognizer, candidates([unit]))) for unit in (gold, gold.with_mentions(()))
    )
    assert with_gold[0].errors == without[0].errors
    assert with_gold[0].predicted == without[0].predicted


def test_an_empty_document_is_certain(recognizer):
    (found,) = uncertainties(recognizer, candidates([Document("a", "")]))
    assert (found.errors, found.entropy, found.margin) == (0, 0, inf)
