"""The readable reference implementation of the inside recursion over derivations.

A node reached by two parents is expanded once for each, so this runs over *derivations*: prefix trees of sets of
mentions, each set exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hyperspan.inference.reference.algebra import Algebra
from hyperspan.structures.staircase import NO_START, START, STAY, STEP, Staircase

Value = TypeVar("Value")


def derivations_total(staircase: Staircase, scores: Sequence[Sequence[float]], algebra: Algebra[Value]) -> Value:
    """Return the total over all derivations of a sentence.

    Examples
    --------
    >>> from hyperspan.inference.reference.algebra import COUNT
    >>> [derivations_total(Staircase(3), [[0.0] * 25] * n, COUNT).bit_length() - 1 for n in range(1, 6)]
    [1, 3, 7, 15, 31]
    """
    total = algebra.one
    below = [algebra.zero] * (staircase.n_nodes + 1)  # no node is active beyond the last word
    for word in reversed(range(len(scores))):
        weights = [algebra.weigh(score, (word, label)) for label, score in enumerate(scores[word])]
        here = [algebra.zero] * (staircase.n_nodes + 1)
        for label, (node, children) in enumerate(staircase.edges, start=2):
            value = weights[label]
            if children & STAY:
                value = algebra.times(value, below[node])
            if children & STEP:
                value = algebra.times(value, below[node + 1])
            here[node] = algebra.plus(here[node], value)
        start = algebra.times(weights[START], here[0])
        total = algebra.times(algebra.plus(weights[NO_START], start), total)
        below = here
    return total
