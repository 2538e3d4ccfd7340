"""Sums up to and from every word border of a sentence: what restricted sweeps begin and end with.

They exist twice, in scaled products and in log space, chosen per sentence by the bounds of `frontier`. Vectors over
states at the border before word w are row w of the tables; in scaled products they are divided by ``scales``. Those of
many sentences are made in lanes, eight sentences at a time, and taken out when they are needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.automaton import Automaton
from hyperspan.inference.frontier import (
    StaircaseTable,
    is_within_bounds_kernel,
    node_backward_kernel,
    reach_kernel,
    start_backward_kernel,
    total_kernel,
    weigh_kernel,
    word_forward_kernel,
)
from hyperspan.inference.lanes import LANES, lanes_borders_kernel, prepare_lanes_kernel
from hyperspan.inference.paths import arc_weight, log_forward_kernel, log_total_kernel


class Borders(NamedTuple):
    """The sums up to and from every word border of one sentence and block; see the module's text.

    ``is_log`` tells which kind they are. ``exps`` (n_words, n_labels) and ``scales`` (n_words,) belong to scaled
    products only. No link is more probable than ``link_prob`` (n_words, 3 * n_nodes), at ``3 * node + log2(child)``,
    says; where that is not known, it is 1.
    """

    is_log: bool
    log_total: float
    forward: NDArray[np.float64]
    backward: NDArray[np.float64]
    start_prob: NDArray[np.float64]
    exps: NDArray[np.float64]
    scales: NDArray[np.float64]
    link_prob: NDArray[np.float64]


def find_borders(
    table: StaircaseTable, automaton: Automaton, scores: NDArray[np.float64], *, in_logs: bool = False
) -> Borders:
    """Sum one sentence of one block up to and from every word border; ``scores`` has shape (n_words, n_labels).

    With ``in_logs`` in log space, even where scaled products would do.
    """
    room = border_room(len(scores), table)
    return Borders(*borders_of_sentence_kernel(table, automaton, scores, in_logs, room))


def border_room(n_words: int, table: StaircaseTable) -> tuple[NDArray[np.float64], ...]:
    """Return room for the borders of a sentence of so many words, in the order of `Borders`."""
    n_states, n_labels = 1 << table.n_nodes, len(table.label_node)
    return (
        np.empty((n_words + 1, n_states)),
        np.empty((n_words + 1, n_states)),
        np.empty(n_words),
        np.empty((n_words, n_labels)),
        np.empty(n_words),
        np.empty((n_words, 3 * table.n_nodes)),
    )


@numba.njit(nogil=True, cache=True)
def borders_of_sentence_kernel(table, automaton, scores, in_logs, room):
    """Sum one sentence of one block up to and from every word border: in scaled products, or else in log space.

    ``scores`` has shape (n_words, n_labels); ``room`` is as `border_room` makes it, for so many words or more.
    """
    n_words = scores.shape[0]
    forward, backward, start_prob = room[0][: n_words + 1], room[1][: n_words + 1], room[2][:n_words]
    exps, scales, link_prob = room[3][:n_words], room[4][:n_words], room[5][:n_words]
    link_prob[:] = 1.0
    is_within_bounds = is_within_bounds_kernel(table, 0, scores, 0, n_words)
    reach = np.inf if is_within_bounds else reach_kernel(table, 0, scores, 0, n_words)
    log_total, is_done = -np.inf, False
    if reach > 0.0 and not in_logs:
        log_total, is_done = borders_kernel(table, scores, reach, exps, forward, backward, scales, start_prob)
    if not is_done:
        log_total = log_borders_kernel(automaton, scores, forward, backward, start_prob)
    return Borders(not is_done, log_total, forward, backward, start_prob, exps, scales, link_prob)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def rescale_kernel(states, source, n_states):
    """Divide states by their sum, unless that is 0, and return it."""
    total = total_kernel(states, source, n_states)
    if total > 0.0:
        for state in range(source, source + n_states):
            states[state] /= total
    return total


@numba.njit(nogil=True, cache=True, error_model="numpy")
def borders_kernel(table, scores, reach, exps, forward, backward, scales, start_prob):
    """Fill the sums before and after every word border of one sentence, in scaled products.

    ``scores`` and ``exps`` have shape (n_words, n_labels), ``forward`` and ``backward`` (n_words + 1, n_states),
    ``scales`` and ``start_prob`` (n_words,). Every product of a forward and a backward row is 1 afterwards. Returns the
    log partition function; if it is -inf the tables mean nothing. Also returns whether it came to an end, with
    ``reach`` as in `frontier.frontier_expected_kernel`.
    """
    n_words, n_nodes, n_states = scores.shape[0], table.n_nodes, 1 << table.n_nodes
    least = 1.0 / reach
    states = np.empty((n_nodes + 2) * n_states)
    weights = np.empty((n_words, 4 * n_nodes))
    weigh_kernel(table, 0, scores, 0, n_words, exps, weights)
    forward[0, :] = 0.0
    forward[0, 0] = 1.0
    log_total = 0.0
    for word in range(n_words):
        states[:n_states] = forward[word]
        last = word_forward_kernel(n_nodes, states, 0, exps, weights, word)
        scales[word] = rescale_kernel(states, last, n_states)
        if scales[word] <= least:
            return -np.inf, least == 0.0
        log_total += math.log(scales[word])
        forward[word + 1] = states[last : last + n_states]
    if forward[n_words, 0] <= least:
        return -np.inf, least == 0.0
    log_total += math.log(forward[n_words, 0])
    backward[n_words, :] = 0.0
    backward[n_words, 0] = 1.0 / forward[n_words, 0]
    for word in range(n_words - 1, -1, -1):
        back = backward[word]
        if least > 0.0:
            top = 0.0
            for state in range(n_states):
                top = max(top, backward[word + 1, state])
            if top * least >= scales[word]:
                return log_total, False
        for state in range(n_states):
            back[state] = backward[word + 1, state] / scales[word]
        for node in range(n_nodes):
            node_backward_kernel(
                states,  # only the sums it returns depend on the states, and they are not used here
                0,
                back,
                n_states,
                node,
                weights[word, 4 * node],
                weights[word, 4 * node + 1],
                weights[word, 4 * node + 2],
                weights[word, 4 * node + 3],
            )
        states[:n_states] = forward[word]
        _, by_start = start_backward_kernel(states, 0, back, n_states, exps[word, 0], exps[word, 1])
        start_prob[word] = exps[word, 1] * by_start
    return log_total, True


@numba.njit(nogil=True, cache=True)
def log_borders_kernel(automaton, scores, forward, backward, start_prob):
    """Fill the same tables in log space; there every product of a forward and a backward row is the total."""
    n_words, n_states, n_phases = scores.shape[0], automaton.n_states, automaton.n_phases
    first_arc, arc_from, arc_label = automaton.first_arc, automaton.arc_from, automaton.arc_label
    table = np.empty((n_words * n_phases + 1, n_states))
    log_forward_kernel(automaton, scores, table)
    log_total = log_total_kernel(automaton, table)
    for word in range(n_words + 1):
        forward[word] = table[word * n_phases]
    for state in range(n_states):
        backward[n_words, state] = 0.0 if automaton.final[state] else -np.inf
    after, before = np.empty(n_states), np.empty(n_states)
    for word in range(n_words - 1, -1, -1):
        after[:] = backward[word + 1]
        start_prob[word] = 0.0
        for phase in range(n_phases - 1, -1, -1):
            before[:] = -np.inf
            for state in range(n_states):
                if after[state] == -np.inf:
                    continue
                for arc in range(first_arc[phase * n_states + state], first_arc[phase * n_states + state + 1]):
                    value = after[state] + arc_weight(automaton, arc, word, scores)
                    if value == -np.inf:
                        continue
                    source = arc_from[arc]
                    low, high = min(before[source], value), max(before[source], value)
                    before[source] = high + math.log1p(math.exp(low - high))
                    if phase == 0 and arc_label[arc] == 1:
                        start_prob[word] += math.exp(forward[word, source] + value - log_total)
            after[:] = before
        backward[word] = after
    return log_total


@numba.njit(nogil=True, cache=True)
def fill_lanes_kernel(table, first_label, scores, first_word, wanted, begin, wants_links, lanes):
    """Sum sentences of one block, as many of the wanted from begin on as there are lanes, up to and from every border.

    ``lanes.is_done`` says for which lanes this came to an end: not for sentences that the lanes have no room for. How
    probable links are is known only if that is wanted.
    """
    n_here = min(LANES, wanted.shape[0] - begin)
    lanes.n_words[:] = 0
    for lane in range(n_here):
        sentence = wanted[begin + lane]
        n_words = first_word[sentence + 1] - first_word[sentence]
        lanes.n_words[lane] = n_words if n_words <= lanes.exps.shape[0] else 0
        # An empty sentence at the end begins behind the last word, where there is nothing to read.
        lanes.first[lane] = first_word[sentence] if lanes.n_words[lane] > 0 else 0
        lanes.first_label[lane] = first_label
    exps, weights = prepare_lanes_kernel(table, scores, True, lanes)
    lanes_borders_kernel(table, lanes, exps, weights, wants_links)


@numba.njit(nogil=True, cache=True)
def lane_borders_kernel(n_nodes, lanes, lane, room):
    """Take the sums of one sentence out of its lane, into ``room`` as `border_room` makes it."""
    n_words, n_states = lanes.n_words[lane], 1 << n_nodes
    forward, backward, start_prob = room[0][: n_words + 1], room[1][: n_words + 1], room[2][:n_words]
    exps, scales, link_prob = room[3][:n_words], room[4][:n_words], room[5][:n_words]
    kept, back, lane_exps = lanes.kept, lanes.back, lanes.exps
    for word in range(n_words + 1):
        at = word * n_states * LANES + lane
        total = 0.0
        for state in range(n_states):
            total += kept[at + state * LANES]
        for state in range(n_states):
            forward[word, state] = kept[at + state * LANES] / total
            backward[word, state] = back[at + state * LANES] * total
        if word > 0:
            scales[word - 1] = total
        if word < n_words:
            start_prob[word] = lanes.start_prob[word, lane]
            for link in range(3 * n_nodes):
                link_prob[word, link] = lanes.link_prob[word, link, lane]
            for label in range(lane_exps.shape[1]):
                exps[word, label] = lane_exps[word, label, lane]
            exps[word, 0] *= total  # in lanes every word is divided by the sum of the word before
            exps[word, 1] *= total
    return Borders(False, lanes.log_total[lane], forward, backward, start_prob, exps, scales, link_prob)
