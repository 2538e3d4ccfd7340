"""The history of L-BFGS, and the search direction computed from it.

The two-loop recursion only needs dot products of the stored vectors and the gradient, and a linear combination of them.
So the dot products are kept in a small table, the recursion runs on it, and the long vectors are read only twice per
iteration: for the new products, and for the linear combination that is the direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.learning.vectors import BLOCK, run_pieces

HISTORY = 6
"""How many steps are stored, in single precision: they only shape the direction, and take the most memory."""

_LEAST_CURVATURE = 1e-10

Vector = NDArray[np.float64]


class History:
    """The last steps, and how the gradient changed along each.

    Parameters
    ----------
    rows : float32 array of shape (2 * (HISTORY + 1), n_weights)
        Steps and changes of the gradient, alternating, in a ring buffer with one free place.
    products : float64 array of shape (2 * (HISTORY + 1), 2 * (HISTORY + 1))
        Their dot products.
    n_steps : int
        How many steps were ever stored.
    """

    def __init__(self, rows: NDArray[np.float32], products: Vector, n_steps: int = 0) -> None:
        self.rows = rows
        self.products = products
        self.n_steps = n_steps

    @classmethod
    def of_nothing(cls, n_weights: int) -> History:
        """Return an empty history."""
        n_rows = 2 * (HISTORY + 1)
        return cls(np.zeros((n_rows, n_weights), dtype=np.float32), np.zeros((n_rows, n_rows)))

    def forget(self) -> None:
        """Clear the history."""
        self.n_steps = 0

    def remember(
        self, weights: Vector, new_weights: Vector, gradient: Vector, new_gradient: Vector, n_threads: int = 1
    ) -> None:
        """Store a step and the change of the gradient, unless the curvature along it is too small."""
        here = 2 * (self.n_steps % (HISTORY + 1))

        def work(begin: int, end: int) -> Vector:
            found = np.zeros((2, len(self.rows)))
            remember_kernel(self.rows, here, weights, new_weights, gradient, new_gradient, begin, end, found)
            return found

        found = sum(run_pieces(work, len(weights), n_threads), np.zeros((2, len(self.rows))))
        self.products[here : here + 2] = found
        self.products[:, here : here + 2] = found.T
        if self.products[here, here + 1] > _LEAST_CURVATURE * self.products[here + 1, here + 1]:
            self.n_steps += 1

    def direction(self, gradient: Vector, n_threads: int = 1) -> Vector:
        """Return the search direction: downhill, corrected by the history."""
        if not self.n_steps:
            return -gradient

        def products(begin: int, end: int) -> Vector:
            found = np.zeros(len(self.rows))
            products_kernel(self.rows, gradient, begin, end, found)
            return found

        by_gradient = sum(run_pieces(products, len(gradient), n_threads), np.zeros(len(self.rows)))
        shares, of_gradient = self._recursion(by_gradient)
        direction = np.empty(len(gradient))

        def combine(begin: int, end: int) -> None:
            combine_kernel(self.rows, shares, gradient, of_gradient, begin, end, direction)

        run_pieces(combine, len(gradient), n_threads)
        return direction

    def _recursion(self, by_gradient: Vector) -> tuple[Vector, float]:
        """Run the two loops; return the coefficients of the stored vectors and of the gradient in the direction."""
        newest_first = [2 * (number % (HISTORY + 1)) for number in range(self.n_steps - 1, -1, -1)[:HISTORY]]
        shares, of_gradient = np.zeros(len(self.rows)), -1.0
        taken = {}
        for step in newest_first:
            change = step + 1
            taken[step] = (self.products[step] @ shares + of_gradient * by_gradient[step]) / self.products[step, change]
            shares[change] -= taken[step]
        newest = newest_first[0]
        scale = self.products[newest, newest + 1] / self.products[newest + 1, newest + 1]
        shares *= scale
        of_gradient *= scale
        for step in reversed(newest_first):
            change = step + 1
            back = (self.products[change] @ shares + of_gradient * by_gradient[change]) / self.products[step, change]
            shares[step] += taken[step] - back
        return shares, of_gradient


# Slices, because the compiler then vectorises without checks for negative indices.


@kernel(fastmath={"reassoc", "contract", "nsz"})
def remember_kernel(rows, here, weights, new_weights, gradient, new_gradient, begin, end, products):
    """Write a step and the change of the gradient to their rows, and compute their dot products with all rows."""
    for first in range(begin, end, BLOCK):
        last = min(end, first + BLOCK)
        steps, changes = rows[here, first:last], rows[here + 1, first:last]
        for place in range(last - first):
            steps[place] = new_weights[first + place] - weights[first + place]
            changes[place] = new_gradient[first + place] - gradient[first + place]
        for row in range(rows.shape[0]):
            others = rows[row, first:last]
            by_step, by_change = 0.0, 0.0
            for place in range(others.shape[0]):
                by_step += np.float64(others[place]) * np.float64(steps[place])
                by_change += np.float64(others[place]) * np.float64(changes[place])
            products[0, row] += by_step
            products[1, row] += by_change


@kernel(fastmath={"reassoc", "contract", "nsz"})
def products_kernel(rows, vector, begin, end, products):
    """Compute the dot products of a vector with all rows."""
    for first in range(begin, end, BLOCK):
        last = min(end, first + BLOCK)
        piece = vector[first:last]
        for row in range(rows.shape[0]):
            others = rows[row, first:last]
            total = 0.0
            for place in range(others.shape[0]):
                total += np.float64(others[place]) * piece[place]
            products[row] += total


@kernel(fastmath={"reassoc", "contract", "nsz"})
def combine_kernel(rows, shares, vector, of_vector, begin, end, combined):
    """Fill in a linear combination of all rows and a vector."""
    for first in range(begin, end, BLOCK):
        last = min(end, first + BLOCK)
        piece, sums = vector[first:last], combined[first:last]
        for place in range(sums.shape[0]):
            sums[place] = of_vector * piece[place]
        for row in range(rows.shape[0]):
            share = shares[row]
            if share != 0.0:
                others = rows[row, first:last]
                for place in range(sums.shape[0]):
                    sums[place] += share * np.float64(others[place])
