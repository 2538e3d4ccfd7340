"""Choose the parameters: which pairs of a row of features and an edge label have a weight.

Duplicate features share a row (see `duplicates`). A pair has a weight if it occurs in the gold encodings, if its
features are frequent and the label occurs at all, or if the label is the start of a mention, so that every feature can
also be evidence against a mention. The choice of T between its two edges needs only one score, so "no mention starts
here" has no weights: it scores zero. In addition, every label has a bias, and every pair of tags a transition if the
structure has transitions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.features import FeatureBlock
from hyperspan.inference import Gold
from hyperspan.learning.duplicates import find_duplicates
from hyperspan.scoring.parameters import Parameters, first_of_rows
from hyperspan.structures.structure import Labels, Structure

FREQUENT = 10
"""How often a feature must occur to have weights for all labels that occur."""

EVERY_START = 1
"""How often a feature must occur to have weights for the start of a mention of every type, as evidence against it."""

_UNSEEN = 0.5


def choose_parameters(
    structure: Labels,
    features: FeatureBlock,
    gold: Gold,
    n_features: int,
    *,
    frequent: int = FREQUENT,
    every_start: int = EVERY_START,
    base_score: NDArray[np.float64] | None = None,
) -> Parameters:
    """Choose the pairs of features and labels that have weights.

    Parameters
    ----------
    structure : Labels
    features : FeatureBlock
        The features of the training sentences.
    gold : Gold
        The gold of the same sentences.
    n_features : int
        How many features there are.
    frequent : int
        Features that occur at least this often have weights for every label that occurs in the gold encodings.
    every_start : int
        Features that occur at least this often have weights for every start of a mention that occurs there.
    base_score : float64 array of shape (n_labels,), optional
        Scores to start from, and to regularise towards: the distribution's prior. Zeros if not given.
    """
    n_labels = structure.n_labels
    row_of_feature = find_duplicates(features, n_features)
    first_of_row = first_of_rows(row_of_feature)
    n_rows = len(first_of_row)
    counts = np.bincount(features.feature, minlength=n_features)[first_of_row]
    is_frequent = counts >= frequent
    keep = ~structure.weightless_labels[gold.label]
    word, label = gold.word[keep], gold.label[keep]
    seen_labels = np.flatnonzero(np.bincount(label, minlength=n_labels))
    starts = np.intersect1d(seen_labels, structure.start_labels)
    dense_label = np.concatenate([starts, np.setdiff1d(seen_labels, starts)]).astype(np.int32)
    column_of_label = np.zeros(n_labels, dtype=np.int64)
    column_of_label[dense_label] = np.arange(len(dense_label))
    rare_row = np.full(n_features, -1, dtype=np.int32)
    rare_row[first_of_row] = np.where(is_frequent, -1, np.arange(n_rows))
    n_pairs = int((features.first_feature[word + 1] - features.first_feature[word]).sum())
    keys = np.empty(n_pairs, dtype=np.int64)
    n_keys = rare_pairs_kernel(
        features.first_feature, features.feature, rare_row, word, column_of_label[label], len(dense_label), keys
    )
    rare = np.sort(keys[:n_keys])
    n_starts = np.where(counts >= every_start, len(starts), 0)
    first_pair = np.zeros(n_rows + 1, dtype=np.int64)
    nothing = np.empty(0, dtype=np.int32)
    merge_pairs_kernel(rare, is_frequent, n_starts, len(dense_label), first_pair, nothing)
    pair_column = np.empty(first_pair[-1], dtype=np.int32)
    merge_pairs_kernel(rare, is_frequent, n_starts, len(dense_label), first_pair, pair_column)
    return Parameters(
        n_labels,
        n_labels**2 if structure.has_transitions else 0,
        row_of_feature,
        first_pair,
        dense_label[pair_column],
        dense_label,
        np.zeros(n_labels) if base_score is None else base_score,
    )


def first_weights(structure: Structure, gold: Gold, parameters: Parameters) -> NDArray[np.float64]:
    """Return initial weights: biases that make every choice as frequent as in the gold data.

    With zeros, a mention of every type starts at every second word, and the search would take dozens of iterations to
    correct that. If there is a prior, it already makes mentions rare, and all weights are zero.
    """
    weights = np.zeros(parameters.n_weights)
    if not parameters.base_score.any():
        weights[: structure.n_labels] = label_biases(structure, gold)
    return weights


def label_biases(structure: Structure, gold: Gold) -> NDArray[np.float64]:
    """Return scores of shape (n_labels,) that make every choice as frequent as in the gold data."""
    biases = np.zeros(structure.n_labels)
    counts = _UNSEEN + np.bincount(gold.label, minlength=structure.n_labels)
    for choices in structure.choices:
        biases[choices] = np.log(counts[choices] / counts[choices].sum())
        weightless = choices[structure.weightless_labels[choices]]
        if len(weightless):  # the others are scored relative to it
            biases[choices] -= biases[weightless[0]]
    return biases


@kernel
def rare_pairs_kernel(first_feature, feature, rare_row, word, column, n_columns, keys):
    """Write ``row * n_columns + column`` of every gold edge's features that have a rare row; returns how many."""
    n_keys = 0
    for edge in range(word.shape[0]):
        for occurrence in range(first_feature[word[edge]], first_feature[word[edge] + 1]):
            row = rare_row[feature[occurrence]]
            if row >= 0:
                keys[n_keys] = np.int64(row) * n_columns + column[edge]
                n_keys += 1
    return n_keys


@kernel
def merge_pairs_kernel(rare, is_frequent, n_starts, n_columns, first_pair, pair_column):
    """Write the distinct columns of each row in increasing order; the first call only counts them.

    ``rare`` has ``row * n_columns + column`` in increasing order, possibly with duplicates; a row always has the first
    ``n_starts`` columns. With an empty ``pair_column``, only ``first_pair`` is filled.
    """
    wants_columns = pair_column.shape[0] > 0
    n_pairs, at = 0, 0
    for row in range(is_frequent.shape[0]):
        first_pair[row] = n_pairs
        n_given = n_columns if is_frequent[row] else n_starts[row]
        for column in range(n_given):
            if wants_columns:
                pair_column[n_pairs + column] = column
        n_pairs += n_given
        previous = np.int64(row) * n_columns + n_given - 1
        last = np.int64(row + 1) * n_columns
        while at < rare.shape[0] and rare[at] < last:
            if rare[at] > previous:
                if wants_columns:
                    pair_column[n_pairs] = rare[at] % n_columns
                n_pairs += 1
                previous = rare[at]
            at += 1
    first_pair[is_frequent.shape[0]] = n_pairs
