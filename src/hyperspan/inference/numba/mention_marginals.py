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

import numba
import numpy as np

from hyperspan.inference.numba.frontier import backward_kernel, forward_kernel, prepare_kernel, word_forward_kernel
from hyperspan.inference.numba.simd import get
from hyperspan.structures.staircase import END, STAY, STEP

_END, _STAY, _STEP = END, STAY, STEP

SLACK = 1e-6
"""What rounding may take off a probability, relatively: more than it ever does."""


@numba.njit(nogil=True, cache=True)
def link_prob_kernel(table, marginals, word, first_label, node, child):
    """Return how probable it is that a node has a child at a word."""
    prob = 0.0
    for label in range(2, table.label_node.shape[0]):
        if table.label_node[label] == node and table.label_children[label] & child:
            prob += marginals[word, first_label + label]
    return prob


@numba.njit(nogil=True, cache=True, error_model="numpy")
def clamped_word_kernel(table, work, word, lane, node, child, is_first, vectors, source, clamped):
    """Take the message at ``vectors[source]`` across a word at which a node has a child; the new one follows it.

    At the first word of a mention T starts something. ``clamped`` is room for the potentials of a word.
    """
    n_labels, n_potentials, n_states = table.label_node.shape[0], clamped.shape[0], 1 << table.n_nodes
    for potential in range(n_potentials):
        clamped[potential] = get(work.potentials, word * n_potentials + potential, lane)
    if is_first:
        clamped[0] = 0.0
    for potential in range(2 + 4 * node, 6 + 4 * node):
        clamped[potential] = 0.0
    for label in range(2, n_labels):
        if table.label_node[label] == node and table.label_children[label] & child:
            clamped[table.label_potential[label]] += get(work.exps, word * n_labels + label, lane)
    word_forward_kernel(table.n_nodes, clamped, 0, vectors, source, vectors, source + n_states, 0)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def total_kernel(vectors, source, n_states, beta, border, lane):
    """Return the product of a forward message and the backward message at a word border."""
    total = 0.0
    for state in range(n_states):
        total += vectors[source + state] * get(beta, border * n_states + state, lane)
    return total


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


@numba.njit(nogil=True, cache=True, error_model="numpy")
def search_kernel(
    table,
    work,
    lane,
    first,
    n_words,
    first_label,
    marginals,
    threshold,
    most_steps,
    found_prob,
    found_n_parts,
    found_parts,
):
    """Find every mention of one sum whose probability is at least the threshold.

    ``found_prob`` and ``found_n_parts`` of shape (limit,) and ``found_parts`` of shape (limit, most_parts, 2) get the
    probability, the number of parts and the parts of each. Returns how many, and whether the search was cut short by
    the limit or by ``most_steps`` words advanced.
    """
    n_states, n_found, n_steps, least_link = 1 << table.n_nodes, 0, 0, threshold * (1.0 - SLACK)
    most_depth = 0  # room for paths is made when the first of them begins
    clamped, vectors = np.empty(2 + 4 * table.n_nodes), np.empty(0)
    nodes, next_child = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    for start in range(n_words):
        if marginals[first + start, first_label + 1] < threshold:
            continue
        if most_depth == 0:
            most_depth = n_words + 1 - start
            vectors = np.empty(most_depth * n_states)
            nodes, next_child = np.zeros(most_depth, dtype=np.int64), np.zeros(most_depth, dtype=np.int64)
        for state in range(n_states):
            vectors[state] = get(work.alpha, start * n_states + state, lane)
        depth, nodes[0], next_child[0] = 0, 0, 0
        while depth >= 0:
            child, node, word = 1 << next_child[depth], nodes[depth], start + depth
            next_child[depth] += 1
            prob = 0.0
            if child == _END or word + 1 < n_words:
                if link_prob_kernel(table, marginals, first + word, first_label, node, child) >= least_link:
                    if n_steps >= most_steps:
                        return n_found, True
                    n_steps += 1
                    source = depth * n_states
                    clamped_word_kernel(table, work, word, lane, node, child, depth == 0, vectors, source, clamped)
                    prob = min(1.0, total_kernel(vectors, source + n_states, n_states, work.beta, word + 1, lane))
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


@numba.njit(nogil=True, cache=True, error_model="numpy")
def mention_log_prob_kernel(table, work, lane, n_parts, parts, vectors, clamped):
    """Return the log probability of one mention; ``vectors`` is room for two messages."""
    n_states, part, last, log_prob = 1 << table.n_nodes, 0, parts[n_parts - 1, 1], 0.0
    for state in range(n_states):
        vectors[state] = get(work.alpha, parts[0, 0] * n_states + state, lane)
    for word in range(parts[0, 0], last):
        in_part = word < parts[part, 1]
        node = 2 * part if in_part else 2 * part + 1
        if word + 1 == last:
            child = _END
        elif in_part:
            child = _STEP if word + 1 == parts[part, 1] else _STAY
        else:
            child = _STEP if word + 1 == parts[part + 1, 0] else _STAY
        clamped_word_kernel(table, work, word, lane, node, child, word == parts[0, 0], vectors, 0, clamped)
        scale = 0.0  # scaled by itself, since what is left may be improbable beyond any double
        for state in range(n_states, 2 * n_states):
            scale += vectors[state]
        if not scale > 0.0:
            return -np.inf
        log_prob += math.log(scale)
        for state in range(n_states):
            vectors[state] = vectors[n_states + state] / scale
        if not in_part and child == _STEP:
            part += 1
    left = total_kernel(vectors, 0, n_states, work.beta, last, lane)
    return log_prob + math.log(left) if left > 0.0 else -np.inf


@numba.njit(nogil=True, cache=True, error_model="numpy")
def messages_kernel(table, scores, first, n_words, first_label, width, work, log_total, is_done, marginals):
    """Make the forward and backward messages of one group of sums, and its marginals."""
    longest = prepare_kernel(table, scores, first, n_words, first_label, width, True, work)
    forward_kernel(table, longest, n_words, width, work, log_total, is_done)
    backward_kernel(table, longest, first, n_words, first_label, width, True, work, is_done, marginals)


@numba.njit(nogil=True, cache=True, error_model="numpy")
def probable_kernel(
    table,
    scores,
    first,
    n_words,
    first_label,
    width,
    begin,
    threshold,
    most_steps,
    limit,
    work,
    marginals,
    log_total,
    is_done,
    was_cut,
    found_prob,
    found_sum,
    found_n_parts,
    found_parts,
):
    """Find the probable mentions of many sums, from group ``begin`` on, until there is no room for ``limit`` more each.

    Sums are given as in `frontier.forward_backward_kernel`; ``was_cut`` (n_sums,) says whose search was cut short,
    ``found_sum`` whose the mentions are. Returns where to go on, and how many mentions were found.
    """
    n_found = 0
    for at in range(begin, n_words.shape[0], width):
        if n_found + width * limit > found_prob.shape[0]:
            return at, n_found
        end = at + width
        messages_kernel(
            table,
            scores,
            first[at:end],
            n_words[at:end],
            first_label[at:end],
            width,
            work,
            log_total[at:end],
            is_done[at:end],
            marginals,
        )
        for lane in range(width):
            if is_done[at + lane] and n_words[at + lane] > 0:
                n_more, was_cut[at + lane] = search_kernel(
                    table,
                    work,
                    lane,
                    first[at + lane],
                    n_words[at + lane],
                    first_label[at + lane],
                    marginals,
                    threshold,
                    most_steps,
                    found_prob[n_found : n_found + limit],
                    found_n_parts[n_found : n_found + limit],
                    found_parts[n_found : n_found + limit],
                )
                for number in range(n_found, n_found + n_more):
                    found_sum[number] = at + lane
                n_found += n_more
    return n_words.shape[0], n_found


@numba.njit(nogil=True, cache=True, error_model="numpy")
def mention_log_probs_kernel(
    table,
    scores,
    first,
    n_words,
    first_label,
    width,
    work,
    marginals,
    log_total,
    is_done,
    first_mention,
    n_parts,
    parts,
    log_probs,
):
    """Fill ``log_probs`` with the log probability of each of many mentions, where the sums are done.

    The mentions of a sum are ``first_mention[sum] : first_mention[sum + 1]``; ``n_parts`` has shape (n_mentions,),
    ``parts`` (n_mentions, most_parts, 2). Sums are given as in `frontier.forward_backward_kernel`.
    """
    vectors, clamped = np.empty(2 << table.n_nodes), np.empty(2 + 4 * table.n_nodes)
    for at in range(0, n_words.shape[0], width):
        end = at + width
        messages_kernel(
            table,
            scores,
            first[at:end],
            n_words[at:end],
            first_label[at:end],
            width,
            work,
            log_total[at:end],
            is_done[at:end],
            marginals,
        )
        for lane in range(width):
            if is_done[at + lane]:
                for mention in range(first_mention[at + lane], first_mention[at + lane + 1]):
                    log_probs[mention] = mention_log_prob_kernel(
                        table, work, lane, n_parts[mention], parts[mention], vectors, clamped
                    )
