"""Mention marginals over encodings: the probability of a mention, and the search for all probable mentions.

The probability of a mention is the *clamped* partition function divided by the whole one: T starts a mention at the
mention's first word, and every node on its path has the link that the path needs. Outside the mention's words nothing
is clamped, so the messages before and after are those of `frontier`, and the cost depends only on the mention's own
words. Each further link can only lower the probability, so a depth-first search that stops below a threshold finds
*every* mention at least that probable. A mention is never more probable than any single link of it, so most links need
not be tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import inlined, kernel
from hyperspan.compiled.simd import get, load, put, store, zero
from hyperspan.inference.numba.frontier import (
    StaircaseTable,
    SumArrays,
    Workspace,
    backward_kernel,
    forward_again_kernel,
    forward_backward_kernel,
    forward_kernel,
    potentials_kernel,
    prepare_kernel,
    word_forward_kernel,
)
from hyperspan.inference.outcomes import by_number_of_parts
from hyperspan.structures.staircase import END, STAY, STEP, Staircase

_END, _STAY, _STEP = END, STAY, STEP
_STEP_OF_FIRST = 2  # among the links of a word: T, then END, STEP and STAY of the first node

SLACK = 1e-6
"""An upper bound for the relative rounding error of a probability."""


@inlined
def clamped_word_kernel(table, work, word, lane, node, child, is_first, vectors, source, clamped):
    """Advance the message at ``vectors[source]`` over a word at which a node has a child; the new one follows it.

    At the first word of a mention, T starts a mention. ``clamped`` is scratch space for the potentials of a word.
    """
    n_labels, n_potentials, n_states = table.label_node.shape[0], clamped.shape[0], 1 << table.n_nodes
    begin = in_place = 0 * n_states  # not just 0: a literal argument would compile the kernel again
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


@inlined
def total_kernel(vectors, source, n_states, beta, border, lane):
    """Return the product of a forward message and the backward message at a word border."""
    total = 0.0
    for state in range(n_states):
        total += vectors[source + state] * get(beta, border * n_states + state, lane)
    return total


@inlined
def write_parts_kernel(start, nodes, length, parts, row):
    """Write the parts of the mention whose path has these nodes from word ``start`` on; return how many parts."""
    for step in range(length):
        if nodes[step] % 2 == 0:
            part = nodes[step] // 2
            if step == 0 or nodes[step - 1] != nodes[step]:
                parts[row, part, 0] = start + step
            parts[row, part, 1] = start + step + 1
    return nodes[length - 1] // 2 + 1


@inlined
def search_kernel(table, work, lane, n_words, number, may_step, bounds, paths, found, n_found):
    """Find every mention of one sum whose probability is at least its threshold, and append it to ``found``.

    ``may_step`` is whether one of several parts may be that probable. Returns how many mentions there are now, and
    whether the search was truncated.
    """
    threshold, end_threshold, most_steps, limit = bounds
    vectors, nodes, next_child, in_first, clamped = paths
    n_states, n_links, n_steps, step_prob = 1 << table.n_nodes, 1 + 3 * table.n_nodes, 0, 0.0
    for word in range(n_words - 1, -1, -1):
        in_first[word] = end_threshold[0]
        if may_step:  # where no step is probable any more, only mentions of one part are left
            step_prob = max(step_prob, get(work.links, word * n_links + _STEP_OF_FIRST, lane))
            if step_prob >= threshold[1] * (1.0 - SLACK):
                in_first[word] = threshold[0]
    room, was_cut = n_found + limit, False
    for start in range(n_words):
        if was_cut or get(work.links, start * n_links, lane) < in_first[start] * (1.0 - SLACK):
            continue
        for state in range(n_states):
            vectors[state] = get(work.alpha, start * n_states + state, lane)
        depth, nodes[0], next_child[0] = 0, 0, 0
        while depth >= 0 and not was_cut:
            child, node, word = 1 << next_child[depth], nodes[depth], start + depth
            link = word * n_links + 1 + 3 * node + next_child[depth]
            next_child[depth] += 1
            prob, source, after = 0.0, depth * n_states, node + (1 if child == _STEP else 0)
            if child == _END:
                least = end_threshold[node]
            elif word + 1 == n_words or (after and not may_step):
                least = np.inf
            else:
                least = threshold[min(after, table.n_nodes - 1)] if after else in_first[word + 1]
            if get(work.links, link, lane) >= least * (1.0 - SLACK):
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


@inlined
def mention_log_prob_kernel(table, work, lane, n_parts, parts, row, vectors, clamped):
    """Return the log probability of one mention; ``vectors`` is scratch space for two messages."""
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
        scale = 0.0  # scaled separately, since the probability may be too small for a double
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
    """Scratch space for the path of a search: its messages, nodes, next children, and a word's potentials.

    ``in_first`` has the least probability of a path that is in the first node at each word.
    """

    vectors: NDArray[np.float64]
    nodes: NDArray[np.int64]
    next_child: NDArray[np.int64]
    in_first: NDArray[np.float64]
    clamped: NDArray[np.float64]

    @classmethod
    def of(cls, table: StaircaseTable, longest: int) -> Paths:
        """Return scratch space for sentences of up to ``longest`` words."""
        nodes, next_child = np.zeros((2, longest + 1), dtype=np.int64)
        vectors, in_first, clamped = map(np.empty, ((longest + 2) << table.n_nodes, longest, table.n_potentials))
        return cls(vectors, nodes, next_child, in_first, clamped)


class Bounds(NamedTuple):
    """The limits of a search: least probabilities, the most words to process, the most mentions to find.

    A path that reaches node v must have at least the probability ``threshold[v]``, and a mention that ends there at
    least ``end_threshold[v]``.
    """

    threshold: NDArray[np.float64]
    end_threshold: NDArray[np.float64]
    most_steps: int
    limit: int

    @classmethod
    def of(cls, staircase: Staircase, threshold: float | Sequence[float], most_steps: int, limit: int) -> Bounds:
        """Return the bounds for one threshold, or for one by number of parts; the last also applies to more parts.

        Examples
        --------
        >>> Bounds.of(Staircase(2), (0.1, 0.01), most_steps=1_000, limit=10)[:2]
        (array([0.01, 0.01, 0.01]), array([0.1 ,  inf, 0.01]))
        """
        by_parts = by_number_of_parts(threshold, (staircase.n_nodes + 1) // 2)
        nodes = range(staircase.n_nodes)
        end = [by_parts[node // 2] if staircase.children(node) & END else np.inf for node in nodes]
        return cls(np.minimum.accumulate(end[::-1])[::-1].copy(), np.array(end), most_steps, limit)


class Lanes(NamedTuple):
    """Which sums of a group have to be searched.

    Attributes
    ----------
    number : int64 array of shape (width,)
        The number of each sum, -1 where there is nothing to find.
    may_step : bool array of shape (width,)
        Whether each may have probable mentions of several parts.
    """

    number: NDArray[np.int64]
    may_step: NDArray[np.bool_]

    @classmethod
    def of(cls, width: int) -> Lanes:
        """Return those of a group in which there is nothing to find."""
        return cls(np.full(width, -1), np.zeros(width, dtype=np.bool_))


class Waiting(NamedTuple):
    """A group of sums from other groups that had few to search."""

    sums: SumArrays
    work: Workspace
    lanes: Lanes

    @classmethod
    def of(cls, table: StaircaseTable, longest: int, width: int) -> Waiting:
        """Return an empty group with space for up to ``longest`` words."""
        return cls(SumArrays.of(width), Workspace.of(table, longest, width, keeps_beta=True), Lanes.of(width))


@inlined
def restricted_totals_kernel(table, longest, work):
    """Set the first two of ``work.states``: the totals of having no mention, and none of several parts.

    They have the scale of the last forward message, whose first state is the whole total. Runs after `forward_kernel`.
    """
    potentials, n_potentials = work.potentials, 2 + 4 * table.n_nodes
    nothing, clear, active = load(work.alpha, 0), load(work.alpha, 0), zero(work.alpha)
    for word in range(longest):
        at = word * n_potentials
        no_start, start = load(potentials, at), load(potentials, at + 1)
        here = no_start * active + start * (clear + active)
        clear = no_start * clear + load(potentials, at + 2) * here
        active = load(potentials, at + 4) * here
        nothing = nothing * no_start
    store(work.states, 0, nothing)
    store(work.states, 1, clear)


@inlined
def mark_kernel(table, longest, sums, at, work, bounds, lanes):
    """Mark which sums of a group may have probable mentions, by the probability of having any; return how many."""
    one_part, several_parts = bounds.end_threshold[0] - SLACK, bounds.threshold[min(1, table.n_nodes - 1)] - SLACK
    restricted_totals_kernel(table, longest, work)
    n_marked = 0
    for lane in range(work.least.shape[0]):
        total, number = get(work.alpha, longest << table.n_nodes, lane), at + lane
        may_step = table.n_nodes > 1 and total - get(work.states, 1, lane) >= several_parts * total
        may_have = may_step or total - get(work.states, 0, lane) >= one_part * total
        lanes.number[lane], lanes.may_step[lane] = number if may_have and sums.is_done[number] else -1, may_step
        n_marked += lanes.number[lane] >= 0
    return n_marked


@inlined
def wait_kernel(table, sums, work, lanes, lane, waiting, place):
    """Copy a sum to a place in the group of those that wait, of which the first is the longest."""
    n_labels, number, into = table.label_node.shape[0], lanes.number[lane], waiting.work
    n_words = sums.n_words[number]
    waiting.lanes.number[place], waiting.lanes.may_step[place] = number, lanes.may_step[lane]
    waiting.sums.n_words[place], waiting.sums.is_done[place], into.least[place] = n_words, True, work.least[lane]
    for cell in range(n_words * n_labels):
        put(into.exps, cell, place, get(work.exps, cell, lane))
    for cell in range(n_words * n_labels, waiting.sums.n_words[0] * n_labels):
        put(into.exps, cell, place, 1.0 if cell % n_labels == 0 else 0.0)


@kernel
def search_group_kernel(table, longest, sums, at, work, lanes, bounds, paths, is_done, was_cut, found, n_found):
    """Run backward over a group and search its marked sums; return how many mentions there are now."""
    backward_kernel(table, longest, sums, at, work, work.spreads[:0])
    for lane in range(work.least.shape[0]):
        number = lanes.number[lane]
        if number >= 0:
            is_done[number] = sums.is_done[at + lane]
            if is_done[number]:
                n_words, may_step = sums.n_words[at + lane], lanes.may_step[lane]
                n_found, was_cut[number] = search_kernel(
                    table, work, lane, n_words, number, may_step, bounds, paths, found, n_found
                )
    return n_found


@inlined
def search_waiting_kernel(table, waiting, bounds, paths, is_done, was_cut, found, n_found):
    """Search the sums that wait; then none does. Return how many mentions there are now."""
    sums, work, lanes = waiting
    potentials_kernel(table, sums.n_words[0], work)
    forward_again_kernel(table, sums.n_words[0], work)
    n_found = search_group_kernel(
        table, sums.n_words[0], sums, np.int64(0), work, lanes, bounds, paths, is_done, was_cut, found, n_found
    )
    lanes.number[:], sums.n_words[:], sums.is_done[:] = -1, 0, False
    return n_found


@kernel
def probable_kernel(table, scores, sums, begin, bounds, work, lanes, waiting, paths, was_cut, found):
    """Find the probable mentions of many sums, from group ``begin`` on, until ``found`` is nearly full.

    A forward pass says how probable it is that there are any mentions, and any of several parts. No mention is more
    probable, so many sums need no backward pass. Where that leaves few of a group, they wait for those of others.

    ``found`` are `MentionRows` in which the number of the sum replaces that of the sentence; ``was_cut`` (n_sums,) says
    whose search was truncated. Returns where to continue, and how many mentions were found.
    """
    # Zeros are typed because Numba would compile what is called with a literal once more for it, which takes seconds.
    width, at, n_found, n_waiting = work.least.shape[0], begin, np.int64(0), 0
    while at < sums.n_words.shape[0] and n_found + 2 * width * bounds.limit <= found.prob.shape[0]:
        longest = prepare_kernel(table, scores, sums, at, True, work)
        forward_kernel(table, longest, sums, at, work)
        n_marked = mark_kernel(table, longest, sums, at, work, bounds, lanes)
        if 2 * n_marked > width:
            n_found = search_group_kernel(
                table, longest, sums, at, work, lanes, bounds, paths, sums.is_done, was_cut, found, n_found
            )
        else:
            if n_waiting + n_marked > width:
                n_found = search_waiting_kernel(table, waiting, bounds, paths, sums.is_done, was_cut, found, n_found)
                n_waiting = 0
            for lane in range(width):
                if lanes.number[lane] >= 0:
                    wait_kernel(table, sums, work, lanes, lane, waiting, n_waiting)
                    n_waiting += 1
        at += width
    if n_waiting:
        n_found = search_waiting_kernel(table, waiting, bounds, paths, sums.is_done, was_cut, found, n_found)
    return at, n_found


@kernel
def mention_log_probs_kernel(table, scores, sums, work, paths, first_mention, rows, log_probs):
    """Fill ``log_probs`` with the log probability of each mention whose sum is done.

    Those of a sum are ``first_mention[sum] : first_mention[sum + 1]`` in ``rows``.
    """
    width = work.least.shape[0]
    for at in range(0, sums.n_words.shape[0], width):
        forward_backward_kernel(table, scores, sums, at, at + width, work, scores[:0])
        for number in range(at, at + width):
            if sums.is_done[number]:
                for row in range(first_mention[number], first_mention[number + 1]):
                    log_probs[row] = mention_log_prob_kernel(
                        table, work, number - at, rows.n_parts[row], rows.parts, row, paths.vectors, paths.clamped
                    )
