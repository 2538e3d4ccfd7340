"""Arithmetic with long vectors: in a fixed order, whatever the number of threads.

The library behind NumPy's dot product uses as many threads as it likes, so its result may differ from run to run, and
it waits for all of them where cores are busy. Here vectors are cut into pieces, always the same ones, and what comes of
the pieces is added up in their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
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


def run(n_threads: int, work: Callable[[int], Result], n_tasks: int) -> list[Result]:
    """Call a function for every number from 0, in several threads, of which this is one, and return the results."""
    if n_threads == 1:
        return [work(number) for number in range(n_tasks)]
    results: dict[int, Result] = {}
    numbers = iter(range(n_tasks))  # each thread takes the next number when it is done with one

    def take() -> None:
        for number in numbers:
            results[number] = work(number)

    others = [_pool(n_threads - 1, os.getpid()).submit(take) for _ in range(n_threads - 1)]
    try:
        take()
    finally:
        wait(others)
    for other in others:
        other.result()
    return [results[number] for number in range(n_tasks)]


@lru_cache(maxsize=4)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """Return threads that wait for work, always the same ones; they do not come along when a process forks."""
    return ThreadPoolExecutor(n_threads, f"hyperspan-{process}")


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
