"""Choose the threshold of ``probable``: the minimum probability of a predicted mention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.diagnostics import LostMention
from hyperspan.mentions import Mention, Sentence

DEFAULT_THRESHOLD = 0.3
"""Used if there is no development data."""

LOWEST_THRESHOLD = 0.1
"""The lowest threshold that tuning considers."""

HIGHEST_THRESHOLD = 0.99

RESAMPLES = 200
"""The number of bootstrap samples of sentences, to see how much the best threshold varies."""

_STEPS = 100


@dataclass(frozen=True)
class ThresholdCurve:
    """Precision, recall and F scores by threshold, in steps of 0.01, on given sentences.

    Attributes
    ----------
    thresholds : float64 array of shape (n_thresholds,)
        In increasing order.
    right, found : int64 arrays of shape (n_sentences, n_thresholds)
        How many mentions of each sentence are right, and how many are found; sentences with neither gold mentions nor
        candidates are left out.
    gold : int64 array of shape (n_sentences,)
        How many gold mentions each of them has.
    n_sentences : int
        The number of all sentences, including those left out.
    sentence : int64 array of shape (n_sentences,)
        The indices of the sentences that are not left out.

    Examples
    --------
    >>> right, wrong = Mention("A", [(0, 1)], prob=0.8), Mention("A", [(1, 2)], prob=0.41)
    >>> curve = ThresholdCurve.of([[right]] * 50, [[right, wrong]] * 50)
    >>> curve.choose(), curve.best_f1
    (0.61, 1.0)
    >>> {name: round(value, 3) for name, value in curve.row(0.4).items()}
    {'threshold': 0.4, 'precision': 0.5, 'recall': 1.0, 'f1': 0.667, 'tp': 50, 'fp': 50, 'fn': 0}
    """

    thresholds: NDArray[np.float64]
    right: NDArray[np.int64]
    found: NDArray[np.int64]
    gold: NDArray[np.int64]
    n_sentences: int
    sentence: NDArray[np.int64]

    @classmethod
    def on(
        cls,
        sentences: Iterable[Sentence],
        candidates: Iterable[Sequence[Mention]],
        lowest: float = LOWEST_THRESHOLD,
    ) -> ThresholdCurve:
        """Count on annotated sentences, whose gold mentions that were skipped in reading count as missed."""
        gold: Iterable[Sequence[Mention | LostMention]] = (
            (*sentence.mentions, *sentence.lost) for sentence in sentences
        )
        return cls.of(gold, candidates, lowest)

    @classmethod
    def of(
        cls,
        gold: Iterable[Sequence[Mention | LostMention]],
        candidates: Iterable[Sequence[Mention]],
        lowest: float = LOWEST_THRESHOLD,
    ) -> ThresholdCurve:
        """Count what is found at every threshold.

        Parameters
        ----------
        gold : iterable of sequences of Mention
            The gold mentions of each sentence, none of them twice.
        candidates : iterable of sequences of Mention
            All mentions with a probability of at least ``lowest``.
        lowest : float
            The lowest threshold.
        """
        first, last = round(lowest * _STEPS), round(HIGHEST_THRESHOLD * _STEPS)
        thresholds = np.arange(first, last + 1) / _STEPS
        sentence: list[int] = []
        prob: list[float] = []
        is_right: list[bool] = []
        n_gold: list[int] = []
        counted: list[int] = []
        n_sentences = 0
        for known, found in zip(gold, candidates, strict=True):
            n_sentences += 1
            if not known and not found:
                continue
            sentence += [len(n_gold)] * len(found)
            prob += [mention.prob or 0.0 for mention in found]
            wanted: set[object] = set(known)
            is_right += [mention in wanted for mention in found]
            n_gold.append(len(known))
            counted.append(n_sentences - 1)
        reached = np.searchsorted(thresholds, np.array(prob, dtype=np.float64), side="right")

        def counts(weight: NDArray[np.int64]) -> NDArray[np.int64]:
            ends = np.zeros((len(n_gold), len(thresholds) + 1), dtype=np.int64)
            np.add.at(ends, (np.array(sentence, dtype=np.int64), reached), weight)
            return ends[:, :0:-1].cumsum(axis=1)[:, ::-1]

        of_right = np.array(is_right, dtype=np.int64)
        return cls(
            thresholds,
            counts(of_right),
            counts(np.ones_like(of_right)),
            np.array(n_gold, dtype=np.int64),
            n_sentences,
            np.array(counted, dtype=np.int64),
        )

    @cached_property
    def precision(self) -> NDArray[np.float64]:
        """The share of the found mentions that is right; 0 if nothing is found."""
        return _ratio(self.right.sum(axis=0), self.found.sum(axis=0))

    @cached_property
    def recall(self) -> NDArray[np.float64]:
        """The share of the gold mentions that is found."""
        return _ratio(self.right.sum(axis=0), np.full(len(self.thresholds), self.gold.sum()))

    def f_score(self, beta: float = 1.0) -> NDArray[np.float64]:
        """Return the F score of every threshold; recall counts ``beta`` times as much as precision."""
        return _f_score(self.right.sum(axis=0), self.found.sum(axis=0), self.gold.sum(), beta)

    @property
    def best_f1(self) -> float:
        """The highest F1 of all thresholds."""
        return float(self.f_score().max())

    @property
    def is_empty(self) -> bool:
        """Whether no threshold can be chosen: no gold mention, or nothing right at any threshold."""
        return not self.right.any()

    def choose(self, beta: float = 1.0, default: float = DEFAULT_THRESHOLD) -> float:
        """Return the threshold to use: the best on these sentences, shrunk towards that of calibrated probabilities.

        For calibrated probabilities, the best threshold is the F score that it reaches, divided by 1 + ``beta``²: half
        of F1. The threshold with the highest F score on these sentences varies much if they are few. So sentences are
        resampled many times, and the mean of the best thresholds is shrunk towards half of F1 according to their
        variance: at a distance of one standard error it moves half of the way, at three a tenth.

        Parameters
        ----------
        beta : float
            How much more recall counts than precision.
        default : float
            Returned if no threshold can be chosen.
        """
        is_looked_at = self.thresholds >= LOWEST_THRESHOLD
        if not self.right[:, is_looked_at].any():
            return default
        calibrated = float(self.f_score(beta)[is_looked_at].max()) / (1.0 + beta * beta)
        best = self._best_of_resamples(beta, is_looked_at)
        distance, variance = best.mean() - calibrated, best.var(ddof=1)
        trust = distance**2 / (distance**2 + variance) if variance else 1.0
        return float(self.thresholds[np.abs(self.thresholds - (calibrated + trust * distance)).argmin()])

    def _best_of_resamples(self, beta: float, is_looked_at: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the threshold with the highest F score for each bootstrap sample; the mean in case of a tie."""
        draw = np.random.default_rng(0)
        # Sentences that only have candidates below are left out: the draws must not depend on where the curve begins.
        counts_here = (self.gold > 0) | self.found[:, is_looked_at].any(axis=1)
        n_counted = int(counts_here.sum())
        shares = np.full(n_counted + 1, 1.0 / self.n_sentences)
        shares[-1] = 1.0 - n_counted / self.n_sentences
        thresholds = self.thresholds[is_looked_at]
        right, found = (counts[counts_here][:, is_looked_at].astype(float) for counts in (self.right, self.found))
        gold = self.gold[counts_here]
        best = np.empty(RESAMPLES)
        for number in range(RESAMPLES):
            times = draw.multinomial(self.n_sentences, np.maximum(shares, 0.0))[:-1].astype(np.float64)
            scores = _f_score(times @ right, times @ found, times @ gold, beta)
            best[number] = thresholds[scores == scores.max()].mean()
        return best

    def error_of_difference(self, other: ThresholdCurve) -> float:
        """Return the standard error of the difference in F1 to another curve, each at the threshold it would choose.

        Computed by a bootstrap over sentences, which must be the same in both.
        """
        times = np.random.default_rng(0).multinomial(
            self.n_sentences, np.full(self.n_sentences, 1.0 / self.n_sentences), size=RESAMPLES
        )
        scores = []
        for curve in (self, other):
            at = int(np.abs(curve.thresholds - curve.choose()).argmin())
            counts = np.zeros((self.n_sentences, 3))
            counts[curve.sentence] = np.stack([curve.right[:, at], curve.found[:, at], curve.gold], axis=1)
            right, found, gold = (times @ counts).T
            scores.append(_f_score(right, found, gold, 1.0))
        return float(np.std(scores[0] - scores[1], ddof=1))

    def at_precision(self, precision: float) -> float | None:
        """Return the lowest threshold with at least a given precision, or None."""
        return next((float(self.thresholds[at]) for at in np.flatnonzero(self.precision >= precision)), None)

    def at_recall(self, recall: float) -> float | None:
        """Return the highest threshold with at least a given recall, or None."""
        return next((float(self.thresholds[at]) for at in np.flatnonzero(self.recall >= recall)[::-1]), None)

    def row(self, threshold: float) -> dict[str, Any]:
        """Return the scores and counts at a threshold, or at the nearest one on the curve."""
        at = int(np.abs(self.thresholds - threshold).argmin())
        tp, found = int(self.right[:, at].sum()), int(self.found[:, at].sum())
        return {
            "threshold": float(self.thresholds[at]),
            "precision": float(self.precision[at]),
            "recall": float(self.recall[at]),
            "f1": float(self.f_score()[at]),
            "tp": tp,
            "fp": found - tp,
            "fn": int(self.gold.sum()) - tp,
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the scores and counts of every threshold, as plain data."""
        return [self.row(threshold) for threshold in self.thresholds.tolist()]


def _f_score(right: NDArray[Any], found: NDArray[Any], gold: Any, beta: float) -> NDArray[np.float64]:
    weight = beta * beta
    return _ratio((1.0 + weight) * right, found + weight * gold)


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = np.zeros(np.shape(whole), dtype=np.float64)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio
