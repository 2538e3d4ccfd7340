"""The readable reference implementation of `Objective`: a dictionary of weights, and no gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hyperspan.inference import BatchDistribution
from hyperspan.inference.automaton import chain_automaton, staircase_automaton
from hyperspan.inference.reference.algebra import LOG_SUM
from hyperspan.inference.reference.automaton import total
from hyperspan.inference.reference.derivations import derivations_total
from hyperspan.mentions import Sentence
from hyperspan.structures import Structure

Key = tuple[str, int, int]
"""``("pair", feature, label)``, ``("bias", 0, label)`` or ``("transition", tag before, tag)``."""
Scores = list[list[float]]


def scores_reference(
    structure: Structure,
    words: Sequence[Sequence[int]],
    weights: Mapping[Key, float],
    prior: Sequence[float] | None = None,
) -> Scores:
    """Return the score of every label at every word: its prior, its bias, and the weights of the word's features.

    Parameters
    ----------
    structure : Structure
    words : sequence of sequences of int
        The features of each word; a repeated feature counts repeatedly.
    weights : mapping
        Missing weights are zero.
    prior : sequence of float, optional
        Added to the score of each label.
    """
    scores = []
    for features in words:
        row = []
        for label in range(structure.n_labels):
            score = 0.0 if prior is None else float(prior[label])
            if not structure.weightless_labels[label]:
                score += weights.get(("bias", 0, label), 0.0)
                score += sum(weights.get(("pair", feature, label), 0.0) for feature in features)
            row.append(score)
        scores.append(row)
    return scores


def objective_reference(
    distribution: type[BatchDistribution[Any]],
    structure: Structure,
    sentences: Sequence[Sentence],
    features: Sequence[Sequence[Sequence[int]]],
    weights: Mapping[Key, float],
    *,
    l2: float = 0.5,
) -> float:
    """Return the penalty minus the log-likelihood of the sentences' mentions.

    Parameters
    ----------
    distribution : class of BatchDistribution
        What the likelihood is over, with its prior.
    features : sequence of shape (n_sentences, n_words, n_features of the word)
    structure, sentences, weights, l2
        As in `Objective` and `scores_reference`.

    Examples
    --------
    >>> import math
    >>> from hyperspan.inference import distribution_class
    >>> from hyperspan.structures import structure
    >>> shared = structure("shared", ["Finding"])
    >>> sentence = Sentence(["no", "fever", "now"])
    >>> value = objective_reference(distribution_class(shared), shared, [sentence], [[[0], [1], [2]]], {})
    >>> round(math.exp(value))
    80
    """
    prior = distribution.prior(structure).tolist()
    likelihood = 0.0
    for sentence, words in zip(sentences, features, strict=True):
        scores = scores_reference(structure, words, weights, prior)
        gold = distribution.encode(structure, sentence.mentions, len(sentence)).encoding
        likelihood += sum(scores[word][label] for word, label in gold)
        if structure.has_transitions:
            tags = [label for _, label in gold]
            likelihood += sum(weights.get(("transition", before, tag), 0.0) for before, tag in pairwise(tags))
        likelihood -= _log_partition(distribution.name, structure, scores, weights)
    return l2 * sum(weight * weight for weight in weights.values()) - likelihood


def _log_partition(name: str, structure: Any, scores: Scores, weights: Mapping[Key, float]) -> float:
    if structure.has_transitions:
        tags = range(structure.n_labels)
        transitions = [[weights.get(("transition", before, tag), 0.0) for tag in tags] for before in tags]
        return total(chain_automaton(np.array(transitions)), scores, LOG_SUM)
    log_partition = 0.0
    for block in structure.blocks:
        last_label = block.first_label + block.staircase.n_labels
        of_block = [row[block.first_label : last_label] for row in scores]
        if name == "encodings":
            log_partition += total(staircase_automaton(block.staircase), of_block, LOG_SUM)
        else:
            log_partition += derivations_total(block.staircase, of_block, LOG_SUM)
    return log_partition
