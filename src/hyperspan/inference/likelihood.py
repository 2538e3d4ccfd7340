"""The likelihood of gold mentions and its gradient with respect to the scores: all that training needs from inference.

Any optimiser can use it: L-BFGS over the weights of features, or the training of a neural network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.distribution import BatchDistribution
from hyperspan.mentions import Mention, Sentence
from hyperspan.structures.structure import Structure


class Gold(NamedTuple):
    """The edges of the gold mentions of many sentences.

    Attributes
    ----------
    first_word : int64 array of shape (n_sentences + 1,)
    word, label : int64 and int32 arrays of shape (n_edges,)
        Words are numbered through all sentences, in increasing order. An edge that is used twice occurs twice.
    left_out : tuple of (int, Mention)
        Mentions that the structure cannot encode, with the number of their sentence.
    """

    first_word: NDArray[np.int64]
    word: NDArray[np.int64]
    label: NDArray[np.int32]
    left_out: tuple[tuple[int, Mention], ...] = ()

    def sentences(self, begin: int, end: int) -> Gold:
        """Return the gold of a range of sentences."""
        first, last = self.first_word[begin], self.first_word[end]
        edges = slice(*np.searchsorted(self.word, (first, last)).tolist())
        return Gold(self.first_word[begin : end + 1] - first, self.word[edges] - first, self.label[edges])

    def labels(self, begin: int, end: int) -> Gold:
        """Return the gold of some labels, counted from the first of them."""
        chosen = (self.label >= begin) & (self.label < end)
        return Gold(self.first_word, self.word[chosen], self.label[chosen] - begin)


class Loss(NamedTuple):
    """The negative log-likelihood of a batch, and its gradient: expected minus empirical counts.

    Attributes
    ----------
    value : float
        The sum over the sentences.
    scores : float64 array of shape (n_words, n_labels)
        The gradient with respect to the scores.
    transitions : float64 array of shape (n_labels, n_labels) or (0, 0)
        The gradient with respect to the transitions.
    """

    value: float
    scores: NDArray[np.float64]
    transitions: NDArray[np.float64]


def encode_gold(
    distribution: type[BatchDistribution[Structure]], structure: Structure, sentences: Sequence[Sentence]
) -> Gold:
    """Encode the mentions of sentences for a distribution."""
    words: list[int] = []
    labels: list[int] = []
    left_out: list[tuple[int, Mention]] = []
    first_word = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(sentence) for sentence in sentences], out=first_word[1:])
    for number, sentence in enumerate(sentences):
        encoded = distribution.encode(structure, sentence.mentions, len(sentence))
        first = int(first_word[number])
        words.extend(first + word for word, _ in encoded.encoding)
        labels.extend(label for _, label in encoded.encoding)
        left_out.extend((number, mention) for mention in encoded.left_out)
    return Gold(first_word, np.array(words, dtype=np.int64), np.array(labels, dtype=np.int32), tuple(left_out))


def negative_log_likelihood(distribution: BatchDistribution[Structure], gold: Gold) -> Loss:
    """Return the negative log-likelihood of gold mentions, and its gradient with respect to scores and transitions.

    Parameters
    ----------
    distribution : BatchDistribution
    gold : Gold
        The gold of the same sentences, from `encode_gold` for this distribution.

    Examples
    --------
    >>> from hyperspan.inference import DISTRIBUTIONS, ScoreBatch, distribution
    >>> from hyperspan.structures import structure
    >>> shared = structure("shared", ["Finding"])
    >>> dist = distribution(shared, ScoreBatch.of_sentence(np.zeros((3, 25))))
    >>> loss = negative_log_likelihood(dist, encode_gold(type(dist), shared, [Sentence(["no", "fever", "now"])]))
    >>> round(np.exp(loss.value))
    80
    """
    marginals = distribution.marginals()
    scores, edges = distribution.batch.scores, marginals.edges
    places = gold.word * edges.shape[1] + gold.label
    np.subtract.at(edges.reshape(-1), places, 1.0)
    value = float(marginals.log_partition.sum() - scores.reshape(-1)[places].sum())
    if marginals.transitions.size:
        before, after = _gold_transitions(gold)
        np.add.at(marginals.transitions, (before, after), -1.0)
        value -= float(distribution.batch.transitions[before, after].sum())
    return Loss(value, edges, marginals.transitions)


def _gold_transitions(gold: Gold) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the tags before and after each border between two words of a sentence: there is one tag per word."""
    follows = np.ones(len(gold.label), dtype=np.bool_)
    starts = gold.first_word[:-1]
    follows[starts[starts < len(gold.label)]] = False
    return gold.label[np.flatnonzero(follows) - 1], gold.label[follows]
