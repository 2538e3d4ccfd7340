"""The objective: log-likelihood of the gold minus the penalty, and its gradient.

Sentences are worked on in chunks that fit the cache: scores from features, the sweep, the gradient back to features.
The chunks are dealt to a fixed number of parts, each with a gradient of its own, which are added in a fixed order: the
result is the same whatever the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.inference import Over
from hyperspan.inference.automaton import chain_automaton, staircase_automaton
from hyperspan.inference.chain import chain_batch_kernel
from hyperspan.inference.derivations import derivations_block_kernel
from hyperspan.inference.frontier import frontier_block_kernel, staircase_table
from hyperspan.learning.gold import Gold
from hyperspan.learning.parameters import Parameters, weightless_labels
from hyperspan.learning.vectors import dot_kernel
from hyperspan.structures import Hypergraph, Linear

N_PARTS = 4
"""Into how many parts the work is dealt: the most threads that can help."""

CHUNK_SCORES = 1 << 17
"""How many scores (words times labels) a chunk has at the most, unless one sentence has more."""


@numba.njit(nogil=True, cache=True)
def score_kernel(first_feature, feature, first_pair, pair_label, dense_label, bias, pair_weight, begin, end, scores):
    """Fill rows of ``scores`` for the words from begin to end: bias plus the weights of every feature's labels.

    Features with a weight for each of ``dense_label`` are added as whole rows, without looking at labels.
    """
    n_dense = dense_label.shape[0]
    dense = np.empty(n_dense)
    for word in range(begin, end):
        row = scores[word - begin]
        for label in range(bias.shape[0]):
            row[label] = bias[label]
        dense[:] = 0.0
        for occurrence in range(first_feature[word], first_feature[word + 1]):
            first, last = first_pair[feature[occurrence]], first_pair[feature[occurrence] + 1]
            if last - first == n_dense:
                for place in range(n_dense):
                    dense[place] += pair_weight[first + place]
            else:
                for pair in range(first, last):
                    row[pair_label[pair]] += pair_weight[pair]
        for place in range(n_dense):
            row[dense_label[place]] += dense[place]


@numba.njit(nogil=True, cache=True)
def gradient_kernel(
    first_feature, feature, first_pair, pair_label, dense_label, begin, end, expected, by_label, by_pair
):
    """Subtract expected counts from the gradient of biases and pairs; the gold was subtracted from them before."""
    n_dense = dense_label.shape[0]
    dense = np.empty(n_dense)
    for word in range(begin, end):
        row = expected[word - begin]
        for label in range(by_label.shape[0]):
            by_label[label] -= row[label]
        for place in range(n_dense):
            dense[place] = row[dense_label[place]]
        for occurrence in range(first_feature[word], first_feature[word + 1]):
            first, last = first_pair[feature[occurrence]], first_pair[feature[occurrence] + 1]
            if last - first == n_dense:
                for place in range(n_dense):
                    by_pair[first + place] -= dense[place]
            else:
                for pair in range(first, last):
                    by_pair[pair] -= row[pair_label[pair]]


@numba.njit(nogil=True, cache=True)
def gold_kernel(word, label, begin, end, first_word, scores, expected):
    """Return the score of gold edges and take them off the expected counts."""
    total = 0.0
    for edge in range(begin, end):
        total += scores[word[edge] - first_word, label[edge]]
        expected[word[edge] - first_word, label[edge]] -= 1.0
    return total


def split_weights(
    parameters: Parameters, weights: NDArray[np.float64], weightless: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what a vector of weights holds: the score of each label by itself, transitions, and pairs."""
    n_labels, n_transitions = parameters.n_labels, parameters.n_transitions
    bias = parameters.base_score + np.where(weightless, 0.0, weights[:n_labels])
    transitions = weights[n_labels : n_labels + n_transitions].reshape(-1, n_labels)
    return bias, transitions, weights[n_labels + n_transitions :]


def score_words(
    structure: Hypergraph | Linear, parameters: Parameters, weights: NDArray[np.float64], features: FeatureBlock
) -> NDArray[np.float64]:
    """Return the scores of every label at every word, of shape (n_words, n_labels)."""
    bias, _, pair_weight = split_weights(parameters, weights, weightless_labels(structure))
    scores = np.empty((features.n_tokens, parameters.n_labels))
    score_kernel(
        features.first_feature,
        features.feature,
        parameters.first_pair,
        parameters.pair_label,
        parameters.dense_label,
        bias,
        pair_weight,
        0,
        features.n_tokens,
        scores,
    )
    return scores


class Objective:
    """Log-likelihood minus ``l2`` times the squared length of the weights, to be minimised with the sign turned.

    Parameters
    ----------
    structure : Hypergraph or Linear
    features : FeatureBlock
    gold : Gold
    parameters : Parameters
    over : {"encodings", "mention-sets", "published"}
    l2 : float
        The penalty; the likelihood is a sum over sentences, not a mean.
    n_threads : int
        The result does not depend on it.
    """

    def __init__(
        self,
        structure: Hypergraph | Linear,
        features: FeatureBlock,
        gold: Gold,
        parameters: Parameters,
        *,
        over: Over = "encodings",
        l2: float = 0.5,
        n_threads: int = 2,
    ) -> None:
        self.structure = structure
        self.features = features
        self.gold = gold
        self.parameters = parameters
        self.over = over
        self.l2 = l2
        self.n_threads = n_threads
        self._weightless = weightless_labels(structure)
        self._chunks = self._cut()
        self._room = max((self._words(chunk) for chunk in self._chunks), default=0)
        self._gradients = np.empty((min(N_PARTS, max(1, len(self._chunks))), parameters.n_weights))

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

    def _words(self, chunk: tuple[int, int]) -> int:
        return int(self.gold.first_word[chunk[1]] - self.gold.first_word[chunk[0]])

    def __call__(self, weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective to minimise (a penalty minus a log-likelihood) and its gradient."""
        n_parts = len(self._gradients)
        if self.n_threads > 1:
            with ThreadPoolExecutor(min(self.n_threads, n_parts)) as pool:
                likelihoods = list(pool.map(lambda part: self._part(weights, part), range(n_parts)))
        else:
            likelihoods = [self._part(weights, part) for part in range(n_parts)]
        gradient = self._gradients[0].copy()
        for part in self._gradients[1:]:
            gradient += part
        gradient *= -1.0
        gradient += 2.0 * self.l2 * weights
        return self.l2 * dot_kernel(weights, weights) - sum(likelihoods), gradient

    def _part(self, weights: NDArray[np.float64], part: int) -> float:
        n_labels, n_transitions = self.parameters.n_labels, self.parameters.n_transitions
        gradient = self._gradients[part]
        gradient[:] = 0.0
        bias, transitions, pair_weight = split_weights(self.parameters, weights, self._weightless)
        by_label = gradient[:n_labels]
        by_transition = gradient[n_labels : n_labels + n_transitions].reshape(-1, n_labels)
        by_pair = gradient[n_labels + n_transitions :]
        scores, expected = np.empty((self._room, n_labels)), np.empty((self._room, n_labels))
        features, gold = self.features, self.gold
        likelihood = 0.0
        for begin, end in self._chunks[part :: len(self._gradients)]:
            first, last = int(gold.first_word[begin]), int(gold.first_word[end])
            score_kernel(
                features.first_feature,
                features.feature,
                self.parameters.first_pair,
                self.parameters.pair_label,
                self.parameters.dense_label,
                bias,
                pair_weight,
                first,
                last,
                scores,
            )
            first_word = gold.first_word[begin : end + 1] - first
            likelihood -= self._sum(scores[: last - first], first_word, transitions, expected, by_transition)
            first_edge, last_edge = np.searchsorted(gold.word, (first, last))
            likelihood += gold_kernel(gold.word, gold.label, first_edge, last_edge, first, scores, expected)
            if n_transitions:
                likelihood += self._gold_transitions(begin, end, transitions, by_transition)
            gradient_kernel(
                features.first_feature,
                features.feature,
                self.parameters.first_pair,
                self.parameters.pair_label,
                self.parameters.dense_label,
                first,
                last,
                expected,
                by_label,
                by_pair,
            )
        by_label[self._weightless] = 0.0
        return likelihood

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
        total = 0.0
        for block in self.structure.blocks:
            table = staircase_table(block.staircase)
            if self.over == "encodings":
                automaton = staircase_automaton(block.staircase)
                frontier_block_kernel(
                    table,
                    automaton,
                    block.first_label,
                    scores,
                    first_word,
                    0,
                    n_sentences,
                    True,
                    log_partition,
                    expected,
                )
            else:
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
