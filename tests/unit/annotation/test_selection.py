"""What is chosen, in which order, and what is passed over."""

from __future__ import annotations

import pytest

from hyperspan import Sentence
from hyperspan.annotation import Candidate, Uncertainty, select, worth
from hyperspan.annotation.selection import Seen, shingles
from hyperspan.errors import UsageError

TEXTS = {
    "a": "no fever and no rash was seen today",
    "b": "no fever and no rash was seen tonight",
    "c": "blood in the stomach with an overlying laceration of the mucosa",
    "d": "pupils pinpoint",
}
POOL = [Candidate(doc, (), ((Sentence(text.split(), doc=doc),),)) for doc, text in TEXTS.items()]


def docs(selection) -> list[str]:
    return [POOL[place].doc for place in selection.chosen]


def test_the_most_valuable_come_first_and_equal_ones_in_order():
    assert docs(select(POOL, [1.0, 0.0, 3.0, 1.0], most_similar=2.0)) == ["c", "a", "d", "b"]
    assert docs(select(POOL, [1.0, 0.0, 3.0, 1.0], n=2)) == ["c", "a"]


def test_near_duplicates_are_passed_over():
    # "a" and "b" have six threes of words each, five of them in common: 5 / 7.
    seen = Seen()
    seen.add(POOL[0])
    assert seen.similarity(POOL[1]) == pytest.approx(5 / 7)
    found = select(POOL, [4.0, 3.0, 2.0, 1.0])
    assert (docs(found), found.n_similar) == (["a", "c", "d"], 1)
    assert docs(select(POOL, [4.0, 3.0, 2.0, 1.0], most_similar=0.8)) == ["a", "b", "c", "d"]


def test_what_is_annotated_already_is_passed_over():
    found = select(POOL, [4.0, 3.0, 2.0, 1.0], annotated=[POOL[0], POOL[3]])
    assert (docs(found), found.n_similar) == (["c"], 1)


def test_the_budget_of_words_is_kept():
    found = select(POOL, [4.0, 3.0, 2.0, 1.0], n_words=12, most_similar=2.0)
    # 8 words of "a" leave room for 4: neither "b" nor "c" fits, "d" does.
    assert (docs(found), found.n_too_long) == (["a", "d"], 2)


def test_short_documents_are_compared_as_a_whole():
    assert shingles(POOL[3]) == {("pupils", "pinpoint")}


def test_worth_is_for_each_word_or_in_all():
    found = [Uncertainty(8.0, 2.0, 0.5, ()), Uncertainty(4.0, 4.0, 0.1, ()), Uncertainty(11.0, 1.0, 3.0, ())]
    assert worth("errors", POOL[:3], found) == [1.0, 0.5, 1.0]
    assert worth("errors", POOL[:3], found, per_word=False) == [8.0, 4.0, 11.0]
    assert worth("entropy", POOL[:3], found) == pytest.approx([0.25, 0.5, 1 / 11])
    assert worth("margin", POOL[:3], found) == [-0.5, -0.1, -3.0]


def test_random_choice_repeats_and_differs_by_seed():
    once, again, other = (worth("random", POOL * 5, (), seed=seed) for seed in (0, 0, 1))
    assert once == again != other
    assert sorted(once) == list(range(20))


def test_an_unknown_strategy_is_refused():
    with pytest.raises(UsageError, match="no strategy 'hope'; expected one of errors, entropy, margin, random"):
        worth("hope", POOL, ())
