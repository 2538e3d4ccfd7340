"""Learning curves: what is trained on, what is scored, and what was saved."""

from __future__ import annotations

from itertools import pairwise

import pytest

from hyperspan import Mention, Sentence
from hyperspan.annotation import Point, candidates, curves, simulate
from hyperspan.annotation.plot import curves_svg
from hyperspan.corpora import demo
from hyperspan.errors import LearningError

SETTINGS = {"max_components": 2, "max_iterations": 10}


@pytest.fixture(scope="module")
def points() -> list[Point]:
    train = demo.generate(24, split="train", unit="sentences")
    dev = demo.generate(4, split="dev", unit="sentences")
    pool = candidates(train)
    return list(simulate(SETTINGS, pool, list(dev), n_rounds=2, n_words=300, seeds=(0,)))


def test_strategies_share_their_beginning_and_keep_their_budget(points):
    assert {point.strategy for point in points} == {"errors", "entropy", "margin", "random"}
    assert len({(point.words, point.f1) for point in points if point.round == 0}) == 1
    for before, after in pairwise(points):
        if after.round:
            assert 0 < after.words - before.words <= 300
    assert all(0.0 <= point.f1 <= 1.0 for point in points)


def test_curves_are_means_and_say_what_was_saved():
    values = {
        ("errors", 0): (0.2, 0.5),
        ("errors", 1): (0.2, 0.7),
        ("random", 0): (0.2, 0.4),
        ("random", 1): (0.2, 0.4),
    }
    points = [
        Point(strategy, seed, number, 100 * (number + 1), number, f1)
        for (strategy, seed), both in values.items()
        for number, f1 in enumerate(both)
    ]
    errors, random = curves(points)
    assert (errors.words, errors.f1) == ([100.0, 200.0], [0.2, pytest.approx(0.6)])
    assert errors.deviation == [0.0, pytest.approx(0.1)]
    # The 0.4 of random choice lies half-way between 0.2 and 0.6.
    assert (errors.words_for_same, errors.saved) == (pytest.approx(150.0), pytest.approx(0.25))
    assert (random.words_for_same, random.saved) == (pytest.approx(200.0), pytest.approx(0.0))


def test_a_strategy_that_is_worse_saves_nothing():
    points = [Point("errors", 0, n, 100 + n, n, 0.1) for n in range(2)]
    points += [Point("random", 0, n, 100 + n, n, 0.3) for n in range(2)]
    worse, _ = curves(points)
    assert (worse.words_for_same, worse.saved) == (None, None)


def test_the_picture_has_every_curve(points):
    picture = curves_svg(curves(points))
    assert picture.count("<polyline") == 4
    assert ">margin</text>" in picture


def test_a_beginning_without_mentions_is_told():
    pool = candidates(Sentence(["no", "fever"], doc=str(number)) for number in range(3))
    gold = [Sentence(["fever"], [Mention("A", [(0, 1)])])]
    with pytest.raises(LearningError, match="nothing can be learned from the first 2 words: there is no mention"):
        list(simulate(SETTINGS, pool, gold, n_rounds=1, n_words=3))
