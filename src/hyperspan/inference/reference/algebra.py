"""Semirings: one recursion computes many quantities.

The plain-Python passes take a semiring as an argument; the kernels are compiled versions of the first and the last.
"""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
Edge = tuple[int, int]
"""A word and a label."""
History = tuple[Edge, ...]
Ranked = tuple[tuple[float, History], ...]
"""Scores with their edges, best first."""


@dataclass(frozen=True)
class Algebra(Generic[Value]):
    """A semiring: how to add alternatives, multiply independent parts, and weight an edge by its score."""

    zero: Value
    one: Value
    plus: Callable[[Value, Value], Value]
    times: Callable[[Value, Value], Value]
    weigh: Callable[[float, Edge], Value]


def log_add(left: float, right: float) -> float:
    """Return log(exp(left) + exp(right)); -inf is the true zero."""
    if left < right:
        left, right = right, left
    return left if right == -math.inf else left + math.log1p(math.exp(right - left))


LOG_SUM: Algebra[float] = Algebra(-math.inf, 0.0, log_add, operator.add, lambda score, edge: score)
"""Sum-product in log space: the log partition function."""

COUNT: Algebra[int] = Algebra(0, 1, operator.add, operator.mul, lambda score, edge: int(score > -math.inf))
"""Exact integers: how many outcomes there are. An edge whose score is -inf does not exist."""


def k_best(k: int) -> Algebra[Ranked]:
    """Return the semiring of the k best outcomes, with the edges of each.

    Examples
    --------
    >>> best = k_best(1)
    >>> best.plus(best.weigh(1.0, (0, 4)), best.weigh(2.0, (0, 5)))
    ((2.0, ((0, 5),)),)
    """

    def plus(left: Ranked, right: Ranked) -> Ranked:
        return tuple(heapq.nsmallest(k, (*left, *right), key=_best_first))

    def times(left: Ranked, right: Ranked) -> Ranked:
        pairs = ((one[0] + other[0], one[1] + other[1]) for one in left for other in right)
        return tuple(heapq.nsmallest(k, pairs, key=_best_first))

    return Algebra((), ((0.0, ()),), plus, times, lambda score, edge: ((score, (edge,)),) if score > -math.inf else ())


def _best_first(ranked: tuple[float, History]) -> tuple[float, Any]:
    return -ranked[0], tuple(sorted(ranked[1]))
