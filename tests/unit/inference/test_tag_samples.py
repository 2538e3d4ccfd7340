"""Samples of tag sequences with bodies and heads: drawn in proportion to their probability, and counted."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from hyperspan.inference.numba.chain import chain_messages
from hyperspan.inference.numba.tag_readings import parts_of
from hyperspan.inference.numba.tag_samples import CountingWorkspace, clear_kernel, count_linked_kernel, pool_of
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
    _, messages = chain_messages(scores, transitions, np.array([0, 4]))
    room = CountingWorkspace.of(structure, 4, 50)
    n_samples = 5_000
    n_rows, share = count_linked_kernel(messages, 0, 4, 3, n_samples, pool_of(0), room)
    n_drawn = np.ceil(n_samples * (linked / total) ** 2)
    assert share * n_drawn == pytest.approx(linked / total, rel=1e-12)
    assert n_rows == len(weights)
    rows, counts = room.rows[:n_rows].tolist(), room.counts[:n_rows].tolist()
    for row, count in zip(rows, counts, strict=True):
        prob = weights[parts_of(row)] / total
        assert abs(count * share - prob) < 5.0 * np.sqrt(prob / n_samples) + 1e-4
    clear_kernel(room, n_rows)
    assert (room.slots == -1).all()


def plain_runs(tags: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
    """Return the mentions that are there without any head and body, and that no head touches."""
    found = set()
    for mention in Linear(("Finding",)).decode(tuple(enumerate(tags)), "enough").mentions:
        if len(mention.parts) == 1 and all(tags[word] in (1, 2) for word in mention.words()):
            found.add(mention.parts)
    return found


def test_a_table_without_room_says_so() -> None:
    structure = Linear(("Finding",))
    _, messages = chain_messages(np.zeros((6, 7)), np.zeros((7, 7)), np.array([0, 6]))
    assert count_linked_kernel(messages, 0, 6, 3, 200, pool_of(0), CountingWorkspace.of(structure, 6, 5))[0] == -1
