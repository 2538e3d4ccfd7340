"""Whether probabilities are what they say: of mentions with probability 0.7, are 70 % right?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hyperspan.evaluation.matching import Comparison

N_BINS = 10
"""As the literature has it: bins of a tenth."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The predicted mentions whose probability is in a range: from ``low``, and below ``high`` unless that is 1.

    Attributes
    ----------
    low, high : float
    n_mentions : int
    mean_prob : float
        Their mean probability; 0 if there are none.
    share_right : float
        How many of them are right; 0 if there are none.
    """

    low: float
    high: float
    n_mentions: int
    mean_prob: float
    share_right: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far probabilities are from the share that is right.

    Attributes
    ----------
    bins : tuple of Bin
        The reliability diagram: for calibrated probabilities ``share_right`` is ``mean_prob`` in each.
    error : float
        The expected calibration error: the mean distance between the two, each bin by its number of mentions.
    n_mentions : int
        Predicted mentions with a probability.
    n_without : int
        Predicted mentions without one, which are left out.

    Examples
    --------
    >>> found = Calibration.of([(0.9, True), (0.9, True), (0.9, False), (0.2, False)])
    >>> round(found.error, 3), [(each.low, each.n_mentions) for each in found.bins if each.n_mentions]
    (0.225, [(0.2, 1), (0.9, 3)])
    """

    bins: tuple[Bin, ...]
    error: float
    n_mentions: int
    n_without: int = 0

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

    def result(self) -> Calibration:
        """Return what was counted."""
        total, bins, error = sum(self._counts), [], 0.0
        for number, (count, probs, right) in enumerate(zip(self._counts, self._probs, self._right, strict=True)):
            mean, share = (probs / count, right / count) if count else (0.0, 0.0)
            bins.append(Bin(number / N_BINS, (number + 1) / N_BINS, count, mean, share))
            error += abs(probs - right) / max(1, total)
        return Calibration(tuple(bins), error, total, self._n_without)
