"""The objective of L-BFGS over the weights of features: the negative log-likelihood plus the penalty, and its gradient.

`FeatureScores` makes the scores of words; the likelihood is made in chunks of sentences that fit the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.inference import BatchDistribution, Gold, ScoreBatch, negative_log_likelihood
from hyperspan.learning.feature_scores import FeatureScores
from hyperspan.scoring.parameters import Parameters
from hyperspan.structures import Structure
from hyperspan.threads import run

CHUNK_SCORES = 1 << 17
"""How many scores (words times labels) a chunk has at the most, unless one sentence has more."""

WAITING_TRANSITIONS = 1 << 22
"""How many numbers by transition wait to be summed at the most: each chunk has as many as there are pairs of tags."""


class Objective:
    """The negative log-likelihood plus ``l2`` times the squared length of the weights.

    Its weights are those of a model, scaled as `FeatureScores` says.

    Parameters
    ----------
    structure : Structure
    features : FeatureBlock
        Of the sentences that the parameters were chosen for.
    gold : Gold
    parameters : Parameters
    distribution : class of BatchDistribution
        What the likelihood is over.
    group_key : int32 array of shape (n_features,), optional
        What each feature looks at: features of the same key that come together at many words are summed once.
    l2 : float
        The penalty; the likelihood is a sum over sentences, not a mean.
    n_threads : int
        The result does not depend on it.
    dtype : float32 or float64
        How scores and counts are kept between the stages of an evaluation: see `FeatureScores`.
    """

    def __init__(
        self,
        structure: Structure,
        features: FeatureBlock,
        gold: Gold,
        parameters: Parameters,
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
        self._words = FeatureScores(
            structure, features, gold.label, parameters, group_key=group_key, n_threads=n_threads, dtype=dtype
        )
        self._chunks = cut(gold.first_word, structure.n_labels)

    def to_model(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights that a model has for each feature."""
        return self._words.to_model(weights)

    def of_model(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of this objective for those of a model."""
        return self._words.of_model(model)

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective to minimise and its gradient."""
        value = self.l2 * self._words.use(weights)
        by_label, by_transition = list[NDArray[np.float64]](), np.zeros(self.parameters.n_transitions)
        for loss, of_labels, of_transitions in self._all_chunks():
            value += loss
            by_label.append(of_labels)
            by_transition += of_transitions.reshape(-1)
        return value, self._words.gradient(weights, self.l2, by_label, [by_transition])

    def _all_chunks(self) -> Iterator[tuple[float, NDArray[np.float64], NDArray[np.float64]]]:
        """Yield what `_chunk` returns for every chunk, in order; never are too many of them there at once."""
        n_chunks = len(self._chunks)
        at_once = max(self.n_threads, WAITING_TRANSITIONS // max(1, self.parameters.n_transitions))
        for first in range(0, n_chunks, at_once):
            yield from run(self.n_threads, partial(self._chunk_from, first), min(at_once, n_chunks - first))

    def _chunk_from(self, first: int, number: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        return self._chunk(first + number)

    def _chunk(self, chunk: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the loss of a chunk, its residuals by label, and its gradient by transition; keep its residuals."""
        begin, end = self._chunks[chunk]
        gold = self.gold.sentences(begin, end)
        first, last = int(self.gold.first_word[begin]), int(self.gold.first_word[end])
        batch = ScoreBatch(self._words.scores(first, last), gold.first_word, self._words.transitions)
        loss = negative_log_likelihood(self.distribution(self.structure, batch), gold)
        return loss.value, self._words.keep(loss.scores, first, last), loss.transitions


def cut(first_word: NDArray[np.int64], n_labels: int) -> list[tuple[int, int]]:
    """Cut sentences into chunks: never inside a sentence."""
    most_words = max(1, CHUNK_SCORES // n_labels)
    borders = [0]
    for sentence in range(1, len(first_word)):
        if first_word[sentence] - first_word[borders[-1]] > most_words and sentence - 1 > borders[-1]:
            borders.append(sentence - 1)
    if len(first_word) - 1 > borders[-1]:
        borders.append(len(first_word) - 1)
    return list(pairwise(borders))
