"""Mention marginals over encodings: how probable a mention is, and the search for all that are probable enough.

The probability of a mention is the share of the total that is left when the partition function is *clamped*: T starts
something at the mention's first word, and every node on its path has the link that the path needs. Outside the
mention's words nothing is clamped, so the messages before and after are those of `frontier`, and a mention costs only
its own words. Each further link can only lower the probability, so a depth-first search that gives up below a threshold
finds *every* mention at least that probable. Nor is a mention more probable than any of its links by itself, so most
links need not be tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.simd import get
from hyperspan.inference.numba.frontier import StaircaseTable, forward_backward_kernel, word_forward_kernel
from hyperspan.inference.outcomes import by_number_of_parts
from hyperspan.structures.staircase import END, STAY, STEP, Staircase

_END, _STAY, _STEP = END, STAY, STEP

SLACK = 1e-6
"""What rounding may take off a probability, relatively: more than it ever does."""


_inlined = numba.njit(nogil=True, cache=True, error_model="numpy", inline="always")
"""For kernels that are called in one place: compiled there, they are not gone through once more."""


@_inlined
def link_prob_kernel(table, marginals, word, first_label, node, child):
    """Return how probable it is that a node has a child at a word."""
    prob = 0.0
    for label in range(2, table.label_node.shape[0]):
        if table.label_node[label] == node and table.label_children[label] & child:
            prob += marginals[word, first_label + label]
    return prob


@_inlined
def clamped_word_kernel(table, work, word, lane, node, child, is_first, vectors, source, clamped):
    """Take the message at ``vectors[source]`` across a word at which a node has a child; the new one follows it.

    At the first word of a mention T starts something. ``clamped`` is room for the potentials of a word.
    """
    n_labels, n_potentials, n_states = table.label_node.shape[0], clamped.shape[0], 1 << table.n_nodes
    begin = in_place = 0 * n_states  # not just 0: a literal has its kernel compiled once more
    for potential in range(n_potentials):
        clamped[potential] = get(work.potentials, word * n_potentials + potential, lane)
    if is_first:
        clamped[0] = 0.0
    for potential in range(2 + 4 * node, 6 + 4 * node):
        clamped[potential] = 0.0
    for label in range(2, n_labels):
        if table.label_node[label] == node and table.label_children[label] & child:
            clamped[table.label_potential[label]] += get(work.exps, word * n_labels + label, lane)
    word_forward_kernel(table.n_nodes, clamped, begin, vectors, source, vectors, source + n_states, in_place)


@_inlined
def total_kernel(vectors, source, n_states, beta, border, lane):
    """Return the product of a forward message and the backward message at a word border."""
    total = 0.0
    for state in range(n_states):
        total += vectors[source + state] * get(beta, border * n_states + state, lane)
    return total


@_inlined
def write_parts_kernel(start, nodes, length, parts, row):
    """Write the parts of the mention whose path from word start on has these nodes; returns how many parts."""
    for step in range(length):
        if nodes[step] % 2 == 0:
            part = nodes[step] // 2
            if step == 0 or nodes[step - 1] != nodes[step]:
                parts[row, part, 0] = start + step
            parts[row, part, 1] = start + step + 1
    return nodes[length - 1] // 2 + 1


@_inlined
def search_kernel(table, work, lane, sums, number, marginals, bounds, paths, found, n_found):
    """Find every mention of one sum whose probability is at least its threshold, and append it to ``found``.

    Returns how many mentions there are now, and whether the search was cut short.
    """
    first, n_words, first_label = sums.first[number], sums.n_words[number], sums.first_label[number]
    threshold, end_threshold, most_steps, limit = bounds
    vectors, nodes, next_child, clamped = paths
    n_states, n_steps = 1 << table.n_nodes, 0
    room, was_cut = n_found + limit, False
    for start in range(n_words):
        if was_cut or marginals[first + start, first_label + 1] < threshold[0]:
            continue
        for state in range(n_states):
            vectors[state] = get(work.alpha, start * n_states + state, lane)
        depth, nodes[0], next_child[0] = 0, 0, 0
        while depth >= 0 and not was_cut:
            child, node, word = 1 << next_child[depth], nodes[depth], start + depth
            next_child[depth] += 1
            prob, source, after = 0.0, depth * n_states, node + (1 if child == _STEP else 0)
            least = end_threshold[node] if child == _END else threshold[min(after, table.n_nodes - 1)]
            if (child == _END or word + 1 < n_words) and (
                link_prob_kernel(table, marginals, first + word, first_label, node, child) >= least * (1.0 - SLACK)
            ):
                if n_steps >= most_steps:
                    was_cut = True
                else:
                    n_steps += 1
                    clamped_word_kernel(table, work, word, lane, node, child, depth == 0, vectors, source, clamped)
                    prob = min(1.0, total_kernel(vectors, source + n_states, n_states, work.beta, word + 1, lane))
            goes_on = prob >= least and prob > 0.0
            if goes_on and child == _END:
                if n_found == room:
                    was_cut = True
                else:
                    found.prob[n_found], found.sentence[n_found] = prob, number
                    found.n_parts[n_found] = write_parts_kernel(start, nodes, depth + 1, found.parts, n_found)
                    n_found += 1
            elif goes_on:
                depth += 1
                nodes[depth] = after
                next_child[depth] = 0
            while depth >= 0 and next_child[depth] == 3:
                depth -= 1
    return n_found, was_cut


@_inlined
def mention_log_prob_kernel(table, work, lane, n_parts, parts, row, vectors, clamped):
    """Return the log probability of one mention; ``vectors`` is room for two messages."""
    n_states, part, last, log_prob = 1 << table.n_nodes, 0, parts[row, n_parts - 1, 1], 0.0
    for state in range(n_states):
        vectors[state] = get(work.alpha, parts[row, 0, 0] * n_states + state, lane)
    begin = 0 * n_states
    for word in range(parts[row, 0, 0], last):
        in_part = word < parts[row, part, 1]
        node = 2 * part if in_part else 2 * part + 1
        ends_here = word + 1 == (parts[row, part, 1] if in_part else parts[row, part + 1, 0])
        child = _STEP if ends_here else _STAY
        if word + 1 == last:
            child = _END
        clamped_word_kernel(table, work, word, lane, node, child, word == parts[row, 0, 0], vectors, begin, clamped)
        scale = 0.0  # scaled by itself, since what is left may be improbable beyond any double
        for state in range(n_states, 2 * n_states):
            scale += vectors[state]
        log_prob += math.log(scale) if scale > 0.0 else -np.inf
        for state in range(n_states):
            vectors[state] = vectors[n_states + state] / scale if scale > 0.0 else 0.0
        if not in_part and child == _STEP:
            part += 1
    left = total_kernel(vectors, begin, n_states, work.beta, last, lane)
    return log_prob + math.log(left) if left > 0.0 else -np.inf


class Paths(NamedTuple):
    """Room for the path that a search follows: its messages, nodes and next children, and a word's potentials."""

    vectors: NDArray[np.float64]
    nodes: NDArray[np.int64]
    next_child: NDArray[np.int64]
    clamped: NDArray[np.float64]

    @classmethod
    def of(cls, table: StaircaseTable, longest: int) -> Paths:
        """Return room for sentences of up to so many words."""
        nodes, next_child = np.zeros((2, longest + 1), dtype=np.int64)
        return cls(np.empty((longest + 2) << table.n_nodes), nodes, next_child, np.empty(table.n_potentials))


class Bounds(NamedTuple):
    """Of a search: how probable mentions must be, how many words it may advance over, how many mentions it may find.

    A path that reaches node v must have at least the probability ``threshold[v]``, and a mention that ends there at
    least ``end_threshold[v]``.
    """

    threshold: NDArray[np.float64]
    end_threshold: NDArray[np.float64]
    most_steps: int
    limit: int

    @classmethod
    def of(cls, staircase: Staircase, threshold: float | Sequence[float], most_steps: int, limit: int) -> Bounds:
        """Return the bounds for one threshold, or for one by number of parts, of which the last holds for more.

        Examples
        --------
        >>> Bounds.of(Staircase(2), (0.1, 0.01), most_steps=1_000, limit=10)[:2]
        (array([0.01, 0.01, 0.01]), array([0.1 ,  inf, 0.01]))
        """
        by_parts = by_number_of_parts(threshold, (staircase.n_nodes + 1) // 2)
        nodes = range(staircase.n_nodes)
        end = [by_parts[node // 2] if staircase.children(node) & END else np.inf for node in nodes]
        return cls(np.minimum.accumulate(end[::-1])[::-1].copy(), np.array(end), most_steps, limit)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def probable_kernel(table, scores, sums, begin, bounds, work, paths, marginals, was_cut, found):
    """Find the probable mentions of many sums, from group ``begin`` on, until ``found`` may get too full.

    ``found`` are `MentionRows` that get, instead of a sentence, the number of the sum; ``was_cut`` (n_sums,) gets whose
    search was cut short. Returns where to go on, and how many mentions were found.
    """
    n_found, width, at = 0, work.least.shape[0], begin
    while at < sums.n_words.shape[0] and n_found + width * bounds.limit <= found.prob.shape[0]:
        forward_backward_kernel(table, scores, sums, at, at + width, work, marginals)
        for number in range(at, at + width):
            if sums.is_done[number]:
                n_found, was_cut[number] = search_kernel(
                    table, work, number - at, sums, number, marginals, bounds, paths, found, n_found
                )
        at += width
    return at, n_found


@numba.njit(nogil=True, cache=True, error_model="numpy")
def mention_log_probs_kernel(table, scores, sums, work, paths, marginals, first_mention, rows, log_probs):
    """Fill ``log_probs`` with the log probability of each of many mentions, where the sums are done.

    Those of a sum are ``first_mention[sum] : first_mention[sum + 1]`` in ``rows``.
    """
    width = work.least.shape[0]
    for at in range(0, sums.n_words.shape[0], width):
        forward_backward_kernel(table, scores, sums, at, at + width, work, marginals)
        for number in range(at, at + width):
            if sums.is_done[number]:
                for row in range(first_mention[number], first_mention[number + 1]):
                    log_probs[row] = mention_log_prob_kernel(
                        table, work, number - at, rows.n_parts[row], rows.parts, row, paths.vectors, paths.clamped
                    )
