"""Structures as automata: the common form for the general kernels and their plain references.

A word is read in a fixed number of phases; in each phase, arcs lead from state to state. A staircase has a phase for T
and one for each node, highest first, and its states are sets of active nodes; a chain has one phase, and its states are
tags. Each outcome is exactly one path of arcs from the start to a final state, so sums, maxima and samples over paths
are sums, maxima and samples over outcomes. A new structure needs a builder here but no new kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.structures.staircase import NO_START, START, STAY, STEP, Staircase

Phase = NDArray[np.int64]
"""Arcs, one per row: the state an arc leads to, the state it comes from, and its label, or -1 for none."""


class Automaton(NamedTuple):
    """Arcs in flat arrays, sorted by phase and by the state they lead to.

    The arcs of phase p into state s are ``first_arc[p * n_states + s] : first_arc[p * n_states + s + 1]``. An arc's
    score at a word is ``arc_score[arc]`` plus, if ``arc_label[arc]`` is not -1, the score of that label there. Arcs
    without a label mean "this node is not active".

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
    n_nodes = staircase.n_nodes
    phases = [start_phase(n_nodes)]
    phases += [node_phase(staircase.edges, n_nodes, node) for node in reversed(range(n_nodes))]
    is_final = np.arange(1 << n_nodes) == 0
    return _automaton(1 << n_nodes, 0, is_final, phases, np.zeros(sum(map(len, phases))))


def start_phase(n_nodes: int) -> Phase:
    """Return the arcs with which T chooses whether a mention starts at a word."""
    states = np.arange(1 << n_nodes)
    return np.concatenate([_arcs(states, states, NO_START), _arcs(states | 1, states, START)])


def node_phase(edges: Sequence[tuple[int, int]], n_nodes: int, node: int) -> Phase:
    """Return the arcs with which a node, if active, chooses among its edges, given as ``(node, children)``."""
    states, bit = np.arange(1 << n_nodes), 1 << node
    active, passive = states[states & bit > 0], states[states & bit == 0]
    phase = [_arcs(passive, passive, -1)]
    for label, (parent, children) in enumerate(edges, start=2):
        if parent == node:
            added = (bit if children & STAY else 0) | (bit << 1 if children & STEP else 0)
            phase.append(_arcs((active & ~bit) | added, active, label))
    return np.concatenate(phase)


def _arcs(into: NDArray[np.int64], source: NDArray[np.int64], label: int) -> Phase:
    return np.column_stack([into, source, np.full(len(into), label)])


def chain_automaton(transitions: NDArray[np.float64]) -> Automaton:
    """Return the automaton whose paths are tag sequences; its last state is the one before the first word."""
    n_tags = len(transitions)
    into, source = np.divmod(np.arange(n_tags * (n_tags + 1)), n_tags + 1)
    scores = np.vstack([transitions, np.zeros((1, n_tags))]).T.reshape(-1)
    is_final = np.ones(n_tags + 1, dtype=np.bool_)
    return _automaton(n_tags + 1, n_tags, is_final, [np.column_stack([into, source, into])], scores)


def _automaton(
    n_states: int, start: int, final: NDArray[np.bool_], phases: Sequence[Phase], scores: NDArray[np.float64]
) -> Automaton:
    into = np.concatenate([number * n_states + phase[:, 0] for number, phase in enumerate(phases)])
    source, label = np.concatenate([phase[:, 1:] for phase in phases]).T
    order = np.lexsort((label, source, into))
    first_arc = np.searchsorted(into[order], np.arange(len(phases) * n_states + 1))
    return Automaton(n_states, len(phases), start, final, first_arc, source[order], label[order], scores[order])
