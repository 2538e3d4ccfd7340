"""Sums over long vectors, in one thread and in a fixed order.

The library behind NumPy's dot product uses as many threads as it likes, so its result may differ from run to run, and
it waits for all of them where cores are busy.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def dot_kernel(left, right):
    """Return the dot product of two vectors of either precision, summed in double."""
    total = 0.0
    for place in range(left.shape[0]):
        total += np.float64(left[place]) * np.float64(right[place])
    return total


@numba.njit(nogil=True, cache=True)
def add_kernel(vector, factor, other):
    """Add a multiple of a vector to another in place."""
    for place in range(vector.shape[0]):
        vector[place] += factor * other[place]
