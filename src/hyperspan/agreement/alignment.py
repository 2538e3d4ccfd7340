"""Align the mentions of two annotators, and compute the cost of their differences.

After Mathet, Widlöcher and Métivier, "The Unified and Holistic Method Gamma (γ) for Inter-Annotator Agreement Measure
and Alignment" (Computational Linguistics, 2015), with distances between sets of words instead of intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, sqrt
from typing import TypeAlias

from hyperspan.mentions import Mention

Words: TypeAlias = tuple[str, frozenset[int]]
"""A mention in the form for alignment: its type and its words."""

ALONE = 1.0
"""The cost of a mention without a partner."""

_REACH = (sqrt(2.0) - 1.0) / 2.0
"""Beyond this distance, as a share of their words, two mentions cost more as a pair than alone."""


def dissimilarity(one: Words, other: Words) -> float:
    """Return the cost of aligning two mentions: 0 for equal ones, at most 2 if aligning is worthwhile.

    The positions cost ``((n + 2 d) / (a + b))²``, where ``n`` words belong to one of the two only, ``d`` words lie
    between them (none, if they share a word), and they have ``a`` and ``b`` words. Another type costs 1. For two
    intervals this is the dissimilarity of γ, whose ``|start - start'| + |end - end'|`` is ``n + 2 d``.

    Examples
    --------
    >>> shed, embolic = ("Finding", frozenset([0, 2, 3])), ("Finding", frozenset([0, 5]))
    >>> dissimilarity(shed, embolic), dissimilarity(shed, ("Drug", frozenset([0, 2, 3])))
    (0.36, 1.0)
    """
    mine, theirs = one[1], other[1]
    apart = len(mine ^ theirs)
    if mine.isdisjoint(theirs):
        apart += 2 * min(abs(word - far) - 1 for word in mine for far in theirs)
    return (apart / (len(mine) + len(theirs))) ** 2 + (one[0] != other[0])


@dataclass(frozen=True, slots=True)
class Alignment:
    """The cheapest one-to-one alignment of the mentions of two annotators.

    Attributes
    ----------
    pairs : tuple of (int, int, float)
        Indices in the two lists, and the cost of the pair.
    cost : float
        The cost of all pairs, plus 1 for every mention without a partner.
    n_mentions : int
        The number of mentions on both sides together.
    """

    pairs: tuple[tuple[int, int, float], ...]
    cost: float
    n_mentions: int


def align(ours: Sequence[Words], theirs: Sequence[Words]) -> Alignment:
    """Return the cheapest alignment of two lists of mentions.

    Examples
    --------
    >>> ours = [("Finding", frozenset([0, 1, 2])), ("Finding", frozenset([2, 5]))]
    >>> theirs = [("Finding", frozenset([5])), ("Drug", frozenset([9]))]
    >>> found = align(ours, theirs)
    >>> [(row, column, round(cost, 3)) for row, column, cost in found.pairs], round(found.cost, 3)
    ([(1, 0, 0.111)], 2.111)
    """
    gains = _gains(ours, theirs)
    pairs = sorted((row, column, 2 * ALONE - gain) for row, column, gain in _best_pairs(gains))
    n_mentions = len(ours) + len(theirs)
    cost = sum(cost for _, _, cost in pairs) + ALONE * (n_mentions - 2 * len(pairs))
    return Alignment(tuple(pairs), float(cost), n_mentions)


def as_words(mentions: Iterable[Mention]) -> list[Words]:
    """Convert mentions in words to the form for alignment."""
    return [(mention.type, frozenset(mention.words())) for mention in mentions]


def _gains(ours: Sequence[Words], theirs: Sequence[Words]) -> dict[int, dict[int, float]]:
    """Return for each of our mentions the gain of aligning it with each of theirs, if positive."""
    at_word: defaultdict[int, list[int]] = defaultdict(list)
    of_type: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    longest: defaultdict[str, int] = defaultdict(int)
    for column, (type, words) in enumerate(theirs):
        longest[type] = max(longest[type], len(words))
        for word in words:
            at_word[word].append(column)
            of_type[type, word].append(column)
    gains: dict[int, dict[int, float]] = {}
    for row, mention in enumerate(ours):
        type, words = mention
        columns = {column for word in words for column in at_word.get(word, ())}
        if type in longest:
            # Without a common word, the positions cost at least 1, so only mentions of the same type can gain.
            reach = floor(_REACH * (len(words) + longest[type])) + 1
            near = {word + step for word in words for step in range(-reach, reach + 1)} - words
            columns.update(column for word in near for column in of_type.get((type, word), ()))
        for column in columns:
            gain = 2 * ALONE - dissimilarity(mention, theirs[column])
            if gain > 0.0:
                gains.setdefault(row, {})[column] = gain
    return gains


def _best_pairs(gains: dict[int, dict[int, float]]) -> Iterator[tuple[int, int, float]]:
    """Yield the pairs with the greatest total gain, found separately for each connected component."""
    for rows, columns in _connected(gains):
        if len(rows) == 1:
            (row,) = rows
            column = max(gains[row], key=lambda column: (gains[row][column], -column))
            yield row, column, gains[row][column]
            continue
        import numpy as np
        from scipy.optimize import linear_sum_assignment

        table = np.array([[gains[row].get(column, 0.0) for column in columns] for row in rows])
        for row, column in zip(*linear_sum_assignment(table, maximize=True), strict=True):
            if table[row, column] > 0.0:
                yield rows[row], columns[column], float(table[row, column])


def _connected(gains: dict[int, dict[int, float]]) -> Iterator[tuple[list[int], list[int]]]:
    rows_of: defaultdict[int, list[int]] = defaultdict(list)
    for row, here in gains.items():
        for column in here:
            rows_of[column].append(row)
    seen: set[int] = set()
    for first in gains:
        if first in seen:
            continue
        seen.add(first)
        rows, columns, waiting = [first], set[int](), [first]
        while waiting:
            for column in gains[waiting.pop()]:
                if column not in columns:
                    columns.add(column)
                    new = [row for row in rows_of[column] if row not in seen]
                    seen.update(new)
                    rows += new
                    waiting += new
        yield sorted(rows), sorted(columns)
