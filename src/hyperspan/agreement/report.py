"""Compute every measure of agreement, for each pair of annotators and for all together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hyperspan.agreement.chance import ROTATIONS, Gamma, Watch, gamma, or_none, unwatched
from hyperspan.agreement.coefficients import Alpha, Kappa, masi_distance
from hyperspan.agreement.confusion import Confusion
from hyperspan.agreement.documents import Shared, SharedDocument
from hyperspan.agreement.words import parts_of_words, rows_of, types_of_words
from hyperspan.errors import UsageError
from hyperspan.evaluation import Comparison, Evaluation, Score, Scorer
from hyperspan.evaluation.matching import most_partners
from hyperspan.evaluation.scores import score_of
from hyperspan.mentions import Mention

RESAMPLES = 1_000
CONFIDENCE = 0.95

_AT_ONCE = 100


class _Measure(Protocol):
    """A measure that can be recomputed on resampled documents."""

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value for each row of weights."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure with its bootstrap interval over documents; None if unknown."""

    value: float
    low: float | None = None
    high: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return value and interval as plain data."""
        return {"value": or_none(self.value), "interval": None if self.low is None else [self.low, self.high]}


@dataclass(frozen=True, slots=True)
class F1Counts:
    """The right, spurious and missed mentions of every document, whose F1 can be resampled."""

    counts: NDArray[np.float64]

    def value(self) -> float:
        """Return F1; NaN if there is nothing to count."""
        return float(self.resampled(np.ones((1, len(self.counts))))[0])

    def resampled(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return F1 for each row of weights: how often each document is drawn."""
        right, spurious, missed = (weights @ self.counts).T
        with np.errstate(invalid="ignore", divide="ignore"):
            found: NDArray[np.float64] = 2 * right / (2 * right + spurious + missed)
        return found


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of two annotators.

    Attributes
    ----------
    first, second : str
        ``scores`` treats the first as gold: precision and recall swap with the order, F1 does not.
    scores : Evaluation
        All scores of ``hyperspan evaluate``. ``discontiguous_sentences`` are those in which either has such a mention.
    f1, relaxed_f1, kappa, gamma : Measured
        With their intervals. κ is over words; the value of a word is the set of types of its mentions.
    chance : Gamma
        The components of ``gamma``.
    confusion : Confusion
    """

    first: str
    second: str
    scores: Evaluation
    f1: Measured
    relaxed_f1: Measured
    kappa: Measured
    gamma: Measured
    chance: Gamma
    confusion: Confusion

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "annotators": [self.first, self.second],
            "f1": self.f1.as_dict(),
            "relaxed_f1": self.relaxed_f1.as_dict(),
            "kappa": self.kappa.as_dict(),
            "gamma": {**self.chance.as_dict(), "interval": self.gamma.as_dict()["interval"]},
            "scores": self.scores.as_dict(),
            "confusion": self.confusion.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class ClassAgreement:
    """Agreement on one type or one document, as the mean over the pairs of annotators for which it is defined.

    Attributes
    ----------
    f1, relaxed_f1, kappa : float
        NaN if nobody has a mention; κ also if chance alone gives full agreement.
    cost : float
        The cost of the differences (see `hyperspan.agreement.alignment`); for a document only, otherwise 0.
    n_mentions : mapping of str to int
        By annotator.
    """

    f1: float
    relaxed_f1: float
    kappa: float
    cost: float
    n_mentions: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "f1": or_none(self.f1),
            "relaxed_f1": or_none(self.relaxed_f1),
            "kappa": or_none(self.kappa),
            "mentions": dict(self.n_mentions),
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """Everything that ``hyperspan agree`` reports.

    Attributes
    ----------
    pairs : tuple of PairAgreement
    alpha : Measured
        Krippendorff's α of all annotators over words, with the MASI distance; the value of a word is the set of parts
        that contain it.
    by_type, by_document : mapping of str to ClassAgreement
    """

    shared: Shared
    pairs: tuple[PairAgreement, ...]
    alpha: Measured
    by_type: Mapping[str, ClassAgreement]
    by_document: Mapping[str, ClassAgreement]
    resamples: int
    confidence: float
    seed: int

    def mean(self, name: str) -> float:
        """Return the mean over pairs of ``f1``, ``relaxed_f1``, ``kappa`` or ``gamma``."""
        return mean(getattr(pair, name).value for pair in self.pairs)

    def as_dict(self) -> dict[str, Any]:
        """Return what ``agree --json`` prints."""
        by_document = [{"doc": doc, **found.as_dict(), "cost": found.cost} for doc, found in self.by_document.items()]
        return {
            "annotators": list(self.shared.annotators),
            "documents": len(self.shared.documents),
            "lacking": {name: list(docs) for name, docs in self.shared.lacking.items()},
            "mean": {name: or_none(self.mean(name)) for name in ("f1", "relaxed_f1", "kappa", "gamma")},
            "alpha": self.alpha.as_dict(),
            "pairs": [pair.as_dict() for pair in self.pairs],
            "by_type": {type: found.as_dict() for type, found in self.by_type.items()},
            "by_document": by_document,
            "resamples": self.resamples,
            "confidence": self.confidence,
            "seed": self.seed,
        }


def mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if all are."""
    numbers = [value for value in values if not np.isnan(value)]
    return float(np.mean(numbers)) if numbers else float("nan")


def agreement(
    shared: Shared,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    n_rotations: int = ROTATIONS,
    seed: int = 0,
    watch: Watch = unwatched,
) -> Agreement:
    """Measure the agreement of annotators.

    Parameters
    ----------
    shared : Shared
        See `share`.
    resamples : int
        The number of bootstrap samples of documents for the intervals.
    confidence : float
        The share of the drawn values that an interval contains.
    n_rotations, seed, watch
        As in `gamma`.

    Raises
    ------
    UsageError
        If no two annotators have a document in common.

    Examples
    --------
    >>> from hyperspan import Mention, Sentence
    >>> from hyperspan.agreement import share
    >>> words = "Infarctions either water shed or embolic".split()
    >>> ann = Sentence(words, [Mention("Finding", [(0, 1), (2, 4)]), Mention("Finding", [(0, 1), (5, 6)])], doc="a")
    >>> bob = Sentence(words, [Mention("Finding", [(0, 1), (2, 4)]), Mention("Finding", [(5, 6)])], doc="a")
    >>> (pair,) = agreement(share({"ann": [ann], "bob": [bob]})).pairs
    >>> pair.f1.value, pair.relaxed_f1.value, round(pair.kappa.value, 3), pair.confusion.boundaries["start"]
    (0.5, 1.0, 1.0, 1)
    """
    if not shared.documents:
        raise UsageError(
            f"{', '.join(shared.annotators)} have no document in common; the documents of annotators go by their names"
        )
    how = _Resampling(resamples, confidence, seed)
    tallies = [_Tally(first, second, shared.of(first, second), watch) for first, second in shared.pairs()]
    tallies = [tally for tally in tallies if tally.documents]
    pairs = tuple(tally.agreement(how, n_rotations, watch) for tally in tallies)
    alpha = Alpha([rows_of(each, shared.annotators, parts_of_words) for each in shared.documents], masi_distance)
    types = sorted({mention.type for each in shared.documents for mention in _mentions(each)})
    return Agreement(
        shared,
        pairs,
        how.measured(alpha, alpha.value(), len(shared.documents)),
        {type: _of_type(type, tallies, shared) for type in types},
        _by_document(shared, tallies, pairs),
        resamples,
        confidence,
        seed,
    )


@dataclass(frozen=True, slots=True)
class _Resampling:
    resamples: int
    confidence: float
    seed: int

    def measured(self, measure: _Measure, value: float, n_documents: int) -> Measured:
        """Return a value with its interval, which is missing for fewer than two documents."""
        if n_documents < 2 or not self.resamples or np.isnan(value):
            return Measured(value)
        rng = np.random.default_rng(self.seed)
        drawn = []
        for begin in range(0, self.resamples, _AT_ONCE):
            size = min(_AT_ONCE, self.resamples - begin)
            weights = rng.multinomial(n_documents, np.full(n_documents, 1 / n_documents), size=size)
            drawn.append(measure.resampled(weights.astype(np.float64)))
        values = np.concatenate(drawn)
        values = values[~np.isnan(values)]
        if not len(values):
            return Measured(value)
        tail = (1.0 - self.confidence) / 2.0
        low, high = np.quantile(values, [tail, 1.0 - tail])
        return Measured(value, float(low), float(high))


class _Tally:
    """The counts for two annotators from one pass over the documents that both have."""

    def __init__(self, first: str, second: str, documents: Sequence[SharedDocument], watch: Watch) -> None:
        self.first, self.second, self.documents = first, second, documents
        self.scorer, self.either, self.confusion = Scorer(), Score(), Confusion()
        self.exact: list[Score] = []
        self.relaxed: list[Score] = []
        self.exact_of_type: defaultdict[str, Score] = defaultdict(Score)
        self.relaxed_of_type: defaultdict[str, Score] = defaultdict(Score)
        self.rows = [rows_of(shared, (first, second), types_of_words) for shared in documents]
        for shared in watch(documents, f"Comparing {first} and {second}", len(documents)):
            self._add(shared)

    def _add(self, shared: SharedDocument) -> None:
        of_document = Scorer()
        for comparison in shared.comparisons(self.first, self.second):
            self.scorer.add(comparison)
            of_document.add(comparison)
            if comparison.gold.is_discontiguous or comparison.predicted.is_discontiguous:
                self.either += score_of(comparison)
            for type in {mention.type for mention in (*comparison.gold_mentions, *comparison.spurious)}:
                self.exact_of_type[type] += _exact(comparison, type)
                self.relaxed_of_type[type] += _relaxed(comparison, type)
        found = of_document.result()
        self.exact.append(found.all)
        self.relaxed.append(found.relaxed)
        for sentence in shared.sentences:
            self.confusion.add(sentence, self.first, self.second)

    def agreement(self, how: _Resampling, n_rotations: int, watch: Watch) -> PairAgreement:
        """Return every measure with its interval."""
        n = len(self.documents)
        exact, relaxed, kappa = F1Counts(_table(self.exact)), F1Counts(_table(self.relaxed)), Kappa(self.rows)
        chance = gamma(self.documents, self.first, self.second, n_rotations=n_rotations, seed=how.seed, watch=watch)
        return PairAgreement(
            self.first,
            self.second,
            replace(self.scorer.result(), discontiguous_sentences=self.either),
            how.measured(exact, exact.value(), n),
            how.measured(relaxed, relaxed.value(), n),
            how.measured(kappa, kappa.value(), n),
            how.measured(chance, chance.value, n),
            chance,
            self.confusion,
        )


def _table(scores: Sequence[Score]) -> NDArray[np.float64]:
    return np.array([(score.tp, score.fp, score.fn) for score in scores], dtype=np.float64).reshape(-1, 3)


def _f1(score: Score) -> float:
    return float("nan") if score.is_empty else score.f1


def _exact(comparison: Comparison, type: str) -> Score:
    kinds = (comparison.right, comparison.spurious, comparison.missed)
    return Score(*(sum(mention.type == type for mention in kind) for kind in kinds))


def _relaxed(comparison: Comparison, type: str) -> Score:
    ours, theirs = (
        [mention for mention in mentions if mention.type == type]
        for mentions in (comparison.gold_mentions, comparison.predicted_mentions)
    )
    shared = most_partners(comparison.words_of(ours), comparison.words_of(theirs))
    return Score(shared, len(theirs) - shared, len(ours) - shared)


def _mentions(shared: SharedDocument) -> Iterator[Mention]:
    return (mention for units in shared.units.values() for unit in units for mention in unit.mentions)


def _of_type(type: str, tallies: Sequence[_Tally], shared: Shared) -> ClassAgreement:
    kappas = [
        Kappa([rows_of(each, (tally.first, tally.second), types_of_words, type) for each in tally.documents]).value()
        for tally in tallies
    ]
    n_mentions = {
        annotator: sum(
            mention.type == type
            for each in shared.documents
            for unit in each.units.get(annotator, ())
            for mention in unit.mentions
        )
        for annotator in shared.annotators
    }
    return ClassAgreement(
        mean(_f1(tally.exact_of_type[type]) for tally in tallies),
        mean(_f1(tally.relaxed_of_type[type]) for tally in tallies),
        mean(kappas),
        0.0,
        n_mentions,
    )


def _by_document(
    shared: Shared, tallies: Sequence[_Tally], pairs: Sequence[PairAgreement]
) -> dict[str, ClassAgreement]:
    found: defaultdict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for tally, pair in zip(tallies, pairs, strict=True):
        for each, exact, relaxed, rows, cost in zip(
            tally.documents, tally.exact, tally.relaxed, tally.rows, pair.chance.costs.tolist(), strict=True
        ):
            found[each.doc].append((_f1(exact), _f1(relaxed), Kappa([rows]).value(), cost))
    by_document = {}
    for each in shared.documents:
        f1, relaxed_f1, kappa, cost = (mean(values) for values in zip(*found[each.doc], strict=True))
        n_mentions = {name: sum(len(unit.mentions) for unit in units) for name, units in each.units.items()}
        by_document[each.doc] = ClassAgreement(f1, relaxed_f1, kappa, cost, n_mentions)
    return by_document
