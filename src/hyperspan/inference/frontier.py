"""The frontier sweep over distinct encodings, compiled: scaled products where scores allow it.

The state is the set of active nodes, as bits. Each node turns the states into new ones by a few multiply-adds on pairs
and quadruples of them (bit v: this node; bit v + 1: the next), with four weights: edges that neither stay nor step,
only step, only stay, do both; whether an edge also ends changes nothing, so its weight is added in. See
`frontier_reference` for the same thing in plain words.

Sums are rescaled to one after every word. That loses nothing while the scores within a window of words (as many as it
takes to climb the staircase) stay within `WINDOW_BOUND` of one another: by then any two reachable states are within a
factor of exp(`WINDOW_BOUND`) and some slack, far from underflow. Where they do not, or where forbidden edges (-inf) may
keep states apart for longer, `paths` does the work in log space.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.paths import log_expected_kernel, log_forward_kernel, log_total_kernel
from hyperspan.structures.staircase import STAY, STEP, Staircase

WINDOW_BOUND = 600.0
"""How far scores may differ within a window of words on the fast path; exp underflows beyond 745."""


class StaircaseTable(NamedTuple):
    """A staircase in flat arrays: the node and the children of each label, and which of the node's weights it adds to.

    ``label_weight[label]`` is ``4 * node + move`` for labels from 2 on, with move 2 for staying plus 1 for stepping.
    The first two labels are T's; their entries are -1.
    """

    n_nodes: int
    label_node: NDArray[np.int64]
    label_children: NDArray[np.int64]
    label_weight: NDArray[np.int64]


@lru_cache(maxsize=64)
def staircase_table(staircase: Staircase) -> StaircaseTable:
    """Return a staircase's table."""
    nodes = np.array([-1, -1, *(node for node, _ in staircase.edges)], dtype=np.int64)
    children = np.array([-1, -1, *(children for _, children in staircase.edges)], dtype=np.int64)
    weights = 4 * nodes + 2 * (children & STAY > 0) + (children & STEP > 0)
    weights[:2] = -1
    return StaircaseTable(staircase.n_nodes, nodes, children, weights)


@numba.njit(nogil=True, cache=True)
def is_within_bounds_kernel(table, first_label, scores, begin, end):
    """Say whether the words from begin to end can be summed with scaled products."""
    n_nodes, n_labels = table.n_nodes, table.label_node.shape[0]
    window = n_nodes + 1
    reach = np.zeros(window)
    total, whole = 0.0, 0.0
    has_forbidden, fits = False, True
    lowest, highest = np.empty(n_nodes + 1), np.empty(n_nodes + 1)
    for word in range(begin, end):
        lowest[:] = 0.0  # a node that is not active counts as zero
        highest[:] = 0.0
        for label in range(n_labels):
            score = scores[word, first_label + label]
            node = n_nodes if label < 2 else table.label_node[label]
            if score == -np.inf:
                has_forbidden = True
            else:
                lowest[node] = min(lowest[node], score)
                highest[node] = max(highest[node], score)
        spread = 0.0
        for node in range(n_nodes + 1):
            spread += highest[node] - lowest[node]
        slot = (word - begin) % window
        total += spread - reach[slot]
        reach[slot] = spread
        whole += spread
        fits = fits and total < WINDOW_BOUND
    return fits and (not has_forbidden or whole < WINDOW_BOUND)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def weigh_kernel(table, first_label, scores, word, exps, weights, slot):
    """Fill ``exps[slot]`` with exp of the scores of a word, and ``weights[slot]`` with the four sums of each node."""
    for weight in range(weights.shape[1]):
        weights[slot, weight] = 0.0
    label_weight = table.label_weight
    for label in range(label_weight.shape[0]):
        exps[slot, label] = math.exp(scores[word, first_label + label])
    for label in range(2, label_weight.shape[0]):
        weights[slot, label_weight[label]] += exps[slot, label]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def start_forward_kernel(states, source, target, n_states, no_start, start):
    """Let T choose: keep the state, or set bit 0 (which may be set already)."""
    for state in range(0, n_states, 2):
        clear, active = states[source + state], states[source + state + 1]
        states[target + state] = no_start * clear
        states[target + state + 1] = no_start * active + start * (clear + active)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def node_forward_kernel(states, source, target, n_states, node, is_last, none, step, stay, both):
    """Let a node choose among edges that do nothing more, step, stay or do both."""
    stride = 1 << node
    if is_last:
        for low in range(stride):
            active = states[source + low + stride]
            states[target + low] = states[source + low] + none * active
            states[target + low + stride] = stay * active
        return
    for high in range(0, n_states, 4 * stride):
        for low in range(high, high + stride):
            clear, active = states[source + low], states[source + low + stride]
            next_clear, next_active = states[source + low + 2 * stride], states[source + low + 3 * stride]
            any_active = active + next_active
            states[target + low] = clear + none * active
            states[target + low + stride] = stay * active
            states[target + low + 2 * stride] = next_clear + none * next_active + step * any_active
            states[target + low + 3 * stride] = stay * next_active + both * any_active


@numba.njit(nogil=True, cache=True, error_model="numpy")
def start_backward_kernel(states, source, back, n_states, no_start, start):
    """Undo `start_forward_kernel`: ``back`` is turned in place; returns how T's two weights moved the total."""
    by_none, by_start = 0.0, 0.0
    for state in range(0, n_states, 2):
        clear, active = states[source + state], states[source + state + 1]
        back_clear, back_active = back[state], back[state + 1]
        by_none += clear * back_clear + active * back_active
        by_start += (clear + active) * back_active
        back[state] = no_start * back_clear + start * back_active
        back[state + 1] = (no_start + start) * back_active
    return by_none, by_start


@numba.njit(nogil=True, cache=True, error_model="numpy")
def node_backward_kernel(states, source, back, n_states, node, is_last, none, step, stay, both):
    """Undo `node_forward_kernel`: ``back`` is turned in place; returns how the four weights moved the total."""
    stride = 1 << node
    by_none, by_step, by_stay, by_both = 0.0, 0.0, 0.0, 0.0
    if is_last:
        for low in range(stride):
            active = states[source + low + stride]
            back_clear, back_active = back[low], back[low + stride]
            by_none += active * back_clear
            by_stay += active * back_active
            back[low + stride] = none * back_clear + stay * back_active
        return by_none, by_step, by_stay, by_both
    for high in range(0, n_states, 4 * stride):
        for low in range(high, high + stride):
            active, next_active = states[source + low + stride], states[source + low + 3 * stride]
            any_active = active + next_active
            back_clear, back_active = back[low], back[low + stride]
            back_next, back_next_active = back[low + 2 * stride], back[low + 3 * stride]
            by_none += active * back_clear + next_active * back_next
            by_step += any_active * back_next
            by_stay += active * back_active + next_active * back_next_active
            by_both += any_active * back_next_active
            back[low + stride] = none * back_clear + step * back_next + stay * back_active + both * back_next_active
            back[low + 3 * stride] = (none + step) * back_next + (stay + both) * back_next_active
    return by_none, by_step, by_stay, by_both


@numba.njit(nogil=True, cache=True, error_model="numpy")
def word_forward_kernel(n_nodes, states, source, exps, weights, slot):
    """Run a whole word; the states after each phase follow one another in ``states``. Returns where the last begin."""
    n_states = 1 << n_nodes
    start_forward_kernel(states, source, source + n_states, n_states, exps[slot, 0], exps[slot, 1])
    source += n_states
    for node in range(n_nodes - 1, -1, -1):
        node_forward_kernel(
            states,
            source,
            source + n_states,
            n_states,
            node,
            node == n_nodes - 1,
            weights[slot, 4 * node],
            weights[slot, 4 * node + 1],
            weights[slot, 4 * node + 2],
            weights[slot, 4 * node + 3],
        )
        source += n_states
    return source


@numba.njit(nogil=True, cache=True, error_model="numpy")
def rescale_kernel(states, source, n_states):
    """Divide states by their sum, and return it."""
    total = 0.0
    for state in range(source, source + n_states):
        total += states[state]
    for state in range(source, source + n_states):
        states[state] /= total
    return total


@numba.njit(nogil=True, cache=True, error_model="numpy")
def frontier_sum_kernel(table, first_label, scores, begin, end, states, exps, weights):
    """Return the log partition function of one sentence; ``states`` has room for one word."""
    n_nodes, n_states = table.n_nodes, 1 << table.n_nodes
    for state in range(n_states):
        states[state] = 0.0
    states[0] = 1.0
    log_total = 0.0
    for word in range(begin, end):
        weigh_kernel(table, first_label, scores, word, exps, weights, 0)
        last = word_forward_kernel(n_nodes, states, 0, exps, weights, 0)
        total = rescale_kernel(states, last, n_states)
        if total == 0.0:
            return -np.inf
        log_total += math.log(total)
        for state in range(n_states):
            states[state] = states[last + state]
    return log_total + math.log(states[0]) if states[0] > 0.0 else -np.inf


@numba.njit(nogil=True, cache=True, error_model="numpy")
def frontier_expected_kernel(
    table, first_label, scores, begin, end, states, back, exps, weights, scales, moved, expected
):
    """Return the log partition function of one sentence and set its rows of ``expected`` to the edge probabilities.

    Room for the longest sentence of n words: ``states`` (n * (n_nodes + 1) + 1) * n_states, ``back`` n_states, ``exps``
    (n, n_labels), ``weights`` (n, 4 * n_nodes), ``scales`` n, ``moved`` 4 * n_nodes.
    """
    n_nodes, n_states = table.n_nodes, 1 << table.n_nodes
    label_weight, n_labels = table.label_weight, table.label_weight.shape[0]
    for state in range(n_states):
        states[state] = 0.0
        back[state] = 0.0
    states[0] = 1.0
    log_total, at = 0.0, 0
    for word in range(begin, end):
        slot = word - begin
        weigh_kernel(table, first_label, scores, word, exps, weights, slot)
        at = word_forward_kernel(n_nodes, states, at, exps, weights, slot)
        scales[slot] = rescale_kernel(states, at, n_states)
        if scales[slot] == 0.0:
            break
        log_total += math.log(scales[slot])
    if begin < end and (scales[slot] == 0.0 or states[at] == 0.0):
        for word in range(begin, end):
            for label in range(n_labels):
                expected[word, first_label + label] = 0.0
        return -np.inf
    log_total += math.log(states[at])
    back[0] = 1.0 / states[at]
    for word in range(end - 1, begin - 1, -1):
        slot = word - begin
        for state in range(n_states):
            back[state] /= scales[slot]
        for node in range(n_nodes):
            at -= n_states
            none, step, stay, both = node_backward_kernel(
                states,
                at,
                back,
                n_states,
                node,
                node == n_nodes - 1,
                weights[slot, 4 * node],
                weights[slot, 4 * node + 1],
                weights[slot, 4 * node + 2],
                weights[slot, 4 * node + 3],
            )
            moved[4 * node], moved[4 * node + 1], moved[4 * node + 2], moved[4 * node + 3] = none, step, stay, both
        at -= n_states
        none, step = start_backward_kernel(states, at, back, n_states, exps[slot, 0], exps[slot, 1])
        expected[word, first_label] = exps[slot, 0] * none
        expected[word, first_label + 1] = exps[slot, 1] * step
        for label in range(2, n_labels):
            expected[word, first_label + label] = exps[slot, label] * moved[label_weight[label]]
    return log_total


@numba.njit(nogil=True, cache=True)
def frontier_block_kernel(
    table, automaton, first_label, scores, first_word, begin, end, wants_expected, log_partition, expected
):
    """Sum one block over the sentences from begin to end: in scaled products, or in log space where it must be.

    ``log_partition`` of shape (n_sentences,) is set; so are the block's columns of ``expected`` (n_words, n_labels) if
    wanted.
    """
    n_nodes, n_states, n_phases = table.n_nodes, 1 << table.n_nodes, table.n_nodes + 1
    n_labels = table.label_weight.shape[0]
    longest = 0
    for sentence in range(begin, end):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    room = max(longest, 1) if wants_expected else 1
    states = np.empty((room * n_phases + 1) * n_states)
    back = np.empty(n_states)
    exps = np.empty((room, n_labels))
    weights = np.empty((room, 4 * n_nodes))
    scales = np.empty(room)
    moved = np.empty(4 * n_nodes)
    for sentence in range(begin, end):
        first, last = first_word[sentence], first_word[sentence + 1]
        if is_within_bounds_kernel(table, first_label, scores, first, last):
            if wants_expected:
                log_partition[sentence] = frontier_expected_kernel(
                    table, first_label, scores, first, last, states, back, exps, weights, scales, moved, expected
                )
            else:
                log_partition[sentence] = frontier_sum_kernel(
                    table, first_label, scores, first, last, states, exps, weights
                )
            continue
        block_scores = scores[first:last, first_label : first_label + n_labels]
        log_forward = np.empty(((last - first) * n_phases + 1, n_states))
        log_forward_kernel(automaton, block_scores, log_forward)
        log_partition[sentence] = log_total_kernel(automaton, log_forward)
        if wants_expected:
            block_expected = expected[first:last, first_label : first_label + n_labels]
            block_expected[:, :] = 0.0
            if log_partition[sentence] > -np.inf:
                by_arc = np.zeros(automaton.arc_from.shape[0])
                log_expected_kernel(
                    automaton, block_scores, log_forward, log_partition[sentence], block_expected, by_arc
                )
