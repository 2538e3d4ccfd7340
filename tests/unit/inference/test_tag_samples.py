"""Samples of tag sequences: drawn in proportion to their probability, and read as one would one by one."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan.inference import distribution
from hyperspan.inference.automaton import chain_automaton
from hyperspan.inference.paths import sample_labels
from hyperspan.inference.tag_readings import parts_of
from hyperspan.inference.tag_samples import (
    SamplingRoom,
    clear_kernel,
    count_linked_kernel,
    count_mentions,
    draw_tags,
    pool_of,
)
from hyperspan.inference.tag_sums import are_within_bounds, tag_sums
from hyperspan.structures import Linear, decode_enough

pytestmark = pytest.mark.kernel


@settings(max_examples=150)
@given(data=st.data(), max_components=st.sampled_from([1, 2, 3]))
def test_counts_are_those_of_reading_every_sequence(data: st.DataObject, max_components: int) -> None:
    structure = Linear(("Drug", "Finding"), max_components)
    n_words = data.draw(st.integers(0, 8))
    # Mostly contiguous tags, so that types with and without heads and bodies stand side by side.
    tag = st.sampled_from([0, 0, 1, 2, 2, 7, 8, 8, *range(13)])
    rows = data.draw(st.lists(st.lists(tag, min_size=n_words, max_size=n_words), min_size=1, max_size=6))
    tags = np.array(rows, dtype=np.int64).reshape(len(rows), n_words)
    wanted: Counter[tuple[str, tuple[tuple[int, int], ...]]] = Counter()
    for row in rows:
        wanted.update(
            (mention.type, mention.parts) for mention in decode_enough(structure, tuple(enumerate(row))).mentions
        )
    assert count_mentions(structure, tags) == dict(wanted)


def test_draws_come_in_proportion_to_their_probability() -> None:
    rng = np.random.default_rng(0)
    scores, transitions = rng.normal(0.0, 1.0, (3, 7)), rng.normal(0.0, 1.0, (7, 7))
    n_samples = 40_000
    drawn = Counter(map(tuple, draw_tags(scores, transitions, rng.random((n_samples, 4))).tolist()))
    weights = {
        tags: np.exp(
            sum(scores[word, tag] for word, tag in enumerate(tags))
            + transitions[tags[0], tags[1]]
            + transitions[tags[1], tags[2]]
        )
        for tags in product(range(7), repeat=3)
    }
    total = sum(weights.values())
    for tags, weight in weights.items():
        prob = weight / total
        assert abs(drawn[tags] / n_samples - prob) < 5.0 * np.sqrt(prob / n_samples) + 1e-4


@settings(max_examples=30)
@given(n_words=st.integers(0, 12), seed=st.integers(0, 999))
def test_scaled_products_and_logs_draw_the_same(n_words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, transitions = rng.normal(0.0, 2.0, (n_words, 13)), rng.normal(0.0, 2.0, (13, 13))
    assert are_within_bounds(scores, transitions)
    fast = draw_tags(scores, transitions, np.random.default_rng(seed).random((20, n_words + 1)))
    slow = sample_labels(chain_automaton(transitions), scores, 20, np.random.default_rng(seed))[:, :, 0]
    np.testing.assert_array_equal(fast, slow)


def test_beyond_the_bounds_logs_do_the_work() -> None:
    structure = Linear(("Finding",))
    scores = np.zeros((4, 7))
    scores[1, 1:] = -900.0
    assert not are_within_bounds(scores, np.zeros((7, 7)))
    scores[2, :6] = -np.inf
    assert not are_within_bounds(scores, np.zeros((7, 7)))
    drawn = distribution(structure, scores).sample(50)
    assert {dict(outcome.edges)[1] for outcome in drawn} == {0}
    assert {dict(outcome.edges)[2] for outcome in drawn} == {6}
    assert len({outcome.edges for outcome in drawn}) > 5


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
            plain = {mention.parts for mention in decode_enough(structure, tuple(enumerate(tags))).mentions}
            for parts in plain - plain_runs(tags):
                weights[parts] += weight
    sums = tag_sums(scores, transitions, np.array([0, 4]))
    room = SamplingRoom.of(structure, 4, 50)
    n_samples = 5_000
    n_rows, share = count_linked_kernel(sums, 0, 4, 3, n_samples, pool_of(0), room)
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
    for mention in decode_enough(Linear(("Finding",)), tuple(enumerate(tags))).mentions:
        if len(mention.parts) == 1 and all(tags[word] in (1, 2) for word in mention.words()):
            found.add(mention.parts)
    return found


def test_a_table_without_room_says_so() -> None:
    structure = Linear(("Finding",))
    sums = tag_sums(np.zeros((6, 7)), np.zeros((7, 7)), np.array([0, 6]))
    assert count_linked_kernel(sums, 0, 6, 3, 200, pool_of(0), SamplingRoom.of(structure, 6, 5))[0] == -1
    tags = np.random.default_rng(0).integers(0, 7, (300, 90))
    assert len(count_mentions(structure, tags)) > 1_024
