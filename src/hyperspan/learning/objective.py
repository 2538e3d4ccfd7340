"""The objective of L-BFGS over the weights of features: the negative log-likelihood plus the penalty, and its gradient.

An evaluation has four stages: the scores of feature groups; for chunks of sentences that fit the cache the scores of
words, the likelihood, and the residuals (empirical minus expected counts); these residuals summed for groups; and the
gradient of each row from the residuals of its words and groups. Every number is made by one thread in a fixed order, so
the result is the same whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.features.index import drop_unknown
from hyperspan.inference import BatchDistribution, Gold, ScoreBatch, negative_log_likelihood
from hyperspan.learning.feature_groups import group_rows
from hyperspan.learning.gradient_kernels import (
    Pairs,
    group_residuals_kernel,
    group_scores_kernel,
    residual_kernel,
    row_gradient_kernel,
    scale_kernel,
    word_scores_kernel,
)
from hyperspan.learning.sparse import Lists
from hyperspan.learning.vectors import dot_kernel
from hyperspan.scoring.parameters import Parameters, first_of_rows
from hyperspan.structures import Structure
from hyperspan.threads import run

CHUNK_SCORES = 1 << 17
"""How many scores (words times labels) a chunk has at the most, unless one sentence has more."""

WAITING_TRANSITIONS = 1 << 22
"""How many numbers by transition wait to be summed at the most: each chunk has as many as there are pairs of tags."""

N_TASKS = 16
"""Into how many pieces of about equal work rows and groups are cut, for threads to take."""


class Objective:
    """The negative log-likelihood plus ``l2`` times the squared length of the weights.

    Its weights are those of a model, scaled. Those of a row of several features are multiplied by the root of how many
    they are, so that the row counts as much in the penalty as its features would. And each is divided by a diagonal
    *preconditioner*, about the inverse third root of how steep the objective is along it: a weight that many words
    depend on must be set more finely than one for a single word, and a search takes a third of the steps where all are
    about as steep. `to_model` and `of_model` go from one to the other.

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
        How scores and counts are kept between the stages; sums are in double precision in any case. What must come
        from memory takes most of the time, and single precision is half of it.
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
        n_columns = len(parameters.dense_label)
        column_of_label = np.zeros(parameters.n_labels, dtype=np.int16 if n_columns < 1 << 15 else np.int32)
        column_of_label[parameters.dense_label] = np.arange(n_columns)
        n_features_of_row = np.bincount(parameters.row_of_feature, minlength=parameters.n_rows)
        self._pairs = pairs = Pairs.of_columns(parameters.first_pair, column_of_label[parameters.pair_label], n_columns)
        self._scale = np.sqrt(n_features_of_row.astype(np.float64))
        self._preconditioner = _preconditioner(features, gold, parameters)
        self._scaled = np.zeros(len(pairs.column), dtype)
        self._grouped = group_rows(*_rows_of_words(features, parameters, group_key))
        self._place_of_use = pairs.place[self._grouped.rows.item]
        self._size_of_use = np.diff(parameters.first_pair)[self._grouped.rows.item].astype(np.int32)
        n_groups = self._grouped.of_group.n_lists
        self._words_of_row = self._grouped.rows.transposed(parameters.n_rows)
        self._groups_of_row = self._grouped.of_group.transposed(parameters.n_rows)
        self._words_of_group = self._grouped.groups.transposed(n_groups)
        self._group_scores = np.empty(n_groups * pairs.width, dtype)
        self._group_residual = np.empty(n_groups * pairs.width, dtype)
        self._residual = np.zeros(features.n_tokens * pairs.width, dtype)
        self._chunks = self._cut()
        self._tasks_of_groups = _tasks(np.diff(self._grouped.of_group.first) + np.diff(self._words_of_group.first))
        n_pairs = np.diff(parameters.first_pair)
        n_uses = np.diff(self._words_of_row.first) + np.diff(self._groups_of_row.first)
        self._tasks_of_rows = _tasks(n_pairs * (1 + n_uses))

    def _cut(self) -> list[tuple[int, int]]:
        """Cut the sentences into chunks: never inside a sentence."""
        most_words = max(1, CHUNK_SCORES // self.structure.n_labels)
        first_word = self.gold.first_word
        borders = [0]
        for sentence in range(1, len(first_word)):
            if first_word[sentence] - first_word[borders[-1]] > most_words and sentence - 1 > borders[-1]:
                borders.append(sentence - 1)
        if len(first_word) - 1 > borders[-1]:
            borders.append(len(first_word) - 1)
        return list(pairwise(borders))

    def to_model(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights that a model has for each feature."""
        model = self._preconditioner * weights
        model[self.parameters.n_shared :] /= np.repeat(self._scale, np.diff(self.parameters.first_pair))
        return model

    def of_model(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of this objective for those of a model."""
        weights = model / self._preconditioner
        weights[self.parameters.n_shared :] *= np.repeat(self._scale, np.diff(self.parameters.first_pair))
        return weights

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective to minimise and its gradient."""
        n_labels, n_shared = self.parameters.n_labels, self.parameters.n_shared
        shared_weight = self._preconditioner[:n_shared] * weights[:n_shared]
        pair_preconditioner, pair_weight = self._preconditioner[n_shared:], weights[n_shared:]
        bias, transitions, _ = self.parameters.split(shared_weight, self.structure.weightless_labels)
        gradient = np.empty(self.parameters.n_weights)
        grouped, pairs = self._grouped, self._pairs

        def scale(task: int) -> float:
            begin, end = self._tasks_of_rows[task : task + 2]
            return float(scale_kernel(pairs, self._scale, pair_preconditioner, begin, end, pair_weight, self._scaled))

        def score_groups(task: int) -> None:
            begin, end = self._tasks_of_groups[task : task + 2]
            group_scores_kernel(pairs, self._scaled, *grouped.of_group, begin, end, self._group_scores)

        def sum_residuals(task: int) -> None:
            begin, end = self._tasks_of_groups[task : task + 2]
            group_residuals_kernel(pairs.width, *self._words_of_group, self._residual, begin, end, self._group_residual)

        def add_up(task: int) -> None:
            begin, end = self._tasks_of_rows[task : task + 2]
            row_gradient_kernel(
                pairs,
                self._scale,
                pair_preconditioner,
                pair_weight,
                self.l2,
                *self._words_of_row,
                self._residual,
                *self._groups_of_row,
                self._group_residual,
                begin,
                end,
                gradient[n_shared:],
            )

        squares = run(self.n_threads, scale, len(self._tasks_of_rows) - 1)
        run(self.n_threads, score_groups, len(self._tasks_of_groups) - 1)
        value = self.l2 * (dot_kernel(shared_weight, shared_weight) + sum(squares))
        shared = 2.0 * self.l2 * shared_weight
        for loss, by_label, by_transition in self._all_chunks(bias, transitions):
            value += loss
            shared[:n_labels] -= np.where(self.structure.weightless_labels, 0.0, by_label)
            shared[n_labels:] += by_transition.reshape(-1)
        run(self.n_threads, sum_residuals, len(self._tasks_of_groups) - 1)
        run(self.n_threads, add_up, len(self._tasks_of_rows) - 1)
        gradient[:n_shared] = self._preconditioner[:n_shared] * shared
        return value, gradient

    def _all_chunks(
        self, bias: NDArray[np.float64], transitions: NDArray[np.float64]
    ) -> Iterator[tuple[float, NDArray[np.float64], NDArray[np.float64]]]:
        """Yield what `_chunk` returns for every chunk, in order; never are too many of them there at once."""

        def work(chunks: range, number: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
            return self._chunk(chunks[number], bias, transitions)

        n_chunks = len(self._chunks)
        at_once = max(self.n_threads, WAITING_TRANSITIONS // max(1, self.parameters.n_transitions))
        for first in range(0, n_chunks, at_once):
            chunks = range(first, min(n_chunks, first + at_once))
            yield from run(self.n_threads, partial(work, chunks), len(chunks))

    def _chunk(
        self, chunk: int, bias: NDArray[np.float64], transitions: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the loss of a chunk, its residuals by label, and its gradient by transition; keep its residuals."""
        grouped = self._grouped
        begin, end = self._chunks[chunk]
        gold = self.gold.sentences(begin, end)
        first, last = int(self.gold.first_word[begin]), int(self.gold.first_word[end])
        scores, by_label = np.empty((last - first, self.parameters.n_labels)), np.zeros(self.parameters.n_labels)
        word_scores_kernel(
            self._pairs,
            self._scaled,
            self.parameters.dense_label,
            bias,
            *grouped.groups,
            self._group_scores,
            grouped.rows.first,
            self._place_of_use,
            self._size_of_use,
            first,
            last,
            scores,
        )
        batch = ScoreBatch(scores, gold.first_word, transitions)
        loss = negative_log_likelihood(self.distribution(self.structure, batch), gold)
        residual_kernel(
            self.parameters.dense_label, self._pairs.width, loss.scores, first, last, self._residual, by_label
        )
        return loss.value, by_label, loss.transitions


def _preconditioner(features: FeatureBlock, gold: Gold, parameters: Parameters) -> NDArray[np.float32]:
    """Return about the inverse third root of how steep the objective is along each weight.

    That is as much as the penalty's part, and for every word with the feature how much its label varies in the gold.
    The square root, which would make all equally steep, takes rare features too far at first.
    """
    n_words = features.n_tokens
    share = np.minimum(np.bincount(gold.label, minlength=parameters.n_labels) / max(1, n_words), 1.0)
    varies = share * (1.0 - share)
    n_uses = np.bincount(features.feature, minlength=len(parameters.row_of_feature))
    n_uses_of_row = np.bincount(parameters.row_of_feature, n_uses, minlength=parameters.n_rows)
    of_transitions = np.outer(share, share).reshape(-1) if parameters.n_transitions else np.empty(0)
    steepness = [
        n_words * varies,
        n_words * of_transitions,
        np.repeat(n_uses_of_row, np.diff(parameters.first_pair)) * varies[parameters.pair_label],
    ]
    return np.cbrt(1.0 / (2.0 + np.concatenate(steepness))).astype(np.float32)


def _rows_of_words(
    features: FeatureBlock, parameters: Parameters, group_key: NDArray[np.int32] | None
) -> tuple[Lists, NDArray[np.int32]]:
    """Return the rows of each word, each once, and the group key of each row; without keys every row has the same."""
    row_of_feature, n_features = parameters.row_of_feature, len(parameters.row_of_feature)
    row_of_first = np.full(n_features, -1, dtype=np.int32)
    row_of_first[first_of_rows(row_of_feature)] = np.arange(parameters.n_rows)
    words = Lists(*drop_unknown(features.first_feature, row_of_first[features.feature]))
    group_key_of_row = np.zeros(parameters.n_rows, dtype=np.int32)
    if group_key is not None:
        np.maximum.at(group_key_of_row, row_of_feature, group_key)
    return words, group_key_of_row


def _tasks(work: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return borders that cut things into pieces of about equal work."""
    total = np.cumsum(work)
    shares = np.arange(1, N_TASKS) * (total[-1] / N_TASKS if len(total) else 0.0)
    return np.concatenate([[0], np.searchsorted(total, shares), [len(work)]])
