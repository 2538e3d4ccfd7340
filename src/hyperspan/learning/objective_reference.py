"""The objective, written to be read: what `Objective` computes, with a dictionary of weights and no gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hyperspan.inference import Over
from hyperspan.inference.algebra import LOG_SUM
from hyperspan.inference.chain_reference import chain_reference
from hyperspan.inference.derivations_reference import derivations_reference
from hyperspan.inference.frontier_reference import frontier_reference
from hyperspan.learning.parameters import prior_scores, weightless_labels
from hyperspan.mentions import Sentence
from hyperspan.structures import Hypergraph, Linear

Key = tuple[str, int, int]
"""``("pair", feature, label)``, ``("bias", 0, label)`` or ``("transition", tag before, tag)``."""
Scores = list[list[float]]


def scores_reference(
    structure: Hypergraph | Linear,
    words: Sequence[Sequence[int]],
    weights: Mapping[Key, float],
    *,
    with_prior: bool = False,
) -> Scores:
    """Return the score of every label at every word: its prior, its bias, and the weights of the word's features.

    Parameters
    ----------
    structure : Hypergraph or Linear
    words : sequence of sequences of int
        The features of each word; one that is there twice counts twice.
    weights : mapping
        A weight that is not in it is zero.
    with_prior : bool
        Whether mentions, gaps and several children are rare from the beginning.
    """
    prior = prior_scores(structure) if with_prior and isinstance(structure, Hypergraph) else [0.0] * structure.n_labels
    weightless = weightless_labels(structure)
    scores = []
    for features in words:
        row = []
        for label in range(structure.n_labels):
            score = float(prior[label])
            if not weightless[label]:
                score += weights.get(("bias", 0, label), 0.0)
                score += sum(weights.get(("pair", feature, label), 0.0) for feature in features)
            row.append(score)
        scores.append(row)
    return scores


def objective_reference(
    structure: Hypergraph | Linear,
    sentences: Sequence[Sentence],
    features: Sequence[Sequence[Sequence[int]]],
    weights: Mapping[Key, float],
    *,
    over: Over = "encodings",
    l2: float = 0.5,
    with_prior: bool = False,
) -> float:
    """Return the penalty minus the log-likelihood of the sentences' mentions.

    Parameters
    ----------
    features : sequence of shape (n_sentences, n_words, n_features of the word)
    structure, sentences, weights, over, l2, with_prior
        As in `Objective` and `scores_reference`.

    Examples
    --------
    >>> import math
    >>> from hyperspan.structures import structure
    >>> shared = structure("shared", ["Finding"])
    >>> value = objective_reference(shared, [Sentence(["no", "fever", "now"])], [[[0], [1], [2]]], {})
    >>> round(math.exp(value))
    80
    """
    likelihood = 0.0
    for sentence, words in zip(sentences, features, strict=True):
        scores = scores_reference(structure, words, weights, with_prior=with_prior)
        likelihood += _gold_score(structure, sentence, scores, weights, over)
        likelihood -= _log_partition(structure, scores, weights, over)
    return l2 * sum(weight * weight for weight in weights.values()) - likelihood


def _gold_score(
    structure: Hypergraph | Linear, sentence: Sentence, scores: Scores, weights: Mapping[Key, float], over: Over
) -> float:
    if isinstance(structure, Hypergraph):
        encode = structure.unfold if over == "mention-sets" else structure.encode
        return sum(scores[word][label] for word, label in encode(sentence.mentions, len(sentence)).encoding)
    tags = [label for _, label in structure.encode(sentence.mentions, len(sentence)).encoding]
    steps = pairwise(tags)
    return sum(scores[word][tag] for word, tag in enumerate(tags)) + sum(
        weights.get(("transition", before, tag), 0.0) for before, tag in steps
    )


def _log_partition(structure: Hypergraph | Linear, scores: Scores, weights: Mapping[Key, float], over: Over) -> float:
    if isinstance(structure, Linear):
        tags = range(structure.n_labels)
        transitions = [[weights.get(("transition", before, tag), 0.0) for tag in tags] for before in tags]
        return chain_reference(scores, transitions, LOG_SUM)
    total = 0.0
    for block in structure.blocks:
        sum_over = frontier_reference if over == "encodings" else derivations_reference
        last_label = block.first_label + block.staircase.n_labels
        total += sum_over(block.staircase, [row[block.first_label : last_label] for row in scores], LOG_SUM)
    return total
