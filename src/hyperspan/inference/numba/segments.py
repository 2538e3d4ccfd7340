"""Sums and maxima over the prefix trees of ``segments``, compiled.

There are two kinds of nodes: *parts* (k, i), where a part of level k begins at word i, and *turns* (k, j), where a part
of level k ends at word j and the mention ends or continues. Every node has at least one child; apart from that,
children are independent of each other. Let t be the weight of a child with its subtree. Then the sum over all non-empty
sets of children is q = Π(1 + t) - 1, computed one child at a time without subtraction: q ← q (1 + t) + t. So there is
no cancellation, and only the scores are exponentiated. `hyperspan.inference.reference.segments` does the same with
logs.

The results are the probability of each child given its node, and the probability that a node has any child. Everything
else is a product along paths. Scores beyond the bounds of `is_within_kernel` are summed in log space.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.exponentials import exp_kernel
from hyperspan.compiled.kernel import inlined, kernel

HIGHEST = 700.0
"""Higher scores may overflow; the scores along a path may not add up to less than minus this."""


class SegmentTable(NamedTuple):
    """The sizes of the structure; the labels of a type are parts, gaps and ends (see `Segments`)."""

    n_levels: int
    longest_part: int
    longest_gap: int

    @property
    def n_nodes(self) -> int:
        """The number of nodes at a word: the parts of each level, then the turns of each but the last."""
        return 2 * self.n_levels - 1


@kernel
def labels_of_level_kernel(table, first_label, level):
    """Return the first label of parts and of gaps of a level, and that of its end, in a block that begins at a label.

    ``table`` has the sizes of a `SegmentTable`; the order of labels is that of `Segments`. The last level has parts
    only.
    """
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    first_gap = first_label + n_levels * longest_part
    return (
        first_label + level * longest_part,
        first_gap + level * longest_gap,
        first_gap + (n_levels - 1) * longest_gap + level,
    )


class Messages(NamedTuple):
    """A workspace for the messages of one sentence, all of shape (n_nodes, n_words)."""

    inside: NDArray[np.float64]
    flow: NDArray[np.float64]

    @classmethod
    def room(cls, table: SegmentTable, longest: int) -> Messages:
        """Allocate messages for sentences of at most this many words."""
        return cls(np.empty((table.n_nodes, longest)), np.empty((table.n_nodes, longest)))


@kernel
def is_within_kernel(scores, begin, end, first_label, n_labels, lowest):
    """Return whether the scores of a block and sentence can be exponentiated without loss; -inf always can."""
    for word in range(begin, end):
        row = scores[word, first_label : first_label + n_labels]
        low, high = 0.0, 0.0
        for label in range(row.shape[0]):
            value = row[label]
            high = max(high, value)
            low = min(low, value if value > -np.inf else 0.0)
        if low < lowest or high > HIGHEST:
            return False
    return True


@kernel
def log_totals_kernel(table, first_label, scores, first_word, messages, column, probs, alive, log_totals, is_count):
    """Sum over the prefix trees of one block in every sentence.

    Parameters
    ----------
    table : SegmentTable
    first_label : int
        The first label of the block, in ``scores``.
    scores : float64 array of shape (n_words, n_labels)
    first_word : int64 array of shape (n_sentences + 1,)
    messages : Messages
    column : int
        The first column of the block in ``probs``.
    probs : float64 array of shape (n_words, at least column + labels of a block)
        Filled with the probability of each label given its node, or with its expected count if ``is_count``.
    alive : float64 array of shape (n_words, n_nodes)
        Filled with the probability that a node has any child, as if it needed none: 1 - exp(-U).
    log_totals : float64 array of shape (n_sentences,)
    is_count : bool
    """
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    n_labels = n_levels * longest_part + (n_levels - 1) * (longest_gap + 1)
    for sentence in range(first_word.shape[0] - 1):
        begin, end = first_word[sentence], first_word[sentence + 1]
        for word in range(begin, end):
            source, target = scores[word], probs[word]
            for label in range(n_labels):
                target[column + label] = source[first_label + label]
        total = np.inf
        if is_within_kernel(scores, begin, end, first_label, n_labels, -HIGHEST / (2 * n_levels)):
            for word in range(begin, end):
                exp_kernel(probs[word, column : column + n_labels], n_labels)
            total = inside_kernel(table, begin, end, column, probs, messages.inside)
            if total < np.inf:
                branch_kernel(table, begin, end, column, probs, messages.inside, alive)
            else:
                for word in range(begin, end):
                    source, target = scores[word], probs[word]
                    for label in range(n_labels):
                        target[column + label] = source[first_label + label]
        if not total < np.inf:
            total = log_inside_kernel(table, begin, end, column, probs, messages.inside)
            log_branch_kernel(table, begin, end, column, probs, messages.inside, alive)
        log_totals[sentence] = total
        if is_count:
            flow = messages.flow
            for word in range(end - begin):
                for node in range(2 * n_levels - 1):
                    flow[node, word] = 0.0
                flow[0, word] = alive[begin + word, 0]
            count_kernel(table, begin, end, column, probs, flow)


@kernel
def inside_kernel(table, begin, end, column, potentials, inside):
    """Fill ``inside`` with q of every node, from the last level to the first, and return the log total.

    Nodes that no path leads to have q = 0: if theirs overflowed, the total would not show it.
    """
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    n_words = end - begin
    for level in range(n_levels - 1, -1, -1):
        first_part, first_gap, end_label = labels_of_level_kernel(table, column, level)
        first = min(2 * level, n_words)  # a part of this level has a part and a gap of each level before it
        parts = inside[level]
        parts[:first] = 0.0
        if level < n_levels - 1:
            turns, below = inside[n_levels + level], inside[level + 1]
            turns[:first] = 0.0
            for word in range(first, n_words):
                row = potentials[begin + word]
                q = row[end_label]
                for place in range(min(longest_gap, n_words - word - 2)):
                    term = row[first_gap + place] * below[word + 2 + place]
                    q = q * (1.0 + term) + term
                turns[word] = q
            for word in range(first, n_words):
                row, q = potentials[begin + word], 0.0
                for place in range(min(longest_part, n_words - word)):
                    term = row[first_part + place] * turns[word + place]
                    q = q * (1.0 + term) + term
                parts[word] = q
        else:
            for word in range(first, n_words):
                row, q = potentials[begin + word], 0.0
                for place in range(min(longest_part, n_words - word)):
                    term = row[first_part + place]
                    q = q * (1.0 + term) + term
                parts[word] = q
    total = 0.0
    for word in range(n_words):
        total += math.log1p(inside[0, word])
    return total if total < np.inf else np.inf  # NaN, if something was too large


@kernel
def branch_kernel(table, begin, end, column, potentials, inside, alive):
    """Replace potentials by the probabilities of children, given their nodes, and fill ``alive``."""
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    n_words = end - begin
    for word in range(n_words):
        row = potentials[begin + word]
        for node in range(2 * n_levels - 1):
            q = inside[node, word]
            alive[begin + word, node] = q / (1.0 + q)
        for level in range(n_levels):
            first_part, first_gap, end_label = labels_of_level_kernel(table, column, level)
            chance = alive[begin + word, level]
            share = 1.0 / chance if chance > 0.0 else 0.0
            n_here = min(longest_part, n_words - word) if chance > 0.0 else 0
            of_parts = row[first_part : first_part + longest_part]
            if level < n_levels - 1:
                turns = inside[n_levels + level, word : word + n_here]
                for place in range(n_here):
                    term = of_parts[place] * turns[place]
                    of_parts[place] = share * (term / (1.0 + term))
            else:
                for place in range(n_here):
                    of_parts[place] = share * (of_parts[place] / (1.0 + of_parts[place]))
            for place in range(n_here, longest_part):
                of_parts[place] = 0.0
            if level < n_levels - 1:
                chance = alive[begin + word, n_levels + level]
                share = 1.0 / chance if chance > 0.0 else 0.0
                n_here = max(0, min(longest_gap, n_words - word - 2)) if chance > 0.0 else 0
                of_gaps, below = row[first_gap : first_gap + longest_gap], inside[level + 1]
                for place in range(n_here):
                    term = of_gaps[place] * below[word + 2 + place]
                    of_gaps[place] = share * (term / (1.0 + term))
                for place in range(n_here, longest_gap):
                    of_gaps[place] = 0.0
                row[end_label] = share * (row[end_label] / (1.0 + row[end_label]))


@inlined
def log_add_child_kernel(log_q, value):
    """Return log(q (1 + t) + t) from log q and log t: one more child."""
    if value == -np.inf:
        return log_q
    log_q += softplus_kernel(value)
    low, high = min(log_q, value), max(log_q, value)
    return high + math.log1p(math.exp(low - high))


@kernel
def softplus_kernel(value):
    """Return log(1 + e^x)."""
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


@kernel
def log_inside_kernel(table, begin, end, column, scores, inside):
    """Fill ``inside`` with log q of every node, and return the log total: `inside_kernel` in log space."""
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    n_words = end - begin
    for level in range(n_levels - 1, -1, -1):
        first_part, first_gap, end_label = labels_of_level_kernel(table, column, level)
        first = min(2 * level, n_words)
        inside[level, :first] = -np.inf
        if level < n_levels - 1:
            inside[n_levels + level, :first] = -np.inf
            for word in range(first, n_words):
                row, log_q = scores[begin + word], scores[begin + word, end_label]
                for place in range(min(longest_gap, n_words - word - 2)):
                    log_q = log_add_child_kernel(log_q, row[first_gap + place] + inside[level + 1, word + 2 + place])
                inside[n_levels + level, word] = log_q
        for word in range(first, n_words):
            row, log_q = scores[begin + word], -np.inf
            for place in range(min(longest_part, n_words - word)):
                below = inside[n_levels + level, word + place] if level < n_levels - 1 else 0.0
                log_q = log_add_child_kernel(log_q, row[first_part + place] + below)
            inside[level, word] = log_q
    total = 0.0
    for word in range(n_words):
        total += softplus_kernel(inside[0, word])
    return total


@kernel
def log_branch_kernel(table, begin, end, column, scores, inside, alive):
    """Replace scores by the probabilities of children, given their nodes, and fill ``alive``, in log space."""
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    n_words = end - begin
    for word in range(n_words):
        row = scores[begin + word]
        for node in range(2 * n_levels - 1):
            log_q = inside[node, word]
            alive[begin + word, node] = math.exp(log_q - softplus_kernel(log_q)) if log_q > -np.inf else 0.0
        for level in range(n_levels):
            first_part, first_gap, end_label = labels_of_level_kernel(table, column, level)
            log_q = inside[level, word]
            log_share = softplus_kernel(log_q) - log_q if log_q > -np.inf else -np.inf
            for place in range(longest_part):
                value = -np.inf
                if word + place < n_words:
                    below = inside[n_levels + level, word + place] if level < n_levels - 1 else 0.0
                    value = row[first_part + place] + below
                row[first_part + place] = child_prob_kernel(value, log_share)
            if level < n_levels - 1:
                log_q = inside[n_levels + level, word]
                log_share = softplus_kernel(log_q) - log_q if log_q > -np.inf else -np.inf
                for place in range(longest_gap):
                    value = -np.inf
                    if word + 2 + place < n_words:
                        value = row[first_gap + place] + inside[level + 1, word + 2 + place]
                    row[first_gap + place] = child_prob_kernel(value, log_share)
                row[end_label] = child_prob_kernel(row[end_label], log_share)


@kernel
def child_prob_kernel(value, log_share):
    """Return the probability of a child given its node, from its log weight."""
    if value == -np.inf:
        return 0.0
    return min(1.0, math.exp(value - softplus_kernel(value) + log_share))


@kernel
def count_kernel(table, begin, end, column, probs, flow):
    """Replace the probabilities of children given their nodes by expected counts, top down.

    ``flow`` is the expected count of each node from other sources; the flow from its parents is added to it.
    """
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    n_words = end - begin
    for level in range(n_levels):
        first_part, first_gap, end_label = labels_of_level_kernel(table, column, level)
        for word in range(n_words):
            n_here, chance = min(longest_part, n_words - word), flow[level, word]
            of_parts = probs[begin + word, first_part : first_part + n_here]
            for place in range(n_here):
                of_parts[place] *= chance
            if level < n_levels - 1:
                turns = flow[n_levels + level, word : word + n_here]
                for place in range(n_here):
                    turns[place] += of_parts[place]
        if level == n_levels - 1:
            break
        for word in range(n_words):
            n_here, chance = max(0, min(longest_gap, n_words - word - 2)), flow[n_levels + level, word]
            probs[begin + word, end_label] *= chance
            of_gaps = probs[begin + word, first_gap : first_gap + n_here]
            for place in range(n_here):
                of_gaps[place] *= chance
                flow[level + 1, word + 2 + place] += of_gaps[place]


@kernel
def best_kernel(table, first_label, scores, begin, end, best):
    """Fill ``best`` of shape (n_nodes, n_words) with the score of the best set of children of every node.

    The set has all children whose best subtree has a positive score, or if there is none, the best child.
    """
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    n_words = end - begin
    for level in range(n_levels - 1, -1, -1):
        first_part, first_gap, end_label = labels_of_level_kernel(table, first_label, level)
        if level < n_levels - 1:
            for word in range(n_words):
                row, top = scores[begin + word], scores[begin + word, end_label]
                gain = max(0.0, top)
                for place in range(min(longest_gap, n_words - word - 2)):
                    value = row[first_gap + place] + best[level + 1, word + 2 + place]
                    top, gain = max(top, value), gain + max(0.0, value)
                best[n_levels + level, word] = gain if gain > 0.0 else top
        for word in range(n_words):
            row, top, gain = scores[begin + word], -np.inf, 0.0
            for place in range(min(longest_part, n_words - word)):
                below = best[n_levels + level, word + place] if level < n_levels - 1 else 0.0
                value = row[first_part + place] + below
                top, gain = max(top, value), gain + max(0.0, value)
            best[level, word] = gain if gain > 0.0 else top


@kernel
def probable_segments_kernel(table, probs, alive, first_word, threshold, most_steps, was_cut, rows):
    """Write every mention of one block that is at least as probable as a threshold into ``rows``, top down.

    Probability only falls along a path, so no path is followed below the threshold. ``rows`` are `MentionRows`. Returns
    the number of mentions, or -1 if ``rows`` is too short. ``was_cut`` is set if the search takes too many steps.
    """
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    most_waiting = min(n_levels * longest_part * longest_gap, most_steps + longest_gap) + 1  # a step adds at most one
    node_level, node_word = np.empty(most_waiting, np.int64), np.empty(most_waiting, np.int64)
    node_prob, node_parts = np.empty(most_waiting), np.empty((most_waiting, n_levels, 2), np.int64)
    n_rows = 0
    for sentence in range(first_word.shape[0] - 1):
        begin, n_words, n_steps = first_word[sentence], first_word[sentence + 1] - first_word[sentence], 0
        for start in range(n_words):
            if alive[begin + start, 0] < threshold:
                continue
            if n_steps > most_steps:
                was_cut[sentence] = True
                break
            node_level[0], node_word[0], node_prob[0] = 0, start, alive[begin + start, 0]
            n_waiting = 1
            while n_waiting:
                n_waiting -= 1
                level, word, prob = node_level[n_waiting], node_word[n_waiting], node_prob[n_waiting]
                path = node_parts[n_waiting].copy()
                first_part, first_gap, end_label = labels_of_level_kernel(table, 0, level)
                n_here = min(longest_part, n_words - word)
                n_steps += n_here
                for place in range(n_here):
                    here = prob * probs[begin + word, first_part + place]
                    if here < threshold:
                        continue
                    if n_steps > most_steps:
                        was_cut[sentence], n_waiting = True, 0
                        break
                    path[level, 0], path[level, 1] = word, word + place + 1
                    last, whole = word + place, here
                    if level < n_levels - 1:
                        whole = here * probs[begin + last, end_label]
                    if whole >= threshold:
                        if n_rows == rows.prob.shape[0]:
                            return -1
                        rows.sentence[n_rows], rows.prob[n_rows], rows.n_parts[n_rows] = sentence, whole, level + 1
                        rows.parts[n_rows, : level + 1] = path[: level + 1]
                        n_rows += 1
                    if level == n_levels - 1:
                        continue
                    n_gaps = max(0, min(longest_gap, n_words - last - 2))
                    n_steps += n_gaps
                    for gap in range(n_gaps):
                        further = here * probs[begin + last, first_gap + gap]
                        if further >= threshold:
                            node_level[n_waiting], node_word[n_waiting] = level + 1, last + 2 + gap
                            node_prob[n_waiting] = further
                            node_parts[n_waiting] = path
                            n_waiting += 1
    return n_rows


@kernel
def best_mentions_kernel(table, first_label, scores, probs, alive, first_word, best, most, was_cut, rows):
    """Write the mentions of the best set of one block, with their probabilities, into ``rows``, top down.

    ``best`` is a workspace for `best_kernel`, of shape (n_nodes, most words of a sentence). Returns the number of
    mentions, or -1 if ``rows`` is too short. At most ``most`` are written per sentence; ``was_cut`` marks where more
    were found.
    """
    n_levels, longest_part, longest_gap = table.n_levels, table.longest_part, table.longest_gap
    most_waiting = min(n_levels * longest_part * longest_gap, most) + 1
    node_level, node_word = np.empty(most_waiting, np.int64), np.empty(most_waiting, np.int64)
    node_prob, node_parts = np.empty(most_waiting), np.empty((most_waiting, n_levels, 2), np.int64)
    n_rows = 0
    for sentence in range(first_word.shape[0] - 1):
        begin, n_words, n_here = first_word[sentence], first_word[sentence + 1] - first_word[sentence], 0
        best_kernel(table, first_label, scores, begin, begin + n_words, best)
        for start in range(n_words):
            if not best[0, start] > 0.0:
                continue
            node_level[0], node_word[0], node_prob[0] = 0, start, alive[begin + start, 0]
            n_waiting = 1
            while n_waiting:
                if n_here == most:  # every node leads to a mention
                    was_cut[sentence] = True
                    break
                n_waiting -= 1
                level, word, prob = node_level[n_waiting], node_word[n_waiting], node_prob[n_waiting]
                path, row = node_parts[n_waiting].copy(), scores[begin + word]
                goes_on = level < n_levels - 1
                first_part, first_gap, end_label = labels_of_level_kernel(table, 0, level)
                of_parts = row[first_label + first_part :]
                n_parts, top, chosen = min(longest_part, n_words - word), -np.inf, 0
                for place in range(n_parts):
                    value = of_parts[place] + (best[n_levels + level, word + place] if goes_on else 0.0)
                    if value > top:
                        top, chosen = value, place
                for place in range(n_parts):
                    value = of_parts[place] + (best[n_levels + level, word + place] if goes_on else 0.0)
                    if not (value > 0.0 or (place == chosen and top <= 0.0)):
                        continue
                    last = word + place
                    here = prob * probs[begin + word, first_part + place]
                    path[level, 0], path[level, 1] = word, last + 1
                    n_gaps = min(longest_gap, n_words - last - 2) if goes_on else 0
                    is_end, of_last = True, scores[begin + last, first_label:]
                    if goes_on:
                        highest, next_gap = of_last[end_label], -1  # -1: the end
                        is_end = highest > 0.0
                        for gap in range(n_gaps):
                            of_gap = of_last[first_gap + gap] + best[level + 1, last + 2 + gap]
                            if of_gap > highest:
                                highest, next_gap = of_gap, gap
                        is_end = is_end or (highest <= 0.0 and next_gap < 0)
                        for gap in range(n_gaps):
                            of_gap = of_last[first_gap + gap] + best[level + 1, last + 2 + gap]
                            if of_gap > 0.0 or (highest <= 0.0 and gap == next_gap):
                                if n_waiting == most:  # every node leads to a mention, so there are more
                                    was_cut[sentence] = True
                                    break
                                node_level[n_waiting], node_word[n_waiting] = level + 1, last + 2 + gap
                                node_prob[n_waiting] = here * probs[begin + last, first_gap + gap]
                                node_parts[n_waiting] = path
                                n_waiting += 1
                    if is_end:
                        if n_here == most:
                            was_cut[sentence] = True
                            continue
                        if n_rows == rows.prob.shape[0]:
                            return -1
                        whole = here * probs[begin + last, end_label] if goes_on else here
                        rows.sentence[n_rows], rows.prob[n_rows], rows.n_parts[n_rows] = sentence, whole, level + 1
                        rows.parts[n_rows, : level + 1] = path[: level + 1]
                        n_rows, n_here = n_rows + 1, n_here + 1
    return n_rows
