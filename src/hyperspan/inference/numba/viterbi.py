"""Compiled Viterbi: the best outcome over the frontier states of a staircase, and along a chain of tags.

The same pass as in `frontier`, with maxima instead of sums. Each phase stores a back-pointer for each state in one
byte; following them back from the end gives the labels. In a tie, the lower previous state wins, then the lower label,
as in `log_space.k_best_kernel` with k = 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.inference.numba.frontier import StaircaseTable
from hyperspan.structures.staircase import END, NO_START, START, STAY, STEP

_END, _STAY, _STEP, _NO_START, _START = END, STAY, STEP, NO_START, START

_PASSED = 0
"""The back-pointer of a node that is not active. Others are 1 + 2 * move, plus 1 if the next node was active before."""


def best_of_block(
    table: StaircaseTable, scores: NDArray[np.float64], first_word: NDArray[np.int64], first_label: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the score and the labels of the best encoding of every sentence, in the block that begins at a label.

    Returns
    -------
    best_score : float64 array of shape (n_sentences,)
        -inf if every encoding is forbidden; the labels are then meaningless.
    labels : int8 array of shape (n_words, n_nodes + 1)
        T's label, then that of each node, relative to the block's first label; -1 for a node that is not active.
    """
    best_score = np.empty(len(first_word) - 1)
    labels = np.empty((len(scores), table.n_nodes + 1), dtype=np.int8)
    best_block_kernel(table, first_label, scores, first_word, best_score, labels)
    return best_score, labels


def best_tags_of(
    scores: NDArray[np.float64], transitions: NDArray[np.float64], first_word: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the score of the best tag sequence of every sentence, -inf if all are forbidden, and its tags."""
    best_score, tags = np.empty(len(first_word) - 1), np.zeros(len(scores), dtype=np.int64)
    best_tags_kernel(scores, transitions, first_word, best_score, tags)
    return best_score, tags


@kernel
def best_moves_kernel(table, first_label, scores, word, best, chosen):
    """Fill ``best`` and ``chosen`` (4 * n_nodes,) with the best score and label of each node's moves at a word."""
    label_potential = table.label_potential
    for move in range(best.shape[0]):
        best[move], chosen[move] = -np.inf, -1
    for label in range(2, label_potential.shape[0]):
        score = scores[word, first_label + label]
        if score > best[label_potential[label] - 2]:
            best[label_potential[label] - 2], chosen[label_potential[label] - 2] = score, label


@kernel
def best_start_kernel(n_states, values, before, after, pointers, time, no_start, start):
    """Let T choose: the states at ``before`` in ``values`` become those at ``after``.

    Back-pointers of states with bit 0: 0 started and came from the state without it, 1 not started, 2 started and came
    from the state with it.
    """
    for state in range(0, n_states, 2):
        clear, active = values[before + state], values[before + state + 1]
        values[after + state] = clear + no_start
        top, pointer = clear + start, 0
        if active + no_start > top:
            top, pointer = active + no_start, 1
        if active + start > top:
            top, pointer = active + start, 2
        values[after + state + 1], pointers[time, state + 1] = top, pointer


@kernel
def best_node_kernel(n_states, node, values, before, after, pointers, time, best):
    """Let a node choose among edges that neither step nor stay, step, stay or do both, given the best of each."""
    stride, move = 1 << node, 4 * node
    none, step, stay, both = best[move], best[move + 1], best[move + 2], best[move + 3]
    if 2 * stride == n_states:
        for low in range(stride):
            active = values[before + low + stride]
            top, pointer = values[before + low], 0
            if active + none > top:
                top, pointer = active + none, 1
            values[after + low], pointers[time, low] = top, pointer
            values[after + low + stride], pointers[time, low + stride] = active + stay, 5
        return
    for high in range(0, n_states, 4 * stride):
        for low in range(high, high + stride):
            clear, active = values[before + low], values[before + low + stride]
            next_clear, next_active = values[before + low + 2 * stride], values[before + low + 3 * stride]
            top, pointer = clear, 0
            if active + none > top:
                top, pointer = active + none, 1
            values[after + low], pointers[time, low] = top, pointer
            values[after + low + stride], pointers[time, low + stride] = active + stay, 5
            top, pointer = active + step, 3
            if next_clear > top:
                top, pointer = next_clear, 0
            if next_active + none > top:
                top, pointer = next_active + none, 2
            if next_active + step > top:
                top, pointer = next_active + step, 4
            values[after + low + 2 * stride], pointers[time, low + 2 * stride] = top, pointer
            top, pointer = active + both, 7
            if next_active + stay > top:
                top, pointer = next_active + stay, 6
            if next_active + both > top:
                top, pointer = next_active + both, 8
            values[after + low + 3 * stride], pointers[time, low + 3 * stride] = top, pointer


@kernel
def best_block_kernel(table, first_label, scores, first_word, best_score, labels):
    """Fill ``best_score`` and ``labels`` as `best_of_block` returns them."""
    n_nodes, n_states, n_phases = table.n_nodes, 1 << table.n_nodes, table.n_nodes + 1
    longest = 0
    for sentence in range(best_score.shape[0]):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    pointers = np.zeros((longest * n_phases, n_states), dtype=np.int8)
    chosen = np.empty((longest, 4 * n_nodes), dtype=np.int8)
    best = np.empty(4 * n_nodes)
    values = np.empty(2 * n_states)
    for sentence in range(best_score.shape[0]):
        first, last = first_word[sentence], first_word[sentence + 1]
        here, there = 0, n_states
        values[:n_states] = -np.inf
        values[0] = 0.0
        for word in range(first, last):
            time = (word - first) * n_phases
            best_moves_kernel(table, first_label, scores, word, best, chosen[word - first])
            no_start, start = scores[word, first_label], scores[word, first_label + 1]
            best_start_kernel(n_states, values, here, there, pointers, time, no_start, start)
            here, there = there, here
            for node in range(n_nodes - 1, -1, -1):
                best_node_kernel(n_states, node, values, here, there, pointers, time + n_nodes - node, best)
                here, there = there, here
        best_score[sentence] = values[here]
        if values[here] > -np.inf:
            backtrace_kernel(n_nodes, pointers, chosen, labels[first:last])


@kernel
def backtrace_kernel(n_nodes, pointers, chosen, labels):
    """Fill ``labels`` (n_words, n_nodes + 1) of one sentence by following the back-pointers from the empty state."""
    state = 0
    for word in range(labels.shape[0] - 1, -1, -1):
        time = word * (n_nodes + 1)
        for node in range(n_nodes):
            pointer = pointers[time + n_nodes - node, state]
            if pointer == _PASSED:
                labels[word, node + 1] = -1
                continue
            labels[word, node + 1] = chosen[word, 4 * node + (pointer - 1) // 2]
            bit = 1 << node
            state = state & ~(3 * bit) | bit
            if (pointer - 1) % 2:
                state |= 2 * bit
        pointer = pointers[time, state] if state & 1 else 1
        labels[word, 0] = 0 if pointer == 1 else 1
        if pointer == 0:
            state -= 1


@kernel
def take_plain_kernel(table, labels, first_word, rows):
    """Remove the paths that neither meet others nor branch from ``labels``: each is a mention under any reading.

    Writes the sentence and the parts of each to ``rows``; returns how many there are.
    """
    children, parts, n_found = table.label_children, rows.parts, 0
    for sentence in range(first_word.shape[0] - 1):
        first, last = first_word[sentence], first_word[sentence + 1]
        for start in range(first, last):
            if labels[start, 0] != _START:
                continue
            word, node, child, is_plain = start, 0, 0, True
            parts[n_found, 0, 0] = start - first
            while is_plain and child != _END:
                child = children[labels[word, node + 1]]
                is_plain = child & (child - 1) == 0 and n_before_kernel(children, labels, first, word, node) == 1
                word += 1
                if node % 2 == 0:
                    parts[n_found, node // 2, 1] = word - first
                if child == _STEP:
                    node += 1
                    if node % 2 == 0:
                        parts[n_found, node // 2, 0] = word - first
            if not is_plain:
                continue
            rows.sentence[n_found], rows.n_parts[n_found] = sentence, node // 2 + 1
            n_found += 1
            labels[start, 0] = _NO_START
            word, node, child = start, 0, 0
            while child != _END:
                child = children[labels[word, node + 1]]
                labels[word, node + 1] = -1
                word += 1
                node += child == _STEP
    return n_found


@kernel
def n_before_kernel(children, labels, first, word, node):
    """Return how many links lead to a node at a word."""
    n_before = 1 if node == 0 and labels[word, 0] == _START else 0
    if word > first and labels[word - 1, node + 1] >= 0:
        n_before += children[labels[word - 1, node + 1]] & _STAY > 0
    if word > first and node > 0 and labels[word - 1, node] >= 0:
        n_before += children[labels[word - 1, node]] & _STEP > 0
    return n_before


@kernel
def best_tags_kernel(scores, transitions, first_word, best_score, tags):
    """Fill ``best_score`` and ``tags`` as `best_tags_of` returns them."""
    n_tags, longest = scores.shape[1], 0
    for sentence in range(best_score.shape[0]):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    values = np.empty((2, n_tags))
    came_from = np.empty((longest, n_tags), dtype=np.int32)
    for sentence in range(best_score.shape[0]):
        first, last = first_word[sentence], first_word[sentence + 1]
        if first == last:
            best_score[sentence] = 0.0
            continue
        values[first % 2] = scores[first]
        for word in range(first + 1, last):
            before, after, came = values[(word - 1) % 2], values[word % 2], came_from[word - first]
            after[:] = -np.inf
            came[:] = 0
            for source in range(n_tags):
                so_far = before[source]
                for tag in range(n_tags):
                    value = so_far + (transitions[source, tag] + scores[word, tag])
                    if value > after[tag]:
                        after[tag], came[tag] = value, source
        end = values[(last - 1) % 2]
        tag = 0
        for other in range(1, n_tags):
            if end[other] > end[tag]:
                tag = other
        best_score[sentence] = end[tag]
        for word in range(last - 1, first - 1, -1):
            tags[word] = tag
            if word > first:
                tag = came_from[word - first, tag]
