"""Counts and ratios on sentences counted by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from examples import INFARCTIONS, LACERATION
from hyperspan import Document, Mention, Sentence
from hyperspan.diagnostics import LostMention
from hyperspan.evaluation import Score, Scorer, compare, evaluate
from hyperspan.text import split_sentences, tokenize

KEYS = [
    "all",
    "discontiguous_sentences",
    "discontiguous_mentions",
    "by_type",
    "by_parts",
    "by_gap",
    "by_overlap",
    "relaxed",
    "words",
    "lost",
]
OF_SCORES = ["precision", "recall", "f1", "tp", "fp", "fn"]


def finding(*parts: tuple[int, int]) -> Mention:
    return Mention("Finding", parts)


@pytest.mark.parametrize(
    ("score", "precision", "recall", "f1"),
    [
        (Score(3, 1, 2), 0.75, 0.6, 2 / 3),
        (Score(0, 0, 0), 0.0, 0.0, 0.0),
        (Score(0, 3, 0), 0.0, 0.0, 0.0),
        (Score(0, 0, 3), 0.0, 0.0, 0.0),
        (Score(5, 0, 0), 1.0, 1.0, 1.0),
    ],
)
def test_ratios(score: Score, precision: float, recall: float, f1: float):
    assert (score.precision, score.recall, score.f1) == pytest.approx((precision, recall, f1))
    assert score.is_empty is (score == Score())


def test_the_keys_are_those_of_the_command():
    table = evaluate([LACERATION], [LACERATION]).as_dict()
    assert list(table) == KEYS
    for key in ("all", "discontiguous_sentences", "discontiguous_mentions", "relaxed", "words"):
        assert list(table[key]) == OF_SCORES
    assert list(table["by_type"]) == ["Finding"]
    assert list(table["by_parts"]) == ["1", "2", "3", "4+"]
    assert list(table["by_gap"]) == ["0", "1", "2", "3-5", "6+"]
    assert list(table["by_overlap"]) == ["none", "nested", "crossing", "shared part"]
    assert all(list(score) == OF_SCORES for key in KEYS if key.startswith("by_") for score in table[key].values())
    assert json.loads(json.dumps(table)) == table


def test_gold_that_was_lost_in_reading_counts_as_missed():
    lost = (LostMention("Finding", 1), LostMention("Drug", 2))
    found = evaluate(
        [replace(LACERATION, lost=lost), Sentence(["well"], lost=lost[1:])], [LACERATION, Sentence(["well"])]
    )
    n_gold = len(LACERATION.mentions)
    assert found.all == found.relaxed == Score(tp=n_gold, fn=3)
    assert found.discontiguous_mentions == Score(tp=2, fn=2)
    assert found.discontiguous_sentences == Score(tp=n_gold, fn=3)  # a lost mention makes a sentence discontiguous too
    assert found.by_type["Drug"] == Score(fn=2)
    assert found.by_parts["2"] == Score(tp=2, fn=2)
    for breakdown in (found.by_type, found.by_parts, found.by_gap, found.by_overlap):
        assert sum(breakdown.values(), Score()) == found.all
    assert found.as_dict()["lost"] == found.n_lost == 3
    assert found.words.fn == 0


def test_nothing_at_all():
    found = evaluate([], [])
    assert found.n_units == 0
    assert found.all == Score()
    assert found.by_type == {}
    assert set(found.by_parts.values()) == {Score()}
    assert found.all.as_dict() == dict.fromkeys(OF_SCORES, 0)


def test_a_sentence_counted_by_hand():
    # Right: hiatal hernia. Wrong: a part too few (esophagus), a word too few (blood), stomach … lac not found.
    predicted = LACERATION.with_mentions([finding((2, 4)), finding((6, 7)), finding((11, 12))])
    found = evaluate([LACERATION], [predicted])
    assert found.all == found.discontiguous_sentences == Score(1, 2, 3)
    assert found.discontiguous_mentions == Score(0, 0, 2)
    assert found.by_parts == {"1": Score(1, 2, 1), "2": Score(0, 0, 2), "3": Score(), "4+": Score()}
    assert found.by_gap == {"0": Score(1, 2, 1), "1": Score(), "2": Score(0, 0, 2), "3-5": Score(), "6+": Score()}
    assert found.by_overlap == {
        "none": Score(1, 2, 1),
        "nested": Score(),
        "crossing": Score(0, 0, 2),
        "shared part": Score(),
    }
    assert found.relaxed == Score(3, 0, 1)
    assert found.words == Score(4, 0, 4)


def test_what_is_right_counts_in_the_overlap_class_of_gold():
    whole, part, other = finding((0, 3)), finding((0, 1)), finding((2, 5))
    words = ["a", "b", "c", "d", "e"]
    found = evaluate([Sentence(words, [whole, part])], [Sentence(words, [whole, other])])
    assert found.by_overlap["nested"] == Score(1, 0, 1)
    assert found.by_overlap["crossing"] == Score(0, 1, 0)


def test_overlaps_are_those_with_mentions_of_any_type():
    words = ["a", "b", "c"]
    gold = Sentence(words, [finding((0, 3)), Mention("Site", [(2, 3)])])
    assert evaluate([gold], [gold]).by_overlap["nested"] == Score(2, 0, 0)


def test_false_positives_outside_discontiguous_sentences():
    plain = Sentence(["no", "fever", "or", "pain"], [finding((1, 2))])
    spurious = plain.with_mentions([finding((1, 2)), finding((0, 1), (3, 4))])
    found = evaluate([INFARCTIONS, plain], [INFARCTIONS, spurious])
    assert found.discontiguous_sentences == Score(3, 0, 0)
    assert found.discontiguous_mentions == Score(2, 1, 0)
    assert found.all == Score(4, 1, 0)


def test_types_of_both_sides_are_listed_in_alphabetical_order():
    words = ["a", "b"]
    gold = Sentence(words, [Mention("Z", [(0, 1)]), Mention("M", [(1, 2)])])
    predicted = Sentence(words, [Mention("A", [(0, 1)]), Mention("M", [(1, 2)])])
    found = evaluate([gold], [predicted])
    assert list(found.by_type.items()) == [("A", Score(0, 1, 0)), ("M", Score(1, 0, 0)), ("Z", Score(0, 0, 1))]
    assert found.relaxed == Score(1, 1, 1)
    assert found.words == Score(1, 1, 1)


def test_a_large_mention_is_the_partner_of_one_only():
    words = ["a", "b", "c"]
    gold = Sentence(words, [finding((0, 1)), finding((1, 2)), finding((2, 3))])
    assert evaluate([gold], [gold.with_mentions([finding((0, 3))])]).relaxed == Score(1, 0, 2)


def test_gaps_of_documents_are_counted_in_words():
    text = "Infarctions either water shed or embolic"
    mention = Mention("Finding", [(0, 11), (text.index("embolic"), len(text))])
    document = Document("a", text, [mention])
    assert evaluate([document], [document], tokenize=tokenize, split=split_sentences).by_gap["3-5"] == Score(1, 0, 0)


def test_a_scorer_can_be_asked_at_any_time():
    scorer = Scorer()
    assert scorer.result().all == Score()
    scorer.add(compare(INFARCTIONS, INFARCTIONS))
    assert (scorer.result().all, scorer.result().n_units) == (Score(3, 0, 0), 1)
    scorer.add(compare(INFARCTIONS, INFARCTIONS.with_mentions([])))
    assert (scorer.result().all, scorer.result().n_units) == (Score(3, 0, 3), 2)


def test_scores_add_up():
    assert Score(1, 2, 3) + Score(10, 20, 30) == Score(11, 22, 33)
