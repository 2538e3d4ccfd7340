"""Compiled forward and backward passes over frontier states: exact sums over the distinct encodings of a staircase.

The state is the set of active nodes, as bits. T and then each node, highest first, transform the states. For a node
this takes a few multiply-adds on pairs or quadruples of states (bit v: this node; bit v + 1: the next), with four
potentials: those of edges that neither stay nor step, only step, only stay, or do both. Whether an edge also ends does
not affect the state, so edges that differ only in that are summed beforehand. `hyperspan.inference.reference` does the
same in plain Python.

Eight sums (each over a sentence and a block) run side by side, see `simd`; shorter sentences are padded. Only the
forward messages at word borders are stored; the backward pass recomputes the states in between, which is cheaper than
loading them from memory.

Sums are products of potentials, scaled so that messages stay near one: T's two potentials at every word but the first
are divided by the sum of the states before it. Where that can lose precision (docs/inference.md says when), a sum is
given up, and `log_space` takes over.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.exponentials import exp_kernel
from hyperspan.compiled.kernel import kernel
from hyperspan.compiled.simd import get, load, put, store, zero
from hyperspan.structures.staircase import STAY, STEP, Staircase

WINDOW_BOUND = 600.0
"""How far apart the log scores of outcomes in a window of words may be without a check; exp underflows beyond 708."""

_CONTRACT = {"contract", "nsz"}


class StaircaseTable(NamedTuple):
    """A staircase in flat arrays.

    Attributes
    ----------
    n_nodes : int
    log_growth : float
        A word multiplies the number of paths by at most exp of this.
    label_node, label_children : int64 arrays of shape (n_labels,)
        The node of each label and its children, as bits; -1 for T's two labels.
    label_potential : int64 array of shape (n_labels,)
        Which of a word's ``2 + 4 * n_nodes`` potentials the label contributes to: 0 and 1 are T's, then four for each
        node.
    """

    n_nodes: int
    log_growth: float
    label_node: NDArray[np.int64]
    label_children: NDArray[np.int64]
    label_potential: NDArray[np.int64]

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.label_node)

    @property
    def n_potentials(self) -> int:
        """How many potentials a word has."""
        return 2 + 4 * self.n_nodes

    @property
    def n_links(self) -> int:
        """How many links a word has: that of T to the first node, and three of each node."""
        return 1 + 3 * self.n_nodes


@lru_cache(maxsize=64)
def staircase_table(staircase: Staircase) -> StaircaseTable:
    """Return a staircase's table."""
    nodes = np.array([-1, -1, *(node for node, _ in staircase.edges)], dtype=np.int64)
    children = np.array([-1, -1, *(children for _, children in staircase.edges)], dtype=np.int64)
    potentials = 2 + 4 * nodes + 2 * (children & STAY > 0) + (children & STEP > 0)
    potentials[:2] = 0, 1
    log_growth = math.log(2) + sum(math.log(np.sum(nodes == node)) for node in range(staircase.n_nodes))
    return StaircaseTable(staircase.n_nodes, log_growth, nodes, children, potentials)


class Workspace(NamedTuple):
    """The memory for one group of sums. A *cell* is a vector, or a number if sums are computed one at a time.

    Attributes
    ----------
    exps : cells (longest * n_labels)
        exp of the scores; T's are divided by the sum of the previous word.
    flat_exps : float64 array of shape (longest * n_labels * width,)
        The same memory as a flat array of numbers.
    potentials : cells (longest * n_potentials)
    alpha : cells ((longest + 1) * n_states)
        Forward messages: sums over everything that leads to a state at a word border.
    beta : cells ((longest + 1) * n_states)
        Backward messages, if they are stored; otherwise space for one. The product of both at a border is 1.
    links : cells (longest * n_links)
        If backward messages are stored: the probability that T starts a mention at a word, and that each node has each
        child there (END, STEP, STAY).
    states : cells ((n_nodes + 1) * n_states, n_labels at least)
        The states after each phase of a word, and later its marginals.
    gradient : cells (n_potentials)
        The derivative of the log total by each potential of a word.
    least : float64 array of shape (width,)
        How small a sum may get: 0 if no precision can be lost.
    spreads : float64 array of shape (3, n_nodes + 1)
        How far apart scores are; see `least_sum_kernel`.
    """

    exps: NDArray[np.float64]
    flat_exps: NDArray[np.float64]
    potentials: NDArray[np.float64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    links: NDArray[np.float64]
    states: NDArray[np.float64]
    gradient: NDArray[np.float64]
    least: NDArray[np.float64]
    spreads: NDArray[np.float64]

    @classmethod
    def of(cls, table: StaircaseTable, longest: int, width: int, *, keeps_beta: bool) -> Workspace:
        """Return memory for sentences of up to ``longest`` words, ``width`` (1 or `SIMD`) at a time."""
        n_states = 1 << table.n_nodes

        def cells(n_cells: int) -> NDArray[np.float64]:
            return np.empty((n_cells, width) if width > 1 else n_cells)

        exps = cells(longest * table.n_labels)
        return cls(
            exps,
            exps.reshape(-1),
            cells(longest * table.n_potentials),
            cells((longest + 1) * n_states),
            cells((longest + 1 if keeps_beta else 1) * n_states),
            cells(longest * table.n_links if keeps_beta else 0),
            cells(max((table.n_nodes + 1) * n_states, table.n_labels)),
            cells(table.n_potentials),
            np.empty(width),
            np.empty((3, table.n_nodes + 1)),
        )


class SumArrays(NamedTuple):
    """Sums to compute, each over the words of a sentence and the labels of a block, and their results.

    All have shape (n_sums,), padded to whole groups by sums without words.

    Attributes
    ----------
    first, n_words, first_label : int64 arrays
        The first word, the number of words, and the first label.
    log_total : float64 array
    is_done : bool array
        False for sums that are given up: their totals and marginals are meaningless.
    """

    first: NDArray[np.int64]
    n_words: NDArray[np.int64]
    first_label: NDArray[np.int64]
    log_total: NDArray[np.float64]
    is_done: NDArray[np.bool_]

    @classmethod
    def of(cls, n_sums: int) -> SumArrays:
        """Return space for so many sums."""
        first, n_words, first_label = np.zeros((3, n_sums), dtype=np.int64)
        return cls(first, n_words, first_label, np.zeros(n_sums), np.zeros(n_sums, dtype=np.bool_))


_for_kernels: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_inner = kernel(fastmath=_CONTRACT, **_for_kernels)
"""For kernels that only other kernels call: without a Python wrapper, they compile faster."""


@_inner
def word_forward_kernel(n_nodes, potentials, at, alpha, source, states, target, apart):
    """Process a word: from the states at ``alpha[source]`` to those at ``states[target]``, through all phases.

    The potentials begin at ``potentials[at]``. The states after each phase begin ``apart`` cells after those of the
    phase before, or replace them if ``apart`` is 0.
    """
    n_states = 1 << n_nodes
    no_start, start = load(potentials, at), load(potentials, at + 1)
    for state in range(0, n_states, 2):
        clear, active = load(alpha, source + state), load(alpha, source + state + 1)
        store(states, target + state, no_start * clear)
        store(states, target + state + 1, no_start * active + start * (clear + active))
    half, node_at = n_states // 2, at + 4 * n_nodes - 2
    none, stay = load(potentials, node_at), load(potentials, node_at + 2)
    for low in range(target, target + half):  # the last node has no step
        active = load(states, low + half)
        store(states, apart + low, load(states, low) + none * active)
        store(states, apart + low + half, stay * active)
    for node in range(n_nodes - 2, -1, -1):
        target += apart
        stride, node_at = 1 << node, at + 2 + 4 * node
        none, step = load(potentials, node_at), load(potentials, node_at + 1)
        stay, both = load(potentials, node_at + 2), load(potentials, node_at + 3)
        for high in range(target, target + n_states, 4 * stride):
            for low in range(high, high + stride):
                clear, active = load(states, low), load(states, low + stride)
                next_clear, next_active = load(states, low + 2 * stride), load(states, low + 3 * stride)
                any_active = active + next_active
                store(states, apart + low, clear + none * active)
                store(states, apart + low + stride, stay * active)
                store(states, apart + low + 2 * stride, next_clear + none * next_active + step * any_active)
                store(states, apart + low + 3 * stride, stay * next_active + both * any_active)


@_inner
def nodes_backward_kernel(n_nodes, potentials, at, states, beta, here, gradient):
    """Process the nodes of a word backward: update the message at ``beta[here]`` and set the gradient.

    ``states`` has the results of `word_forward_kernel`, each phase after the one before.
    """
    n_states = 1 << n_nodes
    for node in range(n_nodes - 1):
        source, stride, node_at = (n_nodes - 1 - node) << n_nodes, 1 << node, at + 2 + 4 * node
        none, step = load(potentials, node_at), load(potentials, node_at + 1)
        stay, both = load(potentials, node_at + 2), load(potentials, node_at + 3)
        by_none, by_step, by_stay, by_both = zero(beta), zero(beta), zero(beta), zero(beta)
        for high in range(0, n_states, 4 * stride):
            for low in range(high, high + stride):
                active, next_active = load(states, source + low + stride), load(states, source + low + 3 * stride)
                any_active = active + next_active
                to_clear, to_active = load(beta, here + low), load(beta, here + low + stride)
                to_next, to_both = load(beta, here + low + 2 * stride), load(beta, here + low + 3 * stride)
                by_none = by_none + (active * to_clear + next_active * to_next)
                by_step = by_step + any_active * to_next
                by_stay = by_stay + (active * to_active + next_active * to_both)
                by_both = by_both + any_active * to_both
                new_active = none * to_clear + step * to_next + (stay * to_active + both * to_both)
                store(beta, here + low + stride, new_active)
                store(beta, here + low + 3 * stride, (none + step) * to_next + (stay + both) * to_both)
        store(gradient, 2 + 4 * node, by_none)
        store(gradient, 3 + 4 * node, by_step)
        store(gradient, 4 + 4 * node, by_stay)
        store(gradient, 5 + 4 * node, by_both)
    half, node_at = n_states // 2, at + 4 * n_nodes - 2
    none, stay = load(potentials, node_at), load(potentials, node_at + 2)
    by_none, by_stay = zero(beta), zero(beta)
    for low in range(half):
        active = load(states, low + half)
        to_clear, to_active = load(beta, here + low), load(beta, here + low + half)
        by_none = by_none + active * to_clear
        by_stay = by_stay + active * to_active
        store(beta, here + low + half, none * to_clear + stay * to_active)
    store(gradient, 4 * n_nodes - 2, by_none)
    store(gradient, 4 * n_nodes - 1, zero(beta))
    store(gradient, 4 * n_nodes, by_stay)
    store(gradient, 4 * n_nodes + 1, zero(beta))


@_inner
def start_backward_kernel(n_nodes, potentials, at, alpha, source, beta, here, gradient):
    """Process the choice of T backward: update the message at ``beta[here]`` and set the gradient by T's potentials."""
    no_start, start = load(potentials, at), load(potentials, at + 1)
    by_none, by_start = zero(beta), zero(beta)
    for state in range(0, 1 << n_nodes, 2):
        clear, active = load(alpha, source + state), load(alpha, source + state + 1)
        to_clear, to_active = load(beta, here + state), load(beta, here + state + 1)
        by_none = by_none + (clear * to_clear + active * to_active)
        by_start = by_start + (clear + active) * to_active
        store(beta, here + state, no_start * to_clear + start * to_active)
        store(beta, here + state + 1, (no_start + start) * to_active)
    store(gradient, 0, by_none)
    store(gradient, 1, by_start)


@kernel
def least_sum_kernel(table, scores, first, n_words, first_label, wants_beta, spreads):
    """Return how small a sum may get without loss of precision: 0 within the bounds, inf if none is safe.

    Beyond the bounds, only a backward pass can tell: at most exp(-700) is lost at a time, multiplied by at most all
    potentials of a word before it reaches a state; and no product of messages may overflow. ``spreads`` is scratch
    space for the lowest and highest score of each node at a word, and for their differences in a window of words.
    """
    n_nodes, n_labels, window = table.n_nodes, table.label_node.shape[0], table.n_nodes + 1
    lowest, highest = 0.0, 0.0
    for word in range(first, first + n_words):
        for label in range(first_label, first_label + n_labels):
            lowest = min(lowest, scores[word, label])
            highest = max(highest, scores[word, label])
    least = 0.0
    if not ((highest - lowest) * window + table.log_growth) * window < WINDOW_BOUND:
        for place in range(window):
            spreads[2, place] = 0.0
        in_window, whole, most_gain = 0.0, 0.0, 0.0
        has_forbidden, fits = False, True
        for word in range(n_words):
            for node in range(window):  # a node that is not active counts as zero
                spreads[0, node], spreads[1, node] = 0.0, 0.0
            for label in range(n_labels):
                score = scores[first + word, first_label + label]
                node = n_nodes if label < 2 else table.label_node[label]
                if score == -np.inf:
                    has_forbidden = True
                else:
                    spreads[0, node] = min(spreads[0, node], score)
                    spreads[1, node] = max(spreads[1, node], score)
            spread, gain = table.log_growth, 0.0
            for node in range(window):
                spread += spreads[1, node] - spreads[0, node]
                gain += spreads[1, node]
            in_window += spread - spreads[2, word % window]
            spreads[2, word % window] = spread
            whole += spread
            most_gain = max(most_gain, gain)
            fits = fits and in_window < WINDOW_BOUND
        if not fits or (has_forbidden and not whole < WINDOW_BOUND):
            left = WINDOW_BOUND - 2.0 * (most_gain + table.log_growth)
            least = math.exp(-left) if wants_beta and left > 0.0 else np.inf
    return least


@_inner
def prepare_kernel(table, scores, sums, at, wants_beta, work):
    """Fill the potentials of the group of sums that begins with number ``at``.

    After its last word, a sum is padded: nothing starts, and nothing changes. Returns the length of the longest.
    """
    width, n_labels, exps = work.least.shape[0], table.label_node.shape[0], work.exps
    longest = 0
    for lane in range(width):
        first, n_words, first_label = sums.first[at + lane], sums.n_words[at + lane], sums.first_label[at + lane]
        longest = max(longest, n_words)
        work.least[lane] = least_sum_kernel(table, scores, first, n_words, first_label, wants_beta, work.spreads)
    for word in range(longest):
        for lane in range(width):
            first, first_label = sums.first[at + lane], sums.first_label[at + lane]
            is_word = word < sums.n_words[at + lane]
            for label in range(n_labels):
                padding = 0.0 if label == 0 else -np.inf
                score = scores[first + word, first_label + label] if is_word else padding
                put(exps, word * n_labels + label, lane, score)
    exp_kernel(work.flat_exps, longest * n_labels * width)
    potentials_kernel(table, longest, work)
    return longest


@_inner
def potentials_kernel(table, longest, work):
    """Fill the potentials of a group, given the exps of its scores."""
    n_labels, n_potentials = table.label_node.shape[0], 2 + 4 * table.n_nodes
    exps, potentials = work.exps, work.potentials
    for word in range(longest):
        for potential in range(word * n_potentials, (word + 1) * n_potentials):
            store(potentials, potential, zero(potentials))
        for label in range(n_labels):
            cell = word * n_potentials + table.label_potential[label]
            store(potentials, cell, load(potentials, cell) + load(exps, word * n_labels + label))


@_inner
def forward_kernel(table, longest, sums, at, work):
    """Fill ``work.alpha`` and the log totals of a group; a sum that gets too small is given up: not done."""
    n_nodes, n_states, n_labels = table.n_nodes, 1 << table.n_nodes, table.label_node.shape[0]
    width, n_potentials = work.least.shape[0], 2 + 4 * n_nodes
    in_place = 0 * n_states  # not just 0: a literal argument would compile the kernel again
    exps, potentials, alpha = work.exps, work.potentials, work.alpha
    for lane in range(width):
        sums.log_total[at + lane], sums.is_done[at + lane] = 0.0, True
        for state in range(n_states):
            put(alpha, state, lane, 1.0 if state == 0 else 0.0)
    for word in range(longest):
        after = (word + 1) * n_states
        word_forward_kernel(n_nodes, potentials, word * n_potentials, alpha, word * n_states, alpha, after, in_place)
        total = load(alpha, after)
        for state in range(after + 1, after + n_states):
            total = total + load(alpha, state)
        store(work.states, 0, total)
        for lane in range(width):
            scale = 1.0  # padding must not change the result
            if word < sums.n_words[at + lane]:
                is_last = word + 1 == sums.n_words[at + lane]
                total_here = get(alpha, after, lane) if is_last else get(work.states, 0, lane)
                sums.log_total[at + lane] += math.log(total_here) if total_here > 0.0 else -np.inf
                if not total_here > work.least[lane]:
                    sums.is_done[at + lane] = False
                scale = 1.0 if is_last else total_here
            if word + 1 < longest:
                for label in range(2):
                    cell, potential = (word + 1) * n_labels + label, (word + 1) * n_potentials + label
                    put(exps, cell, lane, get(exps, cell, lane) / scale)
                    put(potentials, potential, lane, get(potentials, potential, lane) / scale)


@_inner
def forward_again_kernel(table, longest, work):
    """Fill ``work.alpha`` of a group whose potentials are scaled already."""
    n_nodes, n_states, potentials, alpha = table.n_nodes, 1 << table.n_nodes, work.potentials, work.alpha
    in_place = 0 * n_states  # as above
    for lane in range(work.least.shape[0]):
        for state in range(n_states):
            put(alpha, state, lane, 1.0 if state == 0 else 0.0)
    for word in range(longest):
        at, after = word * (2 + 4 * n_nodes), (word + 1) * n_states
        word_forward_kernel(n_nodes, potentials, at, alpha, word * n_states, alpha, after, in_place)


@_inner
def link_probs_kernel(table, marginals, links, at):
    """Set the probabilities of a word's links, from ``links[at]`` on, given the marginals of its labels."""
    store(links, at, load(marginals, 1))
    for link in range(at + 1, at + 1 + 3 * table.n_nodes):
        store(links, link, zero(links))
    for label in range(2, table.label_node.shape[0]):
        for child in range(3):
            if table.label_children[label] >> child & 1:
                link = at + 1 + 3 * table.label_node[label] + child
                store(links, link, load(links, link) + load(marginals, label))


@_inner
def backward_kernel(table, longest, sums, at, work, marginals):
    """Set the rows of ``marginals`` (words, labels) of a group, or ``work.beta`` and ``work.links`` if there is space.

    Runs after `forward_kernel`. The results of sums that are given up are meaningless.
    """
    n_nodes, n_states, n_labels = table.n_nodes, 1 << table.n_nodes, table.label_node.shape[0]
    width, n_potentials, begin = work.least.shape[0], 2 + 4 * n_nodes, 0 * n_states
    exps, potentials, alpha, beta, gradient = work.exps, work.potentials, work.alpha, work.beta, work.gradient
    keeps_beta = beta.shape[0] > n_states
    here = longest * n_states if keeps_beta else begin
    for state in range(n_states):
        for lane in range(width):
            put(beta, here + state, lane, 1.0 / get(alpha, longest * n_states, lane) if state == 0 else 0.0)
    for word in range(longest - 1, -1, -1):
        if keeps_beta:
            here -= n_states
            for state in range(n_states):
                store(beta, here + state, load(beta, here + n_states + state))
        potential, source = word * n_potentials, word * n_states
        word_forward_kernel(n_nodes, potentials, potential, alpha, source, work.states, begin, n_states)
        nodes_backward_kernel(n_nodes, potentials, potential, work.states, beta, here, gradient)
        for lane in range(width):
            least = work.least[lane]
            if least > 0.0 and word < sums.n_words[at + lane] and sums.is_done[at + lane]:
                top = 0.0
                for state in range(n_states):
                    top = max(top, get(beta, here + state, lane))
                starts = get(exps, word * n_labels, lane) + get(exps, word * n_labels + 1, lane)
                sums.is_done[at + lane] = top * least < 1.0 / max(starts, least)
        start_backward_kernel(n_nodes, potentials, potential, alpha, source, beta, here, gradient)
        for label in range(n_labels):
            by_potential = load(gradient, table.label_potential[label])
            store(work.states, label, load(exps, word * n_labels + label) * by_potential)
        if keeps_beta:
            link_probs_kernel(table, work.states, work.links, word * (1 + 3 * n_nodes))
            continue
        for lane in range(width):
            if word < sums.n_words[at + lane]:
                row, first_label = sums.first[at + lane] + word, sums.first_label[at + lane]
                for label in range(n_labels):
                    marginals[row, first_label + label] = get(work.states, label, lane)


@kernel(fastmath=_CONTRACT)
def forward_backward_kernel(table, scores, sums, begin, end, work, marginals):
    """Fill the log totals of the sums from ``begin`` to ``end``, and their marginals unless that array is empty.

    If ``work`` has space for backward messages, those of the last group are in it.
    """
    goes_back = marginals.shape[0] > 0 or work.links.shape[0] > 0
    for at in range(begin, end, work.least.shape[0]):
        longest = prepare_kernel(table, scores, sums, at, goes_back, work)
        forward_kernel(table, longest, sums, at, work)
        if goes_back:
            backward_kernel(table, longest, sums, at, work, marginals)
