"""Calibration: are 70 % of the mentions with probability 0.7 right?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hyperspan.evaluation.matching import Comparison

N_BINS = 10
"""The usual number in the literature."""


_ONE_IN_20 = 1.645
"""The 95th percentile of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Predicted mentions by probability: from ``low`` to below ``high``, or up to 1 in the last bin.

    Attributes
    ----------
    low, high : float
    n_mentions : int
    mean_prob : float
        Their mean probability; 0 if there are none.
    share_right : float
        The share of them that is right; 0 if there are none.
    """

    low: float
    high: float
    n_mentions: int
    mean_prob: float
    share_right: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far probabilities are from the share of mentions that is right.

    Attributes
    ----------
    bins : tuple of Bin
        The reliability diagram: for calibrated probabilities, ``share_right`` equals ``mean_prob`` in every bin.
    error : float
        The expected calibration error: the mean distance between the two, weighted by the mentions in each bin.
    n_mentions : int
        Predicted mentions with a probability.
    n_without : int
        Predicted mentions without a probability, which are ignored.
    by_chance, most_by_chance : float
        The error that perfectly calibrated probabilities like these would have on this many mentions by chance: the
        mean, and the 95th percentile. Mentions are assumed to be independent; those of one document often are not,
        and then chance contributes more.

    Examples
    --------
    >>> found = Calibration.of([(0.9, True), (0.9, True), (0.9, False), (0.2, False)])
    >>> round(found.error, 3), [(each.low, each.n_mentions) for each in found.bins if each.n_mentions]
    (0.225, [(0.2, 1), (0.9, 3)])
    >>> round(found.by_chance, 2)
    0.18
    """

    bins: tuple[Bin, ...]
    error: float
    n_mentions: int
    n_without: int = 0
    by_chance: float = 0.0
    most_by_chance: float = 0.0

    @classmethod
    def of(cls, mentions: Iterable[tuple[float | None, bool]]) -> Calibration:
        """Count predicted mentions, each given by its probability and whether it is right."""
        counter = CalibrationCounter()
        for prob, is_right in mentions:
            counter.count(prob, is_right)
        return counter.result()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "error": self.error,
            "by_chance": self.by_chance,
            "most_by_chance": self.most_by_chance,
            "mentions": self.n_mentions,
            "without_prob": self.n_without,
            "bins": [
                {
                    "low": each.low,
                    "high": each.high,
                    "mentions": each.n_mentions,
                    "mean_prob": each.mean_prob,
                    "share_right": each.share_right,
                }
                for each in self.bins
            ],
        }


class CalibrationCounter:
    """Counts predicted mentions by their probability, in constant memory."""

    def __init__(self) -> None:
        self._counts = [0] * N_BINS
        self._probs = [0.0] * N_BINS
        self._right = [0] * N_BINS
        self._variances = [0.0] * N_BINS
        self._n_without = 0

    def add(self, comparison: Comparison) -> None:
        """Count the predicted mentions of a sentence or document."""
        for mention in comparison.right:
            self.count(mention.prob, True)
        for mention in comparison.spurious:
            self.count(mention.prob, False)

    def count(self, prob: float | None, is_right: bool) -> None:
        """Count one mention."""
        if prob is None:
            self._n_without += 1
            return
        number = min(N_BINS - 1, int(prob * N_BINS))
        self._counts[number] += 1
        self._probs[number] += prob
        self._right[number] += is_right
        self._variances[number] += prob * (1.0 - prob)

    def result(self) -> Calibration:
        """Return the calibration so far."""
        total, bins, error = sum(self._counts), [], 0.0
        for number, (count, probs, right) in enumerate(zip(self._counts, self._probs, self._right, strict=True)):
            mean, share = (probs / count, right / count) if count else (0.0, 0.0)
            bins.append(Bin(number / N_BINS, (number + 1) / N_BINS, count, mean, share))
            error += abs(probs - right) / max(1, total)
        # How many are right in a bin is close to a normal variable, whose mean distance from its mean is known.
        by_chance = sum(math.sqrt(2.0 * variance / math.pi) for variance in self._variances) / max(1, total)
        spread = math.sqrt(sum(self._variances) * (1.0 - 2.0 / math.pi)) / max(1, total)
        return Calibration(tuple(bins), error, total, self._n_without, by_chance, by_chance + _ONE_IN_20 * spread)
