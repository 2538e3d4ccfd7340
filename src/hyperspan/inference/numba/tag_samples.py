"""Sample tag sequences with bodies or heads in proportion to their probability, and read their mentions.

Mentions other than plain runs (whose probability `runs` computes) occur only in sequences with *linking* tags, those of
bodies and heads. So only such sequences are drawn to count these mentions: first the last linking tag, then the tags
before it, then how far a run continues after it. Such samples are weighted by the probability p of having linking tags,
so p² times as many samples give the same precision.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hyperspan.compiled.kernel import kernel
from hyperspan.inference.numba.tag_readings import FORMS, is_linking, read_kernel

LEAST_LINKING = 0.005
"""Sentences whose linking tags are less probable than this are skipped: it bounds the error of a probability."""

_POOL = 65_537


@lru_cache(maxsize=4)
def pool_of(seed: int) -> NDArray[np.float64]:
    """Return random numbers in [0, 1); every sentence starts at the first one, and they are reused cyclically."""
    return np.random.default_rng(seed).random(_POOL)


@kernel
def linked_kernel(messages, first_word, is_wanted, max_components, n_samples, pool, share, rows):
    """Write the mentions other than plain runs of sampled sequences with linking tags, once per occurrence.

    ``share`` gets the weight of an occurrence in each sentence. Returns the number of rows, or -1 if there is no space.
    """
    alpha, beta = messages.alpha, messages.beta
    n_words, n_tags = alpha.shape
    component, is_read = np.empty((n_words, 5), dtype=np.int32), np.empty(n_tags // FORMS, dtype=np.bool_)
    tags, after = np.empty(n_words, dtype=np.int64), np.empty((n_words, n_tags))
    n_rows = 0
    for sentence in range(is_wanted.shape[0]):
        first, last = first_word[sentence], first_word[sentence + 1]
        # The sum of the probabilities of linking tags is at least the probability that there is any.
        if not is_wanted[sentence] or linking_kernel(alpha, beta, first, last) < LEAST_LINKING:
            continue
        after_kernel(messages, first, last, after)
        prob = min(1.0, linking_kernel(alpha, after, first, last))
        if prob < LEAST_LINKING:
            continue
        n_drawn = math.ceil(n_samples * prob * prob)
        share[sentence] = prob / n_drawn
        next, word, tag, so_far = 0, first, 0, 0.0
        for sample in range(n_drawn):
            if n_rows + 2 * (last - first) > rows.shape[0]:
                return -1
            # Stratified: one in each of n_drawn equal intervals, which reduces the variance.
            wanted = (sample + pool[next]) / n_drawn * prob
            while so_far <= wanted and (word < last - 1 or tag < n_tags - 1):
                tag += 1
                if tag == n_tags:
                    word, tag = word + 1, 1
                if is_linking(tag):
                    so_far += alpha[word, tag] * after[word, tag]
            next = draw_kernel(messages, first, last, after, word, tag, pool, (next + 1) % _POOL, tags)
            n_rows = read_kernel(tags[first:last], sentence, max_components, False, component, is_read, rows, n_rows)
    return n_rows


@kernel
def linking_kernel(alpha, other, first, last):
    """Return the sum of products at all linking tags of a sentence."""
    total = 0.0
    for word in range(first, last):
        for body in range(3, alpha.shape[1], FORMS):
            for tag in range(body, body + 4):
                total += alpha[word, tag] * other[word, tag]
    return total


@kernel
def after_kernel(messages, first, last, after):
    """Fill ``after`` (n_words, n_tags): the sums over everything without linking tags after a word."""
    n_tags = after.shape[1]
    for word in range(last - 1, first - 1, -1):
        after[word] = 1.0 if word == last - 1 else 0.0
        for next in range(n_tags):
            if word < last - 1 and not is_linking(next):
                state = messages.potentials[word + 1, next] * after[word + 1, next]
                for tag in range(n_tags):
                    after[word, tag] += messages.moves[tag, next] * state


@kernel
def draw_kernel(messages, first, last, after, word, tag, pool, next, tags):
    """Draw the tags around the last linking one; return the index of the next random number."""
    moves, potentials, alpha = messages.moves, messages.potentials, messages.alpha
    tags[word:last] = 0
    tags[word] = tag
    if (tag - 1) % FORMS > 3:  # a head: a run may continue after it
        inside = tag - (tag - 1) % FORMS + 1
        for at in range(word + 1, last):
            goes_on = moves[tags[at - 1], inside] * potentials[at, inside] * after[at, inside]
            draw = pool[next] * after[at - 1, tags[at - 1]]
            next = (next + 1) % _POOL
            if draw >= goes_on:
                break
            tags[at] = inside
    for at in range(word - 1, first - 1, -1):
        here = tags[at + 1]
        draw = pool[next] * alpha[at + 1, here] / potentials[at + 1, here]
        next = (next + 1) % _POOL
        before, running = 0, alpha[at, 0] * moves[0, here]
        while running <= draw and before < moves.shape[0] - 1:
            before += 1
            running += alpha[at, before] * moves[before, here]
        tags[at] = before
    return next
