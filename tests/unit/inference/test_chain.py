"""Messages along tags, and the probabilities of runs: what going through all sequences gives."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan.inference.automaton import chain_automaton
from hyperspan.inference.numba.chain import chain_messages
from hyperspan.inference.numba.log_space import log_messages
from hyperspan.inference.numba.runs import add_run_probs_kernel, probable_runs_kernel
from hyperspan.inference.numba.tag_readings import WIDTH
from hyperspan.structures import Linear

pytestmark = pytest.mark.kernel


def runs_of(tags: tuple[int, ...]) -> set[tuple[int, int, int]]:
    """The runs of a sequence, in plain words: (type, start, end)."""
    runs, word = set(), 0
    while word < len(tags):
        start, tag = word, tags[word]
        word += 1
        if (tag - 1) % 6 > 1 or tag == 0:
            continue
        type_id = (tag - 1) // 6
        begin, inside, heads = 6 * type_id + 1, 6 * type_id + 2, (6 * type_id + 5, 6 * type_id + 6)
        while word < len(tags) and tags[word] == inside:
            word += 1
        joined_before = tag != begin and start > 0 and tags[start - 1] in heads
        joined_after = word < len(tags) and tags[word] in heads
        if not joined_before and not joined_after:
            runs.add((type_id, start, word))
    return runs


@pytest.mark.parametrize(("types", "n_words"), [(("A",), 1), (("A",), 4), (("A", "B"), 3)])
def test_the_probability_of_a_run_is_that_of_the_sequences_that_have_it(types: tuple[str, ...], n_words: int) -> None:
    rng, n_tags = np.random.default_rng(n_words), 6 * len(types) + 1
    scores, transitions = rng.normal(0.0, 1.5, (n_words + 3, n_tags)), rng.normal(0.0, 1.0, (n_tags, n_tags))
    here = scores[2 : 2 + n_words]
    exact, total = {}, 0.0
    for tags in product(range(n_tags), repeat=n_words):
        moved = sum(transitions[before, after] for before, after in pairwise(tags))
        weight = np.exp(here[range(n_words), tags].sum() + moved)
        total += weight
        for run in runs_of(tags):
            exact[run] = exact.get(run, 0.0) + weight
    first_word = np.array([0, 2, 2 + n_words, 3 + n_words])
    _, messages = chain_messages(scores, transitions, first_word)
    runs = np.array([(1, type_id, start, end, 0, 0, 0, 0) for type_id, start, end in exact], dtype=np.int32)
    for is_within in (np.ones(3, dtype=np.bool_), np.zeros(3, dtype=np.bool_)):
        probs = np.full(len(runs), 0.25)
        add_run_probs_kernel(messages, first_word, is_within, runs, probs)
        wanted = [0.25 + is_within[1] * weight / total for weight in exact.values()]
        assert probs.tolist() == pytest.approx(wanted, rel=1e-12)
    only_this = np.array([False, True, False])
    for threshold in (0.001, 0.05, 0.3):
        rows = np.empty((100, WIDTH), dtype=np.int32)
        n_rows = probable_runs_kernel(messages, first_word, only_this, threshold, rows)
        likely = [run for run, weight in exact.items() if weight / total >= threshold]
        assert sorted(rows[:n_rows].tolist()) == sorted([1, *run, 0, 0, 0, 0] for run in likely)
        too_few = rows[: max(0, n_rows - 1)]
        assert probable_runs_kernel(messages, first_word, only_this, threshold, too_few) == (-1 if n_rows else 0)


@settings(max_examples=50)
@given(lengths=st.lists(st.integers(0, 9), max_size=4), seed=st.integers(0, 999), n_types=st.integers(1, 2))
def test_the_product_of_messages_is_the_probability_of_a_tag(lengths: list[int], seed: int, n_types: int) -> None:
    structure, rng = Linear(("A", "B")[:n_types]), np.random.default_rng(seed)
    pieces = [rng.normal(0.0, 3.0, (n_words, structure.n_labels)) for n_words in lengths]
    transitions = rng.normal(0.0, 2.0, (structure.n_labels, structure.n_labels))
    scores = np.concatenate([np.zeros((0, structure.n_labels)), *pieces])
    counts = np.zeros_like(transitions)
    log_total, messages = chain_messages(scores, transitions, np.cumsum([0, *lengths]), counts)
    in_logs = [log_messages(chain_automaton(transitions), piece) for piece in pieces]
    assert log_total.tolist() == pytest.approx([one.log_total for one in in_logs], rel=1e-12)
    wanted = np.concatenate([np.zeros((0, structure.n_labels)), *(one.marginals for one in in_logs)])
    np.testing.assert_allclose(messages.alpha * messages.beta, wanted, rtol=1e-9, atol=1e-15)
    assert counts.sum() == pytest.approx(sum(max(0, n_words - 1) for n_words in lengths))
