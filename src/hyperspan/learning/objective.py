"""The objective: log-likelihood of the gold minus the penalty, and its gradient.

An evaluation has four stages: the scores of bundles; for chunks of sentences that fit the cache the scores of words,
the sweep, and what is left of the gold's counts after the expected ones are taken off; these rests summed for bundles;
and the gradient of each row from the rests of its words and bundles. Every number is made by one thread in a fixed
order, so the result is the same whatever the number of threads.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.features.index import drop_unknown
from hyperspan.inference import Over
from hyperspan.inference.automaton import chain_automaton
from hyperspan.inference.chain import chain_batch_kernel
from hyperspan.inference.derivations import derivations_block_kernel
from hyperspan.inference.frontier import staircase_table
from hyperspan.inference.lanes import sum_blocks
from hyperspan.learning.bundles import bundle_rows
from hyperspan.learning.gold import Gold
from hyperspan.learning.parameters import Parameters, weightless_labels
from hyperspan.learning.scoring import split_weights
from hyperspan.learning.sparse import Lists
from hyperspan.learning.stages import (
    Pairs,
    bundle_rests_kernel,
    bundle_scores_kernel,
    gold_kernel,
    rest_kernel,
    row_gradient_kernel,
    scale_kernel,
    word_scores_kernel,
)
from hyperspan.learning.twins import first_of_rows
from hyperspan.learning.vectors import dot_kernel
from hyperspan.structures import Hypergraph, Linear
from hyperspan.threads import run

CHUNK_SCORES = 1 << 17
"""How many scores (words times labels) a chunk has at the most, unless one sentence has more."""

N_TASKS = 16
"""Into how many pieces of about equal work rows and bundles are cut, for threads to take."""


class Objective:
    """Log-likelihood minus ``l2`` times the squared length of the weights, to be minimised with the sign turned.

    Its weights are those of a model in other units. Those of a row of several features are multiplied by the root of
    how many they are, so that the row counts as much in the penalty as its features would. And each is multiplied by
    about the third root of how steep the objective is along it: a weight that many words depend on must be set more
    finely than one for a single word, and a search takes a third of the steps where all are about as steep. `to_model`
    and `of_model` go from one to the other.

    Parameters
    ----------
    structure : Hypergraph or Linear
    features : FeatureBlock
        Of the sentences that the parameters were chosen for.
    gold : Gold
    parameters : Parameters
    facet : int32 array of shape (n_features,), optional
        What each feature looks at: features of the same facet that come together at many words are summed once.
    over : {"encodings", "mention-sets", "derivations"}
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
        structure: Hypergraph | Linear,
        features: FeatureBlock,
        gold: Gold,
        parameters: Parameters,
        *,
        facet: NDArray[np.int32] | None = None,
        over: Over = "encodings",
        l2: float = 0.5,
        n_threads: int = 2,
        dtype: type[np.float32 | np.float64] = np.float32,
    ) -> None:
        self.structure = structure
        self.gold = gold
        self.parameters = parameters
        self.over = over
        self.l2 = l2
        self.n_threads = n_threads
        n_columns = len(parameters.dense_label)
        column_of_label = np.zeros(parameters.n_labels, dtype=np.int16 if n_columns < 1 << 15 else np.int32)
        column_of_label[parameters.dense_label] = np.arange(n_columns)
        n_features_of_row = np.bincount(parameters.row_of_feature, minlength=parameters.n_rows)
        self._pairs = pairs = Pairs.of_columns(parameters.first_pair, column_of_label[parameters.pair_label], n_columns)
        self._scale = np.sqrt(n_features_of_row.astype(np.float64))
        self._unit = _units(features, gold, parameters)
        self._scaled = np.zeros(len(pairs.column), dtype)
        self._bundled = bundle_rows(*_rows_of_words(features, parameters, facet))
        self._place_of_use = pairs.place[self._bundled.rows.item]
        self._size_of_use = np.diff(parameters.first_pair)[self._bundled.rows.item].astype(np.int32)
        n_bundles = self._bundled.of_bundle.n_lists
        self._words_of_row = self._bundled.rows.transposed(parameters.n_rows)
        self._bundles_of_row = self._bundled.of_bundle.transposed(parameters.n_rows)
        self._words_of_bundle = self._bundled.bundles.transposed(n_bundles)
        self._bundle_scores = np.empty(n_bundles * pairs.width, dtype)
        self._bundle_rest = np.empty(n_bundles * pairs.width, dtype)
        self._rest = np.zeros(features.n_tokens * pairs.width, dtype)
        self._weightless = weightless_labels(structure)
        self._chunks = self._cut()
        self._tasks_of_bundles = _tasks(np.diff(self._bundled.of_bundle.first) + np.diff(self._words_of_bundle.first))
        n_pairs = np.diff(parameters.first_pair)
        n_uses = np.diff(self._words_of_row.first) + np.diff(self._bundles_of_row.first)
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
        model = self._unit * weights
        model[self._n_first :] /= np.repeat(self._scale, np.diff(self.parameters.first_pair))
        return model

    def of_model(self, model: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of this objective for those of a model."""
        weights = model / self._unit
        weights[self._n_first :] *= np.repeat(self._scale, np.diff(self.parameters.first_pair))
        return weights

    @property
    def _n_first(self) -> int:
        """How many weights stand before those of the pairs."""
        return self.parameters.n_labels + self.parameters.n_transitions

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective to minimise (a penalty minus a log-likelihood) and its gradient."""
        n_labels, n_first = self.parameters.n_labels, self._n_first
        first_weight = self._unit[:n_first] * weights[:n_first]
        pair_unit, pair_weight = self._unit[n_first:], weights[n_first:]
        bias, transitions, _ = split_weights(self.parameters, first_weight, self._weightless)
        gradient = np.empty(self.parameters.n_weights)
        bundled, pairs = self._bundled, self._pairs

        def scale(task: int) -> float:
            begin, end = self._tasks_of_rows[task : task + 2]
            return float(scale_kernel(pairs, self._scale, pair_unit, begin, end, pair_weight, self._scaled))

        def score_bundles(task: int) -> None:
            begin, end = self._tasks_of_bundles[task : task + 2]
            bundle_scores_kernel(pairs, self._scaled, *bundled.of_bundle, begin, end, self._bundle_scores)

        def sum_rests(task: int) -> None:
            begin, end = self._tasks_of_bundles[task : task + 2]
            bundle_rests_kernel(pairs.width, *self._words_of_bundle, self._rest, begin, end, self._bundle_rest)

        def add_up(task: int) -> None:
            begin, end = self._tasks_of_rows[task : task + 2]
            row_gradient_kernel(
                pairs,
                self._scale,
                pair_unit,
                pair_weight,
                self.l2,
                *self._words_of_row,
                self._rest,
                *self._bundles_of_row,
                self._bundle_rest,
                begin,
                end,
                gradient[n_first:],
            )

        squares = run(self.n_threads, scale, len(self._tasks_of_rows) - 1)
        run(self.n_threads, score_bundles, len(self._tasks_of_bundles) - 1)
        parts = run(self.n_threads, lambda chunk: self._chunk(chunk, bias, transitions), len(self._chunks))
        run(self.n_threads, sum_rests, len(self._tasks_of_bundles) - 1)
        run(self.n_threads, add_up, len(self._tasks_of_rows) - 1)
        likelihood = 0.0
        first = 2.0 * self.l2 * first_weight
        for of_chunk, by_label, by_transition in parts:
            likelihood += of_chunk
            first[:n_labels] -= np.where(self._weightless, 0.0, by_label)
            first[n_labels:] -= by_transition.reshape(-1)
        gradient[:n_first] = self._unit[:n_first] * first
        penalty = self.l2 * (dot_kernel(first_weight, first_weight) + sum(squares))
        return penalty - likelihood, gradient

    def _chunk(
        self, chunk: int, bias: NDArray[np.float64], transitions: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the log-likelihood of a chunk, and what is left of the gold's counts of labels and transitions."""
        gold, bundled = self.gold, self._bundled
        begin, end = self._chunks[chunk]
        first, last = int(gold.first_word[begin]), int(gold.first_word[end])
        scores, expected = np.empty((2, last - first, self.parameters.n_labels))
        by_label, by_transition = np.zeros(self.parameters.n_labels), np.zeros(transitions.shape)
        word_scores_kernel(
            self._pairs,
            self._scaled,
            self.parameters.dense_label,
            bias,
            *bundled.bundles,
            self._bundle_scores,
            bundled.rows.first,
            self._place_of_use,
            self._size_of_use,
            first,
            last,
            scores,
        )
        first_word = gold.first_word[begin : end + 1] - first
        likelihood = -self._sum(scores, first_word, transitions, expected, by_transition)
        first_edge, last_edge = np.searchsorted(gold.word, (first, last))
        likelihood += gold_kernel(gold.word, gold.label, first_edge, last_edge, first, scores, expected)
        if self.parameters.n_transitions:
            likelihood += self._gold_transitions(begin, end, transitions, by_transition)
        rest_kernel(self.parameters.dense_label, self._pairs.width, expected, first, last, self._rest, by_label)
        return likelihood, by_label, by_transition

    def _sum(
        self,
        scores: NDArray[np.float64],
        first_word: NDArray[np.int64],
        transitions: NDArray[np.float64],
        expected: NDArray[np.float64],
        by_transition: NDArray[np.float64],
    ) -> float:
        n_sentences = len(first_word) - 1
        log_partition = np.empty(n_sentences)
        if isinstance(self.structure, Linear):
            counts = np.zeros(transitions.shape)
            chain_batch_kernel(
                chain_automaton(transitions),
                transitions,
                scores,
                first_word,
                0,
                n_sentences,
                True,
                log_partition,
                expected,
                counts,
            )
            by_transition -= counts
            return float(log_partition.sum())
        if self.over == "encodings":
            return float(sum_blocks(self.structure, scores, first_word, expected).sum())
        total = 0.0
        for block in self.structure.blocks:
            table = staircase_table(block.staircase)
            derivations_block_kernel(
                table, block.first_label, scores, first_word, 0, n_sentences, True, log_partition, expected
            )
            total += float(log_partition.sum())
        return total

    def _gold_transitions(
        self, begin: int, end: int, transitions: NDArray[np.float64], by_transition: NDArray[np.float64]
    ) -> float:
        """Return the score of the gold's transitions and add their counts to the gradient: one tag a word."""
        first, last = self.gold.first_word[begin], self.gold.first_word[end]
        tags = self.gold.label[first:last]
        follows = np.ones(len(tags), dtype=np.bool_)
        starts = self.gold.first_word[begin:end] - first
        follows[starts[starts < len(tags)]] = False
        before, after = tags[np.flatnonzero(follows) - 1], tags[follows]
        np.add.at(by_transition, (before, after), 1.0)
        return float(transitions[before, after].sum())


def _units(features: FeatureBlock, gold: Gold, parameters: Parameters) -> NDArray[np.float32]:
    """Return the inverse of about the third root of how steep the objective is along each weight.

    That is as much as the penalty's part, and for every word with the feature how much its label varies in the gold.
    The square root, which would make all equally steep, takes rare features too far at first.
    """
    n_words = features.n_tokens
    share = np.minimum(np.bincount(gold.label, minlength=parameters.n_labels) / max(1, n_words), 1.0)
    varies = share * (1.0 - share)
    n_uses = np.bincount(features.feature, minlength=len(parameters.row_of_feature))
    n_uses_of_row = np.bincount(parameters.row_of_feature, n_uses, minlength=parameters.n_rows)
    steepness = [
        n_words * varies,
        n_words * np.outer(share, share).reshape(-1)[: parameters.n_transitions],
        np.repeat(n_uses_of_row, np.diff(parameters.first_pair)) * varies[parameters.pair_label],
    ]
    return np.cbrt(1.0 / (2.0 + np.concatenate(steepness))).astype(np.float32)


def _rows_of_words(
    features: FeatureBlock, parameters: Parameters, facet: NDArray[np.int32] | None
) -> tuple[Lists, NDArray[np.int32]]:
    """Return the rows of each word, each once, and the facet of each row; without facets every row has its own."""
    row_of_feature, n_features = parameters.row_of_feature, len(parameters.row_of_feature)
    row_of_first = np.full(n_features, -1, dtype=np.int32)
    row_of_first[first_of_rows(row_of_feature)] = np.arange(parameters.n_rows)
    words = Lists(*drop_unknown(features.first_feature, row_of_first[features.feature]))
    facet_of_row = np.zeros(parameters.n_rows, dtype=np.int32)
    if facet is not None:
        np.maximum.at(facet_of_row, row_of_feature, facet)
    return words, facet_of_row


def _tasks(work: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return borders that cut things into pieces of about equal work."""
    total = np.cumsum(work)
    shares = np.arange(1, N_TASKS) * (total[-1] / N_TASKS if len(total) else 0.0)
    return np.concatenate([[0], np.searchsorted(total, shares), [len(work)]])
