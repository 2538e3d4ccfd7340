"""The frontier sweep over distinct encodings, compiled: scaled products where scores allow it.

The state is the set of active nodes, as bits. Each node turns the states into new ones by a few multiply-adds on pairs
and quadruples of them (bit v: this node; bit v + 1: the next), with four weights: edges that neither stay nor step,
only step, only stay, do both; whether an edge also ends changes nothing, so its weight is added in. See
`frontier_reference` for the same thing in plain words.

Sums are rescaled to one after every word. That loses nothing while all that can happen within a window of words (as
many as it takes to climb the staircase) stays within a factor of exp(`WINDOW_BOUND`): then so do any two states that
can be reached, far from underflow. Forbidden edges (-inf) may keep states apart for longer than a window, so with them
the whole sentence counts. Where this bound is exceeded the sweep tells on the way whether anything can get lost: what
underflows is next to nothing, times what the rest of the word can make of it, and matters only if the total gets very
small or the state can still lead to very much more than the total. If so, it is given up, and `paths` does the work in
log space.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.exponentials import exp_kernel
from hyperspan.inference.paths import log_expected_kernel, log_forward_kernel, log_total_kernel
from hyperspan.structures.staircase import STAY, STEP, Staircase

WINDOW_BOUND = 600.0
"""How far apart, in logs, outcomes of a window of words may lie on the fast path; exp underflows beyond 708."""


class StaircaseTable(NamedTuple):
    """A staircase in flat arrays: the node and the children of each label, and which of the node's weights it adds to.

    ``label_weight[label]`` is ``4 * node + move`` for labels from 2 on, with move 2 for staying plus 1 for stepping.
    The first two labels are T's; their entries are -1. A word multiplies the number of ways by exp(``log_growth``) at
    most.
    """

    n_nodes: int
    log_growth: float
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
    log_growth = math.log(2) + sum(math.log(np.sum(nodes == node)) for node in range(staircase.n_nodes))
    return StaircaseTable(staircase.n_nodes, log_growth, nodes, children, weights)


@numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def range_kernel(scores, begin, end, first_label, last_label):
    """Return the lowest and the highest of some scores, none of which is NaN, and of 0."""
    lowest, highest = 0.0, 0.0
    for word in range(begin, end):
        for label in range(first_label, last_label):
            score = scores[word, label]
            lowest = score if score < lowest else lowest
            highest = score if score > highest else highest
    return lowest, highest


@numba.njit(nogil=True, cache=True)
def is_within_bounds_kernel(table, first_label, scores, begin, end):
    """Say whether the words from begin to end can be summed with scaled products."""
    n_nodes, n_labels = table.n_nodes, table.label_node.shape[0]
    window = n_nodes + 1
    low, high = range_kernel(scores, begin, end, first_label, first_label + n_labels)
    if ((high - low) * (n_nodes + 1) + table.log_growth) * window < WINDOW_BOUND:
        return True
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
        spread = table.log_growth
        for node in range(n_nodes + 1):
            spread += highest[node] - lowest[node]
        slot = (word - begin) % window
        total += spread - reach[slot]
        reach[slot] = spread
        whole += spread
        fits = fits and total < WINDOW_BOUND
    return fits and (not has_forbidden or whole < WINDOW_BOUND)


@numba.njit(nogil=True, cache=True)
def reach_kernel(table, first_label, scores, begin, end):
    """Return how much more than the total a state may lead to, and how much less a word's sum may be, without loss.

    At most exp(-700) is lost at a time, and multiplied by all weights of a word at most before it comes to a state; and
    no product of what led to a state and what it leads to can overflow. 0 if that leaves nothing.
    """
    n_nodes, n_labels = table.n_nodes, table.label_node.shape[0]
    highest, most = np.empty(n_nodes + 1), 0.0
    for word in range(begin, end):
        highest[:] = 0.0
        for label in range(n_labels):
            node = n_nodes if label < 2 else table.label_node[label]
            highest[node] = max(highest[node], scores[word, first_label + label])
        gain = 0.0
        for node in range(n_nodes + 1):
            gain += highest[node]
        most = max(most, gain)
    left = WINDOW_BOUND - 2.0 * (most + table.log_growth)
    return math.exp(left) if left > 0.0 else 0.0


@numba.njit(nogil=True, cache=True, error_model="numpy")
def weigh_kernel(table, first_label, scores, begin, end, exps, weights):
    """Fill ``exps`` with exp of the scores of a sentence, and ``weights`` with the four sums of each node.

    ``exps`` has shape (n_words, n_labels) or more rows, ``weights`` (n_words, 4 * n_nodes).
    """
    label_weight, n_labels = table.label_weight, table.label_weight.shape[0]
    for word in range(begin, end):
        for label in range(n_labels):
            exps[word - begin, label] = scores[word, first_label + label]
    exp_kernel(exps[: end - begin].reshape(-1))
    for slot in range(end - begin):
        for weight in range(weights.shape[1]):
            weights[slot, weight] = 0.0
        for label in range(2, n_labels):
            weights[slot, label_weight[label]] += exps[slot, label]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def start_forward_kernel(states, source, n_states, no_start, start):
    """Let T choose: keep the state, or set bit 0 (which may be set already). The new states follow the old ones."""
    target = source + n_states
    for state in range(0, n_states, 2):
        clear, active = states[source + state], states[source + state + 1]
        states[target + state] = no_start * clear
        states[target + state + 1] = no_start * active + start * (clear + active)


# A node's loops are written once, and inlined with constants for two and three parts: so the compiler can unroll them,
# which makes them three times as fast.


@numba.njit(nogil=True, cache=True, inline="always")
def _pairs_forward(states, source, n_states, none, stay):
    """Let the last node choose, from which nothing steps."""
    target, stride = source + n_states, n_states // 2
    for low in range(stride):
        active = states[source + low + stride]
        states[target + low] = states[source + low] + none * active
        states[target + low + stride] = stay * active


@numba.njit(nogil=True, cache=True, inline="always")
def _pairs_backward(states, source, back, n_states, none, stay):
    stride = n_states // 2
    by_none, by_stay = 0.0, 0.0
    for low in range(stride):
        active = states[source + low + stride]
        back_clear, back_active = back[low], back[low + stride]
        by_none += active * back_clear
        by_stay += active * back_active
        back[low + stride] = none * back_clear + stay * back_active
    return by_none, 0.0, by_stay, 0.0


@numba.njit(nogil=True, cache=True, inline="always")
def _quadruples_forward(states, source, n_states, stride, none, step, stay, both):
    target = source + n_states
    for high in range(0, n_states, 4 * stride):
        for low in range(high, high + stride):
            clear, active = states[source + low], states[source + low + stride]
            next_clear, next_active = states[source + low + 2 * stride], states[source + low + 3 * stride]
            any_active = active + next_active
            states[target + low] = clear + none * active
            states[target + low + stride] = stay * active
            states[target + low + 2 * stride] = next_clear + none * next_active + step * any_active
            states[target + low + 3 * stride] = stay * next_active + both * any_active


@numba.njit(nogil=True, cache=True, inline="always")
def _quadruples_backward(states, source, back, n_states, stride, none, step, stay, both):
    by_none, by_step, by_stay, by_both = 0.0, 0.0, 0.0, 0.0
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
def node_forward_kernel(states, source, n_states, node, none, step, stay, both):
    """Let a node choose among edges that do nothing more, step, stay or do both. The new states follow the old."""
    stride = 1 << node
    if n_states == 32 and node == 4:
        _pairs_forward(states, source, 32, none, stay)
    elif n_states == 32 and node == 3:
        _quadruples_forward(states, source, 32, 8, none, step, stay, both)
    elif n_states == 32 and node == 2:
        _quadruples_forward(states, source, 32, 4, none, step, stay, both)
    elif n_states == 32 and node == 1:
        _quadruples_forward(states, source, 32, 2, none, step, stay, both)
    elif n_states == 32 and node == 0:
        _quadruples_forward(states, source, 32, 1, none, step, stay, both)
    elif n_states == 8 and node == 2:
        _pairs_forward(states, source, 8, none, stay)
    elif n_states == 8 and node == 1:
        _quadruples_forward(states, source, 8, 2, none, step, stay, both)
    elif n_states == 8 and node == 0:
        _quadruples_forward(states, source, 8, 1, none, step, stay, both)
    elif 2 * stride == n_states:
        _pairs_forward(states, source, n_states, none, stay)
    else:
        _quadruples_forward(states, source, n_states, stride, none, step, stay, both)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def node_backward_kernel(states, source, back, n_states, node, none, step, stay, both):
    """Undo `node_forward_kernel`: ``back`` is turned in place; returns how the four weights moved the total."""
    stride = 1 << node
    if n_states == 32 and node == 4:
        return _pairs_backward(states, source, back, 32, none, stay)
    if n_states == 32 and node == 3:
        return _quadruples_backward(states, source, back, 32, 8, none, step, stay, both)
    if n_states == 32 and node == 2:
        return _quadruples_backward(states, source, back, 32, 4, none, step, stay, both)
    if n_states == 32 and node == 1:
        return _quadruples_backward(states, source, back, 32, 2, none, step, stay, both)
    if n_states == 32 and node == 0:
        return _quadruples_backward(states, source, back, 32, 1, none, step, stay, both)
    if n_states == 8 and node == 2:
        return _pairs_backward(states, source, back, 8, none, stay)
    if n_states == 8 and node == 1:
        return _quadruples_backward(states, source, back, 8, 2, none, step, stay, both)
    if n_states == 8 and node == 0:
        return _quadruples_backward(states, source, back, 8, 1, none, step, stay, both)
    if 2 * stride == n_states:
        return _pairs_backward(states, source, back, n_states, none, stay)
    return _quadruples_backward(states, source, back, n_states, stride, none, step, stay, both)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
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
def word_forward_kernel(n_nodes, states, source, exps, weights, slot):
    """Run a whole word; the states after each phase follow one another in ``states``. Returns where the last begin."""
    n_states = 1 << n_nodes
    start_forward_kernel(states, source, n_states, exps[slot, 0], exps[slot, 1])
    source += n_states
    for node in range(n_nodes - 1, -1, -1):
        node_forward_kernel(
            states,
            source,
            n_states,
            node,
            weights[slot, 4 * node],
            weights[slot, 4 * node + 1],
            weights[slot, 4 * node + 2],
            weights[slot, 4 * node + 3],
        )
        source += n_states
    return source


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def total_kernel(states, source, n_states):
    """Return the sum of states."""
    total = 0.0
    for state in range(source, source + n_states):
        total += states[state]
    return total


@numba.njit(nogil=True, cache=True, error_model="numpy")
def sweep_kernel(table, states, stride, exps, weights, n_words, least):
    """Run a sentence; returns its log partition function and where the states after the last word begin.

    Given up, with -inf, where a word's sum is not greater than ``least``.

    The states of a word begin ``stride`` after those of the word before. They sum to one, since every word but the
    first is divided by the sum of the word before: not the states are, but the two weights of T in ``exps``, one of
    which each of them is multiplied by.
    """
    n_nodes, n_states = table.n_nodes, 1 << table.n_nodes
    for state in range(n_states):
        states[state] = 0.0
    states[0] = 1.0
    log_total, at = 0.0, 0
    for slot in range(n_words):
        last = word_forward_kernel(n_nodes, states, at, exps, weights, slot)
        if slot + 1 < n_words:
            total = total_kernel(states, last, n_states)
            if total <= least:
                return -np.inf, at
            log_total += math.log(total)
            exps[slot + 1, 0] /= total
            exps[slot + 1, 1] /= total
        at += stride
        if at != last:
            for state in range(n_states):
                states[at + state] = states[last + state]
    return log_total + math.log(states[at]) if states[at] > 0.0 else -np.inf, at


@numba.njit(nogil=True, cache=True, error_model="numpy")
def frontier_sum_kernel(table, first_label, scores, begin, end, states, exps, weights):
    """Return the log partition function of one sentence; ``states`` has room for one word, the others as below."""
    weigh_kernel(table, first_label, scores, begin, end, exps, weights)
    return sweep_kernel(table, states, 0, exps, weights, end - begin, 0.0)[0]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def frontier_expected_kernel(
    table, first_label, scores, begin, end, reach, states, back, exps, weights, moved, expected
):
    """Return the log partition function of one sentence and set its rows of ``expected`` to the edge probabilities.

    Also returns whether it came to an end: it gives up where a sum goes beyond ``reach`` (inf if it cannot), and then
    what it returns and sets means nothing. Room for the longest sentence of n words: ``states`` (n * (n_nodes + 1) + 1)
    * n_states, ``back`` n_states, ``exps`` (n, n_labels), ``weights`` (n, 4 * n_nodes), ``moved`` 4 * n_nodes.
    """
    n_nodes, n_states = table.n_nodes, 1 << table.n_nodes
    label_weight, n_labels = table.label_weight, table.label_weight.shape[0]
    weigh_kernel(table, first_label, scores, begin, end, exps, weights)
    least = 1.0 / reach
    log_total, at = sweep_kernel(table, states, (n_nodes + 1) * n_states, exps, weights, end - begin, least)
    if log_total == -np.inf:
        for word in range(begin, end):
            for label in range(n_labels):
                expected[word, first_label + label] = 0.0
        return log_total, least == 0.0
    if states[at] <= least:
        return log_total, False
    for state in range(n_states):
        back[state] = 0.0
    back[0] = 1.0 / states[at]
    for word in range(end - 1, begin - 1, -1):
        slot = word - begin
        for node in range(n_nodes):
            at -= n_states
            none, step, stay, both = node_backward_kernel(
                states,
                at,
                back,
                n_states,
                node,
                weights[slot, 4 * node],
                weights[slot, 4 * node + 1],
                weights[slot, 4 * node + 2],
                weights[slot, 4 * node + 3],
            )
            moved[4 * node], moved[4 * node + 1], moved[4 * node + 2], moved[4 * node + 3] = none, step, stay, both
        at -= n_states
        if least > 0.0:
            top = 0.0
            for state in range(n_states):
                top = max(top, back[state])
            if top * least >= 1.0 / max(exps[slot, 0] + exps[slot, 1], least):
                return log_total, False
        none, step = start_backward_kernel(states, at, back, n_states, exps[slot, 0], exps[slot, 1])
        expected[word, first_label] = exps[slot, 0] * none
        expected[word, first_label + 1] = exps[slot, 1] * step
        for label in range(2, n_labels):
            expected[word, first_label + label] = exps[slot, label] * moved[label_weight[label]]
    return log_total, True


@numba.njit(nogil=True, cache=True)
def in_logs_kernel(automaton, first_label, n_labels, scores, first, last, expected):
    """Return the log partition function of one sentence, worked out in log space.

    Its rows of ``expected`` are set to the edge probabilities, unless that is empty.
    """
    block_scores = scores[first:last, first_label : first_label + n_labels]
    log_forward = np.empty(((last - first) * automaton.n_phases + 1, automaton.n_states))
    log_forward_kernel(automaton, block_scores, log_forward)
    log_total = log_total_kernel(automaton, log_forward)
    if expected.shape[0] > 0:
        block_expected = expected[first:last, first_label : first_label + n_labels]
        block_expected[:, :] = 0.0
        if log_total > -np.inf:
            by_arc = np.zeros(automaton.arc_from.shape[0])
            log_expected_kernel(automaton, block_scores, log_forward, log_total, block_expected, by_arc)
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
    states = np.empty(((longest if wants_expected else 1) * n_phases + 1) * n_states)
    back = np.empty(n_states)
    exps = np.empty((longest, n_labels))
    weights = np.empty((longest, 4 * n_nodes))
    moved = np.empty(4 * n_nodes)
    for sentence in range(begin, end):
        first, last = first_word[sentence], first_word[sentence + 1]
        is_within_bounds = is_within_bounds_kernel(table, first_label, scores, first, last)
        reach = np.inf if is_within_bounds else reach_kernel(table, first_label, scores, first, last)
        if wants_expected and reach > 0.0:
            log_partition[sentence], is_done = frontier_expected_kernel(
                table, first_label, scores, first, last, reach, states, back, exps, weights, moved, expected
            )
            if is_done:
                continue
        elif is_within_bounds:
            log_partition[sentence] = frontier_sum_kernel(
                table, first_label, scores, first, last, states, exps, weights
            )
            continue
        log_partition[sentence] = in_logs_kernel(
            automaton, first_label, n_labels, scores, first, last, expected if wants_expected else scores[:0]
        )
