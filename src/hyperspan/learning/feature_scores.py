"""Compute the scores of words from the weights of features, and the gradient by the weights from residuals at words.

An evaluation has four steps: the scores of feature groups; the scores of words, range by range, for which the caller
computes residuals (empirical minus expected counts); the sums of these residuals for groups; and the gradient of each
row from the residuals of its words and groups. Every number is computed by one thread in a fixed order, so the result
does not depend on the number of threads.

Nothing here depends on what a word is: `hyperspan.learning.segment_objective` uses whole spans instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.features.index import drop_unknown
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
from hyperspan.structures.structure import Labels
from hyperspan.threads import run

N_TASKS = 16
"""Into how many pieces of about equal work rows and groups are split for the threads."""


class FeatureScores:
    """The scores of words under changing weights, and the gradient.

    Its weights are the scaled weights of a model. Those of a row of m features are multiplied by √m, so that the row
    counts as much in the penalty as its features would. And each is divided by a diagonal *preconditioner*, about the
    inverse cube root of the curvature of the objective along it: a weight that affects many words needs finer steps
    than one for a single word, and the search takes a third of the iterations if all curvatures are similar. `to_model`
    and `of_model` convert between the two.

    Parameters
    ----------
    labels : Labels
    features : FeatureBlock
        The features of the words that the parameters were chosen for.
    gold_label : integer array of shape (n_edges,)
        The label of every gold edge.
    parameters : Parameters
    group_key : int32 array of shape (n_features,), optional
        The group key of each feature: features with the same key that occur together at many words are summed once.
    words_of_label : float64 array of shape (n_labels,), optional
        How many words have a label together, so that their scores are added up; 1 if not given.
    n_threads : int
        The result does not depend on it.
    dtype : float32 or float64
        The precision of scores and counts between the steps; sums are always in double precision. Memory traffic takes
        most of the time, and single precision halves it.
    """

    def __init__(
        self,
        labels: Labels,
        features: FeatureBlock,
        gold_label: NDArray[np.int32],
        parameters: Parameters,
        *,
        group_key: NDArray[np.int32] | None = None,
        words_of_label: NDArray[np.float64] | None = None,
        n_threads: int = 2,
        dtype: type[np.float32 | np.float64] = np.float32,
    ) -> None:
        self.labels = labels
        self.parameters = parameters
        self.n_threads = n_threads
        n_columns = len(parameters.dense_label)
        column_of_label = np.zeros(parameters.n_labels, dtype=np.int16 if n_columns < 1 << 15 else np.int32)
        column_of_label[parameters.dense_label] = np.arange(n_columns)
        n_features_of_row = np.bincount(parameters.row_of_feature, minlength=parameters.n_rows)
        self._pairs = pairs = Pairs.of_columns(parameters.first_pair, column_of_label[parameters.pair_label], n_columns)
        self._scale = np.sqrt(n_features_of_row.astype(np.float64))
        self._preconditioner = _preconditioner(features, gold_label, parameters)
        if words_of_label is not None:
            # A step along such a weight moves a score by as many words: without this, long parts and gaps of rare types
            # become certain after the first step, and the line search goes on in tiny ones.
            n_words = np.concatenate([words_of_label, words_of_label[parameters.pair_label]])
            self._preconditioner /= np.sqrt(n_words).astype(np.float32)
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
        self._tasks_of_groups = _tasks(np.diff(self._grouped.of_group.first) + np.diff(self._words_of_group.first))
        n_pairs = np.diff(parameters.first_pair)
        n_uses = np.diff(self._words_of_row.first) + np.diff(self._groups_of_row.first)
        self._tasks_of_rows = _tasks(n_pairs * (1 + n_uses))
        self._set_shared(np.zeros(parameters.n_weights))

    def to_model(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert these weights to those of a model."""
        model = self._preconditioner * weights
        model[self.parameters.n_shared :] /= np.repeat(self._scale, np.diff(self.parameters.first_pair))
        return model

    def of_model(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert the weights of a model to these weights."""
        weights = model / self._preconditioner
        weights[self.parameters.n_shared :] *= np.repeat(self._scale, np.diff(self.parameters.first_pair))
        return weights

    def _set_shared(self, weights: NDArray[np.float64]) -> None:
        n_shared = self.parameters.n_shared
        self._shared_weight = self._preconditioner[:n_shared] * weights[:n_shared]
        self._bias, self.transitions, _ = self.parameters.split(self._shared_weight, self.labels.weightless_labels)

    def use(self, weights: NDArray[np.float64]) -> float:
        """Set new weights, and return the sum of their squares as it counts in the penalty."""
        n_shared, grouped, pairs = self.parameters.n_shared, self._grouped, self._pairs
        pair_preconditioner, pair_weight = self._preconditioner[n_shared:], weights[n_shared:]
        self._set_shared(weights)

        def scale(task: int) -> float:
            begin, end = self._tasks_of_rows[task : task + 2]
            return float(scale_kernel(pairs, self._scale, pair_preconditioner, begin, end, pair_weight, self._scaled))

        def score_groups(task: int) -> None:
            begin, end = self._tasks_of_groups[task : task + 2]
            group_scores_kernel(pairs, self._scaled, *grouped.of_group, begin, end, self._group_scores)

        squares = run(self.n_threads, scale, len(self._tasks_of_rows) - 1)
        run(self.n_threads, score_groups, len(self._tasks_of_groups) - 1)
        return float(dot_kernel(self._shared_weight, self._shared_weight) + sum(squares))

    def scores(self, first: int, last: int) -> NDArray[np.float64]:
        """Return the scores of the words from ``first`` to ``last``, of shape (n_words, n_labels)."""
        scores, grouped = np.empty((last - first, self.parameters.n_labels)), self._grouped
        word_scores_kernel(
            self._pairs,
            self._scaled,
            self.parameters.dense_label,
            self._bias,
            *grouped.groups,
            self._group_scores,
            grouped.rows.first,
            self._place_of_use,
            self._size_of_use,
            first,
            last,
            scores,
        )
        return scores

    def keep(self, gradient: NDArray[np.float64], first: int, last: int) -> NDArray[np.float64]:
        """Store the residuals at words, given the gradient by their scores, and return them summed by label."""
        by_label = np.zeros(self.parameters.n_labels)
        width = self._pairs.width
        residual_kernel(self.parameters.dense_label, width, gradient, first, last, self._residual, by_label)
        return by_label

    def gradient(
        self,
        weights: NDArray[np.float64],
        l2: float,
        by_label: list[NDArray[np.float64]],
        by_transition: list[NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return the gradient by the current weights with the penalty, once the residuals of all words are stored.

        ``by_label`` is what `keep` returned, and ``by_transition`` are gradients by the transitions.
        """
        n_labels, n_shared, pairs = self.parameters.n_labels, self.parameters.n_shared, self._pairs
        pair_preconditioner, pair_weight = self._preconditioner[n_shared:], weights[n_shared:]
        gradient = np.empty(self.parameters.n_weights)

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
                l2,
                *self._words_of_row,
                self._residual,
                *self._groups_of_row,
                self._group_residual,
                begin,
                end,
                gradient[n_shared:],
            )

        run(self.n_threads, sum_residuals, len(self._tasks_of_groups) - 1)
        run(self.n_threads, add_up, len(self._tasks_of_rows) - 1)
        shared = 2.0 * l2 * self._shared_weight
        for of_chunk in by_label:
            shared[:n_labels] -= np.where(self.labels.weightless_labels, 0.0, of_chunk)
        for of_transitions in by_transition:
            shared[n_labels:] += of_transitions.reshape(-1)
        gradient[:n_shared] = self._preconditioner[:n_shared] * shared
        return gradient


def steepness(n_words: int, gold_label: NDArray[np.int32], n_labels: int) -> NDArray[np.float64]:
    """Return the variance of each label in the gold data, over all words."""
    share = np.minimum(np.bincount(gold_label, minlength=n_labels) / max(1, n_words), 1.0)
    return n_words * share * (1.0 - share)


def preconditioner_of(steep: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return about the inverse cube root of the objective's curvature along each weight, including the penalty.

    The square root, which would make all curvatures equal, takes rare features too far at first.
    """
    return np.cbrt(1.0 / (2.0 + steep)).astype(np.float32)


def _preconditioner(
    features: FeatureBlock, gold_label: NDArray[np.int32], parameters: Parameters
) -> NDArray[np.float32]:
    """Return the preconditioner: the variance of a label in the gold data counts for every word with a feature."""
    n_words = features.n_tokens
    share = np.minimum(np.bincount(gold_label, minlength=parameters.n_labels) / max(1, n_words), 1.0)
    varies = share * (1.0 - share)
    n_uses = np.bincount(features.feature, minlength=len(parameters.row_of_feature))
    n_uses_of_row = np.bincount(parameters.row_of_feature, n_uses, minlength=parameters.n_rows)
    of_transitions = np.outer(share, share).reshape(-1) if parameters.n_transitions else np.empty(0)
    steep = [
        n_words * varies,
        n_words * of_transitions,
        np.repeat(n_uses_of_row, np.diff(parameters.first_pair)) * varies[parameters.pair_label],
    ]
    return preconditioner_of(np.concatenate(steep))


def _rows_of_words(
    features: FeatureBlock, parameters: Parameters, group_key: NDArray[np.int32] | None
) -> tuple[Lists, NDArray[np.int32]]:
    """Return the distinct rows of each word, and the group key of each row; without keys all rows have the same."""
    row_of_feature, n_features = parameters.row_of_feature, len(parameters.row_of_feature)
    row_of_first = np.full(n_features, -1, dtype=np.int32)
    row_of_first[first_of_rows(row_of_feature)] = np.arange(parameters.n_rows)
    words = Lists(*drop_unknown(features.first_feature, row_of_first[features.feature]))
    group_key_of_row = np.zeros(parameters.n_rows, dtype=np.int32)
    if group_key is not None:
        np.maximum.at(group_key_of_row, row_of_feature, group_key)
    return words, group_key_of_row


def _tasks(work: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the boundaries of pieces of about equal work."""
    total = np.cumsum(work)
    shares = np.arange(1, N_TASKS) * (total[-1] / N_TASKS if len(total) else 0.0)
    return np.concatenate([[0], np.searchsorted(total, shares), [len(work)]])
