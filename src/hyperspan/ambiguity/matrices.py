"""Transition matrices between sets of active nodes, derived from a structure's edge table.

A state is the set of nodes that are active at a word. Row s, column t of the matrix is the number of ways to choose an
edge for every node of s, and then whether a mention starts at the next word, so that exactly the nodes of t are active
there. States are ordered as published: by the binary number in which the first node is the highest bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.automaton import Phase, node_phase, start_phase
from hyperspan.structures.staircase import STAY, STEP, Staircase, node_name

Edges = Sequence[tuple[int, int]]
"""Edges as ``(node, children)``, as in `Staircase.edges`."""


@dataclass(frozen=True)
class TransitionMatrix:
    """A matrix and the names of its states.

    Attributes
    ----------
    states : tuple of tuple of str
        The active nodes of each state.
    entries : tuple of tuple of int
        Exact integers of any size.
    """

    states: tuple[tuple[str, ...], ...]
    entries: tuple[tuple[int, ...], ...]

    @cached_property
    def largest_eigenvalue(self) -> float:
        """The growth rate: the factor by which each further word multiplies the number of encodings, in the limit."""
        return largest_eigenvalue(self.entries)

    def power(self, exponent: int) -> tuple[tuple[int, ...], ...]:
        """Return the exact power of the matrix, by repeated squaring."""
        size = range(len(self.entries))
        result = tuple(tuple(int(row == column) for column in size) for row in size)
        square = self.entries
        while exponent:
            if exponent & 1:
                result = _product(result, square)
            exponent >>= 1
            if exponent:
                square = _product(square, square)
        return result


def _product(left: tuple[tuple[int, ...], ...], right: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    columns = list(zip(*right, strict=True))
    return tuple(
        tuple(sum(one * other for one, other in zip(row, column, strict=True) if one) for column in columns)
        for row in left
    )


@lru_cache(maxsize=32)
def transition_matrix(staircase: Staircase) -> TransitionMatrix:
    """Return the transition matrix of one staircase.

    The number of encodings of n words is entry (0, 0) of its power n + 1: no node is active before the first word, and
    none after the last.

    Examples
    --------
    >>> matrix = transition_matrix(Staircase(2))
    >>> matrix.states[4], matrix.entries[4]
    (('B0',), (1, 0, 2, 0, 5, 0, 6, 0))
    >>> round(matrix.largest_eigenvalue, 4)
    80.6141
    >>> [matrix.power(n + 1)[0][0] for n in range(1, 6)]
    [2, 8, 80, 3584, 266752]
    """
    names = [node_name(node) for node in range(staircase.n_nodes)]
    return _matrix(staircase.edges, names, with_starts=True)


GRID_EDGES: Edges = ((0, STAY), (0, STEP), (0, STAY | STEP), (1, STAY), (1, STEP), (1, STAY | STEP), (2, STAY))
"""The supplement's grid: a node continues on its level, the level below, or both; nodes 0, 1, 2 are levels 2, 1, 0."""


@lru_cache(maxsize=1)
def grid_matrix() -> TransitionMatrix:
    """Return the transition matrix of the supplement's worked example: a grid of three levels.

    Examples
    --------
    >>> grid_matrix().entries[6]
    (0, 0, 1, 2, 0, 1, 2, 3)
    """
    return _matrix(GRID_EDGES, ["level 2", "level 1", "level 0"], with_starts=False)


def grid_counts(max_positions: int) -> list[int]:
    """Return how many connected graphs lead from the top left to the bottom right node, for grids of width 1, 2 …

    Examples
    --------
    >>> grid_counts(7)
    [0, 0, 1, 7, 39, 207, 1087]
    """
    matrix = grid_matrix().entries
    ways = [0] * len(matrix)
    ways[1] = 1  # at the last position, only the bottom node is final
    counts = []
    for _ in range(max_positions):
        counts.append(ways[4])
        ways = [sum(entry * number for entry, number in zip(row, ways, strict=True)) for row in matrix]
    return counts


def grid_closed_form(n_positions: int) -> float:
    """Return the published closed form of `grid_counts`, for three positions and more.

    f(n) = (3+√5)^(n-1) / (4√5+10) − (3−√5)^(n-1) / (4√5−10) − 1

    Examples
    --------
    >>> [round(grid_closed_form(n)) for n in (3, 4, 5)]
    [1, 7, 39]
    """
    root = 5**0.5
    first = (3 + root) ** (n_positions - 1) / (4 * root + 10)
    second = (3 - root) ** (n_positions - 1) / (4 * root - 10)
    return float(first - second - 1)


def largest_eigenvalue(entries: Sequence[Sequence[int]]) -> float:
    """Return the largest eigenvalue of a matrix without negative entries, which is a real number."""
    return float(np.linalg.eigvals(np.array(entries, dtype=np.float64)).real.max())


def across(ways: NDArray[np.object_], phases: Sequence[Phase]) -> NDArray[np.object_]:
    """Return the number of ways to reach each state through phases, given the number for each state before.

    Both have shape (n_states,), or (n_states, n_columns) for several initial states at once; the integers are exact.
    """
    for phase in phases:
        before, ways = ways, np.zeros(ways.shape, dtype=object)
        np.add.at(ways, phase[:, 0], before[phase[:, 1]])
    return ways


def _matrix(edges: Edges, names: Sequence[str], *, with_starts: bool) -> TransitionMatrix:
    n_nodes = len(names)
    phases = [node_phase(edges, n_nodes, node) for node in reversed(range(n_nodes))]
    if with_starts:
        phases.append(start_phase(n_nodes))
    entries = across(np.eye(1 << n_nodes, dtype=object), phases).T
    if not with_starts:
        entries[0] = 0  # nothing follows if no node is active
    order = [sum((state >> bit & 1) << (n_nodes - 1 - bit) for bit in range(n_nodes)) for state in range(1 << n_nodes)]
    states = tuple(tuple(name for node, name in enumerate(names) if state >> node & 1) for state in order)
    return TransitionMatrix(states, tuple(map(tuple, entries[np.ix_(order, order)].tolist())))
