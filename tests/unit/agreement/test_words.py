"""The values of words that κ and α compare."""

from __future__ import annotations

from hyperspan.agreement import share
from hyperspan.agreement.words import parts_of_words, rows_of, types_of_words
from three_annotators import ANN, BOB, CAT, EMBOLIC, SHED, WORDS


def test_a_word_can_be_in_several_parts():
    values = parts_of_words([SHED, EMBOLIC], len(WORDS))
    assert values[0] == {("Finding", 1, 2, "begins")}
    assert values[3] == {("Finding", 2, 2, "goes on")}
    assert [bool(value) for value in values] == [True, False, True, True, False, True]


def test_combinations_are_counted_in_the_order_of_annotators():
    (document,) = share({"ann": [ANN], "bob": [BOB], "cat": [CAT]}).documents
    finding, drug, none = frozenset(["Finding"]), frozenset(["Drug"]), frozenset()
    assert rows_of(document, ["ann", "bob", "cat"], types_of_words) == {
        (finding, finding, finding): 3,
        (finding, finding, drug): 1,
        (none, none, none): 2,
    }
    assert rows_of(document, ["ann", "cat"], types_of_words, "Drug") == {(none, none): 5, (none, drug): 1}
