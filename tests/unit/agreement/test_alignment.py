"""The cheapest alignment, against enumeration and, for mentions without gaps, against pygamma-agreement."""

from __future__ import annotations

import logging
from itertools import permutations

import numpy as np
import pytest

from hyperspan.agreement import align, dissimilarity


def mentions(rng: np.random.Generator, n: int, n_words: int, *, contiguous: bool):
    found = set()
    for _ in range(n):
        type = "XY"[rng.integers(2)]
        if contiguous:
            start = int(rng.integers(0, n_words - 5))
            words = range(start, start + int(rng.integers(1, 5)))
        else:
            words = rng.choice(n_words, int(rng.integers(1, 4)), replace=False).tolist()
        found.add((type, frozenset(words)))
    return sorted(found, key=lambda mention: (mention[0], sorted(mention[1])))


def cheapest(ours, theirs) -> float:
    """The cost of the best of all alignments, each mention with at most one partner."""
    padded = [*theirs, *[None] * len(ours)]
    return min(
        sum(1.0 if other is None else dissimilarity(one, other) - 1.0 for one, other in zip(ours, order, strict=False))
        for order in permutations(padded, len(ours))
    ) + len(theirs)


@pytest.mark.parametrize("seed", range(8))
def test_the_alignment_is_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    ours, theirs = (mentions(rng, 4, 12, contiguous=False) for _ in range(2))
    assert align(ours, theirs).cost == pytest.approx(cheapest(ours, theirs))


def test_costs_by_hand():
    shed, embolic = ("Finding", frozenset([0, 2, 3])), ("Finding", frozenset([0, 5]))
    # Three words belong to one of them only, of five: (3 / 5)².
    assert dissimilarity(shed, embolic) == pytest.approx(0.36)
    # No word in common, none between: (2 / 2)². One word between: (4 / 2)². Another type costs 1 more.
    assert dissimilarity(("A", frozenset([0])), ("A", frozenset([1]))) == 1.0
    assert dissimilarity(("A", frozenset([0])), ("B", frozenset([2]))) == 5.0


def test_what_nothing_answers_to_costs_one():
    found = align([("A", frozenset([0]))], [("A", frozenset([50])), ("A", frozenset([60]))])
    assert (found.pairs, found.cost, found.n_mentions) == ((), 3.0, 3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
def test_disorder_is_that_of_pygamma_agreement(seed):
    pygamma = pytest.importorskip("pygamma_agreement", reason="pygamma-agreement is not installed")
    segment = pytest.importorskip("pyannote.core").Segment
    logging.getLogger().setLevel(logging.ERROR)
    rng = np.random.default_rng(seed)
    ours, theirs = (mentions(rng, 7, 30, contiguous=True) for _ in range(2))
    continuum = pygamma.Continuum()
    for annotator, here in (("ann", ours), ("bob", theirs)):
        for type, words in here:
            continuum.add(annotator, segment(min(words), max(words) + 1), type)
    combined = pygamma.CombinedCategoricalDissimilarity(
        alpha=1, beta=1, delta_empty=1.0, cat_dissim=pygamma.AbsoluteCategoricalDissimilarity()
    )
    found = align(ours, theirs)
    disorder = continuum.get_best_alignment(combined).disorder
    assert found.cost / (found.n_mentions / 2) == pytest.approx(float(disorder), rel=1e-5)


def test_the_longest_mentions_reach_the_farthest_partner():
    # 20 + 20 words: two words between cost (40 + 4)² / 1600 = 1.21, which is less than 2.
    ours, theirs = ("X", frozenset(range(20))), ("X", frozenset(range(22, 42)))
    assert align([ours], [theirs]).cost == pytest.approx(1.21)
