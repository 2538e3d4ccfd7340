"""Arithmetic with long vectors: in a fixed order, whatever the number of threads.

The library behind NumPy's dot product uses as many threads as it likes, so its result may differ from run to run, and
it waits for all of them where cores are busy. Here vectors are cut into pieces, always the same ones, and what comes of
the pieces is added up in their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import numba
import numpy as np

N_PIECES = 16
"""Into how many pieces a vector is cut: the most threads that can help."""

BLOCK = 4_096
"""How many numbers of a vector are worked on at a time, so that they stay in the cache."""

_WORTH_THREADS = 1 << 16

Result = TypeVar("Result")


def pool_of(n_threads: int) -> ThreadPoolExecutor | None:
    """Return threads that wait for work, always the same ones; none for a single thread."""
    return None if n_threads == 1 else _pool(n_threads, os.getpid())


@lru_cache(maxsize=4)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, f"hyperspan-{process}")  # threads do not come along when a process forks


def run(pool: ThreadPoolExecutor | None, work: Callable[[int], Result], n_tasks: int) -> list[Result]:
    """Call a function for every number from 0, in several threads if there is a pool, and return the results."""
    return list((map if pool is None else pool.map)(work, range(n_tasks)))


def run_pieces(work: Callable[[int, int], Result], length: int, n_threads: int) -> list[Result]:
    """Call a function for the begin and end of each piece of a vector."""

    def piece(number: int) -> Result:
        return work(number * length // N_PIECES, (number + 1) * length // N_PIECES)

    return run(pool_of(n_threads) if length >= _WORTH_THREADS else None, piece, N_PIECES)


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
