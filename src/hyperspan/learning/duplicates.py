"""Duplicate features: those that occur at exactly the same words of the training data.

The training data cannot distinguish them, so their gradients are equal for any weights, and a search that starts from
zero gives them equal weights: one row of weights serves them all. Most features of a corpus occur once, many of them at
the same word, so this saves most rows. A row of m duplicates counts like one feature of value m; with its weight
multiplied by √m, it counts like one of value √m under the same penalty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.features import FeatureBlock
from hyperspan.learning.sparse import Lists, is_same_kernel, scatter_kernel


def find_duplicates(features: FeatureBlock, n_features: int) -> NDArray[np.int32]:
    """Return the row of every feature: the same for duplicates, numbered in the order of the features.

    Examples
    --------
    >>> block = FeatureBlock(
    ...     np.array([0, 2]), np.array([0, 3, 5]), np.array([0, 1, 2, 1, 3], dtype=np.int32)
    ... )
    >>> find_duplicates(block, 4).tolist()
    [0, 1, 0, 2]
    """
    words = Lists(features.first_feature, features.feature).transposed(n_features)
    keys = np.zeros(n_features, dtype=np.uint64)
    with np.errstate(over="ignore"):  # without the compiler, NumPy would warn: sums are meant to wrap around
        key_kernel(words.first, words.item, keys)
    order = np.argsort(keys, kind="stable")
    first_duplicate = np.empty(n_features, dtype=np.int64)
    first_duplicate_kernel(words.first, words.item, keys, order, first_duplicate)
    return np.unique(first_duplicate, return_inverse=True)[1].astype(np.int32)


@kernel
def key_kernel(first, item, keys):
    """Sum the hashes of the items of each list."""
    for number in range(keys.shape[0]):
        for place in range(first[number], first[number + 1]):
            keys[number] += scatter_kernel(item[place])


@kernel
def first_duplicate_kernel(first, item, keys, order, first_duplicate):
    """For each feature, fill in the first with the same list. Equal keys are only a hint: lists are compared."""
    leader = -1
    for place in range(order.shape[0]):
        feature = order[place]
        is_duplicate = (
            leader >= 0
            and keys[leader] == keys[feature]
            and is_same_kernel(item, first[leader], first[leader + 1], first[feature], first[feature + 1])
        )
        if not is_duplicate:
            leader = feature
        first_duplicate[feature] = leader
