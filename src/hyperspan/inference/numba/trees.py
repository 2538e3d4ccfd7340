"""Best, k best and sampled derivations: prefix trees of sets of mentions.

A derivation is written as its tree nodes in flat arrays (word, node, label, parent's place; -1 for a root): the form in
which kernels can grow it within bounds.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from hyperspan.inference.numba.derivations import edge_value
from hyperspan.structures.staircase import STAY, STEP

_STAY, _STEP = STAY, STEP


@numba.njit(nogil=True, cache=True)
def insert_kernel(values, first, second, third, value, one, two, three):
    """Put a value into its place in a row of values in falling order, with three numbers beside it."""
    k = values.shape[0]
    if not value > values[k - 1]:
        return
    place = k - 1
    while place > 0 and value > values[place - 1]:
        values[place], first[place] = values[place - 1], first[place - 1]
        second[place], third[place] = second[place - 1], third[place - 1]
        place -= 1
    values[place], first[place], second[place], third[place] = value, one, two, three


@numba.njit(nogil=True, cache=True)
def k_best_trees_kernel(
    table,
    scores,
    values,
    labels,
    stay_rank,
    step_rank,
    start_value,
    start_rank,
    total_value,
    total_rank,
):
    """Find the k best derivations of one block.

    ``values``, ``labels``, ``stay_rank``, ``step_rank`` of shape (n_words + 1, n_nodes + 1, k): the k best ways to go
    on from a node, each with its edge and the ranks of its children's ways. ``start_value`` and ``start_rank`` of shape
    (n_words, k): the best choices of T, rank -1 for no start. ``total_value`` (n_words + 1, k) and ``total_rank``
    (n_words + 1, k, 2): the best of all words from there on, as ranks of T and of what follows.
    """
    n_words, k = scores.shape[0], values.shape[2]
    label_node, label_children, n_labels = table.label_node, table.label_children, table.label_node.shape[0]
    spare = np.zeros(k, dtype=np.int64)
    more = np.zeros(k, dtype=np.int64)
    values[:, :, :] = -np.inf
    start_value[:, :] = -np.inf
    total_value[:, :] = -np.inf
    total_value[n_words, 0] = 0.0
    for word in range(n_words - 1, -1, -1):
        for label in range(2, n_labels):
            node, children = label_node[label], label_children[label]
            stays, steps = children & _STAY != 0, children & _STEP != 0
            for one in range(k if stays else 1):
                for two in range(k if steps else 1):
                    if (one + 1) * (two + 1) > k:
                        break
                    value = scores[word, label]
                    if stays:
                        value += values[word + 1, node, one]
                    if steps:
                        value += values[word + 1, node + 1, two]
                    insert_kernel(
                        values[word, node],
                        labels[word, node],
                        stay_rank[word, node],
                        step_rank[word, node],
                        value,
                        label,
                        one,
                        two,
                    )
        insert_kernel(start_value[word], start_rank[word], spare, more, scores[word, 0], -1, 0, 0)
        for rank in range(k):
            value = scores[word, 1] + values[word, 0, rank]
            insert_kernel(start_value[word], start_rank[word], spare, more, value, rank, 0, 0)
        for one in range(k):
            for two in range(k):
                if (one + 1) * (two + 1) > k:
                    break
                value = start_value[word, one] + total_value[word + 1, two]
                insert_kernel(
                    total_value[word], total_rank[word, :, 0], total_rank[word, :, 1], spare, value, one, two, 0
                )


@numba.njit(nogil=True, cache=True)
def grow_kernel(
    table, labels, stay_rank, step_rank, start_rank, total_rank, rank, tree_word, tree_node, tree_label, tree_up
):
    """Write one of the k best derivations as a tree; returns its size, and whether it was cut at the room there is."""
    room, n_words, label_children = tree_word.shape[0], start_rank.shape[0], table.label_children
    ranks = np.empty(room, dtype=np.int64)
    size = 0
    for word in range(n_words):
        start, rank = total_rank[word, rank, 0], total_rank[word, rank, 1]
        if start_rank[word, start] < 0:
            continue
        if size == room:
            return size, True
        tree_word[size], tree_node[size], tree_up[size], ranks[size] = word, 0, -1, start_rank[word, start]
        at = size
        size += 1
        while at < size:
            here, node = tree_word[at], tree_node[at]
            label = labels[here, node, ranks[at]]
            tree_label[at] = label
            for child in (_STAY, _STEP):
                if label_children[label] & child:
                    if size == room:
                        return size, True
                    tree_word[size], tree_up[size] = here + 1, at
                    tree_node[size] = node + (1 if child == _STEP else 0)
                    by_rank = step_rank if child == _STEP else stay_rank
                    ranks[size] = by_rank[here, node, ranks[at]]
                    size += 1
            at += 1
    return size, False


@numba.njit(nogil=True, cache=True)
def sample_tree_kernel(table, scores, inside, uniform, tree_word, tree_node, tree_label, tree_up):
    """Draw a derivation; returns the tree's size and whether it was cut at the room there is.

    ``inside`` as `derivations.inside_kernel` fills it; ``uniform`` holds a random number for every word and then for
    every tree node.
    """
    room, n_words = tree_word.shape[0], scores.shape[0]
    n_nodes, label_node, label_children = table.n_nodes, table.label_node, table.label_children
    size = 0
    for word in range(n_words):
        if not uniform[word] < math.exp(scores[word, 1] + inside[word, 0] - inside[word, n_nodes]):
            continue
        if size == room:
            return size, True
        tree_word[size], tree_node[size], tree_up[size] = word, 0, -1
        at = size
        size += 1
        while at < size:
            here, node, draw = tree_word[at], tree_node[at], uniform[n_words + at]
            chosen = -1
            for label in range(2, label_node.shape[0]):
                if label_node[label] == node:
                    value = edge_value(table, label, scores[here, label], inside[here + 1])
                    if value > -np.inf:
                        chosen = label
                        draw -= math.exp(value - inside[here, node])
                        if draw < 0.0:
                            break
            tree_label[at] = chosen
            for child in (_STAY, _STEP):
                if label_children[chosen] & child:
                    if size == room:
                        return size, True
                    tree_word[size], tree_up[size] = here + 1, at
                    tree_node[size] = node + (1 if child == _STEP else 0)
                    size += 1
            at += 1
    return size, False


@numba.njit(nogil=True, cache=True)
def link_probs_kernel(table, scores, inside, superset):
    """Fill ``superset`` of shape (n_words, n_nodes, 8): how probable it is that an edge has at least these children.

    Index 0 is certainty; under ``mention-sets`` the probability of a path is the product along it.
    """
    label_node, label_children = table.label_node, table.label_children
    superset[:, :, :] = 0.0
    for word in range(scores.shape[0]):
        for label in range(2, label_node.shape[0]):
            node = label_node[label]
            if inside[word, node] == -np.inf:
                continue
            value = edge_value(table, label, scores[word, label], inside[word + 1])
            prob = math.exp(value - inside[word, node]) if value > -np.inf else 0.0
            for children in range(8):
                if label_children[label] & children == children:
                    superset[word, node, children] += prob


@numba.njit(nogil=True, cache=True)
def probable_paths_kernel(
    start_prob, superset, threshold, most_steps, found_start, found_prob, found_nodes, found_length
):
    """Find every mention at least as probable as the threshold; the rest as in `mention_marginals.search_kernel`."""
    n_words, n_nodes = superset.shape[0], superset.shape[1]
    probs = np.empty(n_words + 1)
    nodes, next_child = np.zeros(n_words + 1, dtype=np.int64), np.zeros(n_words + 1, dtype=np.int64)
    n_found, n_steps = 0, 0
    for start in range(n_words):
        if start_prob[start] < threshold:
            continue
        depth, probs[0], nodes[0], next_child[0] = 0, start_prob[start], 0, 0
        while depth >= 0:
            child = 1 << next_child[depth]
            next_child[depth] += 1
            if n_steps >= most_steps:
                return n_found, True
            n_steps += 1
            node, word = nodes[depth], start + depth
            prob = min(1.0, probs[depth] * superset[word, node, child])
            if prob >= threshold and prob > 0.0:
                if child == 1:
                    if n_found == found_start.shape[0]:
                        return n_found, True
                    found_start[n_found], found_prob[n_found], found_length[n_found] = start, prob, depth + 1
                    for step in range(depth + 1):
                        found_nodes[n_found, step] = nodes[step]
                    n_found += 1
                elif word + 1 < n_words and node + (1 if child == _STEP else 0) < n_nodes:
                    depth += 1
                    nodes[depth] = node + (1 if child == _STEP else 0)
                    probs[depth], next_child[depth] = prob, 0
                    continue
            while depth >= 0 and next_child[depth] == 3:
                depth -= 1
    return n_found, False
