"""The frontier sweep for eight sentences (or types) at a time, one in each lane of the machine's vectors.

The same sums as in `frontier`, which says what they are, with every number eight times side by side: a lane is one
sentence's sum over one block. Shorter ones are filled up with words at which nothing can happen. Only the states before
each word are kept on the way forward; the way back makes those in between again, which is cheaper than to fetch them.

All that a word needs stands in one array, ``room``, at distances that are known when it is compiled, in cells of
`LANES` numbers: the states after each phase, the weights of T and of each node, the sums of the way back, and how much
each weight moved the total. So the compiler can see that what is written is not what is read, and use vectors.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.exponentials import exp_kernel
from hyperspan.inference.frontier import (
    WINDOW_BOUND,
    StaircaseTable,
    frontier_block_kernel,
    in_logs_kernel,
    is_within_bounds_kernel,
    reach_kernel,
    staircase_table,
)
from hyperspan.structures import Hypergraph
from hyperspan.structures.staircase import Staircase

LANES = 8
"""How many sums run side by side: numbers of double precision in the widest vectors there are."""


# The loop over lanes must be the innermost and have enough to do: the compiler unrolls small loops and then sees no
# vectors. So the forward steps take several states in one go.


@numba.njit(nogil=True, cache=True, inline="always")
def _start_pair(room, state, target, lane, no_start, start):
    clear, active = room[state * LANES + lane], room[(state + 1) * LANES + lane]
    room[(target + state) * LANES + lane] = no_start * clear
    room[(target + state + 1) * LANES + lane] = no_start * active + start * (clear + active)


@numba.njit(nogil=True, cache=True, inline="always")
def _start_forward(room, n_states, target, weights):
    """Let T choose."""
    if n_states == 2:
        for lane in range(LANES):
            _start_pair(room, 0, target, lane, room[weights * LANES + lane], room[(weights + 1) * LANES + lane])
    else:
        for state in range(0, n_states, 8):
            for lane in range(LANES):
                no_start, start = room[weights * LANES + lane], room[(weights + 1) * LANES + lane]
                _start_pair(room, state, target, lane, no_start, start)
                _start_pair(room, state + 2, target, lane, no_start, start)
                _start_pair(room, state + 4, target, lane, no_start, start)
                _start_pair(room, state + 6, target, lane, no_start, start)


@numba.njit(nogil=True, cache=True, inline="always")
def _start_backward(room, n_states, weights, back, moved):
    """Undo `_start_forward`."""
    for lane in range(2 * LANES):
        room[moved * LANES + lane] = 0.0
    for state in range(0, n_states, 2):
        for lane in range(LANES):
            no_start, start = room[weights * LANES + lane], room[(weights + 1) * LANES + lane]
            clear, active = room[state * LANES + lane], room[(state + 1) * LANES + lane]
            back_clear, back_active = room[(back + state) * LANES + lane], room[(back + state + 1) * LANES + lane]
            room[moved * LANES + lane] += clear * back_clear + active * back_active
            room[(moved + 1) * LANES + lane] += (clear + active) * back_active
            room[(back + state) * LANES + lane] = no_start * back_clear + start * back_active
            room[(back + state + 1) * LANES + lane] = (no_start + start) * back_active


@numba.njit(nogil=True, cache=True, inline="always")
def _last_pair(room, n_states, source, target, low, lane, none, stay):
    active = room[(source + low + n_states // 2) * LANES + lane]
    room[(target + low) * LANES + lane] = room[(source + low) * LANES + lane] + none * active
    room[(target + low + n_states // 2) * LANES + lane] = stay * active


@numba.njit(nogil=True, cache=True, inline="always")
def _pairs_forward(room, n_states, source, target, weights):
    """Let the last node choose, from which nothing steps."""
    if n_states == 2:
        for lane in range(LANES):
            none, stay = room[weights * LANES + lane], room[(weights + 2) * LANES + lane]
            _last_pair(room, 2, source, target, 0, lane, none, stay)
    else:
        for low in range(0, n_states // 2, 4):
            for lane in range(LANES):
                none, stay = room[weights * LANES + lane], room[(weights + 2) * LANES + lane]
                _last_pair(room, n_states, source, target, low, lane, none, stay)
                _last_pair(room, n_states, source, target, low + 1, lane, none, stay)
                _last_pair(room, n_states, source, target, low + 2, lane, none, stay)
                _last_pair(room, n_states, source, target, low + 3, lane, none, stay)


@numba.njit(nogil=True, cache=True, inline="always")
def _pairs_backward(room, n_states, source, weights, back, moved):
    """Undo `_pairs_forward`."""
    for lane in range(4 * LANES):
        room[moved * LANES + lane] = 0.0
    for low in range(n_states // 2):
        for lane in range(LANES):
            none, stay = room[weights * LANES + lane], room[(weights + 2) * LANES + lane]
            active = room[(source + low + n_states // 2) * LANES + lane]
            back_clear = room[(back + low) * LANES + lane]
            back_active = room[(back + low + n_states // 2) * LANES + lane]
            room[moved * LANES + lane] += active * back_clear
            room[(moved + 2) * LANES + lane] += active * back_active
            room[(back + low + n_states // 2) * LANES + lane] = none * back_clear + stay * back_active


@numba.njit(nogil=True, cache=True, inline="always")
def _quadruple(room, source, target, low, stride, lane, none, step, stay, both):
    clear = room[(source + low) * LANES + lane]
    active = room[(source + low + stride) * LANES + lane]
    next_clear = room[(source + low + 2 * stride) * LANES + lane]
    next_active = room[(source + low + 3 * stride) * LANES + lane]
    any_active = active + next_active
    room[(target + low) * LANES + lane] = clear + none * active
    room[(target + low + stride) * LANES + lane] = stay * active
    room[(target + low + 2 * stride) * LANES + lane] = next_clear + none * next_active + step * any_active
    room[(target + low + 3 * stride) * LANES + lane] = stay * next_active + both * any_active


@numba.njit(nogil=True, cache=True, inline="always")
def _quadruples_forward(room, n_states, source, target, stride, weights):
    """Let another node choose."""
    for number in range(n_states // 8):
        low = (number // stride) * 4 * stride + number % stride
        other = number + n_states // 8
        other_low = (other // stride) * 4 * stride + other % stride
        for lane in range(LANES):
            none, step = room[weights * LANES + lane], room[(weights + 1) * LANES + lane]
            stay, both = room[(weights + 2) * LANES + lane], room[(weights + 3) * LANES + lane]
            _quadruple(room, source, target, low, stride, lane, none, step, stay, both)
            _quadruple(room, source, target, other_low, stride, lane, none, step, stay, both)


@numba.njit(nogil=True, cache=True, inline="always")
def _quadruples_backward(room, n_states, source, stride, weights, back, moved):
    """Undo `_quadruples_forward`."""
    for lane in range(4 * LANES):
        room[moved * LANES + lane] = 0.0
    for high in range(0, n_states, 4 * stride):
        for low in range(high, high + stride):
            for lane in range(LANES):
                none, step = room[weights * LANES + lane], room[(weights + 1) * LANES + lane]
                stay, both = room[(weights + 2) * LANES + lane], room[(weights + 3) * LANES + lane]
                active = room[(source + low + stride) * LANES + lane]
                next_active = room[(source + low + 3 * stride) * LANES + lane]
                any_active = active + next_active
                back_clear = room[(back + low) * LANES + lane]
                back_active = room[(back + low + stride) * LANES + lane]
                back_next = room[(back + low + 2 * stride) * LANES + lane]
                back_next_active = room[(back + low + 3 * stride) * LANES + lane]
                room[moved * LANES + lane] += active * back_clear + next_active * back_next
                room[(moved + 1) * LANES + lane] += any_active * back_next
                room[(moved + 2) * LANES + lane] += active * back_active + next_active * back_next_active
                room[(moved + 3) * LANES + lane] += any_active * back_next_active
                room[(back + low + stride) * LANES + lane] = (
                    none * back_clear + step * back_next + stay * back_active + both * back_next_active
                )
                room[(back + low + 3 * stride) * LANES + lane] = (none + step) * back_next + (
                    stay + both
                ) * back_next_active


# The phases of a word, with distances that the compiler knows. The room of K parts has these cells, for n = 2K - 1
# nodes and s = 2^n states: (n + 2) s states, 2 + 4n weights, s sums of the way back, 2 + 4n for how weights moved it.


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _forward_1(room):
    _start_forward(room, 2, 2, 6)
    _pairs_forward(room, 2, 2, 4, 8)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _pass_1(room):
    _start_forward(room, 2, 0, 6)
    _pairs_forward(room, 2, 0, 0, 8)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _backward_1(room):
    _pairs_backward(room, 2, 2, 8, 12, 16)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _forward_3(room):
    _start_forward(room, 8, 8, 40)
    _pairs_forward(room, 8, 8, 16, 50)
    _quadruples_forward(room, 8, 16, 24, 2, 46)
    _quadruples_forward(room, 8, 24, 32, 1, 42)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _pass_3(room):
    _start_forward(room, 8, 0, 40)
    _pairs_forward(room, 8, 0, 0, 50)
    _quadruples_forward(room, 8, 0, 0, 2, 46)
    _quadruples_forward(room, 8, 0, 0, 1, 42)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _backward_3(room):
    _quadruples_backward(room, 8, 24, 1, 42, 54, 64)
    _quadruples_backward(room, 8, 16, 2, 46, 54, 68)
    _pairs_backward(room, 8, 8, 50, 54, 72)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _forward_5(room):
    _start_forward(room, 32, 32, 224)
    _pairs_forward(room, 32, 32, 64, 242)
    _quadruples_forward(room, 32, 64, 96, 8, 238)
    _quadruples_forward(room, 32, 96, 128, 4, 234)
    _quadruples_forward(room, 32, 128, 160, 2, 230)
    _quadruples_forward(room, 32, 160, 192, 1, 226)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _pass_5(room):
    _start_forward(room, 32, 0, 224)
    _pairs_forward(room, 32, 0, 0, 242)
    _quadruples_forward(room, 32, 0, 0, 8, 238)
    _quadruples_forward(room, 32, 0, 0, 4, 234)
    _quadruples_forward(room, 32, 0, 0, 2, 230)
    _quadruples_forward(room, 32, 0, 0, 1, 226)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _backward_5(room):
    _quadruples_backward(room, 32, 160, 1, 226, 246, 280)
    _quadruples_backward(room, 32, 128, 2, 230, 246, 284)
    _quadruples_backward(room, 32, 96, 4, 234, 246, 288)
    _quadruples_backward(room, 32, 64, 8, 238, 246, 292)
    _pairs_backward(room, 32, 32, 242, 246, 296)


FEWEST_LANES = 5
"""With fewer sums than this, one after another is faster."""

FITTING_NODES = (1, 3, 5)
"""How many nodes a staircase may have to run in lanes: mentions of up to three parts."""


@numba.njit(nogil=True, cache=True)
def word_pass_kernel(n_nodes, room):
    """Run a whole word, in place: only the first states of ``room`` change."""
    if n_nodes == 5:
        _pass_5(room)
    elif n_nodes == 3:
        _pass_3(room)
    else:
        _pass_1(room)


@numba.njit(nogil=True, cache=True)
def word_forward_kernel(n_nodes, room):
    """Run a whole word, from the first states of ``room`` to the last."""
    if n_nodes == 5:
        _forward_5(room)
    elif n_nodes == 3:
        _forward_3(room)
    else:
        _forward_1(room)


@numba.njit(nogil=True, cache=True)
def nodes_backward_kernel(n_nodes, room):
    """Undo the nodes of a word: turn the sums of the way back, and say how each weight moved the total."""
    if n_nodes == 5:
        _backward_5(room)
    elif n_nodes == 3:
        _backward_3(room)
    else:
        _backward_1(room)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def start_backward_kernel(n_nodes, room):
    """Undo the choice of T."""
    if n_nodes == 5:
        _start_backward(room, 32, 224, 246, 278)
    elif n_nodes == 3:
        _start_backward(room, 8, 40, 54, 62)
    else:
        _start_backward(room, 2, 6, 12, 14)


@numba.njit(nogil=True, cache=True)
def copy_kernel(source, first, target, at, n_numbers):
    """Copy numbers from one place to another."""
    for place in range(n_numbers):
        target[at + place] = source[first + place]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def fill_kernel(scores, first_word, first_label, n_words, n_labels, exps):
    """Fill ``exps`` (words, labels, lanes) with scores, and behind the last word with those of one without mentions.

    Lane l has the words ``first_word[l]`` to ``first_word[l] + n_words[l]`` and the labels from ``first_label[l]`` on.
    """
    for word in range(exps.shape[0]):
        for label in range(n_labels):
            for lane in range(LANES):
                # Behind the last word the score of a word that is there is read, and not used.
                is_there = word < n_words[lane]
                score = scores[first_word[lane] + (word if is_there else 0), first_label[lane] + label]
                exps[word, label, lane] = score if is_there else (0.0 if label == 0 else -np.inf)


@numba.njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def range_kernel(exps, n_words, lowest, highest):
    """Find the lowest and the highest score of each lane's words, and of 0."""
    lowest[:] = 0.0
    highest[:] = 0.0
    for word in range(exps.shape[0]):
        for label in range(exps.shape[1]):
            for lane in range(LANES):
                score = exps[word, label, lane] if word < n_words[lane] else 0.0
                lowest[lane] = min(lowest[lane], score)
                highest[lane] = max(highest[lane], score)


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def gather_kernel(label_weight, exps, weights):
    """Fill ``weights`` (words, 2 + 4 nodes, lanes): those of T, and the four sums of each node."""
    for word in range(exps.shape[0]):
        for weight in range(weights.shape[1]):
            for lane in range(LANES):
                weights[word, weight, lane] = 0.0
        for label in range(exps.shape[1]):
            weight = label if label < 2 else 2 + label_weight[label]
            for lane in range(LANES):
                weights[word, weight, lane] += exps[word, label, lane]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def lanes_forward_kernel(n_nodes, n_words, least, room, keeps, kept, exps, weights, log_total, is_done):
    """Sum all lanes; ``kept`` takes the states before each word if it ``keeps`` them.

    A lane is given up, and ``is_done`` says so, where a sum gets as small as ``least``.
    """
    n_states, longest = 1 << n_nodes, exps.shape[0]
    n_weights = 2 + 4 * n_nodes
    size = n_states * LANES
    at_weights = (n_nodes + 2) * size
    total = np.empty(LANES)
    for lane in range(LANES):
        log_total[lane] = 0.0
        is_done[lane] = n_words[lane] > 0
    room[:size] = 0.0
    room[:LANES] = 1.0
    for word in range(longest):
        if keeps:
            copy_kernel(room, 0, kept, word * size, size)
        copy_kernel(weights[word].reshape(-1), 0, room, at_weights, n_weights * LANES)
        word_pass_kernel(n_nodes, room)
        for lane in range(LANES):
            total[lane] = 0.0
        for state in range(n_states):
            for lane in range(LANES):
                total[lane] += room[state * LANES + lane]
        for lane in range(LANES):
            if word + 1 == n_words[lane]:
                total[lane] = room[lane]
            if word < n_words[lane]:
                log_total[lane] += math.log(total[lane]) if total[lane] > 0.0 else -np.inf
                is_done[lane] = is_done[lane] and total[lane] > least[lane]
        if word + 1 < longest:
            for lane in range(LANES):
                # Behind the last word nothing changes any more, so that how many are filled up makes no difference.
                scale = total[lane] if word + 1 < n_words[lane] else 1.0
                weights[word + 1, 0, lane] /= scale
                weights[word + 1, 1, lane] /= scale
                exps[word + 1, 0, lane] /= scale
                exps[word + 1, 1, lane] /= scale


@numba.njit(nogil=True, cache=True, error_model="numpy")
def lanes_expected_kernel(n_nodes, label_weight, n_words, least, room, kept, exps, weights, log_total, is_done):
    """Sum all lanes, and turn ``exps`` into the probabilities of the edges.

    A lane is given up, and ``is_done`` says so, where a sum gets as small as ``least``, or can lead to more than its
    inverse: see `frontier`. Room for n words: ``kept`` n * n_states * LANES, ``exps`` and ``weights`` as above.
    """
    lanes_forward_kernel(n_nodes, n_words, least, room, True, kept, exps, weights, log_total, is_done)
    n_states, longest = 1 << n_nodes, exps.shape[0]
    n_weights = 2 + 4 * n_nodes
    size = n_states * LANES
    at_weights = (n_nodes + 2) * size
    at_back = at_weights + n_weights * LANES
    at_moved = at_back + size
    has_bounds = least.max() > 0.0
    room[at_back : at_back + size] = 0.0
    for lane in range(LANES):
        room[at_back + lane] = 1.0 / room[lane]
    for word in range(longest - 1, -1, -1):
        copy_kernel(kept, word * size, room, 0, size)
        copy_kernel(weights[word].reshape(-1), 0, room, at_weights, n_weights * LANES)
        word_forward_kernel(n_nodes, room)
        nodes_backward_kernel(n_nodes, room)
        if has_bounds:
            check_reach_kernel(n_nodes, room, n_words, least, exps, word, is_done)
        start_backward_kernel(n_nodes, room)
        for label in range(exps.shape[1]):
            weight = label if label < 2 else 2 + label_weight[label]
            for lane in range(LANES):
                exps[word, label, lane] *= room[at_moved + weight * LANES + lane]


@numba.njit(nogil=True, cache=True)
def spread_kernel(exps, first_word, first_label, n_words, is_done, expected):
    """Write the probabilities of the lanes that came to an end where `fill_kernel` took their scores from."""
    for word in range(exps.shape[0]):
        for lane in range(LANES):
            if is_done[lane] and word < n_words[lane]:
                row = expected[first_word[lane] + word]
                for label in range(exps.shape[1]):
                    row[first_label[lane] + label] = exps[word, label, lane]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def lanes_borders_kernel(table, lanes, exps, weights, wants_links):
    """Sum all lanes up to and from every border, and say how probable starts, and links if wanted, are at every word.

    The product of what leads to a border and what comes from there is 1. Lanes are given up as in
    `lanes_expected_kernel`.
    """
    n_nodes, longest = table.n_nodes, exps.shape[0]
    room, kept, back, n_words, least = lanes.room, lanes.kept, lanes.back, lanes.n_words, lanes.least
    lanes_forward_kernel(n_nodes, n_words, least, room, True, kept, exps, weights, lanes.log_total, lanes.is_done)
    n_weights, size = 2 + 4 * n_nodes, LANES << n_nodes
    at_weights = (n_nodes + 2) * size
    at_back = at_weights + n_weights * LANES
    at_moved = at_back + size
    copy_kernel(room, 0, kept, longest * size, size)
    has_bounds = least.max() > 0.0
    room[at_back : at_back + size] = 0.0
    for lane in range(LANES):
        room[at_back + lane] = 1.0 / room[lane]
    copy_kernel(room, at_back, back, longest * size, size)
    for word in range(longest - 1, -1, -1):
        copy_kernel(kept, word * size, room, 0, size)
        copy_kernel(weights[word].reshape(-1), 0, room, at_weights, n_weights * LANES)
        if wants_links:
            word_forward_kernel(n_nodes, room)
        nodes_backward_kernel(n_nodes, room)
        if has_bounds:
            check_reach_kernel(n_nodes, room, n_words, least, exps, word, lanes.is_done)
        start_backward_kernel(n_nodes, room)
        copy_kernel(room, at_back, back, word * size, size)
        for lane in range(LANES):
            lanes.start_prob[word, lane] = exps[word, 1, lane] * room[at_moved + LANES + lane]
        if wants_links:
            links_kernel(table, room, at_moved, exps[word], lanes.link_prob[word])


@numba.njit(nogil=True, cache=True, error_model="numpy")
def links_kernel(table, room, at_moved, exps, link_prob):
    """Sum the probabilities of the edges of a word into those of links, of shape (3 * n_nodes, LANES)."""
    link_prob[:] = 0.0
    for label in range(2, exps.shape[0]):
        weight = 2 + table.label_weight[label]
        for child in range(3):
            if table.label_children[label] >> child & 1:
                link = 3 * table.label_node[label] + child
                for lane in range(LANES):
                    link_prob[link, lane] += exps[label, lane] * room[at_moved + weight * LANES + lane]


@numba.njit(nogil=True, cache=True, error_model="numpy")
def check_reach_kernel(n_nodes, room, n_words, least, exps, word, is_done):
    """Give up lanes in which what underflowed at a word may matter: see `frontier`."""
    n_states = 1 << n_nodes
    at_back = ((n_nodes + 2) * n_states + 2 + 4 * n_nodes) * LANES
    for lane in range(LANES):
        if least[lane] > 0.0 and word < n_words[lane]:
            top = 0.0
            for state in range(n_states):
                top = max(top, room[at_back + state * LANES + lane])
            bound = 1.0 / max(exps[word, 0, lane] + exps[word, 1, lane], least[lane])
            is_done[lane] = is_done[lane] and top * least[lane] < bound


class Lanes(NamedTuple):
    """What is summed in each lane, and the room that it takes.

    Attributes
    ----------
    first, n_words, first_label : int64 arrays of shape (LANES,)
        Where the sentence begins, how many words it has (none if the lane is empty), where the block's labels begin.
    least : float64 array of shape (LANES,)
        How small a sum may get.
    log_total : float64 array of shape (LANES,)
    is_done : bool array of shape (LANES,)
        Whether the lane came to an end.
    exps : float64 array of shape (longest, n_labels, LANES)
    weights : float64 array of shape (longest, 2 + 4 * n_nodes, LANES)
    room : float64 array
        For one word.
    kept, back : float64 arrays of (longest + 1) * n_states * LANES
        The sums up to and from every border.
    start_prob : float64 array of shape (longest, LANES)
        How probable it is that T starts something at a word.
    link_prob : float64 array of shape (longest, 3 * n_nodes, LANES)
        How probable it is that a node has a child there, at ``3 * node + log2(child)``.
    """

    first: NDArray[np.int64]
    n_words: NDArray[np.int64]
    first_label: NDArray[np.int64]
    least: NDArray[np.float64]
    log_total: NDArray[np.float64]
    is_done: NDArray[np.bool_]
    exps: NDArray[np.float64]
    weights: NDArray[np.float64]
    room: NDArray[np.float64]
    kept: NDArray[np.float64]
    back: NDArray[np.float64]
    start_prob: NDArray[np.float64]
    link_prob: NDArray[np.float64]

    @classmethod
    def of(cls, table: StaircaseTable, longest: int) -> Lanes:
        """Return empty lanes for sentences of up to so many words; none if the staircase does not run in lanes."""
        n_nodes, n_labels = table.n_nodes, len(table.label_weight)
        if n_nodes not in FITTING_NODES:
            longest = -1
        n_words, n_weights, size = max(0, longest), 2 + 4 * n_nodes, LANES << n_nodes
        return cls(
            np.zeros(LANES, np.int64),
            np.zeros(LANES, np.int64),
            np.zeros(LANES, np.int64),
            np.zeros(LANES),
            np.empty(LANES),
            np.zeros(LANES, np.bool_),
            np.empty((n_words, n_labels, LANES)),
            np.empty((n_words, n_weights, LANES)),
            np.zeros((n_nodes + 3) * size + 2 * n_weights * LANES),
            np.empty((longest + 1) * size),
            np.empty((longest + 1) * size),
            np.empty((n_words, LANES)),
            np.empty((n_words, 3 * n_nodes, LANES)),
        )


@numba.njit(nogil=True, cache=True, error_model="numpy")
def prepare_lanes_kernel(table, scores, may_reach, lanes):
    """Fill the weights of all lanes, and how small a sum may get in each; return those of the words that there are.

    Beyond the bounds of `frontier` no sum may get small, unless it ``may_reach`` as far as nothing is lost.
    """
    n_words, first, first_label, least = lanes.n_words, lanes.first, lanes.first_label, lanes.least
    most_words, window = n_words.max(), table.n_nodes + 1
    exps, weights = lanes.exps[:most_words], lanes.weights[:most_words]
    lowest, highest = np.empty(LANES), np.empty(LANES)
    fill_kernel(scores, first, first_label, n_words, exps.shape[1], exps)
    range_kernel(exps, n_words, lowest, highest)
    for lane in range(LANES):
        least[lane] = 0.0
        is_narrow = ((highest[lane] - lowest[lane]) * window + table.log_growth) * window < WINDOW_BOUND
        last = first[lane] + n_words[lane]
        if not is_narrow and not is_within_bounds_kernel(table, first_label[lane], scores, first[lane], last):
            reach = reach_kernel(table, first_label[lane], scores, first[lane], last) if may_reach else 0.0
            least[lane] = 1.0 / reach if reach > 0.0 else np.inf
    exp_kernel(exps.reshape(-1))
    gather_kernel(table.label_weight, exps, weights)
    return exps, weights


@numba.njit(nogil=True, cache=True, error_model="numpy")
def lanes_blocks_kernel(
    table,
    automaton,
    first_labels,
    scores,
    first_word,
    by_length,
    wants_expected,
    lanes,
    log_partition,
    expected,
):
    """Sum blocks of the same staircase over all sentences, several at a time.

    ``by_length`` are the sentences from the longest to the shortest; ``log_partition`` of shape
    (n_blocks, n_sentences) is set, and so are the blocks' columns of ``expected`` if wanted. If not, sums that must be
    made in log space are not made: they become NaN.
    """
    n_nodes, n_labels, n_blocks = table.n_nodes, table.label_weight.shape[0], first_labels.shape[0]
    n_sums = n_blocks * by_length.shape[0]
    first, n_words, first_label, log_total, is_done = (
        lanes.first,
        lanes.n_words,
        lanes.first_label,
        lanes.log_total,
        lanes.is_done,
    )
    for at in range(0, n_sums, LANES):
        n_words[:] = 0
        for lane in range(min(LANES, n_sums - at)):
            sentence, block = by_length[(at + lane) // n_blocks], (at + lane) % n_blocks
            n_words[lane] = first_word[sentence + 1] - first_word[sentence]
            # An empty sentence at the end begins behind the last word, where there is nothing to read.
            first[lane] = first_word[sentence] if n_words[lane] > 0 else 0
            first_label[lane] = first_labels[block]
        exps, weights = prepare_lanes_kernel(table, scores, wants_expected, lanes)
        if wants_expected:
            lanes_expected_kernel(
                n_nodes,
                table.label_weight,
                n_words,
                lanes.least,
                lanes.room,
                lanes.kept,
                exps,
                weights,
                log_total,
                is_done,
            )
            spread_kernel(exps, first, first_label, n_words, is_done, expected)
        else:
            lanes_forward_kernel(
                n_nodes, n_words, lanes.least, lanes.room, False, lanes.kept, exps, weights, log_total, is_done
            )
        for lane in range(min(LANES, n_sums - at)):
            sentence, block = by_length[(at + lane) // n_blocks], (at + lane) % n_blocks
            if is_done[lane]:
                log_partition[block, sentence] = log_total[lane]
            elif n_words[lane] == 0:
                log_partition[block, sentence] = 0.0
            elif not wants_expected:
                log_partition[block, sentence] = np.nan
            else:
                log_partition[block, sentence] = in_logs_kernel(
                    automaton, first_label[lane], n_labels, scores, first[lane], first_word[sentence + 1], expected
                )


def sum_blocks(
    structure: Hypergraph, scores: NDArray[np.float64], first_word: NDArray[np.int64], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log partition functions over encodings, of shape (n_blocks, n_sentences), and set ``expected``.

    Parameters
    ----------
    structure : Hypergraph
    scores, expected : float64 arrays of shape (n_words, n_labels)
    first_word : int64 array of shape (n_sentences + 1,)
    """
    n_sentences = len(first_word) - 1
    log_partition = np.empty((len(structure.blocks), n_sentences))
    for staircase, numbers in _blocks_by_staircase(structure).items():
        table, automaton = staircase_table(staircase), staircase_automaton(staircase)
        first_labels = np.array([structure.blocks[number].first_label for number in numbers])
        if staircase.n_nodes in FITTING_NODES and n_sentences * len(numbers) >= FEWEST_LANES:
            log_partition[numbers] = _sum_in_lanes(staircase, first_labels, scores, first_word, expected)
            continue
        for number, first_label in zip(numbers, first_labels, strict=True):
            frontier_block_kernel(
                table, automaton, first_label, scores, first_word, 0, n_sentences, True, log_partition[number], expected
            )
    return log_partition


def chance_of_mentions(
    structure: Hypergraph, scores: NDArray[np.float64], first_word: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how probable it is that there is any mention of each block, of shape (n_blocks, n_sentences), or 1.

    No mention is more probable than that, so a search for probable ones can pass over most types of most sentences.
    Where the numbers are too wide apart for that, or it would take as long as the search, it is 1.
    """
    n_sentences = len(first_word) - 1
    chance = np.ones((len(structure.blocks), n_sentences))
    has_words = np.diff(first_word) > 0
    for staircase, numbers in _blocks_by_staircase(structure).items():
        if staircase.n_nodes not in FITTING_NODES or has_words.sum() * len(numbers) < FEWEST_LANES:
            continue
        first_labels = np.array([structure.blocks[number].first_label for number in numbers])
        log_partition = _sum_in_lanes(staircase, first_labels, scores, first_word, None)
        with np.errstate(all="ignore"):  # where a sum must be made in log space it is not a number
            nothing = np.zeros((len(numbers), n_sentences))
            nothing[:, has_words] = np.add.reduceat(scores[:, first_labels].T, first_word[:-1][has_words], axis=1)
            found = -np.expm1(np.minimum(0.0, nothing - log_partition))
        chance[numbers] = np.where(np.isnan(found), 1.0, found)
    return chance


def _sum_in_lanes(
    staircase: Staircase,
    first_labels: NDArray[np.int64],
    scores: NDArray[np.float64],
    first_word: NDArray[np.int64],
    expected: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the log partition functions of blocks of the same staircase, and set ``expected`` if there is any."""
    table, automaton = staircase_table(staircase), staircase_automaton(staircase)
    lengths = np.diff(first_word)
    log_partition = np.empty((len(first_labels), len(lengths)))
    with np.errstate(all="ignore"):  # for runs without the compiler: a lane that is given up may hold anything
        lanes_blocks_kernel(
            table,
            automaton,
            first_labels,
            scores,
            first_word,
            np.argsort(-lengths, kind="stable"),
            expected is not None,
            Lanes.of(table, int(lengths.max(initial=0))),
            log_partition,
            scores[:0] if expected is None else expected,
        )
    return log_partition


@lru_cache(maxsize=64)
def _blocks_by_staircase(structure: Hypergraph) -> dict[Staircase, list[int]]:
    numbers: dict[Staircase, list[int]] = {}
    for number, block in enumerate(structure.blocks):
        numbers.setdefault(block.staircase, []).append(number)
    return numbers
