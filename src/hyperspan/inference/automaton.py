"""Structures as automata: the form in which the general kernels, and their plain references, see every structure.

A word is read in a fixed number of phases; in each, arcs lead from state to state. A staircase has a phase for T and
one for each node, highest first, and its states are sets of active nodes; a chain has one phase, and its states are
tags. Each outcome is exactly one path of arcs from the start to a final state, so sums, maxima and samples over paths
are sums, maxima and samples over outcomes. A new structure needs a builder here and no new kernel.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.structures.staircase import NO_START, START, STAY, STEP, Staircase


class Automaton(NamedTuple):
    """Arcs in flat arrays, sorted by phase and by the state they lead to.

    The arcs of phase p into state s are ``first_arc[p * n_states + s] : first_arc[p * n_states + s + 1]``. An arc's
    score at a word is ``arc_score[arc]`` plus, if ``arc_label[arc]`` is not -1, the score of that label there. Arcs of
    phase p that pass without a label stand for "this node is not active".

    Attributes
    ----------
    n_states, n_phases, start : int
    final : bool array of shape (n_states,)
    first_arc : int64 array of shape (n_phases * n_states + 1,)
    arc_from, arc_label : int64 arrays of shape (n_arcs,)
    arc_score : float64 array of shape (n_arcs,)
    """

    n_states: int
    n_phases: int
    start: int
    final: NDArray[np.bool_]
    first_arc: NDArray[np.int64]
    arc_from: NDArray[np.int64]
    arc_label: NDArray[np.int64]
    arc_score: NDArray[np.float64]


@lru_cache(maxsize=64)
def staircase_automaton(staircase: Staircase) -> Automaton:
    """Return the automaton whose paths are the encodings of one staircase.

    Examples
    --------
    >>> automaton = staircase_automaton(Staircase(3))
    >>> automaton.n_states, automaton.n_phases, len(automaton.arc_from)
    (32, 6, 512)
    """
    n_states = 1 << staircase.n_nodes
    phases: list[list[tuple[int, int, int]]] = [[]]
    for state in range(n_states):
        phases[0].append((state, state, NO_START))
        phases[0].append((state | 1, state, START))
    for node in reversed(range(staircase.n_nodes)):
        bit = 1 << node
        arcs = [(state, state, -1) for state in range(n_states) if not state & bit]
        for label, (parent, children) in enumerate(staircase.edges, start=2):
            if parent == node:
                added = (bit if children & STAY else 0) | (bit << 1 if children & STEP else 0)
                arcs += [((state & ~bit) | added, state, label) for state in range(n_states) if state & bit]
        phases.append(arcs)
    final = np.zeros(n_states, dtype=np.bool_)
    final[0] = True
    return _automaton(n_states, 0, final, phases, np.zeros(sum(map(len, phases))))


def chain_automaton(transitions: NDArray[np.float64]) -> Automaton:
    """Return the automaton whose paths are tag sequences; its last state stands before the first word."""
    n_tags = len(transitions)
    arcs = [(tag, before, tag) for tag in range(n_tags) for before in range(n_tags + 1)]
    scores = np.vstack([transitions, np.zeros((1, n_tags))]).T.reshape(-1)
    return _automaton(n_tags + 1, n_tags, np.ones(n_tags + 1, dtype=np.bool_), [arcs], scores)


def _automaton(
    n_states: int,
    start: int,
    final: NDArray[np.bool_],
    phases: list[list[tuple[int, int, int]]],
    scores: NDArray[np.float64],
) -> Automaton:
    arcs = np.array(
        [(phase * n_states + into, source, label) for phase, arcs in enumerate(phases) for into, source, label in arcs],
        dtype=np.int64,
    )
    order = np.lexsort((arcs[:, 2], arcs[:, 1], arcs[:, 0]))
    arcs = arcs[order]
    first_arc = np.searchsorted(arcs[:, 0], np.arange(len(phases) * n_states + 1))
    return Automaton(
        n_states,
        len(phases),
        start,
        final,
        first_arc.astype(np.int64),
        np.ascontiguousarray(arcs[:, 1]),
        np.ascontiguousarray(arcs[:, 2]),
        np.ascontiguousarray(scores[order], dtype=np.float64),
    )
