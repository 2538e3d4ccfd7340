"""Which threshold is taken, and why."""

from __future__ import annotations

import numpy as np
import pytest

from hyperspan.diagnostics import LostMention
from hyperspan.learning import DEFAULT_THRESHOLD, LOWEST_THRESHOLD, ThresholdCurve
from hyperspan.mentions import Mention, Sentence


def mention(place: int, prob: float | None = None) -> Mention:
    return Mention("Finding", [(place, place + 1)], prob=prob)


def calibrated(n_sentences: int, seed: int = 0, power: float = 1.0) -> ThresholdCurve:
    """Sentences with a candidate each, right as often as its probability to some power says."""
    draw = np.random.default_rng(seed)
    probs = draw.uniform(0.1, 1.0, n_sentences)
    is_right = draw.uniform(size=n_sentences) < probs**power
    return ThresholdCurve.of(
        [[mention(0)] if right else [] for right in is_right], [[mention(0, float(prob))] for prob in probs]
    )


def test_calibrated_probabilities_are_cut_at_half_of_f1():
    curve = calibrated(5_000)
    assert curve.choose() == pytest.approx(curve.best_f1 / 2, abs=0.02)
    beta = 0.5
    assert curve.choose(beta) == pytest.approx(float(curve.f_score(beta).max()) / 1.25, abs=0.03)
    assert curve.choose(0.5) > curve.choose() > curve.choose(2.0)


def test_small_samples_scatter_less_than_their_optimum():
    curves = [calibrated(60, seed) for seed in range(40)]
    best = [float(curve.thresholds[curve.f_score().argmax()]) for curve in curves]
    chosen = [curve.choose() for curve in curves]
    assert np.std(chosen) < 0.6 * np.std(best)
    right = calibrated(5_000).choose()
    assert np.abs(np.subtract(chosen, right)).mean() < np.abs(np.subtract(best, right)).mean()


def test_the_data_has_the_last_word_where_there_is_much_of_it():
    curve = calibrated(5_000, power=4.0)  # far too sure of itself: the optimum is well above half of F1
    scores = curve.f_score()
    chosen = curve.choose()
    assert chosen > curve.best_f1 / 2 + 0.1
    assert curve.row(chosen)["f1"] >= scores.max() - 0.01


def test_it_is_the_same_every_time_and_a_round_number():
    assert calibrated(100).choose() == calibrated(100).choose() == round(calibrated(100).choose(), 2)


def test_nothing_to_choose_by_gives_the_default():
    nothing = ThresholdCurve.of([[], []], [[mention(0, 0.9)], []])
    assert nothing.is_empty
    assert nothing.choose() == DEFAULT_THRESHOLD
    assert ThresholdCurve.of([[mention(1)]], [[mention(0, 0.9)]]).choose(default=0.4) == 0.4
    assert ThresholdCurve.of([], []).choose() == DEFAULT_THRESHOLD


def test_thresholds_with_a_precision_or_a_recall():
    curve = calibrated(5_000)
    low = curve.at_precision(0.8)
    assert low is not None
    assert curve.row(low)["precision"] >= 0.8 > curve.row(low - 0.01)["precision"]
    high = curve.at_recall(0.8)
    assert high is not None
    assert curve.row(high)["recall"] >= 0.8 > curve.row(high + 0.01)["recall"]
    assert curve.at_precision(1.1) is None
    assert curve.at_recall(1.1) is None


def test_it_lies_between_the_best_ones_and_half_of_f1():
    for seed in range(10):
        curve = calibrated(80, seed, power=2.0)
        best = curve._best_of_resamples(1.0, curve.thresholds >= 0.1).mean()
        low, high = sorted((best, curve.best_f1 / 2))
        assert low - 0.006 <= curve.choose() <= high + 0.006


def test_one_standard_error_away_it_goes_half_of_the_way(monkeypatch):
    curve = calibrated(2_000)
    half = curve.best_f1 / 2
    for distance, error, wanted in ((0.2, 0.2, 0.1), (-0.1, 0.05, -0.08), (0.3, 0.0, 0.3), (0.0, 0.1, 0.0)):
        best = half + distance + error * np.array([-1.0, 1.0]) / np.sqrt(2.0)
        monkeypatch.setattr(ThresholdCurve, "_best_of_resamples", lambda *_, best=best: best)
        assert curve.choose() == pytest.approx(half + wanted, abs=0.0051)


def test_of_equal_ones_the_middle_is_taken():
    curve = ThresholdCurve.of([[mention(0)]] * 30, [[mention(0, 0.8), mention(1, 0.4)]] * 30)
    assert curve.choose() == pytest.approx(0.605, abs=0.0051)


def test_it_is_never_below_the_lowest_that_tuning_looks_at():
    gold, low, high = [[mention(0)]] * 50, [mention(0, 0.05)], [mention(0, 0.11)]
    assert ThresholdCurve.of(gold, [low] * 50, 0.02).choose() == DEFAULT_THRESHOLD
    assert ThresholdCurve.of(gold, [low] * 45 + [high] * 5, 0.02).choose() >= LOWEST_THRESHOLD


def test_it_does_not_depend_on_how_low_the_curve_begins():
    for seed in range(10):
        draw = np.random.default_rng(seed)
        gold, candidates = [], []
        for prob in draw.uniform(0.02, 1.0, 40).tolist():
            gold.append([mention(0)] if draw.uniform() < prob else [])
            candidates.append([mention(0, prob)])
        above = [[each for each in here if (each.prob or 0.0) >= 0.1] for here in candidates]
        assert ThresholdCurve.of(gold, candidates, 0.02).choose() == ThresholdCurve.of(gold, above, 0.1).choose()


def test_gold_that_was_skipped_in_reading_counts_as_missed():
    sentence = Sentence(["no", "fever"], [mention(1)], lost=(LostMention("Finding", 1), LostMention("Finding", 1)))
    only_lost = Sentence(["no", "pain"], [], lost=(LostMention("Finding", 2, 0),))
    curve = ThresholdCurve.on([sentence, only_lost], [[mention(1, 0.9)], []])
    assert {name: curve.row(0.5)[name] for name in ("recall", "tp", "fp", "fn")} == {
        "recall": 0.25,
        "tp": 1,
        "fp": 0,
        "fn": 3,
    }
