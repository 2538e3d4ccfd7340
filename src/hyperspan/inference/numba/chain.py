"""Compiled forward–backward along a chain of tags, in scaled products.

Every tag can follow every other, so the messages of any two tags at a word differ at most by exp of one word's score
range, and a window of two words bounds what can underflow. Beyond `WINDOW_BOUND`, or if tags or transitions are
forbidden (-inf), `log_space` takes over.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.exponentials import exp_kernel
from hyperspan.compiled.kernel import kernel
from hyperspan.inference.numba.frontier import WINDOW_BOUND


class ChainMessages(NamedTuple):
    """Messages at all words of many sentences.

    Attributes
    ----------
    moves : float64 array of shape (n_tags, n_tags)
        exp of the transitions, scaled so that the greatest is 1.
    potentials : float64 array of shape (n_words, n_tags)
        exp of the scores, scaled so that the greatest of a word is 1, divided by the word's scaling factor.
    alpha, beta : float64 arrays of shape (n_words, n_tags)
        Forward and backward messages; their product is the probability of a tag. ``alpha`` sums to one at every word.
    """

    moves: NDArray[np.float64]
    potentials: NDArray[np.float64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]


def are_within_bounds(scores: NDArray[np.float64], transitions: NDArray[np.float64]) -> bool:
    """Return whether scaled products are accurate for these scores."""
    if not len(scores):
        return True
    with np.errstate(invalid="ignore"):
        spread = np.ptp(scores) + np.ptp(transitions) + np.log(len(transitions))
    return bool(2.0 * spread < WINDOW_BOUND)  # false with -inf: the spread is then inf or NaN


def chain_messages(
    scores: NDArray[np.float64],
    transitions: NDArray[np.float64],
    first_word: NDArray[np.int64],
    transition_marginals: NDArray[np.float64] | None = None,
    is_within: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], ChainMessages]:
    """Return the log totals and the messages of sentences, which are meaningless if scores are not within bounds.

    Expected counts of transitions are added to ``transition_marginals`` (n_tags, n_tags), if given.

    Examples
    --------
    >>> log_total, messages = chain_messages(np.log([[1.0, 3.0], [1.0, 1.0]]), np.zeros((2, 2)), np.array([0, 2]))
    >>> np.exp(log_total).round(6)
    array([8.])
    >>> messages.alpha * messages.beta
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    highest = 0.0 if np.all(transitions == -np.inf) else transitions.max()
    moves = np.exp(transitions - highest)
    messages = ChainMessages(moves, *np.zeros((3, *scores.shape)))
    counts = np.zeros((0, 0)) if transition_marginals is None else np.zeros(moves.shape)
    if is_within is None:
        is_within = np.ones(len(first_word) - 1, dtype=np.bool_)
    log_total = highest * np.maximum(np.diff(first_word) - 1, 0)
    forward_backward_kernel(scores, first_word, is_within, moves.T.copy(), messages, log_total, counts)
    if transition_marginals is not None:
        transition_marginals += counts * moves
    return log_total, messages


@kernel
def forward_backward_kernel(scores, first_word, is_within, moves_into, messages, log_total, counts):
    """Fill the messages of all sentences and add to their log totals; ``moves_into`` is ``moves`` transposed.

    Unless ``counts`` (n_tags, n_tags) is empty, expected counts of transitions over ``moves`` are added to it.
    """
    moves, potentials, alpha, beta = messages
    n_words, n_tags = scores.shape
    for sentence in range(is_within.shape[0]):
        for word in range(first_word[sentence], first_word[sentence + 1]):
            highest = scores[word, 0]
            for tag in range(1, n_tags):
                highest = max(highest, scores[word, tag])
            log_total[sentence] += highest
            for tag in range(n_tags if is_within[sentence] else 0):
                potentials[word, tag] = scores[word, tag] - highest
    exp_kernel(potentials.reshape(-1), n_words * n_tags)
    to_next = np.empty(n_tags)
    for sentence in range(is_within.shape[0]):
        first, last = first_word[sentence], first_word[sentence + 1]
        if not is_within[sentence]:
            continue
        for word in range(first, last):
            alpha[word] = 1.0 if word == first else 0.0
            for before in range(n_tags if word > first else 0):
                state = alpha[word - 1, before]
                for tag in range(n_tags):
                    alpha[word, tag] += state * moves[before, tag]
            total = 0.0
            for tag in range(n_tags):
                alpha[word, tag] *= potentials[word, tag]
                total += alpha[word, tag]
            log_total[sentence] += math.log(total)
            for tag in range(n_tags):
                alpha[word, tag] /= total
                potentials[word, tag] /= total
        beta[first:last] = 0.0
        beta[last - 1 : last] = 1.0
        for word in range(last - 2, first - 1, -1):
            for after in range(n_tags):
                to_next[after] = potentials[word + 1, after] * beta[word + 1, after]
            for after in range(n_tags):
                state = to_next[after]
                for tag in range(n_tags):
                    beta[word, tag] += state * moves_into[after, tag]
            if counts.shape[0] > 0:
                for before in range(n_tags):
                    state = alpha[word, before]
                    for after in range(n_tags):
                        counts[before, after] += state * to_next[after]
