"""The counts of a corpus: parts, overlaps and gaps."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from examples import BLOOD, EXAMPLES
from hyperspan import Document, Mention, Sentence
from hyperspan.corpora.statistics import Statistics, overlapping_pairs, quantile, statistics
from hyperspan.text import join_sentences, tokenize


def counted(*units):
    return statistics(units, tokenize).as_dict()


def test_nothing_is_counted_as_nothing():
    assert counted() == {
        "sentences": 0,
        "tokens": 0,
        "mentions": 0,
        "by_parts": {"1": 0, "2": 0, "3": 0, "4+": 0},
        "overlaps": {"all": 0, "different_types": 0},
        "discontiguous_sentences": 0,
        "types": {},
        "gap": {"median": 0, "p95": 0, "max": 0},
    }


def test_a_sentence_of_six_mentions():
    table = counted(BLOOD)
    assert (table["tokens"], table["mentions"], table["discontiguous_sentences"]) == (17, 6, 1)
    assert table["by_parts"] == {"1": 0, "2": 5, "3": 1, "4+": 0}
    assert table["gap"]["max"] == 11  # blood … bowel movement


def test_four_parts_and_more_are_counted_together():
    parts = [(2 * number, 2 * number + 1) for number in range(6)]
    mentions = [Mention("A", parts[:n_parts]) for n_parts in (1, 3, 4, 5, 6)]
    assert counted(Sentence(["x"] * 12, mentions))["by_parts"] == {"1": 1, "2": 0, "3": 1, "4+": 3}


def test_types_stand_in_order_of_frequency_then_of_name():
    mentions = [Mention(type, [(word, word + 1)]) for word, type in enumerate("CBBAC")]
    assert list(counted(Sentence(["x"] * 5, mentions))["types"].items()) == [("B", 2), ("C", 2), ("A", 1)]


def test_overlaps_are_pairs_that_share_a_word():
    mentions = [
        Mention("A", [(0, 3)]),
        Mention("A", [(2, 3), (5, 6)]),
        Mention("B", [(2, 3)]),
        Mention("B", [(3, 5)]),  # lies in the gap of the second: no word in common
    ]
    assert counted(Sentence(["x"] * 6, mentions))["overlaps"] == {"all": 3, "different_types": 2}


@given(st.lists(strategies.mentions(8), max_size=8, unique=True))
def test_pairs_are_those_of_all_that_overlap(mentions):
    found = [frozenset(pair) for pair in overlapping_pairs(mentions)]
    expected = [frozenset(pair) for pair in combinations(mentions, 2) if set(pair[0].words()) & set(pair[1].words())]
    assert Counter(found) == Counter(expected)
    assert all(one < other for one, other in overlapping_pairs(mentions))


@pytest.mark.parametrize("sentence", EXAMPLES.values(), ids=EXAMPLES)
def test_a_text_counts_like_its_words(sentence):
    assert counted(join_sentences([sentence])) == counted(sentence)


def test_a_part_inside_a_word_counts_as_the_word():
    text = "hiatal hernias today"
    table = counted(Document("a", text, [Mention("A", [(0, 3), (15, 20)]), Mention("B", [(3, 6)])]))
    assert table["gap"]["max"] == 1
    assert table["overlaps"] == {"all": 1, "different_types": 1}


def test_a_mention_of_white_space_has_no_words_but_counts():
    table = counted(Document("a", "no    fever", [Mention("A", [(3, 5)])]))
    assert (table["mentions"], table["overlaps"]["all"], table["gap"]["max"]) == (1, 0, 0)


def test_gaps_of_contiguous_mentions_are_not_counted():
    mentions = [Mention("A", [(0, 1)]), Mention("A", [(1, 2)]), Mention("A", [(0, 1), (9, 10)])]
    assert counted(Sentence(["x"] * 10, mentions))["gap"] == {"median": 8, "p95": 8, "max": 8}


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.5, 0), ([7], 0.95, 7), ([1, 2, 3], 0.5, 2), ([1, 2, 3, 9], 0.5, 3), (range(1, 101), 0.95, 96)],
)
def test_quantile(values, share, expected):
    assert quantile(Counter(values), share) == expected


@given(st.lists(st.integers(0, 20), min_size=1), st.sampled_from([0.0, 0.25, 0.5, 0.95]))
def test_quantile_is_a_value_in_its_place(values, share):
    assert quantile(Counter(values), share) == sorted(values)[int(share * len(values))]


@given(st.lists(strategies.sentences(), max_size=4))
def test_counting_bit_by_bit_is_counting_all(sentences):
    counts = Statistics()
    for sentence in sentences:
        counts.add(sentence, tokenize)
    table = counts.as_dict()
    assert table == counted(*sentences)
    assert sum(table["by_parts"].values()) == sum(table["types"].values()) == table["mentions"]
    assert table["overlaps"]["different_types"] <= table["overlaps"]["all"]
    assert table["gap"]["median"] <= table["gap"]["p95"] <= table["gap"]["max"]
