"""Cohen's κ and Krippendorff's α from counts that add up over documents, so that both can be bootstrapped."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = Mapping[tuple[Hashable, ...], int]
"""How often each combination of values occurs in a document: one value per annotator, in order."""

_ROUNDING = 1e-12


def masi_distance(one: Hashable, other: Hashable) -> float:
    """Return the MASI distance of two sets: 1 minus Jaccard's index times 1, 2/3, 1/3 or 0 (Passonneau 2006).

    The factor is 1 for equal sets, 2/3 if one contains the other, 1/3 if they overlap, and 0 if they are disjoint.

    Examples
    --------
    >>> round(masi_distance(frozenset("ab"), frozenset("a")), 3), masi_distance(frozenset(), frozenset("a"))
    (0.667, 1.0)
    """
    assert isinstance(one, frozenset)
    assert isinstance(other, frozenset)
    if one == other:
        return 0.0
    shared = len(one & other)
    if not shared:
        return 1.0
    factor = 2 / 3 if one <= other or other <= one else 1 / 3
    return 1.0 - factor * shared / len(one | other)


def nominal_distance(one: Hashable, other: Hashable) -> float:
    """Return 0 for equal values and 1 for others."""
    return float(one != other)


class Kappa:
    """Cohen's κ of two annotators: how much more often they agree than expected by chance.

    Parameters
    ----------
    documents : sequence of counts
        For every document, how often each pair of values occurs.

    Examples
    --------
    >>> kappa = Kappa([{("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}])
    >>> round(kappa.value(), 6)
    0.4
    """

    def __init__(self, documents: Sequence[Rows]) -> None:
        values = _numbered(value for rows in documents for row in rows for value in row)
        self._totals = np.array([sum(rows.values()) for rows in documents], dtype=np.float64)
        self._same = np.array([_n_same(rows) for rows in documents], dtype=np.float64)
        self._first, self._second = (
            _counts([[(row[side], count) for row, count in rows.items()] for rows in documents], values)
            for side in (0, 1)
        )

    def value(self) -> float:
        """Return κ; NaN if chance alone gives full agreement."""
        return float(self.resampled(np.ones((1, len(self._totals))))[0])

    def resampled(self, weights: Floats) -> Floats:
        """Return κ for each row of weights, of shape (n_resamples, n_documents): how often a document is drawn."""
        total = weights @ self._totals
        expected = np.sum(_weighted(weights, self._first) * _weighted(weights, self._second), axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            observed, expected = weights @ self._same / total, expected / total**2
            return np.where(1.0 - expected > _ROUNDING, (observed - expected) / (1.0 - expected), np.nan)


class Alpha:
    """Krippendorff's α of two annotators or more: 1 minus the ratio of observed to expected disagreement.

    Parameters
    ----------
    documents : sequence of counts
        For every document, how often each combination of values occurs, with one value per annotator of the document.
    distance : callable
        The distance of two values, 0 to 1.

    Notes
    -----
    With ``n`` values in all, ``n_c`` of them ``c``, and the values of an item of ``m`` annotators paired with weight
    ``1 / (m - 1)``, α is ``1 - (n - 1) Σ o_ck δ_ck / Σ n_c n_k δ_ck`` (Krippendorff 2011).

    Examples
    --------
    >>> rows = {("a", "a"): 4, ("a", "b"): 1, ("b", "b"): 5}
    >>> round(Alpha([rows], nominal_distance).value(), 3)
    0.808
    """

    def __init__(self, documents: Sequence[Rows], distance: Callable[[Hashable, Hashable], float]) -> None:
        values = _numbered(value for rows in documents for row in rows for value in row)
        self._distances = np.array([[distance(one, other) for other in values] for one in values]).reshape(
            len(values), len(values)
        )
        self._observed = np.array([self._observed_in(rows, values) for rows in documents], dtype=np.float64)
        counted = [[(value, count) for row, count in rows.items() for value in row] for rows in documents]
        self._counts = _counts(counted, values)

    def _observed_in(self, rows: Rows, values: Mapping[Hashable, int]) -> float:
        total = 0.0
        for row, count in rows.items():
            numbers = [values[value] for value in row]
            if len(set(numbers)) > 1:
                total += count * float(self._distances[np.ix_(numbers, numbers)].sum()) / (len(row) - 1)
        return total

    def value(self) -> float:
        """Return α; NaN if all values are the same."""
        return float(self.resampled(np.ones((1, len(self._observed))))[0])

    def resampled(self, weights: Floats) -> Floats:
        """Return α for each row of weights, of shape (n_resamples, n_documents): how often a document is drawn."""
        counts = _weighted(weights, self._counts)
        expected = np.sum(counts @ self._distances * counts, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = 1.0 - (counts.sum(axis=1) - 1.0) * (weights @ self._observed) / expected
        return np.where(expected > _ROUNDING, found, np.nan)


def _numbered(values: Iterable[Hashable]) -> dict[Hashable, int]:
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def _n_same(rows: Rows) -> int:
    return sum(count for row, count in rows.items() if row[0] == row[1])


def _counts(documents: Sequence[Sequence[tuple[Hashable, int]]], values: Mapping[Hashable, int]) -> csr_array:
    """Return how often each value occurs in each document, of shape (n_documents, n_values)."""
    cells = [(number, values[value], count) for number, found in enumerate(documents) for value, count in found]
    rows, columns, counts = (np.array([cell[side] for cell in cells], dtype=np.int64) for side in range(3))
    return csr_array((counts.astype(np.float64), (rows, columns)), shape=(len(documents), len(values)))


def _weighted(weights: Floats, counts: csr_array) -> Floats:
    found: Floats = (counts.T @ weights.T).T
    return found
