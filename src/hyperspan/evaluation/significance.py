"""Test whether one system is better than another, over paired sentences.

There are two tests, both for the difference in F1 and both two-sided. The *paired bootstrap* draws sentences with
replacement and measures how far the difference varies around the observed one. *Approximate randomisation* swaps the
two systems' predictions for each sentence with probability one half, and measures how often the difference is as large
as the observed one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperspan.errors import UsageError
from hyperspan.evaluation.matching import Comparison
from hyperspan.evaluation.scores import discontiguous_score_of, score_of

RESAMPLES = 10_000
CONFIDENCE = 0.95

_Floats: TypeAlias = NDArray[np.float64]
_Integers: TypeAlias = NDArray[np.int64]

_DRAWS_AT_ONCE = 2_000_000
_ROUNDING = 1e-12


@dataclass(slots=True)
class SentenceCounts:
    """The counts of each sentence, from which the tests draw: 56 bytes per sentence."""

    _numbers: array[int] = field(default_factory=lambda: array("q"), init=False)

    def add(self, comparison: Comparison) -> None:
        """Count one sentence or document."""
        for score in (score_of(comparison), discontiguous_score_of(comparison)):
            self._numbers.extend((score.tp, score.fp, score.fn))
        self._numbers.append(comparison.gold.is_discontiguous)

    @property
    def _table(self) -> _Integers:
        return np.array(self._numbers, dtype=np.int64).reshape(-1, 7)

    @property
    def all(self) -> _Integers:
        """``tp, fp, fn`` of every sentence, shape (n_sentences, 3)."""
        return self._table[:, 0:3]

    @property
    def discontiguous_mentions(self) -> _Integers:
        """The same over discontiguous mentions only."""
        return self._table[:, 3:6]

    @property
    def discontiguous_sentences(self) -> _Integers:
        """The same as `all`, but only for sentences with a discontiguous gold mention."""
        table = self._table
        return table[table[:, 6] == 1, 0:3]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two systems compared by one F1.

    Attributes
    ----------
    f1, other_f1 : float
        The F1 of the first and of the second system.
    difference : float
        The first minus the second: positive if the first is better.
    low, high : float
        The confidence interval of the difference, from the bootstrap (percentiles).
    p_bootstrap, p_randomisation : float
        The probability of a difference at least as large between equally good systems.
    n_sentences : int
        How many sentences the tests drew from.
    """

    f1: float
    other_f1: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomisation: float
    n_sentences: int

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "f1": self.f1,
            "other_f1": self.other_f1,
            "difference": self.difference,
            "interval": [self.low, self.high],
            "p_bootstrap": self.p_bootstrap,
            "p_randomisation": self.p_randomisation,
            "sentences": self.n_sentences,
        }


@dataclass(frozen=True, slots=True)
class Significance:
    """Two systems compared by three F1 scores, and the settings of the tests."""

    differences: Mapping[str, Difference]
    resamples: int
    confidence: float
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Return what ``evaluate --compare --json`` prints under ``significance``."""
        return {
            **{name: difference.as_dict() for name, difference in self.differences.items()},
            "resamples": self.resamples,
            "confidence": self.confidence,
            "seed": self.seed,
        }


def compare_systems(
    counts: SentenceCounts,
    other: SentenceCounts,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Significance:
    """Test whether two systems differ over all mentions, discontiguous sentences and discontiguous mentions.

    Parameters
    ----------
    counts, other : SentenceCounts
        The counts of the two systems over the same sentences in the same order.
    resamples, confidence, seed
        As in `compare_counts`.

    Examples
    --------
    >>> from hyperspan import Mention, Sentence
    >>> from hyperspan.evaluation import comparisons
    >>> gold = [Sentence(["fever"], [Mention("Finding", [(0, 1)])])] * 20
    >>> counts = {}
    >>> for name, predicted in {"good": gold, "poor": [Sentence(["fever"])] * 12 + gold[12:]}.items():
    ...     counts[name] = SentenceCounts()
    ...     for comparison in comparisons(gold, predicted):
    ...         counts[name].add(comparison)
    >>> found = compare_systems(counts["good"], counts["poor"]).differences["all"]
    >>> round(found.difference, 3), found.p_randomisation < 0.01, found.low > 0
    (0.429, True, True)
    """
    names = ("all", "discontiguous_sentences", "discontiguous_mentions")
    return Significance(
        {
            name: compare_counts(
                getattr(counts, name), getattr(other, name), resamples=resamples, confidence=confidence, seed=seed
            )
            for name in names
        },
        resamples,
        confidence,
        seed,
    )


def compare_counts(
    counts: ArrayLike,
    other: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Difference:
    """Test whether the F1 scores of two systems differ.

    Parameters
    ----------
    counts, other : array of shape (n_sentences, 3)
        ``tp, fp, fn`` of every sentence, the same sentences in the same order.
    resamples : int
        How many samples each test draws. The smallest p-value is ``1 / (resamples + 1)``.
    confidence : float
        The share of the drawn differences that the interval contains.
    seed : int
        The same seed gives the same result, whatever the order of the sentences.

    Returns
    -------
    Difference

    Notes
    -----
    With d the observed difference and d* a drawn one, ``p = (1 + #{|d* - d| >= |d|}) / (1 + resamples)`` for the
    bootstrap (Berg-Kirkpatrick, Burkett and Klein 2012, made two-sided), and ``#{|d*| >= |d|}`` instead for
    randomisation (Noreen 1989; Yeh 2000). Sentences with the same counts are drawn together, from a multinomial and
    from binomials: the distribution is the same, and time depends on how many different counts there are.

    Examples
    --------
    >>> found = compare_counts([[1, 0, 0]] * 30, [[1, 0, 0]] * 30)
    >>> found.difference, found.p_bootstrap, found.p_randomisation
    (0.0, 1.0, 1.0)
    """
    first, second = _checked(counts), _checked(other)
    if len(first) != len(second):
        raise UsageError(
            f"the systems were scored on {len(first)} and {len(second)} sentences; "
            "a paired test needs the same sentences for both"
        )
    if resamples < 1:
        raise UsageError(f"resamples is {resamples}; expected at least 1")
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"confidence is {confidence}; expected a share between 0 and 1")
    rows, repeats = np.unique(np.hstack([_halves(first), _halves(second)]), axis=0, return_counts=True)
    total = repeats @ rows
    f1, other_f1 = (float(value) for value in _f1_pair(total))
    difference = f1 - other_f1
    drawn = _bootstrap(rows, repeats, resamples, np.random.default_rng(seed))
    swapped = _randomise(rows, repeats, resamples, np.random.default_rng(seed))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    return Difference(
        f1,
        other_f1,
        difference,
        float(low),
        float(high),
        _p_value(drawn - difference, difference),
        _p_value(swapped, difference),
        len(first),
    )


def _checked(counts: ArrayLike) -> _Integers:
    array = np.asarray(counts, dtype=np.int64)
    if array.size == 0:
        return array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3 or array.min() < 0:
        raise UsageError(
            f"counts have shape {array.shape}; expected (n_sentences, 3) with tp, fp and fn, none negative"
        )
    return array


def _halves(counts: _Integers) -> _Floats:
    """Return numerator and denominator of F1 for every sentence; they add up over sentences."""
    return np.stack([2 * counts[:, 0], counts @ np.array([2, 1, 1])], axis=1).astype(np.float64)


def _f1_pair(totals: _Floats) -> tuple[_Floats, _Floats]:
    """Return the F1 of both systems from ``(..., 4)`` totals."""
    f1 = totals[..., 0::2] / np.maximum(totals[..., 1::2], 1.0)
    return f1[..., 0], f1[..., 1]


def _bootstrap(rows: _Floats, repeats: _Integers, resamples: int, rng: np.random.Generator) -> _Floats:
    n_sentences = int(repeats.sum())
    if not n_sentences:
        return np.zeros(resamples)
    shares = repeats / n_sentences
    drawn = [
        np.subtract(*_f1_pair(rng.multinomial(n_sentences, shares, size=size) @ rows))
        for size in _batches(resamples, len(rows))
    ]
    return np.concatenate(drawn)


def _randomise(rows: _Floats, repeats: _Integers, resamples: int, rng: np.random.Generator) -> _Floats:
    total = repeats @ rows
    change = np.hstack([rows[:, 2:] - rows[:, :2], rows[:, :2] - rows[:, 2:]])
    differ = np.any(change != 0, axis=1)
    change, repeats = change[differ], repeats[differ]
    drawn = [
        np.subtract(*_f1_pair(total + rng.binomial(repeats, 0.5, size=(size, len(repeats))) @ change))
        for size in _batches(resamples, len(repeats))
    ]
    return np.concatenate(drawn)


def _batches(resamples: int, width: int) -> Iterator[int]:
    size = max(1, _DRAWS_AT_ONCE // max(1, width))
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def _p_value(drawn: _Floats, observed: float) -> float:
    at_least = np.count_nonzero(np.abs(drawn) >= abs(observed) - _ROUNDING)
    return float((1 + at_least) / (1 + len(drawn)))
