"""Lists of numbers in flat arrays (CSR): list n is ``item[first[n]:first[n + 1]]``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel


class Lists(NamedTuple):
    """Many lists of numbers.

    Attributes
    ----------
    first : int64 array of shape (n_lists + 1,)
    item : int32 array of shape (n_items,)
    """

    first: NDArray[np.int64]
    item: NDArray[np.int32]

    @property
    def n_lists(self) -> int:
        """How many lists there are."""
        return len(self.first) - 1

    def transposed(self, n_items: int) -> Lists:
        """Return for every item the lists that contain it, in increasing order; duplicates are kept.

        Examples
        --------
        >>> lists = Lists(np.array([0, 2, 3]), np.array([0, 2, 2], dtype=np.int32))
        >>> lists.transposed(3)
        Lists(first=array([0, 1, 1, 3]), item=array([0, 0, 1], dtype=int32))
        """
        first = np.zeros(n_items + 1, dtype=np.int64)
        item = np.empty(len(self.item), dtype=np.int32)
        transpose_kernel(self.first, self.item, first, item)
        return Lists(first, item)


@kernel
def transpose_kernel(first, item, first_list, list_of):
    """Fill ``first_list`` (n_items + 1, initially zeros) and ``list_of`` by a counting sort."""
    for place in range(item.shape[0]):
        first_list[item[place] + 1] += 1
    for number in range(1, first_list.shape[0]):
        first_list[number] += first_list[number - 1]
    next_place = first_list.copy()
    for number in range(first.shape[0] - 1):
        for place in range(first[number], first[number + 1]):
            list_of[next_place[item[place]]] = number
            next_place[item[place]] += 1


@kernel
def is_same_kernel(item, first, last, other, other_last):
    """Return whether ``item[first:last]`` and ``item[other:other_last]`` are equal."""
    if last - first != other_last - other:
        return False
    place = 0
    while place < last - first and item[first + place] == item[other + place]:
        place += 1
    return place == last - first


@kernel
def scatter_kernel(number):
    """Return a 64-bit hash of a number; sums of such hashes identify lists."""
    bits = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
