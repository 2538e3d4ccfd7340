"""Sums over the paths of an automaton in any semiring: the definition of what the kernels compute.

For a staircase these are the distinct encodings. The state is the set of active nodes (bit v set: node v is active).
While node v is processed, bits above v already describe the next word and bits up to v still this one, so 2^n_nodes
states suffice. For a chain they are the tag sequences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from hyperspan.inference.automaton import Automaton
from hyperspan.inference.reference.algebra import Algebra

Value = TypeVar("Value")


def total(automaton: Automaton, scores: Sequence[Sequence[float]], algebra: Algebra[Value]) -> Value:
    """Return the total over all paths of a sentence, given scores of shape (n_words, n_labels).

    Examples
    --------
    >>> from hyperspan.inference.automaton import chain_automaton, staircase_automaton
    >>> from hyperspan.inference.reference.algebra import COUNT
    >>> from hyperspan.structures import Staircase
    >>> [total(staircase_automaton(Staircase(3)), [[0.0] * 25] * n, COUNT) for n in range(1, 6)]
    [2, 8, 80, 3584, 533504]
    >>> total(chain_automaton(np.zeros((7, 7))), [[0.0] * 7] * 4, COUNT) == 7**4
    True
    """
    arcs_of_phase = list(arcs(automaton))
    states: dict[int, Value] = {automaton.start: algebra.one}
    for word, row in enumerate(scores):
        for phase in arcs_of_phase:
            after: dict[int, Value] = {}
            for source, target, label, arc_score in phase:
                if source in states:
                    value = states[source]
                    if label >= 0:
                        value = algebra.times(value, algebra.weigh(arc_score + row[label], (word, label)))
                    after[target] = algebra.plus(after.get(target, algebra.zero), value)
            states = after
    result = algebra.zero
    for state, value in states.items():
        if automaton.final[state]:
            result = algebra.plus(result, value)
    return result


def arcs(automaton: Automaton) -> list[list[tuple[int, int, int, float]]]:
    """Return the arcs of each phase as ``(from, to, label, score)``."""
    into = np.repeat(np.arange(len(automaton.first_arc) - 1) % automaton.n_states, np.diff(automaton.first_arc))
    columns = (automaton.arc_from, into, automaton.arc_label, automaton.arc_score)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    return [found[begin:end] for begin, end in pairwise(automaton.first_arc[:: automaton.n_states].tolist())]
