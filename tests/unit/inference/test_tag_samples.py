"""Samples of tag sequences with bodies and heads: drawn in proportion to their probability, and counted."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from hyperspan.inference.numba.chain import chain_messages
from hyperspan.inference.numba.tag_readings import WIDTH, parts_of
from hyperspan.inference.numba.tag_samples import linked_kernel, pool_of
from hyperspan.structures import Linear

pytestmark = pytest.mark.kernel


def test_only_sequences_with_bodies_or_heads_are_drawn_and_count_as_much_as_they_are_probable() -> None:
    rng, structure = np.random.default_rng(4), Linear(("Finding",))
    scores, transitions = rng.normal(0.0, 1.0, (4, 7)), rng.normal(0.0, 1.0, (7, 7))
    weights: Counter[tuple[tuple[int, int], ...]] = Counter()
    total = linked = 0.0
    for tags in product(range(7), repeat=4):
        moved = sum(transitions[tags[word], tags[word + 1]] for word in range(3))
        weight = np.exp(scores[range(4), tags].sum() + moved)
        total += weight
        if max(tags) > 2:
            linked += weight
            plain = {mention.parts for mention in structure.decode(tuple(enumerate(tags)), "enough").mentions}
            for parts in plain - plain_runs(tags):
                weights[parts] += weight
    first_word = np.array([0, 4, 8])
    _, messages = chain_messages(np.concatenate([scores, scores]), transitions, first_word)
    n_samples, share, rows = 5_000, np.zeros(2), np.empty((60_000, WIDTH), dtype=np.int32)
    n_rows = linked_kernel(messages, first_word, np.array([True, True]), 3, n_samples, pool_of(0), share, rows)
    n_drawn = np.ceil(n_samples * (linked / total) ** 2)
    assert share * n_drawn == pytest.approx([linked / total] * 2, rel=1e-12)
    first, second = np.split(rows[:n_rows], [n_rows // 2])
    assert first[:, 1:].tolist() == second[:, 1:].tolist()
    assert {*first[:, 0].tolist()} == {0}
    assert {*second[:, 0].tolist()} == {1}
    counts = Counter(map(parts_of, first.tolist()))
    assert counts.keys() == weights.keys()
    for parts, count in counts.items():
        prob = weights[parts] / total
        assert abs(count * share[0] - prob) < 5.0 * np.sqrt(prob / n_samples) + 1e-4


def plain_runs(tags: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
    """Return the mentions that are there without any head and body, and that no head touches."""
    found = set()
    for mention in Linear(("Finding",)).decode(tuple(enumerate(tags)), "enough").mentions:
        if len(mention.parts) == 1 and all(tags[word] in (1, 2) for word in mention.words()):
            found.add(mention.parts)
    return found


def test_without_room_it_says_so_and_where_nothing_is_wanted_nothing_is_drawn() -> None:
    first_word, share = np.array([0, 6]), np.zeros(1)
    _, messages = chain_messages(np.zeros((6, 7)), np.zeros((7, 7)), first_word)
    for is_wanted, n_rows in [(True, -1), (False, 0)]:
        rows = np.empty((20, WIDTH), dtype=np.int32)
        assert linked_kernel(messages, first_word, np.array([is_wanted]), 3, 200, pool_of(0), share, rows) == n_rows
