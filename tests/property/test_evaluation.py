"""Scores against a second implementation that knows only sets of words, and what must hold whatever is predicted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Document, Mention, Sentence
from hyperspan.evaluation import (
    GAPS,
    OVERLAPS,
    PARTS,
    Evaluation,
    Score,
    compare,
    evaluate,
    list_errors,
    overlap_classes,
    overlap_of,
)
from hyperspan.mentions import Unit
from hyperspan.text import tokenize
from strategies import documents, mentions, sentences

Pairs = list[tuple[Unit, Unit]]

BREAKDOWNS = ("by_type", "by_parts", "by_gap", "by_overlap")


@st.composite
def predictions(draw: st.DrawFn, units: st.SearchStrategy[Unit]) -> tuple[Unit, Unit]:
    """A sentence or document and a prediction for it that has some of its mentions and some others."""
    unit = draw(units)
    kept = {mention for mention in unit.mentions if draw(st.booleans())}
    length = len(unit.text) if isinstance(unit, Document) else len(unit)
    others = draw(st.sets(mentions(length), max_size=3)) if length else set()
    return unit, unit.with_mentions(kept | others)


of_sentences = st.lists(predictions(sentences(max_tokens=7)), max_size=4)
of_documents = st.lists(predictions(documents()), max_size=3)
of_either = of_sentences | of_documents


def whole(text: str) -> list[tuple[int, int]]:
    """Split a text into one sentence: what a document is."""
    return [(0, len(text))]


def score(pairs: Pairs) -> Evaluation:
    return evaluate([gold for gold, _ in pairs], [predicted for _, predicted in pairs], tokenize=tokenize, split=whole)


# ------------------------------------------------------------------------------------------- the second implementation


@dataclass(frozen=True)
class Known:
    """A mention of the whole corpus: where it stands, what it covers, and its classes."""

    unit: int
    type: str
    positions: frozenset[int]
    words: frozenset[int]

    @property
    def parts(self) -> str:
        return "4+" if n_runs(self.positions) > 3 else str(n_runs(self.positions))

    @property
    def gap(self) -> str:
        n_between = max(self.words) - min(self.words) + 1 - len(self.words) if self.words else 0
        return next(name for name, most in zip(GAPS, (0, 1, 2, 5, 10**9), strict=True) if n_between <= most)


def n_runs(positions: frozenset[int]) -> int:
    return sum(position - 1 not in positions for position in positions)


def runs(positions: frozenset[int]) -> set[frozenset[int]]:
    found = set()
    for start in (position for position in positions if position - 1 not in positions):
        end = start
        while end in positions:
            end += 1
        found.add(frozenset(range(start, end)))
    return found


def known(units: list[Unit]) -> set[Known]:
    found = set()
    for number, unit in enumerate(units):
        for mention in unit.mentions:
            positions = frozenset(mention.words())
            words = positions
            if isinstance(unit, Document):
                offsets = tokenize(unit.text)
                words = frozenset(
                    word for word, (start, end) in enumerate(offsets) if positions & set(range(start, end))
                )
            found.add(Known(number, mention.type, positions, words))
    return found


def overlap(mention: Known, side: set[Known]) -> str:
    ways = set()
    for other in side - {mention}:
        if other.unit == mention.unit and other.words & mention.words:
            if other.words >= mention.words or other.words <= mention.words:
                ways.add("nested")
            elif runs(other.words) & runs(mention.words):
                ways.add("shared part")
            else:
                ways.add("crossing")
    return next((way for way in ("crossing", "shared part", "nested") if way in ways), "none")


def most_pairs(gold: list[Known], predicted: frozenset[Known]) -> int:
    """The most pairs that gold mentions can form, by trying everything."""
    if not gold:
        return 0
    first, *rest = gold
    partners = [
        other
        for other in predicted
        if other.unit == first.unit and other.type == first.type and (other.words & first.words or other == first)
    ]
    return max([most_pairs(rest, predicted), *(1 + most_pairs(rest, predicted - {other}) for other in partners)])


def counted(gold: set[Known], predicted: set[Known], keep: Callable[[Known, set[Known]], bool]) -> Score:
    return Score(
        tp=sum(keep(mention, gold) for mention in gold & predicted),
        fp=sum(keep(mention, predicted) for mention in predicted - gold),
        fn=sum(keep(mention, gold) for mention in gold - predicted),
    )


def naive(pairs: Pairs) -> dict[str, object]:
    gold, predicted = known([one for one, _ in pairs]), known([other for _, other in pairs])
    discontiguous = {mention.unit for mention in gold if n_runs(mention.positions) > 1}
    partners = sum(
        most_pairs(
            [mention for mention in gold if mention.unit == number],
            frozenset(mention for mention in predicted if mention.unit == number),
        )
        for number in range(len(pairs))
    )
    gold_words, predicted_words = (
        {(mention.unit, mention.type, word) for mention in side for word in mention.words} for side in (gold, predicted)
    )
    return {
        "all": counted(gold, predicted, lambda mention, side: True),
        "discontiguous_sentences": counted(gold, predicted, lambda mention, side: mention.unit in discontiguous),
        "discontiguous_mentions": counted(gold, predicted, lambda mention, side: n_runs(mention.positions) > 1),
        "by_type": {
            name: counted(gold, predicted, lambda mention, side, name=name: mention.type == name)
            for name in {mention.type for mention in gold | predicted}
        },
        "by_parts": {
            name: counted(gold, predicted, lambda mention, side, name=name: mention.parts == name) for name in PARTS
        },
        "by_gap": {
            name: counted(gold, predicted, lambda mention, side, name=name: mention.gap == name) for name in GAPS
        },
        "by_overlap": {
            name: counted(gold, predicted, lambda mention, side, name=name: overlap(mention, side) == name)
            for name in OVERLAPS
        },
        "relaxed": Score(partners, len(predicted) - partners, len(gold) - partners),
        "words": Score(
            len(gold_words & predicted_words), len(predicted_words - gold_words), len(gold_words - predicted_words)
        ),
    }


@given(of_sentences)
def test_sentences_score_as_by_the_second_implementation(pairs: Pairs):
    found = score(pairs)
    for name, expected in naive(pairs).items():
        assert getattr(found, name) == expected, name


@given(of_documents)
@settings(max_examples=60)
def test_documents_score_as_by_the_second_implementation(pairs: Pairs):
    found = score(pairs)
    for name, expected in naive(pairs).items():
        assert getattr(found, name) == expected, name


# ----------------------------------------------------------------------------------------------- what must always hold


def swapped(score: Score) -> Score:
    return Score(score.tp, score.fn, score.fp)


@given(of_either)
@settings(max_examples=60)
def test_gold_against_itself_is_perfect_in_every_class_that_is_not_empty(pairs: Pairs):
    units = [gold for gold, _ in pairs]
    found = evaluate(units, units, tokenize=tokenize, split=whole)
    scores = [getattr(found, name) for name in ("all", "discontiguous_sentences", "discontiguous_mentions", "relaxed")]
    for each in [*scores, found.words, *(part for name in BREAKDOWNS for part in getattr(found, name).values())]:
        assert (each.fp, each.fn) == (0, 0)
        assert each.f1 == each.precision == each.recall == (0.0 if each.is_empty else 1.0)


@given(of_either)
@settings(max_examples=60)
def test_swapping_the_sides_swaps_precision_and_recall(pairs: Pairs):
    there, back = score(pairs), score([(predicted, gold) for gold, predicted in pairs])
    for name in ("all", "discontiguous_mentions", "relaxed", "words"):
        assert getattr(back, name) == swapped(getattr(there, name))
        assert getattr(back, name).precision == getattr(there, name).recall
    for name in ("by_type", "by_parts", "by_gap"):  # not by_overlap: what is right counts where gold has it
        assert getattr(back, name) == {key: swapped(value) for key, value in getattr(there, name).items()}


@given(of_either, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_neither_the_order_of_mentions_nor_of_documents_matters(pairs: Pairs, random):
    named = [tuple(_renamed(unit, f"doc {number}") for unit in pair) for number, pair in enumerate(pairs)]
    gold = [_shuffled(gold, random) for gold, _ in named]
    predicted = [_shuffled(predicted, random) for _, predicted in named]
    random.shuffle(gold)
    random.shuffle(predicted)
    assert evaluate(gold, predicted, tokenize=tokenize, split=whole) == score(pairs)


def _renamed(unit: Unit, doc: str) -> Unit:
    return (
        Sentence(unit.tokens, unit.mentions, doc)
        if isinstance(unit, Sentence)
        else Document(doc, unit.text, unit.mentions)
    )


def _shuffled(unit: Unit, random) -> Unit:
    """The same unit whose mentions come in another order, past the constructor that would sort them."""
    mentions = list(unit.mentions)
    random.shuffle(mentions)
    copy = unit.with_mentions(mentions)
    object.__setattr__(copy, "mentions", tuple(mentions))
    return copy


@given(of_either)
@settings(max_examples=60)
def test_duplicates_do_not_matter(pairs: Pairs):
    doubled = [(_doubled(gold), _doubled(predicted)) for gold, predicted in pairs]
    assert score(doubled) == score(pairs)


def _doubled(unit: Unit) -> Unit:
    """The same unit with every mention twice, past the constructor that would refuse it."""
    copy = unit.with_mentions(unit.mentions)
    object.__setattr__(copy, "mentions", unit.mentions * 2)
    return copy


@given(of_either)
@settings(max_examples=60)
def test_breakdowns_add_up_and_relaxed_is_never_stricter(pairs: Pairs):
    found = score(pairs)
    for name in BREAKDOWNS:
        assert sum(getattr(found, name).values(), Score()) == found.all
    several = [part for name, part in found.by_parts.items() if name != "1"]
    assert sum(several, Score()) == found.discontiguous_mentions
    assert found.relaxed.tp >= found.all.tp
    assert found.relaxed.tp + found.relaxed.fp == found.all.tp + found.all.fp
    assert found.relaxed.tp + found.relaxed.fn == found.all.tp + found.all.fn


@given(of_either)
@settings(max_examples=60)
def test_every_error_is_listed_once(pairs: Pairs):
    found = score(pairs).all
    listed = [
        (error["error"], error["kind"], "partner" in error)
        for gold, predicted in pairs
        for error in (list_errors(compare(gold, predicted, tokenize=tokenize)) or {"errors": []})["errors"]
    ]
    assert sum(error == "false negative" for error, _, _ in listed) == found.fn
    assert sum(error == "false positive" for error, _, _ in listed) == found.fp
    assert all((kind in ("missed", "spurious")) is not has_partner for _, kind, has_partner in listed)


@given(st.lists(mentions(8), max_size=6, unique=True))
def test_overlap_is_symmetric_and_classes_follow_from_pairs(found: list[Mention]):
    for position, mention in enumerate(found):
        others = found[:position] + found[position + 1 :]
        ways = [overlap_of(mention, other) for other in others]
        assert ways == [overlap_of(other, mention) for other in others]
        assert (overlap_classes(found)[position] == "none") is (set(ways) <= {"none"})


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_nested_mentions_are_perfect_in_any_order(order: tuple[int, ...]):
    nested = [Mention("Finding", [(0, 5)]), Mention("Finding", [(1, 4)]), Mention("Finding", [(2, 3)])]
    words = ["a", "b", "c", "d", "e"]
    predicted = Sentence(words, [nested[place] for place in order])
    found = evaluate([Sentence(words, nested)], [predicted])
    assert found.all == found.relaxed == found.by_overlap["nested"] == Score(3, 0, 0)
    assert found.all.f1 == 1.0
