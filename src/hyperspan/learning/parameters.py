"""Which weights exist: pairs of a row of features and an edge label, in flat arrays.

Features that the training data cannot tell apart share a row (see `twins`). A pair has a weight if it occurs in the
gold encodings, if its features are frequent and the label occurs at all, or if the label is the start of a mention: so
that every feature can also speak against it. The choice of T between its two edges needs only one score, so "no mention
starts here" has no weights: it scores zero. Every label has a bias besides, and every pair of tags a transition where
the structure has such.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import LearningError
from hyperspan.features import FeatureBlock
from hyperspan.learning.gold import Gold
from hyperspan.learning.twins import find_twins, first_of_rows
from hyperspan.structures import Hypergraph, Linear
from hyperspan.structures.staircase import END, NO_START, START, STAY, STEP

FREQUENT = 10
"""How often a feature must occur to have weights for all labels that occur."""

EVERY_START = 1
"""How often a feature must occur to have weights for the start of a mention of every type: evidence against it too."""

_UNSEEN = 0.5

START_PRIOR, GAP_PRIOR, CHILD_PRIOR = -4.0, -4.0, -6.0
"""Where weights start under ``mention-sets``: starting a mention, opening a gap, and each further child are rare."""


class Parameters(NamedTuple):
    """The weights' places.

    A vector of weights holds the label biases (n_labels), then the transitions (n_transitions), then the pairs. The
    pairs of row r are ``first_pair[r] : first_pair[r + 1]``; ``pair_label`` says which label each is for, in the order
    of ``dense_label``. A row with as many pairs as there are in ``dense_label`` has exactly those.

    Attributes
    ----------
    n_labels, n_transitions : int
    row_of_feature : int32 array of shape (n_features,)
    first_pair : int64 array of shape (n_rows + 1,)
    pair_label : int32 array of shape (n_pairs,)
    dense_label : int32 array of shape (n_dense,)
        Every label that a pair can have: first those that start a mention, then the others, both in rising order.
    base_score : float64 array of shape (n_labels,)
        Scores that are added and never learned: the prior.
    """

    n_labels: int
    n_transitions: int
    row_of_feature: NDArray[np.int32]
    first_pair: NDArray[np.int64]
    pair_label: NDArray[np.int32]
    dense_label: NDArray[np.int32]
    base_score: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.first_pair) - 1

    @property
    def n_weights(self) -> int:
        """How many weights there are."""
        return self.n_labels + self.n_transitions + len(self.pair_label)


def weightless_labels(structure: Hypergraph | Linear) -> NDArray[np.bool_]:
    """Say which labels have no weights, because another choice at the same node is scored against them."""
    weightless = np.zeros(structure.n_labels, dtype=np.bool_)
    if isinstance(structure, Hypergraph):
        weightless[[block.first_label + NO_START for block in structure.blocks]] = True
    return weightless


def start_labels(structure: Hypergraph | Linear) -> NDArray[np.int64]:
    """Return the labels that start a mention; none where tags do."""
    if isinstance(structure, Linear):
        return np.empty(0, dtype=np.int64)
    return np.array([block.first_label + START for block in structure.blocks], dtype=np.int64)


def prior_scores(structure: Hypergraph) -> NDArray[np.float64]:
    """Return the scores under which mentions, gaps and several children are rare."""
    base = np.zeros(structure.n_labels)
    for block in structure.blocks:
        base[block.first_label + START] = START_PRIOR
        for label, (node, children) in enumerate(block.staircase.edges, start=block.first_label + 2):
            n_children = (children & STAY > 0) + (children & STEP > 0) + (children & END > 0)
            opens_gap = node % 2 == 0 and children & STEP
            base[label] = CHILD_PRIOR * (n_children - 1) + (GAP_PRIOR if opens_gap else 0.0)
    return base


def choose_parameters(
    structure: Hypergraph | Linear,
    features: FeatureBlock,
    gold: Gold,
    n_features: int,
    *,
    frequent: int = FREQUENT,
    every_start: int = EVERY_START,
    with_prior: bool = False,
) -> Parameters:
    """Choose the pairs of features and labels that have weights.

    Parameters
    ----------
    structure : Hypergraph or Linear
    features : FeatureBlock
        Of the training sentences.
    gold : Gold
        Of the same sentences.
    n_features : int
        How many features there are.
    frequent : int
        Features that occur at least so often have weights for every label that occurs in the gold encodings.
    every_start : int
        Features that occur at least so often have weights for every start of a mention that occurs there.
    with_prior : bool
        Start from, and regularise towards, `prior_scores`.
    """
    n_labels = structure.n_labels
    row_of_feature = find_twins(features, n_features)
    first_of_row = first_of_rows(row_of_feature)
    n_rows = len(first_of_row)
    counts = np.bincount(features.feature, minlength=n_features)[first_of_row]
    is_frequent = counts >= frequent
    keep = ~weightless_labels(structure)[gold.label]
    word, label = gold.word[keep], gold.label[keep]
    seen_labels = np.flatnonzero(np.bincount(label, minlength=n_labels))
    starts = np.intersect1d(seen_labels, start_labels(structure))
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
    base = prior_scores(structure) if with_prior and isinstance(structure, Hypergraph) else np.zeros(n_labels)
    return Parameters(
        n_labels,
        n_labels**2 if isinstance(structure, Linear) else 0,
        row_of_feature,
        first_pair,
        dense_label[pair_column],
        dense_label,
        base,
    )


def first_weights(structure: Hypergraph | Linear, gold: Gold, parameters: Parameters) -> NDArray[np.float64]:
    """Return weights to start a search from: biases under which every choice is as frequent as in the gold.

    From zero, where a mention of every type starts at every second word, the search would take dozens of steps to come
    so far. Where there is a prior, it already says that mentions are rare: then all weights are zero.
    """
    weights = np.zeros(parameters.n_weights)
    if parameters.base_score.any():
        return weights
    counts = _UNSEEN + np.bincount(gold.label, minlength=structure.n_labels)
    for choices in _choices(structure):
        weights[choices] = np.log(counts[choices] / counts[choices].sum())
    if isinstance(structure, Hypergraph):
        for block in structure.blocks:  # one of T's two labels is weightless: the other is scored against it
            weights[block.first_label + START] -= weights[block.first_label + NO_START]
            weights[block.first_label + NO_START] = 0.0
    return weights


def _choices(structure: Hypergraph | Linear) -> list[NDArray[np.int64]]:
    """Return the labels that exclude each other: all tags, or the edges of a node."""
    if isinstance(structure, Linear):
        return [np.arange(structure.n_labels)]
    choices = []
    for block in structure.blocks:
        choices.append(block.first_label + np.array([NO_START, START]))
        nodes = np.array([node for node, _ in block.staircase.edges])
        choices.extend(block.first_label + 2 + np.flatnonzero(nodes == node) for node in np.unique(nodes))
    return choices


def check_parameters(structure: Hypergraph | Linear, parameters: Parameters, n_features: int) -> None:
    """Refuse parameters that do not fit the structure and the features: kernels do not look where they step.

    Raises
    ------
    LearningError
        If an array has another shape or type, or points to something that is not there.
    """
    n_labels, first_pair = structure.n_labels, parameters.first_pair
    fits = (
        parameters.n_labels == n_labels
        and parameters.n_transitions == (n_labels**2 if isinstance(structure, Linear) else 0)
        and parameters.row_of_feature.dtype == np.int32
        and parameters.row_of_feature.shape == (n_features,)
        and first_pair.dtype == np.int64
        and first_pair.ndim == 1
        and len(first_pair) > 0
        and bool(np.all((parameters.row_of_feature >= 0) & (parameters.row_of_feature < parameters.n_rows)))
        and first_pair[0] == 0
        and first_pair[-1] == len(parameters.pair_label)
        and bool(np.all(np.diff(first_pair) >= 0))
        and parameters.base_score.dtype == np.float64
        and parameters.base_score.shape == (n_labels,)
        and bool(np.all(np.isfinite(parameters.base_score)))
        and all(
            labels.dtype == np.int32 and labels.ndim == 1 and bool(np.all((labels >= 0) & (labels < n_labels)))
            for labels in (parameters.pair_label, parameters.dense_label)
        )
    )
    if not fits:
        raise LearningError("the places of its weights do not fit its structure and features")


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def merge_pairs_kernel(rare, is_frequent, n_starts, n_columns, first_pair, pair_column):
    """Put the columns of each row one after another in rising order, each once; the first time only count them.

    ``rare`` holds ``row * n_columns + column`` in rising order, perhaps repeatedly; the first ``n_starts`` columns of a
    row are there in any case. With an empty ``pair_column`` only ``first_pair`` is filled.
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
