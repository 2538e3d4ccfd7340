"""Sums, maxima and samples over the paths of an automaton, in log space: correct for any finite scores and for -inf.

These kernels work for every structure that is an automaton. The faster `frontier` and `chain` agree with them as long
as scores are within bounds, and fall back to them otherwise.

Scores have shape (n_words, n_labels). Row t of a table belongs to the time before phase ``t % n_phases`` of word
``t // n_phases``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.errors import StructureError
from hyperspan.inference.automaton import Automaton
from hyperspan.inference.outcomes import Outcome
from hyperspan.structures.structure import Encoding


class LogMessages(NamedTuple):
    """The results of a forward and a backward pass over one sentence.

    Attributes
    ----------
    log_total : float
    log_alpha, log_beta : float64 arrays of shape (n_words * n_phases + 1, n_states)
        Forward and backward messages.
    marginals : float64 array of shape (n_words, n_labels)
        The probability of each label; zero if no path is possible.
    arc_marginals : float64 array of shape (n_arcs,)
        The expected count of each arc.
    """

    log_total: float
    log_alpha: NDArray[np.float64]
    log_beta: NDArray[np.float64]
    marginals: NDArray[np.float64]
    arc_marginals: NDArray[np.float64]


def log_messages(automaton: Automaton, scores: NDArray[np.float64]) -> LogMessages:
    """Run the forward and backward passes over one sentence."""
    log_total, log_alpha = _forward(automaton, scores)
    log_beta, marginals = np.empty(log_alpha.shape), np.zeros(scores.shape)
    arc_marginals = np.zeros(len(automaton.arc_from))
    log_backward_kernel(automaton, scores, log_alpha, log_total, log_beta, marginals, arc_marginals)
    return LogMessages(log_total, log_alpha, log_beta, marginals, arc_marginals)


def _forward(automaton: Automaton, scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the log sum over all complete paths, and the forward messages."""
    log_alpha = np.empty((len(scores) * automaton.n_phases + 1, automaton.n_states))
    log_forward_kernel(automaton, scores, log_alpha)
    return float(np.logaddexp.reduce(log_alpha[-1, automaton.final])), log_alpha


def k_best_paths(automaton: Automaton, scores: NDArray[np.float64], k: int, first_label: int = 0) -> list[Outcome]:
    """Return the k best outcomes of a sentence, best first; ``first_label`` is added to the labels."""
    n_words = len(scores)
    shape = (n_words * automaton.n_phases + 1, automaton.n_states, k)
    best_arc, best_rank = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int16 if k < 2**15 else np.int64)
    found, found_score = np.empty((k, 2), dtype=np.int64), np.empty(k)
    room = np.empty((2, automaton.n_states, k))
    n_found = k_best_kernel(automaton, k, scores, room, best_arc, best_rank, found, found_score)
    outcomes = []
    for (state, rank), score in zip(found[:n_found].tolist(), found_score[:n_found].tolist(), strict=True):
        labels = np.empty((n_words, automaton.n_phases), dtype=np.int64)
        for time in reversed(range(labels.size)):  # follow the back-pointers
            arc, rank = best_arc[time + 1, state, rank], best_rank[time + 1, state, rank]
            labels.flat[time], state = automaton.arc_label[arc], automaton.arc_from[arc]
        outcomes.append(Outcome(score, edges_of(labels, first_label)))
    return outcomes


def sample_labels(
    automaton: Automaton, scores: NDArray[np.float64], n_samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw outcomes as labels, of shape (n_samples, n_words, n_phases); -1 for a phase without a label."""
    log_total, log_alpha = _forward(automaton, scores)
    if log_total == -np.inf:
        raise StructureError("nothing can be drawn: every outcome is forbidden by scores of -inf")
    n_times, n_phases = len(log_alpha) - 1, automaton.n_phases
    labels = np.empty((n_samples, len(scores), n_phases), dtype=np.int64)
    uniform = rng.random((n_samples, n_times + 1))
    states = _chosen(np.where(automaton.final, log_alpha[n_times], -np.inf), uniform[:, n_times])
    for time in reversed(range(n_times)):
        word, phase = divmod(time, n_phases)
        before = np.empty_like(states)
        for state in np.unique(states).tolist():
            is_here = states == state
            arcs = slice(*automaton.first_arc[phase * automaton.n_states + state :][:2])
            source, label = automaton.arc_from[arcs], automaton.arc_label[arcs]
            weights = automaton.arc_score[arcs] + np.where(label < 0, 0.0, scores[word, label])
            arc = _chosen(log_alpha[time, source] + weights, uniform[is_here, time])
            labels[is_here, word, phase], before[is_here] = label[arc], source[arc]
        states = before
    return labels


def _chosen(log_weights: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Choose among weights in proportion to them, once for each random number in [0, 1)."""
    sums = np.cumsum(np.exp(log_weights - log_weights.max()))
    chosen: NDArray[np.int64] = np.searchsorted(sums, uniform * sums[-1], side="right")
    return chosen


def edges_of(labels: NDArray[np.int64], first_label: int) -> Encoding:
    """Return the labels of an outcome, of shape (n_words, n_phases), as edges; ``first_label`` is added to them."""
    words, phases = np.nonzero(labels >= 0)
    return tuple(sorted(zip(words.tolist(), (labels[words, phases] + first_label).tolist(), strict=True)))


@kernel
def arc_weight(automaton, arc, word, scores):
    """Return the score of an arc at a word."""
    label = automaton.arc_label[arc]
    return automaton.arc_score[arc] if label < 0 else automaton.arc_score[arc] + scores[word, label]


@kernel
def log_forward_kernel(automaton, scores, log_alpha):
    """Fill ``log_alpha`` of shape (n_words * n_phases + 1, n_states): the log sum over paths to each state."""
    n_words, n_states, n_phases = scores.shape[0], automaton.n_states, automaton.n_phases
    first_arc, arc_from = automaton.first_arc, automaton.arc_from
    log_alpha[0, :] = -np.inf
    log_alpha[0, automaton.start] = 0.0
    for time in range(n_words * n_phases):
        word, phase = time // n_phases, time % n_phases
        for state in range(n_states):
            begin, end = first_arc[phase * n_states + state], first_arc[phase * n_states + state + 1]
            top = -np.inf
            for arc in range(begin, end):
                value = log_alpha[time, arc_from[arc]] + arc_weight(automaton, arc, word, scores)
                top = max(top, value)
            if top == -np.inf:
                log_alpha[time + 1, state] = -np.inf
                continue
            total = 0.0
            for arc in range(begin, end):
                value = log_alpha[time, arc_from[arc]] + arc_weight(automaton, arc, word, scores)
                total += math.exp(value - top)
            log_alpha[time + 1, state] = top + math.log(total)


@kernel
def log_backward_kernel(automaton, scores, log_alpha, log_total, log_beta, marginals, arc_marginals):
    """Fill ``log_beta``, and add probabilities to ``marginals`` (n_words, n_labels) and ``arc_marginals``."""
    n_words, n_states, n_phases = scores.shape[0], automaton.n_states, automaton.n_phases
    first_arc, arc_from, arc_label = automaton.first_arc, automaton.arc_from, automaton.arc_label
    for state in range(n_states):
        log_beta[n_words * n_phases, state] = 0.0 if automaton.final[state] else -np.inf
    for time in range(n_words * n_phases - 1, -1, -1):
        word, phase = time // n_phases, time % n_phases
        before, after = log_beta[time], log_beta[time + 1]
        for state in range(n_states):
            before[state] = -np.inf
        for state in range(n_states):
            if after[state] == -np.inf:
                continue
            for arc in range(first_arc[phase * n_states + state], first_arc[phase * n_states + state + 1]):
                weight = arc_weight(automaton, arc, word, scores)
                if weight == -np.inf:
                    continue
                source = arc_from[arc]
                value = weight + after[state]
                low, high = min(before[source], value), max(before[source], value)
                before[source] = high + math.log1p(math.exp(low - high))
                if log_total > -np.inf:
                    prob = math.exp(log_alpha[time, source] + value - log_total)
                    arc_marginals[arc] += prob
                    if arc_label[arc] >= 0:
                        marginals[word, arc_label[arc]] += prob


@kernel
def k_best_kernel(automaton, k, scores, best, best_arc, best_rank, found, found_score):
    """Find the k best paths.

    ``best`` of shape (2, n_states, k) is scratch space for scores in decreasing order (-inf if there are fewer),
    alternating between the times before and after a phase. ``best_arc`` and ``best_rank`` of shape (n_times + 1,
    n_states, k) get the back-pointers, ``found`` of shape (k, 2) the state and rank of the k best complete paths,
    ``found_score`` their scores. Returns how many there are. In a tie, the arc that comes first in the automaton wins.
    """
    n_words, n_states, n_phases = scores.shape[0], automaton.n_states, automaton.n_phases
    first_arc, arc_from = automaton.first_arc, automaton.arc_from
    best[0, :, :] = -np.inf
    best[0, automaton.start, 0] = 0.0
    n_times = n_words * n_phases
    for time in range(n_times):
        word, phase = time // n_phases, time % n_phases
        before, after = time % 2, (time + 1) % 2
        for state in range(n_states):
            best[after, state, :] = -np.inf
            for arc in range(first_arc[phase * n_states + state], first_arc[phase * n_states + state + 1]):
                weight = arc_weight(automaton, arc, word, scores)
                for rank in range(k):
                    value = best[before, arc_from[arc], rank] + weight
                    if not value > best[after, state, k - 1]:
                        break  # scores decrease with rank, so no later one fits either
                    place = k - 1
                    while place > 0 and value > best[after, state, place - 1]:
                        best[after, state, place] = best[after, state, place - 1]
                        best_arc[time + 1, state, place] = best_arc[time + 1, state, place - 1]
                        best_rank[time + 1, state, place] = best_rank[time + 1, state, place - 1]
                        place -= 1
                    best[after, state, place] = value
                    best_arc[time + 1, state, place] = arc
                    best_rank[time + 1, state, place] = rank
    last = n_times % 2
    n_found = 0
    used = np.zeros(n_states, dtype=np.int64)
    while n_found < k:
        winner = -1
        for state in range(n_states):
            if automaton.final[state] and used[state] < k:
                value = best[last, state, used[state]]
                if value > -np.inf and (winner < 0 or value > best[last, winner, used[winner]]):
                    winner = state
        if winner < 0:
            break
        found[n_found, 0], found[n_found, 1] = winner, used[winner]
        found_score[n_found] = best[last, winner, used[winner]]
        used[winner] += 1
        n_found += 1
    return n_found
