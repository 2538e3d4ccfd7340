"""How aligned mentions differ."""

from __future__ import annotations

import pytest

from hyperspan import Mention, Sentence
from hyperspan.agreement import share
from hyperspan.agreement.confusion import Confusion, boundary_class
from three_annotators import ANN, CAT, SHED


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(2, 4), (6, 8)], "equal"),
        ([(1, 4), (6, 8)], "start"),
        ([(2, 4), (6, 7)], "end"),
        ([(1, 4), (6, 9)], "start and end"),
        ([(2, 8)], "gap"),
    ],
)
def test_where_boundaries_differ(parts, expected):
    assert boundary_class(Mention("A", [(2, 4), (6, 8)]), Mention("B", parts)) == expected


def confusion_of(one: Sentence, other: Sentence) -> Confusion:
    confusion = Confusion()
    ((sentence,),) = (document.sentences for document in share({"one": [one], "other": [other]}).documents)
    confusion.add(sentence, "one", "other")
    return confusion


def test_aligned_mentions_may_differ_in_type():
    # Another type costs 1 and the missing word (1 / 3)²: less than two mentions without partners.
    confusion = confusion_of(ANN, CAT)
    assert confusion.types == {("Finding", "Finding"): 1, ("Finding", "Drug"): 1}
    assert confusion.boundaries == {"equal": 1, "start": 1}


def test_a_mention_without_a_partner_meets_none():
    confusion = confusion_of(ANN, ANN.with_mentions([SHED]))
    assert confusion.types == {("Finding", "Finding"): 1, ("Finding", None): 1}
    assert confusion.boundaries == {"equal": 1}
