"""Which weights exist: pairs of a feature and an edge label, in flat arrays.

A pair has a weight if it occurs in the gold encodings, if the feature is frequent and the label occurs at all, or if
the label is the start of a mention: so that every feature can also speak against it. The choice of T between its two
edges needs only one score, so "no mention starts here" has no weights: it scores zero. Every label has a bias besides,
and every pair of tags a transition where the structure has such.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import LearningError
from hyperspan.features import FeatureBlock
from hyperspan.learning.gold import Gold
from hyperspan.structures import Hypergraph, Linear
from hyperspan.structures.staircase import END, NO_START, START, STAY, STEP

FREQUENT = 10
"""How often a feature must occur to have weights for all labels that occur."""

EVERY_START = 1
"""How often a feature must occur to have weights for the start of a mention of every type: evidence against it too."""

START_PRIOR, GAP_PRIOR, CHILD_PRIOR = -4.0, -4.0, -6.0
"""Where weights start under ``mention-sets``: starting a mention, opening a gap, and each further child are rare."""


class Parameters(NamedTuple):
    """The weights' places.

    A vector of weights holds the label biases (n_labels), then the transitions (n_transitions), then the pairs. The
    pairs of feature f are ``first_pair[f] : first_pair[f + 1]``; ``pair_label`` says which label each is for, in rising
    order. A feature with as many pairs as there are in ``dense_label`` has exactly those.

    Attributes
    ----------
    n_labels, n_transitions : int
    first_pair : int64 array of shape (n_features + 1,)
    pair_label : int32 array of shape (n_pairs,)
    dense_label : int32 array of shape (n_dense,)
        Every label that a pair can have.
    base_score : float64 array of shape (n_labels,)
        Scores that are added and never learned: the prior.
    """

    n_labels: int
    n_transitions: int
    first_pair: NDArray[np.int64]
    pair_label: NDArray[np.int32]
    dense_label: NDArray[np.int32]
    base_score: NDArray[np.float64]

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
    weighted = ~weightless_labels(structure)
    counts = np.bincount(features.feature, minlength=n_features)
    is_frequent = counts >= frequent
    keep = weighted[gold.label]
    word, label = gold.word[keep], gold.label[keep]
    n_pairs = int((features.first_feature[word + 1] - features.first_feature[word]).sum())
    keys = np.empty(n_pairs, dtype=np.int64)
    n_keys = rare_pairs_kernel(features.first_feature, features.feature, is_frequent, word, label, n_labels, keys)
    rare = np.sort(keys[:n_keys])
    seen_labels = np.flatnonzero(np.bincount(label, minlength=n_labels))
    starts = np.intersect1d(seen_labels, start_labels(structure))
    has_starts = counts >= every_start
    first_pair = np.zeros(n_features + 1, dtype=np.int64)
    nothing = np.empty(0, dtype=np.int32)
    merge_pairs_kernel(rare, is_frequent, has_starts, seen_labels, starts, n_labels, first_pair, nothing)
    pair_label = np.empty(first_pair[-1], dtype=np.int32)
    merge_pairs_kernel(rare, is_frequent, has_starts, seen_labels, starts, n_labels, first_pair, pair_label)
    base = prior_scores(structure) if with_prior and isinstance(structure, Hypergraph) else np.zeros(n_labels)
    return Parameters(
        n_labels,
        n_labels**2 if isinstance(structure, Linear) else 0,
        first_pair,
        pair_label,
        seen_labels.astype(np.int32),
        base,
    )


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
        and first_pair.dtype == np.int64
        and first_pair.shape == (n_features + 1,)
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
def rare_pairs_kernel(first_feature, feature, is_frequent, word, label, n_labels, keys):
    """Write ``feature * n_labels + label`` of every gold edge's features that are not frequent; returns how many."""
    n_keys = 0
    for edge in range(word.shape[0]):
        for occurrence in range(first_feature[word[edge]], first_feature[word[edge] + 1]):
            if not is_frequent[feature[occurrence]]:
                keys[n_keys] = np.int64(feature[occurrence]) * n_labels + label[edge]
                n_keys += 1
    return n_keys


@numba.njit(nogil=True, cache=True)
def merge_pairs_kernel(rare, is_frequent, has_starts, seen_labels, starts, n_labels, first_pair, pair_label):
    """Put the labels of each feature one after another in rising order, each once; the first time only count them.

    ``rare`` holds ``feature * n_labels + label`` in rising order, perhaps repeatedly. With an empty ``pair_label`` only
    ``first_pair`` is filled.
    """
    wants_labels = pair_label.shape[0] > 0
    n_pairs, at = 0, 0
    for feature in range(is_frequent.shape[0]):
        first_pair[feature] = n_pairs
        if is_frequent[feature]:
            if wants_labels:
                for place in range(seen_labels.shape[0]):
                    pair_label[n_pairs + place] = seen_labels[place]
            n_pairs += seen_labels.shape[0]
            continue
        n_starts = starts.shape[0] if has_starts[feature] else 0
        start = 0
        last = np.int64(feature + 1) * n_labels
        while start < n_starts or (at < rare.shape[0] and rare[at] < last):
            label = n_labels
            if at < rare.shape[0] and rare[at] < last:
                label = rare[at] % n_labels
            if start < n_starts and starts[start] < label:
                label = starts[start]
            while at < rare.shape[0] and rare[at] < last and rare[at] % n_labels == label:
                at += 1
            if start < n_starts and starts[start] == label:
                start += 1
            if wants_labels:
                pair_label[n_pairs] = label
            n_pairs += 1
    first_pair[is_frequent.shape[0]] = n_pairs
