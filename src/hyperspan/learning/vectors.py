"""Arithmetic with long vectors: in a fixed order, whatever the number of threads.

The library behind NumPy's dot product uses as many threads as it likes, so its result may differ from run to run, and
it waits for all of them where cores are busy. Here vectors are cut into pieces, always the same ones, and what comes of
the pieces is added up in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba
import numpy as np

from hyperspan.threads import run

N_PIECES = 16
"""Into how many pieces a vector is cut: the most threads that can help."""

BLOCK = 4_096
"""How many numbers of a vector are worked on at a time, so that they stay in the cache."""

_WORTH_THREADS = 1 << 16

Result = TypeVar("Result")


def run_pieces(work: Callable[[int, int], Result], length: int, n_threads: int) -> list[Result]:
    """Call a function for the begin and end of each piece of a vector."""

    def piece(number: int) -> Result:
        return work(number * length // N_PIECES, (number + 1) * length // N_PIECES)

    return run(n_threads if length >= _WORTH_THREADS else 1, piece, N_PIECES)


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
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
