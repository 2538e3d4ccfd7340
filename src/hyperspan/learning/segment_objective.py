"""The objective of L-BFGS for ``segments``: the weights of words, of whole spans, and a bias for each label.

The scores of words and spans (two `FeatureScores`) are expanded to those of parts, gaps and ends, and the gradient is
propagated back the same way: see `hyperspan.scoring.borders`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.features.spans import SPAN_WORDS
from hyperspan.inference import BatchDistribution, Gold, ScoreBatch, negative_log_likelihood
from hyperspan.learning.feature_scores import FeatureScores, preconditioner_of, steepness
from hyperspan.learning.objective import ChunkedObjective
from hyperspan.learning.parameters import FREQUENT, choose_parameters
from hyperspan.learning.vectors import dot_kernel
from hyperspan.scoring.borders import contract, expand, gold_borders, gold_spans, words_of_roles
from hyperspan.scoring.segments import SegmentParameters
from hyperspan.structures import Segments
from hyperspan.structures.segments import END, GAP, PART

TYPE_SCORES = 1 << 20
"""How many scores of segments a chunk has at a time: types are summed over in groups, unless one type has more."""

SIBLINGS = 1e-4
"""The odds under the prior that a second part, end or gap follows where one does already."""

_UNSEEN = 0.5

Numbers = NDArray[np.float64]


def segment_prior(structure: Segments, gold: Gold) -> NDArray[np.float64]:
    """Return the prior: the score of each label, to which weights are added and towards which they are regularised.

    With it, mentions, lengths of parts and gaps, and gaps after parts are about as frequent as in the gold data. The
    probability of a part or gap also depends on what can follow it, so levels are handled from the last to the first
    and the contribution of what follows is subtracted. Wherever one of several parts, or an end or a gap, must follow,
    all of them get small odds (`SIBLINGS`), because two of them are rare. With zero scores every part of every length
    would have probability one half, and expected counts would be astronomical.
    """
    counts = np.bincount(gold.label, minlength=structure.n_labels)
    prior = np.zeros(structure.n_labels)
    segment = structure.segment_of(np.arange(structure.n_labels))
    for type_id in range(len(structure.types)):
        log_begin = 0.0
        for level in reversed(range(structure.max_components)):
            here = (segment.type_id == type_id) & (segment.level == level)
            is_part, is_gap, is_end = (here & (segment.what == what) for what in (PART, GAP, END))
            n_parts = _UNSEEN + counts[is_part].sum()
            log_after = 0.0
            if is_end.any():
                ends = SIBLINGS * _smoothed(counts[is_end]) / n_parts
                gaps = SIBLINGS * _smoothed(counts[is_gap]) / n_parts
                prior[is_end], prior[is_gap] = np.log(ends), np.log(gaps) - log_begin
                log_after = _log_any(np.concatenate([ends, gaps]))
            parts = _smoothed(counts[is_part]) * (SIBLINGS / n_parts if level else 1 / max(1, gold.first_word[-1]))
            prior[is_part] = np.log(parts) - log_after
            log_begin = _log_any(parts)
    return prior


def _smoothed(counts: NDArray[np.int64]) -> Numbers:
    """Return counts to which a little is added in all, so that none is zero."""
    return counts.astype(np.float64) + _UNSEEN / max(1, len(counts))


def _log_any(odds: Numbers) -> float:
    """Return the log odds of having any of several independent children."""
    return float(np.log(np.expm1(np.log1p(odds).sum())))


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
        The features of the training sentences, and of their spans.
    gold : Gold
        The gold of the same sentences.
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


class SegmentObjective(ChunkedObjective):
    """The negative log-likelihood plus ``l2`` times the squared length of the weights.

    A vector of weights has the biases of the structure's labels, then the weights of words, then those of spans, scaled
    as `FeatureScores` describes.

    Parameters
    ----------
    structure : Segments
    words, spans : FeatureBlock
        The features that the parameters were chosen for.
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
        super().__init__(structure, gold, distribution, l2=l2, n_threads=n_threads)
        self.structure = structure
        self.parameters = parameters
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
            words_of_label=words_of_roles(self._borders, gold.label),
            n_threads=n_threads,
            dtype=dtype,
        )
        self._spans = FeatureScores(
            self._span_labels, spans, at_spans.label, parameters.spans, n_threads=n_threads, dtype=dtype
        )

    def to_model(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert the weights of this objective to those of a model."""
        bias, words, spans = self.parameters.split(weights)
        return np.concatenate([self._preconditioner * bias, self._words.to_model(words), self._spans.to_model(spans)])

    def of_model(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert the weights of a model to those of this objective."""
        bias, words, spans = self.parameters.split(model)
        return np.concatenate([bias / self._preconditioner, self._words.of_model(words), self._spans.of_model(spans)])

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective to minimise and its gradient."""
        bias, of_words, of_spans = self.parameters.split(weights)
        own = self._preconditioner * bias
        self._bias = self.parameters.prior + own
        value = self.l2 * (float(dot_kernel(own, own)) + self._words.use(of_words) + self._spans.use(of_spans))
        by_bias, by_words, by_spans = 2.0 * self.l2 * own, list[Numbers](), list[Numbers]()
        n_numbers = self.structure.n_labels + self._borders.n_labels + self._span_labels.n_labels
        for loss, of_labels, of_borders, of_whole in self.of_chunks(self._of_chunk, n_numbers):
            value += loss
            by_bias += of_labels
            by_words.append(of_borders)
            by_spans.append(of_whole)
        gradient = np.concatenate(
            [
                self._preconditioner * by_bias,
                self._words.gradient(of_words, self.l2, by_words, []),
                self._spans.gradient(of_spans, self.l2, by_spans, []),
            ]
        )
        return value, gradient

    def _of_chunk(self, first: int, last: int, gold: Gold) -> tuple[float, Numbers, Numbers, Numbers]:
        """Return the loss of a chunk, its gradient by label, and the residuals of words and spans by their labels.

        The scores of words and spans give way to their gradients, type by type.
        """
        at_words = self._words.scores(first, last)
        at_spans = self._spans.scores(SPAN_WORDS * first, SPAN_WORDS * last)
        made, value, by_label = (self._borders, self._span_labels), 0.0, np.empty(self.structure.n_labels)
        for types in self.structure.groups_of_types(last - first, TYPE_SCORES):
            some, labels = self.structure.of_types(types), self.structure.labels_of_types(types)
            scores = np.empty((last - first, some.n_labels))
            expand(*made, self._bias, at_words, at_spans, gold.first_word, scores, types.start)
            over = self.distribution(some, ScoreBatch(scores, gold.first_word))
            loss = negative_log_likelihood(over, gold.labels(labels.start, labels.stop))
            contract(*made, loss.scores, gold.first_word, at_words, at_spans, types.start)
            value += loss.value
            by_label[labels] = loss.scores.sum(axis=0)
        return (
            value,
            by_label,
            self._words.keep(at_words, first, last),
            self._spans.keep(at_spans, SPAN_WORDS * first, SPAN_WORDS * last),
        )
