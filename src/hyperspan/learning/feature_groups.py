"""Feature groups: lists of rows that occur together at many words, summed once for all of them.

Many features depend on a single word, the current one or a neighbour (its prefixes, suffixes, shape …), so the same
list of rows recurs wherever that word does. Each recurring list becomes a group. A word then has a few groups and some
rows of its own: the matrix of words and rows becomes a product of two, which together have a third of the entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.learning.sparse import Lists, is_same_kernel, scatter_kernel


class Grouped(NamedTuple):
    """The rows of words, in two steps.

    Attributes
    ----------
    groups : Lists
        The groups of each word.
    rows : Lists
        The rows of each word that are in none of its groups.
    of_group : Lists
        The rows of each group.
    """

    groups: Lists
    rows: Lists
    of_group: Lists


def group_rows(words: Lists, group_key: NDArray[np.int32]) -> Grouped:
    """Group rows that occur together at two words or more.

    Parameters
    ----------
    words : Lists
        The rows of each word.
    group_key : int32 array of shape (n_rows,)
        The group key of each row: only rows with the same key are grouped.

    Examples
    --------
    >>> words = Lists(np.array([0, 3, 6, 8]), np.array([0, 1, 2, 0, 1, 3, 4, 3], dtype=np.int32))
    >>> grouped = group_rows(words, np.array([0, 0, 1, 1, 0], dtype=np.int32))
    >>> grouped.of_group.item, grouped.groups.item, grouped.rows.item
    (array([0, 1], dtype=int32), array([0, 0], dtype=int32), array([2, 3, 4, 3], dtype=int32))
    """
    n_group_keys = max(1, int(group_key.max(initial=0)) + 1)
    shape = words.n_lists, n_group_keys  # the largest arrays here, so there are as few of them as possible
    by_group_key = np.empty(len(words.item), dtype=np.int32)
    starts = np.empty(shape, dtype=np.int32 if len(words.item) < 1 << 31 else np.int64)
    sizes = np.zeros(shape, dtype=np.int32)
    group_key_kernel(words.first, words.item, group_key, by_group_key, starts, sizes)
    first_word = np.full(shape, -1, dtype=np.int32)
    for number in range(n_group_keys):
        several = np.flatnonzero(sizes[:, number] > 1)
        keys = np.empty(len(several), dtype=np.uint64)
        with np.errstate(over="ignore"):  # without the compiler, NumPy would warn: sums are meant to wrap around
            keys_kernel(by_group_key, starts[:, number], sizes[:, number], several, keys)
        _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        comes_back = counts[inverse] > 1
        first_word[several[comes_back], number] = several[first[inverse[comes_back]]]
    check_kernel(by_group_key, starts, sizes, first_word)
    return _collect(by_group_key, starts, sizes, first_word)


def _collect(
    item: NDArray[np.int32],
    starts: NDArray[Any],
    sizes: NDArray[np.int32],
    first_word: NDArray[np.int32],
) -> Grouped:
    """Make the three lists, given for each word and group key the word whose list it shares, or -1.

    ``sizes`` and ``first_word`` are overwritten.
    """
    is_grouped = first_word >= 0
    leader_word, leader_group_key = np.nonzero(first_word == np.arange(len(first_word), dtype=np.int32)[:, None])
    of_group = _room(sizes[leader_word, leader_group_key])
    cut_kernel(item, starts[leader_word, leader_group_key], of_group.first, of_group.item)
    number_kernel(first_word)
    groups = Lists(_offsets(is_grouped.sum(axis=1)), first_word[is_grouped])
    sizes[is_grouped] = 0
    rows = _room(sizes.sum(axis=1))
    ungrouped_kernel(item, starts, sizes, rows.item)
    return Grouped(groups, rows, of_group)


def _room(sizes: NDArray[Any]) -> Lists:
    """Return uninitialised lists of given sizes."""
    first = _offsets(sizes)
    return Lists(first, np.empty(first[-1], dtype=np.int32))


def _offsets(sizes: NDArray[Any]) -> NDArray[np.int64]:
    first = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=first[1:])
    return first


@kernel
def cut_kernel(item, starts, first, cut):
    """Concatenate pieces."""
    for number in range(starts.shape[0]):
        for place in range(first[number + 1] - first[number]):
            cut[first[number] + place] = item[starts[number] + place]


@kernel
def group_key_kernel(first, item, group_key, by_group_key, starts, sizes):
    """Sort the rows of each word by group key; write where those of each key begin and how many there are."""
    for word in range(first.shape[0] - 1):
        for place in range(first[word], first[word + 1]):
            sizes[word, group_key[item[place]]] += 1
        at = first[word]
        for number in range(starts.shape[1]):
            starts[word, number] = at
            at += sizes[word, number]
        for place in range(first[word], first[word + 1]):
            number = group_key[item[place]]
            by_group_key[starts[word, number]] = item[place]
            starts[word, number] += 1
        for number in range(starts.shape[1]):
            starts[word, number] -= sizes[word, number]


@kernel
def keys_kernel(item, starts, sizes, words, keys):
    """Fill in a hash of the list of each given word: equal for equal lists."""
    for number in range(words.shape[0]):
        start = starts[words[number]]
        key = np.uint64(0)
        for place in range(start, start + sizes[words[number]]):
            key += scatter_kernel(item[place])
        keys[number] = key


@kernel
def number_kernel(first_word):
    """Replace the first word with each list by the number of that list, in the order of words and group keys."""
    n_groups = 0
    for word in range(first_word.shape[0]):
        for number in range(first_word.shape[1]):
            if first_word[word, number] == word:
                first_word[word, number] = n_groups
                n_groups += 1
            elif first_word[word, number] >= 0:  # an earlier word, which already has the number
                first_word[word, number] = first_word[first_word[word, number], number]


@kernel
def ungrouped_kernel(item, starts, sizes, left):
    """Concatenate the ungrouped rows of words."""
    at = 0
    for word in range(starts.shape[0]):
        for number in range(starts.shape[1]):
            for place in range(starts[word, number], starts[word, number] + sizes[word, number]):
                left[at] = item[place]
                at += 1


@kernel
def check_kernel(item, starts, sizes, first_word):
    """Undo matches of equal hashes whose lists differ, and groups that then have only their first word."""
    for word in range(starts.shape[0]):
        for number in range(starts.shape[1]):
            other = first_word[word, number]
            if other < 0:
                continue
            first_word[word, number] = -1
            if other < word and is_same_kernel(
                item,
                starts[word, number],
                starts[word, number] + sizes[word, number],
                starts[other, number],
                starts[other, number] + sizes[other, number],
            ):
                first_word[word, number] = first_word[other, number] = other
