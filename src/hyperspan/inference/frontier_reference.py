"""The frontier sweep, written to be read: what the kernels of `frontier` and `automaton` compute.

Sums over distinct encodings of one staircase. The state is the set of active nodes (bit v set: node v is active).
While node v is processed, bits above v already describe the next word and bits up to v still this one, so 2^n_nodes
states suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hyperspan.inference.algebra import Algebra
from hyperspan.structures.staircase import NO_START, START, STAY, STEP, Staircase

Value = TypeVar("Value")


def frontier_reference(staircase: Staircase, scores: Sequence[Sequence[float]], algebra: Algebra[Value]) -> Value:
    """Return the total over all encodings of a sentence.

    Parameters
    ----------
    staircase : Staircase
    scores : sequence of shape (n_words, staircase.n_labels)
    algebra : Algebra

    Examples
    --------
    >>> from hyperspan.inference.algebra import COUNT
    >>> [frontier_reference(Staircase(3), [[0.0] * 25] * n, COUNT) for n in range(1, 6)]
    [2, 8, 80, 3584, 533504]
    """
    states: dict[int, Value] = {0: algebra.one}
    for word, row in enumerate(scores):
        weights = [algebra.weigh(score, (word, label)) for label, score in enumerate(row)]
        moves = [(state, state, weights[NO_START]) for state in states]
        moves += [(state, state | 1, weights[START]) for state in states]
        states = _moved(states, moves, algebra)
        for node in reversed(range(staircase.n_nodes)):
            bit = 1 << node
            active = [state for state in states if state & bit]
            moves = [(state, state, algebra.one) for state in states if not state & bit]
            for label, (parent, children) in enumerate(staircase.edges, start=2):
                if parent == node:
                    stay = bit if children & STAY else 0
                    step = bit << 1 if children & STEP else 0
                    moves += [(state, (state & ~bit) | stay | step, weights[label]) for state in active]
            states = _moved(states, moves, algebra)
    return states.get(0, algebra.zero)


def _moved(states: dict[int, Value], moves: list[tuple[int, int, Value]], algebra: Algebra[Value]) -> dict[int, Value]:
    after: dict[int, Value] = {}
    for state, target, weight in moves:
        after[target] = algebra.plus(after.get(target, algebra.zero), algebra.times(states[state], weight))
    return after
