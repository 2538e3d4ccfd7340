"""The objective of training: the negative log-likelihood plus the penalty, and its gradient by the weights.

`FeatureScores` computes the scores of words; the likelihood is computed in chunks of sentences that fit the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.inference import BatchDistribution, Gold, ScoreBatch, negative_log_likelihood
from hyperspan.learning.feature_scores import FeatureScores
from hyperspan.scoring.parameters import Parameters
from hyperspan.structures import Structure
from hyperspan.threads import run

CHUNK_SCORES = 1 << 17
"""The most scores (words times labels) of a chunk, unless a single sentence has more."""

WAITING_NUMBERS = 1 << 22
"""The maximum number of gradients by transition or label waiting to be summed: each chunk has one for each."""

Result = TypeVar("Result")


class ChunkedObjective:
    """The base of objectives: computes the likelihood in chunks of sentences.

    Parameters are those of `Objective`.
    """

    def __init__(
        self,
        structure: Structure,
        gold: Gold,
        distribution: type[BatchDistribution[Any]],
        *,
        l2: float,
        n_threads: int,
    ) -> None:
        self.gold = gold
        self.distribution = distribution
        self.l2 = l2
        self.n_threads = n_threads
        self._chunks = cut(gold.first_word, structure.n_labels)

    def of_chunks(self, work: Callable[[int, int, Gold], Result], n_numbers: int) -> Iterator[Result]:
        """Yield the result of a function for every chunk, in order, with a bounded number of results in memory at once.

        The function gets the first word of the chunk, the first word after it, and its gold. ``n_numbers`` is roughly
        how many numbers a result has.
        """
        n_chunks = len(self._chunks)
        at_once = max(self.n_threads, WAITING_NUMBERS // max(1, n_numbers))
        for first in range(0, n_chunks, at_once):

            def of_chunk(number: int, first: int = first) -> Result:
                begin, end = self._chunks[first + number]
                words = self.gold.first_word
                return work(int(words[begin]), int(words[end]), self.gold.sentences(begin, end))

            yield from run(self.n_threads, of_chunk, min(at_once, n_chunks - first))


class Objective(ChunkedObjective):
    """The negative log-likelihood plus ``l2`` times the squared length of the weights.

    Its weights are the weights of a model, scaled as `FeatureScores` describes.

    Parameters
    ----------
    structure : Structure
    features : FeatureBlock
        The features of the sentences that the parameters were chosen for.
    gold : Gold
    parameters : Parameters
    distribution : class of BatchDistribution
        What the likelihood is over.
    group_key : int32 array of shape (n_features,), optional
        The group key of each feature: features with the same key that occur together at many words are summed once.
    l2 : float
        The penalty; the likelihood is a sum over sentences, not a mean.
    n_threads : int
        The result does not depend on it.
    dtype : float32 or float64
        The precision of scores and counts between the steps of an evaluation: see `FeatureScores`.
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
        super().__init__(structure, gold, distribution, l2=l2, n_threads=n_threads)
        self.structure = structure
        self.parameters = parameters
        self._words = FeatureScores(
            structure, features, gold.label, parameters, group_key=group_key, n_threads=n_threads, dtype=dtype
        )

    def to_model(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert the weights of this objective to those of a model."""
        return self._words.to_model(weights)

    def of_model(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert the weights of a model to those of this objective."""
        return self._words.of_model(model)

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective to minimise and its gradient."""
        value = self.l2 * self._words.use(weights)
        by_label, by_transition = list[NDArray[np.float64]](), np.zeros(self.parameters.n_transitions)
        for loss, of_labels, of_transitions in self.of_chunks(self._of_chunk, self.parameters.n_transitions):
            value += loss
            by_label.append(of_labels)
            by_transition += of_transitions.reshape(-1)
        return value, self._words.gradient(weights, self.l2, by_label, [by_transition])

    def _of_chunk(self, first: int, last: int, gold: Gold) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the loss of a chunk, its residuals by label, and its gradient by transition; store its residuals."""
        batch = ScoreBatch(self._words.scores(first, last), gold.first_word, self._words.transitions)
        loss = negative_log_likelihood(self.distribution(self.structure, batch), gold)
        return loss.value, self._words.keep(loss.scores, first, last), loss.transitions


def cut(first_word: NDArray[np.int64], n_labels: int) -> list[tuple[int, int]]:
    """Split into chunks of whole sentences."""
    most_words = max(1, CHUNK_SCORES // n_labels)
    borders = [0]
    for sentence in range(1, len(first_word)):
        if first_word[sentence] - first_word[borders[-1]] > most_words and sentence - 1 > borders[-1]:
            borders.append(sentence - 1)
    if len(first_word) - 1 > borders[-1]:
        borders.append(len(first_word) - 1)
    return list(pairwise(borders))
