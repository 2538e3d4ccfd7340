"""Training of a second look: from jackknifed candidates to a mention scorer, and whether it is worth keeping.

A candidate of a training sentence must look as one of a new sentence will: its probability comes from a model that has
not seen its document (`hyperspan.recognizer.folds`), and what its document adds to the counts of strings is taken off.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hyperspan.errors import LearningError
from hyperspan.features import FeatureIndex
from hyperspan.learning import ThresholdCurve
from hyperspan.learning.logistic import cross_validated, fit_logistic, probs_of
from hyperspan.mentions import Mention, Sentence, unchecked_mention
from hyperspan.recognizer.folds import Candidates, Folds, folds_of
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.prediction import first_look
from hyperspan.recognizer.settings import Settings
from hyperspan.recognizer.training import Trainer, TrainingOptions
from hyperspan.scoring import Proposal
from hyperspan.scoring.candidate_features import features_of
from hyperspan.scoring.candidate_table import COLUMNS, WordCodes, candidates_of, documents_of, words_of
from hyperspan.scoring.linear_mentions import LinearMentionScorer
from hyperspan.scoring.string_counts import StringCounts

PROPOSAL = Proposal((0.03, 0.005), 100)
"""Which mentions get a second look: those of several parts at a sixth of the probability. Lower ones cost time, and
moved F1 on development data by up to a point, up on one corpus and down on another."""

PENALTIES = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)
"""Those that are tried, strongest first."""

LEAST_COUNT = 2
"""Features of fewer candidates have no weight."""

_LOWEST_THRESHOLD = 0.05

_log = logging.getLogger(__name__)


def take_second_look(
    settings: Settings,
    first: tuple[Model, Training],
    train: list[Sentence],
    dev: list[Sentence],
    options: TrainingOptions,
    trainer: Trainer,
) -> tuple[Model, Training]:
    """Train a mention scorer for a model, and keep it as ``rescore`` says.

    Parameters
    ----------
    settings : Settings
    first : (Model, Training)
        The model that takes the first look, trained on everything.
    train, dev : list of Sentence
        As the model was trained with.
    options : TrainingOptions
    trainer : callable
        Who trained the model, and will train one for each fold.

    Raises
    ------
    LearningError
        If there is too little to learn from, and ``rescore`` is ``on``.
    """
    model, training = first
    try:
        fold = folds_of(train, settings.seed)
    except LearningError as error:
        if settings.rescore == "on":
            raise
        _log.warning("no second look is taken: %s", error)
        return first
    same_penalty = replace(settings, l2=training.l2)
    candidates = Folds(same_penalty, train, fold, PROPOSAL, trainer, options).candidates()
    if not any(
        mention in sentence.mentions for sentence, here in zip(train, candidates, strict=True) for mention in here
    ):
        return first if settings.rescore == "auto" else _refuse(train)
    learned = learn_mentions(model, train, candidates, fold, n_threads=settings.n_threads)
    rescored = replace(model, rescorer=learned.scorer)
    gain = _gain_on(dev, model, learned.scorer) if dev else learned.gain
    keeps = settings.rescore == "on" or gain.difference > gain.standard_error
    record = {
        "kept": keeps,
        "folds": int(fold.max()) + 1,
        "candidates": sum(map(len, candidates)),
        "recall_by_parts": recall_by_parts(train, candidates),
        "l2": learned.scorer.l2,
        "measured_on": "dev" if dev else "train",
        **gain.as_dict(),
    }
    if not keeps:
        return model, replace(training, rescoring=record)
    training = replace(training, rescoring=record)
    if not dev:  # candidates that nobody has seen are as good as development data
        training = replace(training, threshold=gain.second.choose(), threshold_curve=gain.second.rows())
    return rescored, training


def _refuse(train: Sequence[Sentence]) -> tuple[Model, Training]:
    raise LearningError(
        f"no mention of the {len(train):,} training sentences is found by a model that has not seen it, so there is "
        "nothing to learn for a second look. Give more training data, or rescore='off'"
    )


@dataclass(frozen=True)
class Gain:
    """What a second look changes.

    Attributes
    ----------
    first, second : ThresholdCurve
        Without and with it, on the same sentences.
    """

    first: ThresholdCurve
    second: ThresholdCurve

    @property
    def difference(self) -> float:
        """How much F1 rises, each at the threshold that would be chosen."""
        return float(self.second.row(self.second.choose())["f1"] - self.first.row(self.first.choose())["f1"])

    @property
    def standard_error(self) -> float:
        """The standard error of the difference, by a bootstrap over sentences."""
        return self.second.error_of_difference(self.first)

    def as_dict(self) -> dict[str, float]:
        """Return it as plain data."""
        return {
            "f1_without": float(self.first.row(self.first.choose())["f1"]),
            "f1_with": float(self.second.row(self.second.choose())["f1"]),
            "standard_error": self.standard_error,
        }


@dataclass(frozen=True)
class LearnedMentions:
    """A mention scorer, and what it changes on training candidates, by weights that have not seen them."""

    scorer: LinearMentionScorer
    gain: Gain


def learn_mentions(
    model: Model,
    train: Sequence[Sentence],
    candidates: Sequence[Candidates],
    fold: NDArray[np.int64],
    *,
    n_threads: int = 1,
) -> LearnedMentions:
    """Learn the weights of a linear mention scorer; the penalty is chosen by cross-validation over the same folds."""
    types, lexicon = model.structure.types, model.scorer.settings().get("lexicon")
    columns = tuple(name for name in COLUMNS if all(name in sentence.columns for sentence in train))
    gold = [sentence.mentions for sentence in train]
    type_ids = {type: number for number, type in enumerate(types)}
    rows_of_gold = candidates_of(train, gold, documents_of(train), type_ids)
    counts, own = StringCounts.of(words_of(train, WordCodes()), rows_of_gold)
    scorer = LinearMentionScorer(types, PROPOSAL, counts, FeatureIndex(), np.zeros(0), columns, 0.0, lexicon)
    first, hashes, values = features_of(scorer.table(train, candidates, own))
    every = FeatureIndex()
    ids = every.add(hashes)
    kept, new_id = every.at_least(LEAST_COUNT)
    rows = np.repeat(np.arange(len(first) - 1), np.diff(first))
    has_weight = new_id[ids] >= 0
    shape = (len(first) - 1, len(kept))
    features = csr_array((values[has_weight], (rows[has_weight], new_id[ids[has_weight]])), shape=shape)
    is_right = np.array(
        [m in {*known} for known, here in zip(gold, candidates, strict=True) for m in here], dtype=float
    )
    fold_of_row = np.repeat(fold, list(map(len, candidates)))
    l2, log_odds = cross_validated(features, is_right, fold_of_row, PENALTIES, n_threads)
    weights = fit_logistic(features, is_right, l2)
    probs = iter(probs_of(log_odds).tolist())
    second = [with_probs(here, [next(probs) for _ in here]) for here in candidates]
    learned = replace(scorer, features=kept, weights=weights, l2=l2)
    return LearnedMentions(learned, Gain(_curve(gold, candidates), _curve(gold, second)))


def with_probs(mentions: Sequence[Mention], probs: Sequence[float]) -> Candidates:
    """Return the same mentions with other probabilities."""
    pairs = zip(mentions, probs, strict=True)
    return tuple(unchecked_mention(mention.type, mention.parts, prob) for mention, prob in pairs)


def _curve(gold: Sequence[Sequence[Mention]], candidates: Sequence[Sequence[Mention]]) -> ThresholdCurve:
    return ThresholdCurve.of(gold, candidates, _LOWEST_THRESHOLD)


def _gain_on(dev: Sequence[Sentence], model: Model, scorer: LinearMentionScorer) -> Gain:
    candidates = [here.candidates for here in first_look(model, scorer.proposal, dev)]
    second = [with_probs(*each) for each in zip(candidates, scorer.probs(dev, candidates), strict=True)]
    gold = [sentence.mentions for sentence in dev]
    return Gain(_curve(gold, candidates), _curve(gold, second))


def recall_by_parts(
    sentences: Sequence[Sentence], candidates: Sequence[Sequence[Mention]]
) -> dict[str, dict[str, Any]]:
    """Return how many gold mentions are among the candidates, by number of parts.

    Examples
    --------
    >>> mention = Mention("Finding", [(0, 1), (2, 3)])
    >>> recall_by_parts([Sentence(["a", "b", "c"], [mention])], [[mention]])
    {'2': {'gold': 1, 'found': 1, 'recall': 1.0}}
    """
    counts: dict[int, list[int]] = {}
    for sentence, here in zip(sentences, candidates, strict=True):
        found = {*here}
        for mention in sentence.mentions:
            of_parts = counts.setdefault(len(mention.parts), [0, 0])
            of_parts[0] += 1
            of_parts[1] += mention in found
    return {
        str(n_parts): {"gold": gold, "found": found, "recall": found / gold}
        for n_parts, (gold, found) in sorted(counts.items())
    }
