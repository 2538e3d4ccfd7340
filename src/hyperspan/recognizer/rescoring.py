"""Training of a second look: from jackknifed candidates to a mention scorer, and the decision whether to keep it.

A candidate in a training sentence must look like one in a new sentence. So its probability comes from a model that has
not seen its document (`hyperspan.recognizer.folds`), and the counts of strings leave its document out.
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
from hyperspan.learning.logistic import cross_validated, fit_logistic, fit_map, probs_of
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer.checkpoint import Interrupted
from hyperspan.recognizer.folds import Candidates, Folds, folds_of
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.prediction import candidates_in
from hyperspan.recognizer.settings import Settings
from hyperspan.recognizer.training import Trainer, TrainingOptions, document_names
from hyperspan.scoring import Proposal, Proposed
from hyperspan.scoring.candidate_features import features_of
from hyperspan.scoring.candidate_table import COLUMNS, WordCodes, candidates_of, words_of
from hyperspan.scoring.linear_mentions import LinearMentionScorer
from hyperspan.scoring.string_counts import StringCounts

PROPOSAL = Proposal((0.04, 0.01), 100)
"""Which mentions get a second look. Less probable ones cost time; on development data they changed F1 by less than its
standard error, up on one corpus and down on another."""

PENALTIES = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)
"""The penalties to try, strongest first."""

LEAST_COUNT = 2
"""Features of fewer candidates get no weight."""

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
    """Train a mention scorer for a model, and keep it if ``rescore`` says so.

    Parameters
    ----------
    settings : Settings
    first : (Model, Training)
        The model that takes the first look, trained on everything.
    train, dev : list of Sentence
        The sentences that the model was trained with.
    options : TrainingOptions
    trainer : callable
        Trained the model, and trains one for each fold.

    Raises
    ------
    LearningError
        If there is too little training data, and ``rescore`` is ``on``.
    Interrupted
        If training was stopped.
    """
    model, training = first
    try:
        fold = folds_of(train, settings.seed)
        candidates = Folds(replace(settings, l2=training.l2), train, fold, PROPOSAL, trainer, options).candidates()
        _check_candidates(train, candidates)
    except LearningError as error:
        if settings.rescore == "on" or isinstance(error, Interrupted):
            raise
        _log.warning("no second look is taken: %s", error)
        return first
    learned = learn_mentions(model, train, candidates, fold, n_threads=settings.n_threads)
    scorer, gain, slope, shift = learned.scorer, learned.gain, 1.0, 0.0
    measures_dev = any(sentence.mentions for sentence in dev)  # without a gold mention, it says nothing
    if measures_dev:
        proposed = candidates_in(model, PROPOSAL, dev)
        slope, shift = _map_on(dev, proposed, scorer)
        scorer = scorer.mapped(slope, shift)
        gain = _gain_on(dev, proposed, scorer)
    rescored = replace(model, rescorer=scorer)
    keeps = settings.rescore == "on" or gain.is_more_than_chance
    record = {
        "kept": keeps,
        "folds": int(fold.max()) + 1,
        "candidates": sum(map(len, candidates)),
        "recall_by_parts": recall_by_parts(train, candidates),
        "l2": scorer.l2,
        "slope": slope,
        "shift": shift,
        "measured_on": "dev" if measures_dev else "train",
        **gain.as_dict(),
    }
    training = replace(training, rescoring=record)
    if not keeps:
        return model, training
    if not measures_dev:
        # Any scores are those that l2="auto" measured on documents it held out, at first look and another threshold.
        training = replace(training, dev_scores={})
        if not gain.second.is_empty:
            # No model has seen these candidates, so they serve as development data.
            training = replace(training, threshold=gain.second.choose(), threshold_curve=gain.second.rows())
    return rescored, training


def _check_candidates(train: Sequence[Sentence], candidates: Sequence[Candidates]) -> None:
    """Raise an error if candidates tell nothing: none is right, or all are.

    Raises
    ------
    LearningError
        The message says what to do.
    """
    is_right = {mention in each.mentions for each, found in zip(train, candidates, strict=True) for mention in found}
    if is_right == {True, False}:
        return
    here = f"the {len(train):,} training sentences"
    seen = f"every candidate in {here} is right"
    if True not in is_right:
        seen = f"no mention of {here} is found by a model that has not seen it"
    raise LearningError(
        f"{seen}, so a second look has nothing to learn from. Give more training data, or rescore='off'"
    )


@dataclass(frozen=True)
class Gain:
    """The effect of a second look.

    Attributes
    ----------
    first, second : ThresholdCurve
        Without and with a second look, on the same sentences.
    """

    first: ThresholdCurve
    second: ThresholdCurve

    @property
    def difference(self) -> float:
        """The gain in F1, where each curve is taken at the threshold that would be chosen."""
        return float(self.second.row(self.second.choose())["f1"] - self.first.row(self.first.choose())["f1"])

    @property
    def standard_error(self) -> float:
        """The standard error of the difference, by a bootstrap over sentences."""
        return self.second.error_of_difference(self.first)

    @property
    def is_more_than_chance(self) -> bool:
        """Whether F1 rises by more than its standard error, which takes several sentences to have any."""
        return len(self.second.gold) > 1 and self.difference > self.standard_error

    def as_dict(self) -> dict[str, float]:
        """Return the effect as plain data."""
        return {
            "f1_without": float(self.first.row(self.first.choose())["f1"]),
            "f1_with": float(self.second.row(self.second.choose())["f1"]),
            "standard_error": self.standard_error,
        }


@dataclass(frozen=True)
class LearnedMentions:
    """A mention scorer, and its effect on training candidates, with weights that have not seen them."""

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
    rows_of_gold = candidates_of(train, Proposed.of(gold, types), types)
    counts, own = StringCounts.of(words_of(train, WordCodes()), rows_of_gold, _documents_by_name(train))
    scorer = LinearMentionScorer(types, PROPOSAL, counts, FeatureIndex(), np.zeros(0), columns, 0.0, lexicon)
    proposed = Proposed.of(candidates, types)
    first, hashes, values = features_of(scorer.table(train, proposed, own))
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
    second = proposed.mentions(np.arange(proposed.n_rows), probs_of(log_odds))
    learned = replace(scorer, features=kept, weights=weights, l2=l2)
    return LearnedMentions(learned, _gain(train, candidates, second))


def _documents_by_name(train: Sequence[Sentence]) -> NDArray[np.int64]:
    """Return the number of each sentence's document, of which the parts need not be consecutive: as in `folds_of`."""
    names = document_names(train)
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([number_of[name] for name in names], dtype=np.int64)


def _gain(
    sentences: Sequence[Sentence], first: Sequence[Sequence[Mention]], second: Sequence[Sequence[Mention]]
) -> Gain:
    """Return the effect of new probabilities on annotated sentences."""
    return Gain(
        ThresholdCurve.on(sentences, first, _LOWEST_THRESHOLD), ThresholdCurve.on(sentences, second, _LOWEST_THRESHOLD)
    )


def _map_on(dev: Sequence[Sentence], candidates: Proposed, scorer: LinearMentionScorer) -> tuple[float, float]:
    """Return the map that calibrates probabilities on development data.

    Probabilities are calibrated on the training candidates. But those come from models with less training data than
    the final model, which is more confident, and not by as much more accurate.
    """
    is_right = [m in {*each.mentions} for each, here in zip(dev, candidates, strict=True) for m in here]
    return fit_map(scorer.log_odds(dev, candidates), np.array(is_right, dtype=float))


def _gain_on(dev: Sequence[Sentence], candidates: Proposed, scorer: LinearMentionScorer) -> Gain:
    second = candidates.mentions(np.arange(candidates.n_rows), scorer.probs(dev, candidates))
    return _gain(dev, candidates, second)


def recall_by_parts(
    sentences: Sequence[Sentence], candidates: Sequence[Sequence[Mention]]
) -> dict[str, dict[str, Any]]:
    """Return how many gold mentions are among the candidates, by the number of parts.

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
