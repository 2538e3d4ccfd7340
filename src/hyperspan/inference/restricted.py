"""Sweeps restricted to encodings that contain given edges, and the search for probable mentions.

The probability of a mention is the share of the total that is left when every node on its path must be active and must
have the link the path needs. Outside the mention's words nothing is restricted, so the sums before and after them are
computed once per sentence and a mention costs only its own words. Each further link can only lower the probability, so
a depth-first search that gives up below a threshold finds *every* mention at least that probable. Nor is it ever more
probable than each of its links is by itself, so most links need not be tried.

All of it exists twice, in scaled products and in log space, as `borders` has chosen for the sentence.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from hyperspan.inference.borders import (
    borders_of_sentence_kernel,
    fill_lanes_kernel,
    lane_borders_kernel,
    rescale_kernel,
)
from hyperspan.inference.frontier import node_forward_kernel, start_forward_kernel
from hyperspan.inference.lanes import LANES
from hyperspan.inference.paths import arc_weight
from hyperspan.structures.staircase import END, STAY, STEP

_END, _STAY, _STEP = END, STAY, STEP
SLACK = 1e-6
"""What rounding may take off a probability, relatively: more than it ever does."""


@numba.njit(nogil=True, cache=True, error_model="numpy")
def advance_kernel(table, exps, word, allowed, must_be_active, source, target, states, weights):
    """Take a vector over states across a word in scaled products, using only allowed labels.

    ``allowed`` (n_labels,) says which; ``must_be_active`` (n_nodes,) which nodes must be active. ``states`` is room for
    (n_nodes + 2) * n_states, ``weights`` for 4 * n_nodes.
    """
    n_nodes, n_states, label_weight = table.n_nodes, 1 << table.n_nodes, table.label_weight
    for weight in range(4 * n_nodes):
        weights[weight] = 0.0
    for label in range(2, label_weight.shape[0]):
        if allowed[label]:
            weights[label_weight[label]] += exps[word, label]
    for state in range(n_states):
        states[state] = source[state]
    no_start = exps[word, 0] if allowed[0] else 0.0
    start = exps[word, 1] if allowed[1] else 0.0
    start_forward_kernel(states, 0, n_states, no_start, start)
    at = n_states
    for node in range(n_nodes - 1, -1, -1):
        if must_be_active[node]:
            for state in range(n_states):
                if not state >> node & 1:
                    states[at + state] = 0.0
        node_forward_kernel(
            states,
            at,
            n_states,
            node,
            weights[4 * node],
            weights[4 * node + 1],
            weights[4 * node + 2],
            weights[4 * node + 3],
        )
        at += n_states
    for state in range(n_states):
        target[state] = states[at + state]


@numba.njit(nogil=True, cache=True)
def log_advance_kernel(automaton, scores, word, allowed, must_be_active, source, target, room):
    """Take a vector over states across a word in log space; ``room`` has shape (2, n_states)."""
    n_states, n_phases = automaton.n_states, automaton.n_phases
    first_arc, arc_from, arc_label = automaton.first_arc, automaton.arc_from, automaton.arc_label
    room[0] = source
    for phase in range(n_phases):
        before, after = room[phase % 2], room[(phase + 1) % 2]
        active = phase > 0 and must_be_active[n_phases - 1 - phase]
        for state in range(n_states):
            total = -np.inf
            for arc in range(first_arc[phase * n_states + state], first_arc[phase * n_states + state + 1]):
                label = arc_label[arc]
                if (label < 0 and active) or (label >= 0 and not allowed[label]):
                    continue
                value = before[arc_from[arc]] + arc_weight(automaton, arc, word, scores)
                if value > -np.inf:
                    low, high = min(total, value), max(total, value)
                    total = high + math.log1p(math.exp(low - high))
            after[state] = total
    target[:] = room[n_phases % 2]


@numba.njit(nogil=True, cache=True)
def product_kernel(forward, backward):
    """Return the product of two vectors over states in scaled products."""
    total = 0.0
    for state in range(forward.shape[0]):
        total += forward[state] * backward[state]
    return total


@numba.njit(nogil=True, cache=True)
def log_product_kernel(forward, backward):
    """Return the log of the product of two vectors over states given by their logs."""
    total = -np.inf
    for state in range(forward.shape[0]):
        value = forward[state] + backward[state]
        if value > -np.inf:
            low, high = min(total, value), max(total, value)
            total = high + math.log1p(math.exp(low - high))
    return total


@numba.njit(nogil=True, cache=True)
def restricted_log_prob_kernel(table, automaton, borders, scores, allowed, must_be_active, first, last):
    """Return the log probability that from word first to word last only allowed edges stand, and nodes are active.

    ``allowed`` of shape (last - first, n_labels) and ``must_be_active`` of shape (last - first, n_nodes) begin with
    word first.
    """
    n_nodes, n_states = table.n_nodes, 1 << table.n_nodes
    states, weights = np.empty((n_nodes + 2) * n_states), np.empty(4 * n_nodes)
    room, here, there = np.empty((2, n_states)), borders.forward[first].copy(), np.empty(n_states)
    log_scale = 0.0
    for word in range(first, last):
        labels, active = allowed[word - first], must_be_active[word - first]
        if borders.is_log:
            log_advance_kernel(automaton, scores, word, labels, active, here, there, room)
        else:
            advance_kernel(table, borders.exps, word, labels, active, here, there, states, weights)
            # Rescaled by itself, since what is left may be improbable beyond any double.
            total = rescale_kernel(there, 0, n_states)
            if not total > 0.0:
                return -np.inf
            log_scale += math.log(total) - math.log(borders.scales[word])
        here[:] = there
    if borders.is_log:
        return log_product_kernel(here, borders.backward[last]) - borders.log_total
    left = product_kernel(here, borders.backward[last])
    return log_scale + math.log(left) if left > 0.0 else -np.inf


@numba.njit(nogil=True, cache=True)
def allow_child_kernel(table, node, child, allowed):
    """Allow, of a node's labels, those with a child; returns whether there are any. Other nodes' labels are allowed."""
    has_child = False
    for label in range(2, allowed.shape[0]):
        of_node, with_child = table.label_node[label] == node, table.label_children[label] & child != 0
        allowed[label] = with_child or not of_node
        has_child = has_child or (of_node and with_child)
    return has_child


@numba.njit(nogil=True, cache=True)
def write_parts_kernel(start, nodes, length, parts):
    """Write the parts of the mention whose path from word start on has these nodes; returns how many parts."""
    for step in range(length):
        if nodes[step] % 2 == 0:
            part = nodes[step] // 2
            if step == 0 or nodes[step - 1] != nodes[step]:
                parts[part, 0] = start + step
            parts[part, 1] = start + step + 1
    return nodes[length - 1] // 2 + 1


@numba.njit(nogil=True, cache=True)
def probable_kernel(table, automaton, borders, scores, threshold, most_steps, found_prob, found_n_parts, found_parts):
    """Find every mention whose probability is at least the threshold.

    ``found_prob`` and ``found_n_parts`` of shape (limit,) and ``found_parts`` of shape (limit, most_parts, 2) get the
    probability, the number of parts and the parts of each. Returns how many, and whether the search was cut short by
    the limit or by ``most_steps`` words advanced.
    """
    n_words, n_nodes, n_states = scores.shape[0], table.n_nodes, 1 << table.n_nodes
    states, weights, room = np.empty((n_nodes + 2) * n_states), np.empty(4 * n_nodes), np.empty((2, n_states))
    most_depth = 0  # room for paths is made when the first of them begins
    vectors = np.empty((0, n_states))
    nodes, next_child = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    allowed = np.ones(table.label_node.shape[0], dtype=np.bool_)
    active = np.zeros(n_nodes, dtype=np.bool_)
    n_found, n_steps, least_link = 0, 0, threshold * (1.0 - SLACK)
    for start in range(n_words):
        if borders.start_prob[start] < threshold:
            continue
        if most_depth == 0:
            most_depth = n_words + 1 - start
            vectors = np.empty((most_depth, n_states))
            nodes, next_child = np.zeros(most_depth, dtype=np.int64), np.zeros(most_depth, dtype=np.int64)
        vectors[0] = borders.forward[start]
        depth, nodes[0], next_child[0] = 0, 0, 0
        while depth >= 0:
            child = 1 << next_child[depth]
            node, word = nodes[depth], start + depth
            may_exist = child == _END or word + 1 < n_words
            may_exist = may_exist and borders.link_prob[word, 3 * node + next_child[depth]] >= least_link
            next_child[depth] += 1
            prob = 0.0
            if may_exist and allow_child_kernel(table, node, child, allowed):
                allowed[0] = depth > 0
                active[:] = False
                active[node] = True
                if n_steps >= most_steps:
                    return n_found, True
                n_steps += 1
                here, there = vectors[depth], vectors[depth + 1]
                if borders.is_log:
                    log_advance_kernel(automaton, scores, word, allowed, active, here, there, room)
                    log_prob = log_product_kernel(there, borders.backward[word + 1]) - borders.log_total
                    prob = math.exp(min(0.0, log_prob))
                else:
                    advance_kernel(table, borders.exps, word, allowed, active, here, there, states, weights)
                    for state in range(n_states):
                        there[state] /= borders.scales[word]
                    prob = min(1.0, product_kernel(there, borders.backward[word + 1]))
            if prob >= threshold and prob > 0.0:
                if child == _END:
                    if n_found == found_prob.shape[0]:
                        return n_found, True
                    found_prob[n_found] = prob
                    found_n_parts[n_found] = write_parts_kernel(start, nodes, depth + 1, found_parts[n_found])
                    n_found += 1
                else:
                    nodes[depth + 1] = node + (1 if child == _STEP else 0)
                    next_child[depth + 1] = 0
                    depth += 1
                    continue
            while depth >= 0 and next_child[depth] == 3:
                depth -= 1
    return n_found, False


@numba.njit(nogil=True, cache=True)
def path_log_prob_kernel(table, automaton, borders, scores, n_parts, parts, allowed, active, states, weights, room):
    """Return the log probability of one mention, whose parts are given; the rest is room, as in `advance_kernel`.

    ``room`` has shape (4, n_states).
    """
    n_states = 1 << table.n_nodes
    here, there = room[2], room[3]
    here[:] = borders.forward[parts[0, 0]]
    log_scale = 0.0
    part, last = 0, parts[n_parts - 1, 1]
    for word in range(parts[0, 0], last):
        in_part = word < parts[part, 1]
        node = 2 * part if in_part else 2 * part + 1
        if word + 1 == last:
            child = _END
        elif in_part:
            child = _STEP if word + 1 == parts[part, 1] else _STAY
        else:
            child = _STEP if word + 1 == parts[part + 1, 0] else _STAY
        allow_child_kernel(table, node, child, allowed)
        allowed[0] = word > parts[0, 0]
        active[:] = False
        active[node] = True
        if borders.is_log:
            log_advance_kernel(automaton, scores, word, allowed, active, here, there, room[:2])
        else:
            advance_kernel(table, borders.exps, word, allowed, active, here, there, states, weights)
            # Rescaled by itself, since what is left may be improbable beyond any double.
            total = rescale_kernel(there, 0, n_states)
            if not total > 0.0:
                return -np.inf
            log_scale += math.log(total) - math.log(borders.scales[word])
        here[:] = there
        if not in_part and child == _STEP:
            part += 1
    if borders.is_log:
        return log_product_kernel(here, borders.backward[last]) - borders.log_total
    left = product_kernel(here, borders.backward[last])
    return log_scale + math.log(left) if left > 0.0 else -np.inf


@numba.njit(nogil=True, cache=True)
def borders_in_block_kernel(table, automaton, first_label, scores, first, last, lanes, lane, room, of_block):
    """Return the borders of one sentence of one block, out of its lane if it has one, and its scores in ``of_block``.

    ``room`` is as `border_room` makes it; ``of_block`` has shape (longest, n_labels).
    """
    here = of_block[: last - first]
    for word in range(first, last):
        for label in range(of_block.shape[1]):
            here[word - first, label] = scores[word, first_label + label]
    if lanes.kept.shape[0] > 0 and lanes.is_done[lane]:
        return lane_borders_kernel(table.n_nodes, lanes, lane, room), here
    return borders_of_sentence_kernel(table, automaton, here, False, room), here


@numba.njit(nogil=True, cache=True)
def may_start_kernel(lanes, lane, threshold):
    """Say whether something starts in a lane that is at least so probable, as far as that is known."""
    if lanes.kept.shape[0] == 0 or not lanes.is_done[lane]:
        return True
    highest = 0.0
    for word in range(lanes.n_words[lane]):
        highest = max(highest, lanes.start_prob[word, lane])
    return highest >= threshold


@numba.njit(nogil=True, cache=True)
def probable_block_kernel(
    table,
    automaton,
    first_label,
    scores,
    first_word,
    wanted,
    begin,
    threshold,
    most_steps,
    limit,
    lanes,
    room,
    impossible,
    was_cut,
    found_prob,
    found_sentence,
    found_n_parts,
    found_parts,
):
    """Find the probable mentions of one block in wanted sentences, until there is no room for ``limit`` more of each.

    ``wanted`` are their numbers, of which those from begin on are looked at; ``room`` is as `border_room` makes it for
    the longest sentence. ``impossible`` and ``was_cut`` of shape (n_sentences,) are set where there is no outcome, and
    where a search was cut short; ``found_sentence`` says whose the mentions are. Returns where in ``wanted`` to go on,
    and how many mentions were found.
    """
    of_block = np.empty((room[3].shape[0], table.label_node.shape[0]))
    n_found = 0
    for rank in range(begin, wanted.shape[0]):
        lane = (rank - begin) % LANES
        if lane == 0:
            if n_found + LANES * limit > found_prob.shape[0]:
                return rank, n_found
            if lanes.kept.shape[0] > 0:
                fill_lanes_kernel(table, first_label, scores, first_word, wanted, rank, True, lanes)
        if not may_start_kernel(lanes, lane, threshold):
            continue
        sentence = wanted[rank]
        first, last = first_word[sentence], first_word[sentence + 1]
        borders, here = borders_in_block_kernel(
            table, automaton, first_label, scores, first, last, lanes, lane, room, of_block
        )
        if borders.log_total == -np.inf:
            impossible[sentence] = True
            continue
        n_more, cut = probable_kernel(
            table,
            automaton,
            borders,
            here,
            threshold,
            most_steps,
            found_prob[n_found : n_found + limit],
            found_n_parts[n_found : n_found + limit],
            found_parts[n_found : n_found + limit],
        )
        found_sentence[n_found : n_found + n_more] = sentence
        was_cut[sentence] = was_cut[sentence] or cut
        n_found += n_more
    return wanted.shape[0], n_found


@numba.njit(nogil=True, cache=True)
def path_probs_block_kernel(
    table, automaton, first_label, scores, first_word, wanted, begin, end, n_parts, parts, lanes, room, log_probs
):
    """Fill ``log_probs`` with the log probability of each of many mentions of one block.

    Those of the sentence ``wanted[rank]`` are ``begin[rank] : end[rank]``. ``n_parts`` has shape
    (n_mentions,), ``parts`` (n_mentions, most_parts, 2); ``room`` is as `border_room` makes it for the longest.
    """
    n_nodes, n_states, n_labels = table.n_nodes, 1 << table.n_nodes, table.label_node.shape[0]
    of_block = np.empty((room[3].shape[0], n_labels))
    states, weights, vectors = np.empty((n_nodes + 2) * n_states), np.empty(4 * n_nodes), np.empty((4, n_states))
    allowed, active = np.ones(n_labels, dtype=np.bool_), np.zeros(n_nodes, dtype=np.bool_)
    for rank in range(wanted.shape[0]):
        lane = rank % LANES
        if lane == 0 and lanes.kept.shape[0] > 0:
            fill_lanes_kernel(table, first_label, scores, first_word, wanted, rank, False, lanes)
        first, last = first_word[wanted[rank]], first_word[wanted[rank] + 1]
        borders, here = borders_in_block_kernel(
            table, automaton, first_label, scores, first, last, lanes, lane, room, of_block
        )
        for at in range(begin[rank], end[rank]):
            if borders.log_total == -np.inf:
                log_probs[at] = -np.inf
            else:
                log_probs[at] = path_log_prob_kernel(
                    table, automaton, borders, here, n_parts[at], parts[at], allowed, active, states, weights, vectors
                )
