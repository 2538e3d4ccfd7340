"""Arithmetic with long vectors in a fixed order, independent of the number of threads.

The library behind NumPy's dot product chooses its own number of threads, so its result may differ from run to run, and
it waits for all of them when cores are busy. Here vectors are split into fixed pieces, and the results of the pieces
are summed in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from hyperspan.compiled.kernel import kernel
from hyperspan.threads import run

N_PIECES = 16
"""Into how many pieces a vector is split: the most threads that can help."""

BLOCK = 4_096
"""How many numbers of a vector are processed at a time, so that they stay in the cache."""

_WORTH_THREADS = 1 << 16

Result = TypeVar("Result")


def run_pieces(work: Callable[[int, int], Result], length: int, n_threads: int) -> list[Result]:
    """Call a function for the begin and end of each piece of a vector."""

    def piece(number: int) -> Result:
        return work(number * length // N_PIECES, (number + 1) * length // N_PIECES)

    return run(n_threads if length >= _WORTH_THREADS else 1, piece, N_PIECES)


@kernel(fastmath={"reassoc", "contract", "nsz"})
def dot_kernel(left, right):
    """Return the dot product of two vectors of either precision, summed in double."""
    total = 0.0
    for place in range(left.shape[0]):
        total += np.float64(left[place]) * np.float64(right[place])
    return total


@kernel
def add_kernel(vector, factor, other):
    """Add a multiple of a vector to another in place."""
    for place in range(vector.shape[0]):
        vector[place] += factor * other[place]
