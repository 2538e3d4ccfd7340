"""The objective of L-BFGS for ``segments``: the weights of words, of whole spans, and a bias for each label.

The scores of words and spans (`FeatureScores`, twice) are expanded to those of parts, gaps and ends; the gradient goes
the same way back: see `hyperspan.scoring.borders`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.features.spans import SPAN_WORDS
from hyperspan.inference import BatchDistribution, Gold, ScoreBatch, negative_log_likelihood
from hyperspan.learning.feature_scores import FeatureScores, preconditioner_of, steepness
from hyperspan.learning.objective import cut
from hyperspan.learning.parameters import FREQUENT, choose_parameters
from hyperspan.scoring.borders import contract, expand, gold_borders, gold_spans
from hyperspan.scoring.segments import SegmentParameters
from hyperspan.structures import Segments
from hyperspan.structures.segments import GAP, PART
from hyperspan.threads import run

_UNSEEN = 0.5


def segment_prior(structure: Segments, gold: Gold) -> NDArray[np.float64]:
    """Return the score of each label by itself, to which weights are added, and towards which they are regularised.

    Under it mentions start, parts and gaps are as long, and gaps follow parts, about as often as in the gold. At zero
    scores, where every part of every length is as probable as not, the expected counts would be astronomical.
    """
    counts = _UNSEEN + np.bincount(gold.label, minlength=structure.n_labels)
    prior = np.zeros(structure.n_labels)
    segment = structure.segment_of(np.arange(structure.n_labels))
    for type_id in range(len(structure.types)):
        for level in range(structure.max_components):
            here = (segment.type_id == type_id) & (segment.level == level)
            is_part, is_gap = here & (segment.what == PART), here & (segment.what == GAP)
            n_parts = counts[is_part].sum()
            prior[is_part] = np.log(counts[is_part] / (n_parts if level else max(1, gold.first_word[-1])))
            prior[is_gap] = np.log(counts[is_gap] / n_parts)
    return prior


def choose_segment_parameters(
    structure: Segments,
    words: FeatureBlock,
    spans: FeatureBlock,
    gold: Gold,
    n_features: tuple[int, int],
    *,
    frequent: int = FREQUENT,
) -> SegmentParameters:
    """Choose the pairs of features and labels that have weights, for words and for spans.

    Parameters
    ----------
    structure : Segments
    words, spans : FeatureBlock
        Of the training sentences, and of their spans.
    gold : Gold
        Of the same sentences.
    n_features : pair of int
        How many features of words and of spans there are.
    frequent : int
        As in `choose_parameters`.
    """
    made = SegmentParameters.labels_of(structure)
    at_words, at_spans = (placed(labels, gold.word, gold.label) for placed, labels in zip(_PLACED, made, strict=True))
    of_words = Gold(gold.first_word, at_words.place, at_words.label)
    of_spans = Gold(SPAN_WORDS * gold.first_word, at_spans.place, at_spans.label)
    return SegmentParameters(
        segment_prior(structure, gold),
        choose_parameters(made[0], words, of_words, n_features[0], frequent=frequent),
        choose_parameters(made[1], spans, of_spans, n_features[1], frequent=frequent),
    )


_PLACED = (gold_borders, gold_spans)


class SegmentObjective:
    """The negative log-likelihood plus ``l2`` times the squared length of the weights.

    A vector of weights holds the biases of the structure's labels, then the weights of words, then those of spans; they
    are scaled as `FeatureScores` says.

    Parameters
    ----------
    structure : Segments
    words, spans : FeatureBlock
        What the parameters were chosen for.
    gold : Gold
    parameters : SegmentParameters
    distribution : class of BatchDistribution
    group_key, l2, n_threads, dtype
        As in `hyperspan.learning.Objective`.
    """

    def __init__(
        self,
        structure: Segments,
        words: FeatureBlock,
        spans: FeatureBlock,
        gold: Gold,
        parameters: SegmentParameters,
        distribution: type[BatchDistribution[Any]],
        *,
        group_key: NDArray[np.int32] | None = None,
        l2: float = 0.5,
        n_threads: int = 2,
        dtype: type[np.float32 | np.float64] = np.float32,
    ) -> None:
        self.structure = structure
        self.gold = gold
        self.parameters = parameters
        self.distribution = distribution
        self.l2 = l2
        self.n_threads = n_threads
        self._borders, self._span_labels = SegmentParameters.labels_of(structure)
        at_words = gold_borders(self._borders, gold.word, gold.label)
        at_spans = gold_spans(self._span_labels, gold.word, gold.label)
        self._preconditioner = preconditioner_of(steepness(words.n_tokens, gold.label, structure.n_labels))
        self._bias = parameters.prior
        self._words = FeatureScores(
            self._borders,
            words,
            at_words.label,
            parameters.words,
            group_key=group_key,
            n_threads=n_threads,
            dtype=dtype,
        )
        self._spans = FeatureScores(
            self._span_labels, spans, at_spans.label, parameters.spans, n_threads=n_threads, dtype=dtype
        )
        self._chunks = cut(gold.first_word, structure.n_labels)

    def to_model(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights that a model has for each feature."""
        bias, words, spans = self.parameters.split(weights)
        return np.concatenate([self._preconditioner * bias, self._words.to_model(words), self._spans.to_model(spans)])

    def of_model(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of this objective for those of a model."""
        bias, words, spans = self.parameters.split(model)
        return np.concatenate([bias / self._preconditioner, self._words.of_model(words), self._spans.of_model(spans)])

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective to minimise and its gradient."""
        bias, of_words, of_spans = self.parameters.split(weights)
        own = self._preconditioner * bias
        self._bias = self.parameters.prior + own
        value = self.l2 * (float(own @ own) + self._words.use(of_words) + self._spans.use(of_spans))
        parts = run(self.n_threads, self._chunk, len(self._chunks))
        by_bias = 2.0 * self.l2 * own
        for loss, by_label, _, _ in parts:
            value += loss
            by_bias += by_label
        gradient = np.concatenate(
            [
                self._preconditioner * by_bias,
                self._words.gradient(of_words, self.l2, [part[2] for part in parts], []),
                self._spans.gradient(of_spans, self.l2, [part[3] for part in parts], []),
            ]
        )
        return value, gradient

    def _chunk(self, chunk: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the loss of a chunk, its gradient by label, and the residuals of words and spans by their labels."""
        begin, end = self._chunks[chunk]
        gold = self.gold.sentences(begin, end)
        first, last = int(self.gold.first_word[begin]), int(self.gold.first_word[end])
        at_words = self._words.scores(first, last)
        at_spans = self._spans.scores(SPAN_WORDS * first, SPAN_WORDS * last)
        scores = np.empty((last - first, self.structure.n_labels))
        expand(self._borders, self._span_labels, self._bias, at_words, at_spans, gold.first_word, scores)
        over = self.distribution(self.structure, ScoreBatch(scores, gold.first_word))
        loss = negative_log_likelihood(over, gold)
        by_words, by_spans = contract(self._borders, self._span_labels, loss.scores, gold.first_word)
        return (
            loss.value,
            loss.scores.sum(axis=0),
            self._words.keep(by_words, first, last),
            self._spans.keep(by_spans, SPAN_WORDS * first, SPAN_WORDS * last),
        )
