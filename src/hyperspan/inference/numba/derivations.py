"""The compiled inside recursion over derivations, for ``mention-sets`` and ``derivations``.

Branches are independent, so everything is a product along paths; but totals grow like exp(n^(2K)), so everything is in
log space. `hyperspan.inference.reference.derivations` does the same in plain Python.
"""

from __future__ import annotations

import math

import numpy as np

from hyperspan.compiled.kernel import kernel
from hyperspan.structures.staircase import STAY, STEP

_STAY, _STEP = STAY, STEP


@kernel
def edge_value(table, label, score, below):
    """Return the log score of an edge together with everything below it."""
    node, children = table.label_node[label], table.label_children[label]
    value = score
    if children & _STAY:
        value += below[node]
    if children & _STEP:
        value += below[node + 1]
    return value


@kernel
def inside_kernel(table, first_label, scores, begin, end, inside):
    """Fill ``inside`` of shape (n_words + 1, n_nodes + 1), whose last column is T, and return the log total.

    ``inside[w, v]`` is the log sum over all continuations from node v at word w; -inf if there are none.
    """
    n_words, n_nodes, label_node = end - begin, table.n_nodes, table.label_node
    inside[n_words, :] = -np.inf
    log_total = 0.0
    for word in range(n_words - 1, -1, -1):
        row = scores[begin + word]
        here, below = inside[word], inside[word + 1]
        label = 2
        for node in range(n_nodes):
            first, top = label, -np.inf
            while label < label_node.shape[0] and label_node[label] == node:
                value = edge_value(table, label, row[first_label + label], below)
                top = max(top, value)
                label += 1
            here[node] = top
            if top > -np.inf:
                total = 0.0
                for edge in range(first, label):
                    value = edge_value(table, edge, row[first_label + edge], below)
                    total += math.exp(value - top)
                here[node] = top + math.log(total)
        no_start, start = row[first_label], row[first_label + 1] + here[0]
        low, high = min(no_start, start), max(no_start, start)
        if low == -np.inf:
            here[n_nodes] = high
        else:
            here[n_nodes] = high + math.log1p(math.exp(low - high))
        log_total += here[n_nodes]
    return log_total


@kernel
def outside_kernel(table, first_label, scores, begin, end, inside, uses, marginals):
    """Set the sentence's rows of ``marginals`` to the expected count of each edge.

    ``uses`` of shape (2, n_nodes + 1) is scratch space. Some outcome must be possible. Counts can be astronomical: a
    node is used once for every branch.
    """
    n_nodes, label_node, label_children = table.n_nodes, table.label_node, table.label_children
    uses[0, :] = 0.0
    for word in range(end - begin):
        row, counts = scores[begin + word], marginals[begin + word]
        here, below = uses[word % 2], uses[(word + 1) % 2]
        below[:] = 0.0
        total = inside[word, n_nodes]
        starts = math.exp(row[first_label + 1] + inside[word, 0] - total)
        counts[first_label] = math.exp(row[first_label] - total)
        counts[first_label + 1] = starts
        here[0] += starts
        for label in range(2, label_node.shape[0]):
            node, children = label_node[label], label_children[label]
            counts[first_label + label] = 0.0
            if here[node] == 0.0 or inside[word, node] == -np.inf:
                continue
            value = edge_value(table, label, row[first_label + label], inside[word + 1])
            if value == -np.inf:
                continue
            count = here[node] * math.exp(value - inside[word, node])
            counts[first_label + label] = count
            if children & _STAY:
                below[node] += count
            if children & _STEP:
                below[node + 1] += count


@kernel
def derivations_block_kernel(table, first_label, scores, first_word, log_partition, marginals):
    """Fill the log totals of one block of all sentences, and its columns of ``marginals`` unless that is empty."""
    longest, wants_marginals = 0, marginals.shape[0] > 0
    for sentence in range(log_partition.shape[0]):
        longest = max(longest, first_word[sentence + 1] - first_word[sentence])
    inside = np.empty((longest + 1, table.n_nodes + 1))
    uses = np.empty((2, table.n_nodes + 1))
    for sentence in range(log_partition.shape[0]):
        first, last = first_word[sentence], first_word[sentence + 1]
        log_partition[sentence] = inside_kernel(table, first_label, scores, first, last, inside)
        if wants_marginals and log_partition[sentence] > -np.inf:
            outside_kernel(table, first_label, scores, first, last, inside, uses, marginals)
