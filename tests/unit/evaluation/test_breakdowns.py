"""The classes of mentions, on sentences that every reader of the paper knows."""

from __future__ import annotations

from itertools import permutations

import pytest

from examples import BLOOD, ETHANOL, INFARCTIONS, LACERATION, MOUTH
from hyperspan import Mention, Sentence
from hyperspan.evaluation import gap_class, overlap_classes, overlap_of, parts_class


@pytest.mark.parametrize(
    ("sentence", "classes"),
    [
        (LACERATION, ["none", "none", "crossing", "crossing"]),
        (INFARCTIONS, ["nested", "shared part", "shared part"]),
        (BLOOD, ["shared part", "shared part", "crossing", "shared part", "shared part", "crossing"]),
        (MOUTH, ["crossing", "crossing", "none"]),
        (ETHANOL, ["crossing", "crossing"]),
    ],
)
def test_overlaps_of_known_sentences(sentence: Sentence, classes: list[str]):
    assert overlap_classes(sentence.mentions) == classes


def test_a_mention_that_overlaps_in_several_ways():
    middle = Mention("A", [(2, 4), (6, 7)])
    inside, sharing, across = Mention("A", [(2, 3)]), Mention("A", [(0, 1), (6, 7)]), Mention("A", [(3, 6)])
    assert [overlap_of(middle, other) for other in (inside, sharing, across)] == ["nested", "shared part", "crossing"]
    for others, expected in (
        ([inside], "nested"),
        ([inside, sharing], "shared part"),
        ([inside, sharing, across], "crossing"),
        ([inside, across], "crossing"),
    ):
        for order in permutations([middle, *others]):
            assert overlap_classes(order)[order.index(middle)] == expected


def test_the_same_words_with_another_type_are_nested():
    assert overlap_of(Mention("A", [(0, 2), (3, 4)]), Mention("B", [(0, 2), (3, 4)])) == "nested"


def test_a_mention_in_the_gap_of_another_does_not_overlap_it():
    assert overlap_of(Mention("A", [(0, 1), (4, 5)]), Mention("A", [(1, 4)])) == "none"


def test_classes_by_parts_and_gap():
    parts = [(2 * number, 2 * number + 1) for number in range(6)]
    assert [parts_class(Mention("A", parts[:n])) for n in range(1, 7)] == ["1", "2", "3", "4+", "4+", "4+"]
    assert [gap_class(gap) for gap in (0, 1, 2, 3, 4, 5, 6, 100)] == ["0", "1", "2", "3-5", "3-5", "3-5", "6+", "6+"]
