"""The layout of the weights of a linear scorer: pairs of a row of features and an edge label, in flat arrays.

Duplicate features share a row. `hyperspan.learning.parameters` decides which pairs have a weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import LearningError
from hyperspan.structures.structure import Labels


class Parameters(NamedTuple):
    """The positions of the weights.

    A vector of weights has the label biases (n_labels), then the transitions (n_transitions), then the pairs. The pairs
    of row r are ``first_pair[r] : first_pair[r + 1]``; ``pair_label`` is the label of each, in the order of
    ``dense_label``. A row with as many pairs as ``dense_label`` has entries has exactly those labels.

    Attributes
    ----------
    n_labels, n_transitions : int
    row_of_feature : int32 array of shape (n_features,)
    first_pair : int64 array of shape (n_rows + 1,)
    pair_label : int32 array of shape (n_pairs,)
    dense_label : int32 array of shape (n_dense,)
        Every label that a pair can have: first those that start a mention, then the others, both in increasing order.
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

    @property
    def n_shared(self) -> int:
        """How many weights come before those of the pairs."""
        return self.n_labels + self.n_transitions

    def of_labels(self, labels: slice, weights: NDArray[np.float64]) -> tuple[Parameters, NDArray[np.float64]]:
        """Return the places of the weights of some labels, one after another, and these weights; no transitions."""
        chosen = (self.pair_label >= labels.start) & (self.pair_label < labels.stop)
        is_dense = (self.dense_label >= labels.start) & (self.dense_label < labels.stop)
        some = Parameters(
            labels.stop - labels.start,
            0,
            self.row_of_feature,
            np.concatenate([[0], np.cumsum(chosen)])[self.first_pair],
            self.pair_label[chosen] - np.int32(labels.start),
            self.dense_label[is_dense] - np.int32(labels.start),
            self.base_score[labels],
        )
        return some, np.concatenate([weights[labels], weights[self.n_shared :][chosen]])

    def split(
        self, weights: NDArray[np.float64], weightless: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Split a vector of weights: the score of each label by itself, transitions, and pairs."""
        bias = self.base_score + np.where(weightless, 0.0, weights[: self.n_labels])
        transitions = weights[self.n_labels : self.n_shared].reshape(-1, self.n_labels)
        return bias, transitions, weights[self.n_shared :]


def first_of_rows(row_of_feature: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the first feature of every row."""
    return np.unique(row_of_feature, return_index=True)[1]


def check_parameters(structure: Labels, parameters: Parameters, n_features: int) -> None:
    """Raise an error if parameters do not fit the structure and the features: kernels do not check bounds.

    Raises
    ------
    LearningError
        If an array has a wrong shape or type, or an index is out of range.
    """
    n_labels, first_pair = structure.n_labels, parameters.first_pair
    fits = (
        parameters.n_labels == n_labels
        and parameters.n_transitions == (n_labels**2 if structure.has_transitions else 0)
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
