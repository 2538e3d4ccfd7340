"""Both tests against what they approximate: every resample and every swap, enumerated."""

from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest

from examples import INFARCTIONS, LACERATION
from hyperspan import Mention, Sentence
from hyperspan.errors import UsageError
from hyperspan.evaluation import Comparison, SentenceCounts, compare_systems, comparisons
from hyperspan.evaluation import compare_counts as compare

BETTER = [[3, 0, 0], [1, 1, 0], [0, 0, 1], [2, 0, 1], [4, 1, 1]]
WORSE = [[1, 0, 2], [1, 0, 0], [0, 2, 1], [2, 2, 1], [3, 1, 2]]
CLOSE = [[2, 0, 1], [1, 1, 0], [1, 0, 0], [2, 1, 1], [4, 1, 1]]


def f1(counts: list[list[int]]) -> float:
    tp, fp, fn = (sum(column) for column in zip(*counts, strict=True))
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0


def every_swap(one: list[list[int]], other: list[list[int]]) -> list[float]:
    found = []
    for swaps in product([False, True], repeat=len(one)):
        first = [b if swap else a for a, b, swap in zip(one, other, swaps, strict=True)]
        second = [a if swap else b for a, b, swap in zip(one, other, swaps, strict=True)]
        found.append(f1(first) - f1(second))
    return found


def every_resample(one: list[list[int]], other: list[list[int]]) -> list[float]:
    return [
        f1([one[place] for place in places]) - f1([other[place] for place in places])
        for places in product(range(len(one)), repeat=len(one))
    ]


def tolerance(p: float, resamples: int) -> float:
    return 4 * sqrt(p * (1 - p) / resamples) + 2 / resamples


@pytest.mark.parametrize("other", [WORSE, CLOSE], ids=["worse", "close"])
@pytest.mark.parametrize("seed", [0, 1])
def test_both_tests_agree_with_enumeration(other: list[list[int]], seed: int):
    found = compare(BETTER, other, seed=seed)
    d = f1(BETTER) - f1(other)
    assert (found.f1, found.other_f1, found.difference) == pytest.approx((f1(BETTER), f1(other), d))
    swaps = every_swap(BETTER, other)
    p = sum(abs(swap) >= abs(d) - 1e-12 for swap in swaps) / len(swaps)
    assert found.p_randomisation == pytest.approx(p, abs=tolerance(p, 10_000))
    drawn = every_resample(BETTER, other)
    p = sum(abs(each - d) >= abs(d) - 1e-12 for each in drawn) / len(drawn)
    assert found.p_bootstrap == pytest.approx(p, abs=tolerance(p, 10_000))


def test_the_interval_holds_its_share_of_all_resamples():
    drawn = np.array(every_resample(BETTER, CLOSE))
    for confidence in (0.95, 0.5):
        found = compare(BETTER, CLOSE, confidence=confidence, resamples=50_000)
        tail = (1 - confidence) / 2
        for bound, below in ((found.low, tail), (found.high, 1 - tail)):
            assert np.mean(drawn < bound - 1e-9) <= below + 0.01
            assert np.mean(drawn <= bound + 1e-9) >= below - 0.01


def test_the_same_system_twice():
    found = compare(BETTER, BETTER)
    assert (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)
    assert found.p_bootstrap == found.p_randomisation == 1.0


def test_a_system_that_is_clearly_better():
    found = compare(BETTER * 40, WORSE * 40)
    assert found.difference > 0.2
    assert 0 < found.low < found.difference < found.high
    assert found.p_bootstrap == found.p_randomisation == 1 / 10_001
    assert found.n_sentences == 200


def test_systems_that_differ_by_luck_alone():
    right, missed = [1, 0, 0], [0, 0, 1]
    found = compare([right] * 60 + [missed] * 50, [right] * 5 + [missed] * 55 + [right] * 50)
    assert found.difference > 0
    assert found.low < 0 < found.high
    assert min(found.p_bootstrap, found.p_randomisation) > 0.3


def test_the_other_way_round():
    there, back = compare(BETTER * 3, WORSE * 3), compare(WORSE * 3, BETTER * 3)
    assert back.difference == -there.difference
    assert (back.f1, back.other_f1) == (there.other_f1, there.f1)
    assert back.p_randomisation == pytest.approx(there.p_randomisation, abs=0.01)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=0.02)


def test_a_seed_decides_and_the_order_of_sentences_does_not():
    one, other = np.array(BETTER * 4), np.array(CLOSE * 4)
    order = np.random.default_rng(1).permutation(len(one))
    assert compare(one, other, seed=3) == compare(one, other, seed=3) == compare(one[order], other[order], seed=3)
    assert compare(one, other, seed=3) != compare(one, other, seed=4)


def test_draws_in_batches_are_the_same_distribution(monkeypatch):
    monkeypatch.setattr("hyperspan.evaluation.significance._DRAWS_AT_ONCE", 100)
    swaps = every_swap(BETTER, CLOSE)
    d = f1(BETTER) - f1(CLOSE)
    p = sum(abs(swap) >= abs(d) - 1e-12 for swap in swaps) / len(swaps)
    assert compare(BETTER, CLOSE, resamples=2001).p_randomisation == pytest.approx(p, abs=tolerance(p, 2001))


@pytest.mark.parametrize("counts", [[], [[0, 0, 0]] * 5])
def test_nothing_to_compare(counts: list[list[int]]):
    found = compare(counts, counts)
    assert (found.f1, found.difference, found.p_bootstrap, found.p_randomisation) == (0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("one", "other", "options", "message"),
    [
        (BETTER, WORSE[:2], {}, "scored on 5 and 2 sentences; a paired test needs the same sentences"),
        ([[1, 2]], [[1, 2]], {}, r"counts have shape \(1, 2\); expected \(n_sentences, 3\)"),
        ([[1, 2, -1]], [[1, 2, 3]], {}, "none negative"),
        (BETTER, WORSE, {"resamples": 0}, "resamples is 0; expected at least 1"),
        (BETTER, WORSE, {"confidence": 95}, "confidence is 95; expected a share between 0 and 1"),
    ],
)
def test_what_makes_no_sense(one, other, options, message: str):
    with pytest.raises(UsageError, match=message):
        compare(one, other, **options)


def counted(found: list[Comparison]) -> SentenceCounts:
    counts = SentenceCounts()
    for comparison in found:
        counts.add(comparison)
    return counts


def test_which_sentences_each_test_draws_from():
    plain = Sentence(["fever"], [Mention("Finding", [(0, 1)])])
    gold = [INFARCTIONS, plain, LACERATION]
    counts = counted(list(comparisons(gold, [unit.with_mentions(unit.mentions[:1]) for unit in gold])))
    assert counts.all.tolist() == [[1, 0, 2], [1, 0, 0], [1, 0, 3]]
    assert counts.discontiguous_sentences.tolist() == [[1, 0, 2], [1, 0, 3]]
    assert counts.discontiguous_mentions.tolist() == [[0, 0, 2], [0, 0, 0], [0, 0, 2]]
    found = compare_systems(counted(list(comparisons(gold, gold))), counts, resamples=50, seed=7)
    assert {name: each.n_sentences for name, each in found.differences.items()} == {
        "all": 3,
        "discontiguous_sentences": 2,
        "discontiguous_mentions": 3,
    }
    table = found.as_dict()
    assert list(table) == [*found.differences, "resamples", "confidence", "seed"]
    assert (table["resamples"], table["seed"]) == (50, 7)
    assert table["all"]["other_f1"] == pytest.approx(6 / 11)
    assert table["all"]["interval"] == [found.differences["all"].low, found.differences["all"].high]
