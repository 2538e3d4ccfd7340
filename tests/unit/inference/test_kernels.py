"""Each kernel agrees with its plain-Python reference; scaled products agree with logs, on both sides of the bound."""

from __future__ import annotations

import math
from itertools import pairwise

import numba
import numpy as np
import pytest

from enumeration import random_scores
from hyperspan import Mention
from hyperspan.inference import OVER, Over, distribution, frontier, sum_batch
from hyperspan.inference.algebra import COUNT, LOG_SUM, k_best
from hyperspan.inference.automaton import chain_automaton, staircase_automaton
from hyperspan.inference.chain import allowed_range_kernel, chain_expected_kernel
from hyperspan.inference.chain_reference import chain_reference
from hyperspan.inference.derivations import inside_kernel
from hyperspan.inference.derivations_reference import derivations_reference
from hyperspan.inference.exponentials import exp_kernel
from hyperspan.inference.frontier import (
    WINDOW_BOUND,
    frontier_expected_kernel,
    frontier_sum_kernel,
    is_within_bounds_kernel,
    staircase_table,
)
from hyperspan.inference.frontier_reference import frontier_reference
from hyperspan.inference.paths import (
    k_best_paths,
    log_expected_kernel,
    log_forward_kernel,
    log_total_kernel,
)
from hyperspan.structures import Hypergraph, Linear, Staircase, structure
from hyperspan.structures.staircase import END, NO_START, START, STAY

pytestmark = pytest.mark.kernel

STAIRCASES = [Staircase(n_parts, exact) for n_parts in (1, 2, 3, 4) for exact in (False, True)] + [Staircase(5)]
needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes minutes with the compiler off")


def one_block(staircase: Staircase) -> Hypergraph:
    return Hypergraph("test", ("Finding",), (staircase,))


def summed_scaled(staircase: Staircase, scores: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Sum in scaled products whatever the scores: forward only, forward and backward, edge probabilities."""
    table, n_words, n_nodes = staircase_table(staircase), len(scores), staircase.n_nodes
    n_states = 1 << n_nodes
    exps, weights = np.empty(scores.shape), np.empty((n_words, 4 * n_nodes))
    alone = frontier_sum_kernel(table, 0, scores, 0, n_words, np.empty((n_nodes + 2) * n_states), exps, weights)
    states, expected = np.empty((n_words * (n_nodes + 1) + 1) * n_states), np.empty(scores.shape)
    both, _ = frontier_expected_kernel(
        table, 0, scores, 0, n_words, np.inf, states, np.empty(n_states), exps, weights, np.empty(4 * n_nodes), expected
    )
    return alone, both, expected


def summed_in_logs(automaton, scores: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Sum in log space whatever the scores: the total, the probabilities of labels, the counts of arcs."""
    log_forward = np.empty((len(scores) * automaton.n_phases + 1, automaton.n_states))
    log_forward_kernel(automaton, scores, log_forward)
    log_total = log_total_kernel(automaton, log_forward)
    expected, by_arc = np.zeros(scores.shape), np.zeros(len(automaton.arc_from))
    if log_total > -np.inf:
        log_expected_kernel(automaton, scores, log_forward, log_total, expected, by_arc)
    return log_total, expected, by_arc


def is_within_bounds(staircase: Staircase, scores: np.ndarray) -> bool:
    return bool(is_within_bounds_kernel(staircase_table(staircase), 0, scores, 0, len(scores)))


@pytest.mark.parametrize("staircase", STAIRCASES, ids=str)
@pytest.mark.parametrize("forbidden", [0.0, 0.1, 0.4])
def test_scaled_products_and_logs_agree_with_the_reference(staircase: Staircase, forbidden: float) -> None:
    rng = np.random.default_rng(0)
    for n_words in (1, 2, 5 if staircase.n_parts > 3 else 7):
        scores = random_scores(rng, one_block(staircase), n_words, size=2.0, forbidden=forbidden)
        wanted = frontier_reference(staircase, scores.tolist(), LOG_SUM)
        alone, both, expected = summed_scaled(staircase, scores)
        log_total, log_expected, _ = summed_in_logs(staircase_automaton(staircase), scores)
        if wanted == -math.inf:
            assert alone == both == log_total == -math.inf
        else:
            assert [alone, both, log_total] == pytest.approx([wanted] * 3, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(expected, log_expected, rtol=1e-10, atol=1e-14)
        assert np.all(expected[np.isneginf(scores)] == 0.0)
        assert np.all(log_expected[np.isneginf(scores)] == 0.0)


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(2), Staircase(3), Staircase(3, exact=True)], ids=str)
@pytest.mark.parametrize("size", [1.0, 1000.0])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_batches_agree_with_the_references(staircase: Staircase, size: float, forbidden: float) -> None:
    rng, made = np.random.default_rng(1), one_block(staircase)
    lengths = [3, 0, 1, 6, 2]
    scores = random_scores(rng, made, sum(lengths), size=size, forbidden=forbidden)
    first_word = np.cumsum([0, *lengths])
    over_encodings = sum_batch(made, scores, first_word, n_threads=1)
    over_sets = sum_batch(made, scores, first_word, over="mention-sets", n_threads=1)
    for sentence, (first, last) in enumerate(pairwise(first_word)):
        rows = scores[first:last].tolist()
        wanted = frontier_reference(staircase, rows, LOG_SUM)
        assert over_encodings.log_partition[sentence] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        wanted = derivations_reference(staircase, rows, LOG_SUM)
        assert over_sets.log_partition[sentence] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    for totals in (over_encodings, over_sets):
        assert np.all(np.isfinite(totals.expected))
        assert np.all(totals.expected[np.isneginf(scores)] == 0.0)
    assert np.all(over_encodings.expected <= 1.0 + 1e-9)


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(2), Staircase(3), Staircase(3, exact=True)], ids=str)
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_k_best_agrees_with_the_reference(staircase: Staircase, forbidden: float) -> None:
    rng, made = np.random.default_rng(2), one_block(staircase)
    for n_words, k in [(1, 1), (3, 2), (4, 7)]:
        scores = random_scores(rng, made, n_words, forbidden=forbidden)
        found = k_best_paths(staircase_automaton(staircase), scores, k)
        wanted = frontier_reference(staircase, scores.tolist(), k_best(k))
        assert [outcome.score for outcome in found] == pytest.approx([score for score, _ in wanted])
        assert [outcome.edges for outcome in found] == [tuple(sorted(edges)) for _, edges in wanted]
        for outcome in found:
            assert sum(scores[word, label] for word, label in outcome.edges) == pytest.approx(outcome.score)


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(2), Staircase(3), Staircase(2, exact=True)], ids=str)
def test_greatest_derivation_agrees_with_the_reference(staircase: Staircase) -> None:
    rng, made = np.random.default_rng(3), one_block(staircase)
    for n_words, forbidden in [(1, 0.0), (3, 0.3), (5, 0.0)]:
        scores = random_scores(rng, made, n_words, forbidden=forbidden)
        inside = np.empty((n_words + 1, staircase.n_nodes + 1))
        greatest = inside_kernel(staircase_table(staircase), 0, scores, 0, n_words, True, inside)
        wanted = derivations_reference(staircase, scores.tolist(), k_best(1))
        assert greatest == pytest.approx(wanted[0][0] if wanted else -math.inf)


def test_references_count_only_what_is_allowed() -> None:
    rng, staircase = np.random.default_rng(4), Staircase(2)
    scores = random_scores(rng, one_block(staircase), 4, forbidden=0.3)
    ones = np.where(np.isneginf(scores), -np.inf, 0.0)
    for reference in (frontier_reference, derivations_reference):
        count = reference(staircase, scores.tolist(), COUNT)
        assert math.exp(reference(staircase, ones.tolist(), LOG_SUM)) == pytest.approx(count)


# Chains


def summed_chain(scores: np.ndarray, transitions: np.ndarray) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Sum in scaled products whatever the scores."""
    n_words, n_tags = scores.shape
    exps, states, scales, back = (np.empty(shape) for shape in (scores.shape, scores.shape, n_words, (2, n_tags)))
    expected, moves = np.zeros(scores.shape), np.zeros((n_tags, n_tags))
    arguments = (scores, 0, n_words, np.exp(transitions), exps, states, scales, back, expected, moves)
    return chain_expected_kernel(*arguments, False), chain_expected_kernel(*arguments, True), expected, moves


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
@pytest.mark.parametrize("n_tags", [7, 13])
def test_chain_agrees_with_the_reference(n_tags: int, forbidden: float) -> None:
    rng = np.random.default_rng(5)
    transitions = rng.normal(size=(n_tags, n_tags))
    transitions[rng.random(transitions.shape) < forbidden] = -np.inf
    made = Linear(("A", "B")[: n_tags // 6])
    for n_words in (1, 2, 6):
        scores = random_scores(rng, made, n_words, size=2.0, forbidden=forbidden)
        wanted = chain_reference(scores.tolist(), transitions.tolist(), LOG_SUM)
        automaton = chain_automaton(transitions)
        log_total, log_expected, by_arc = summed_in_logs(automaton, scores)
        alone, both, expected, moves = summed_chain(scores, transitions)
        assert [alone, both, log_total] == pytest.approx([wanted] * 3, rel=1e-12)
        np.testing.assert_allclose(expected, log_expected, rtol=1e-10, atol=1e-14)
        for arc, (source, label) in enumerate(zip(automaton.arc_from, automaton.arc_label, strict=True)):
            if source < n_tags:
                assert moves[source, label] == pytest.approx(by_arc[arc], abs=1e-12)
        best = k_best_paths(automaton, scores, 4)
        ranked = chain_reference(scores.tolist(), transitions.tolist(), k_best(4))
        assert [outcome.score for outcome in best] == pytest.approx([score for score, _ in ranked])
        assert [outcome.edges for outcome in best] == [edges for _, edges in ranked]


@pytest.mark.parametrize("size", [1.0, 1000.0])
def test_chain_batches_agree_with_the_reference(size: float) -> None:
    rng, made = np.random.default_rng(6), Linear(("A",))
    lengths = [4, 0, 1, 7]
    scores, first_word = random_scores(rng, made, sum(lengths), size=size, forbidden=0.1), np.cumsum([0, *lengths])
    transitions = rng.normal(scale=size, size=(7, 7))
    totals = sum_batch(made, scores, first_word, transitions=transitions, n_threads=1)
    for sentence, (first, last) in enumerate(pairwise(first_word)):
        wanted = chain_reference(scores[first:last].tolist(), transitions.tolist(), LOG_SUM)
        assert totals.log_partition[sentence] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(totals.expected.sum(axis=1), 1.0, rtol=1e-9)
    assert totals.expected_transitions.sum() == pytest.approx(sum(max(0, length - 1) for length in lengths))


def test_ranges_leave_out_what_is_forbidden() -> None:
    values = np.array([[-9.0, 9.0], [-np.inf, 3.0], [-2.0, -1.0]])
    assert allowed_range_kernel(values, 1, 3) == (-2.0, 3.0, True)
    assert allowed_range_kernel(values, 0, 1) == (-9.0, 9.0, False)


# The bound


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(2), Staircase(3), Staircase(5)], ids=str)
def test_both_sides_of_the_bound_agree(staircase: Staircase) -> None:
    rng, made = np.random.default_rng(7), one_block(staircase)
    sides = set()
    for size in (1.0, 5.0, 20.0, 60.0, 200.0):
        scores = random_scores(rng, made, 6, size=size)
        fits = is_within_bounds(staircase, scores)
        sides.add(fits)
        log_total, log_expected, _ = summed_in_logs(staircase_automaton(staircase), scores)
        totals = sum_batch(made, scores, np.array([0, 6]), n_threads=1)
        if fits:
            alone, both, expected = summed_scaled(staircase, scores)
            assert [alone, both] == pytest.approx([log_total] * 2, rel=1e-12)
            np.testing.assert_allclose(expected, log_expected, atol=1e-9)
            assert np.array_equal(totals.expected, expected)
        else:
            np.testing.assert_allclose(totals.expected, log_expected, atol=1e-9)
        assert totals.log_partition[0] == pytest.approx(log_total, rel=1e-12)
    assert sides == {True, False}


@pytest.mark.parametrize("size", [10.0, 15.0, 60.0])
def test_beyond_the_bound_the_backward_sweep_tells_what_is_safe(size: float) -> None:
    """Scaled products go on where nothing that matters was lost, and say so where it was."""
    staircase, rng = Staircase(3), np.random.default_rng(11)
    made, is_safe = one_block(staircase), []
    for _ in range(10):
        scores = random_scores(rng, made, 12, size=size)
        assert not is_within_bounds(staircase, scores)
        log_total, log_expected, _ = summed_in_logs(staircase_automaton(staircase), scores)
        totals = sum_batch(made, scores, np.array([0, 12]), n_threads=1)
        assert totals.log_partition[0] == pytest.approx(log_total, rel=1e-12)
        np.testing.assert_allclose(totals.expected, log_expected, atol=1e-9)
        is_safe.append(not np.array_equal(totals.expected, log_expected))
    assert any(is_safe) == (size < 60.0)


def test_a_state_that_underflows_and_matters_is_found_out() -> None:
    """Starting costs e^-800 at the only word where it is allowed, and staying gains it back word by word."""
    staircase, n_words = Staircase(1), 100
    scores = np.zeros((n_words, staircase.n_labels))
    scores[:, START] = -np.inf
    scores[0, START] = -690.0
    scores[:, staircase.label_of[0, STAY]] = 9.0
    scores[1:4, NO_START] = 30.0
    scores[1:4, staircase.label_of[0, STAY]] = -90.0
    scores[4:, staircase.label_of[0, STAY]] = 15.0
    log_total, log_expected, _ = summed_in_logs(staircase_automaton(staircase), scores)
    totals = sum_batch(one_block(staircase), scores, np.array([0, n_words]), n_threads=1)
    assert log_expected[0, START] > 0.99
    assert totals.log_partition[0] == pytest.approx(log_total, rel=1e-12)
    np.testing.assert_allclose(totals.expected, log_expected, atol=1e-9)


def test_what_a_word_takes_and_gives_back_is_not_lost() -> None:
    """Within one word a start gains what staying costs; the words after it make up for the rest."""
    staircase, n_words = Staircase(1), 7
    scores = np.full((n_words, staircase.n_labels), -np.inf)
    scores[:, NO_START] = 0.0
    scores[0, START] = 290.0
    scores[0, staircase.label_of[0, STAY]] = -705.0
    scores[1:6, staircase.label_of[0, STAY]] = 100.0
    scores[6, staircase.label_of[0, END]] = 0.0
    made = one_block(staircase)
    totals = sum_batch(made, scores, np.array([0, n_words]), n_threads=1)
    assert totals.log_partition[0] == pytest.approx(85.0)
    assert totals.expected[0, START] == pytest.approx(1.0)
    assert distribution(made, scores).prob_of([Mention("Finding", [(0, 7)])]) == pytest.approx(1.0)


def test_the_bound_itself_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores just within: the most extreme that scaled products have to bear."""
    staircase, rng = Staircase(3), np.random.default_rng(8)
    shape = rng.normal(size=(40, staircase.n_labels))
    low, high = 0.0, 1000.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if is_within_bounds(staircase, shape * middle) else (low, middle)
    scores = shape * low
    assert is_within_bounds(staircase, scores)
    assert not is_within_bounds(staircase, shape * high * 1.001)
    log_total, log_expected, _ = summed_in_logs(staircase_automaton(staircase), scores)
    alone, both, expected = summed_scaled(staircase, scores)
    assert [alone, both] == pytest.approx([log_total] * 2, rel=1e-12)
    np.testing.assert_allclose(expected, log_expected, atol=1e-9)


@pytest.mark.parametrize("value", [-1000.0, 1000.0, -300.0, 300.0])
def test_large_scores_of_one_edge(value: float) -> None:
    staircase = Staircase(2)
    made = one_block(staircase)
    for label in range(staircase.n_labels):
        scores = np.zeros((5, staircase.n_labels))
        scores[1:3, label] = value
        wanted = frontier_reference(staircase, scores.tolist(), LOG_SUM)
        totals = sum_batch(made, scores, np.array([0, 5]), n_threads=1)
        assert totals.log_partition[0] == pytest.approx(wanted, rel=1e-12)
        assert np.all((totals.expected >= 0.0) & (totals.expected <= 1.0 + 1e-9))


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(3), Staircase(4)], ids=str)
def test_forbidden_starts_in_a_long_sentence(staircase: Staircase) -> None:
    """Nodes that nothing leads to have ever more ways to go on, which must neither overflow nor become NaN."""
    n_words = 120 if numba.config.DISABLE_JIT else 400
    scores = np.zeros((n_words, staircase.n_labels))
    scores[:, 1] = -np.inf
    totals = sum_batch(one_block(staircase), scores, np.array([0, n_words]), n_threads=1)
    assert totals.log_partition[0] == 0.0
    assert np.all(totals.expected[:, 0] == 1.0)
    assert np.all(totals.expected[:, 1:] == 0.0)


def test_forbidden_ends_in_a_long_sentence() -> None:
    """All who start stay: only the one state without a mention can end, however few ways lead there."""
    staircase, n_words = Staircase(2), 160 if numba.config.DISABLE_JIT else 400
    scores = np.zeros((n_words, staircase.n_labels))
    for label, (_, children) in enumerate(staircase.edges, start=2):
        if children & 1:
            scores[:, label] = -np.inf
    totals = sum_batch(one_block(staircase), scores, np.array([0, n_words]), n_threads=1)
    assert totals.log_partition[0] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(totals.expected[:, 0], 1.0, rtol=1e-9)
    assert np.all(totals.expected[:, 1:] == 0.0)


def test_a_tag_cut_off_from_the_others_in_a_long_sentence() -> None:
    made, n_words = Linear(("A",)), 600
    scores, transitions = np.zeros((n_words, 7)), np.zeros((7, 7))
    transitions[0, 1:] = transitions[1:, 0] = -np.inf
    scores[-1, 1:] = -np.inf
    for wants_expected in (False, True):
        totals = sum_batch(
            made,
            scores,
            np.array([0, n_words]),
            transitions=transitions,
            wants_expected=wants_expected,
            n_threads=1,
        )
        assert totals.log_partition[0] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(totals.expected[:, 0], 1.0, rtol=1e-9)
    assert np.all(totals.expected[:, 1:] == 0.0)
    assert totals.expected_transitions[0, 0] == pytest.approx(n_words - 1)


@pytest.mark.parametrize(
    ("name", "over"),
    [("linear", "encodings"), *((name, over) for name in ("mention", "shared", "split") for over in OVER)],
)
def test_a_sentence_in_which_everything_is_forbidden(name: str, over: Over) -> None:
    made = structure(name, ["A", "B"])
    scores = np.zeros((6, made.n_labels))
    scores[3] = -np.inf
    totals = sum_batch(made, scores, np.array([0, 2, 4, 6]), over=over, n_threads=1)
    assert totals.log_partition[1] == -np.inf
    assert np.all(np.isfinite(totals.log_partition[[0, 2]]))
    assert np.all(totals.expected[2:4] == 0.0)
    assert np.all(np.isfinite(totals.expected))
    assert np.all(np.isfinite(totals.expected_transitions))


@needs_compiler
@pytest.mark.parametrize("n_parts", [2, 3])
@pytest.mark.parametrize("size", [1.0, 8.0])
def test_five_thousand_words(n_parts: int, size: float) -> None:
    staircase, n_words = Staircase(n_parts), 5_000
    scores = random_scores(np.random.default_rng(9), one_block(staircase), n_words, size=size)
    log_total, log_expected, _ = summed_in_logs(staircase_automaton(staircase), scores)
    alone, both, expected = summed_scaled(staircase, scores)
    assert np.isfinite(log_total)
    assert [alone, both] == pytest.approx([log_total] * 2, rel=1e-9)
    np.testing.assert_allclose(expected, log_expected, atol=1e-7)
    np.testing.assert_allclose(expected[:, :2].sum(axis=1), 1.0, rtol=1e-10)
    over_sets = sum_batch(one_block(staircase), scores - 4.0, np.array([0, n_words]), over="mention-sets")
    assert np.isfinite(over_sets.log_partition[0])
    assert np.all(np.isfinite(over_sets.expected))


@needs_compiler
def test_a_chain_of_five_thousand_words() -> None:
    rng, n_words = np.random.default_rng(10), 5_000
    scores, transitions = rng.normal(scale=3.0, size=(n_words, 7)), rng.normal(size=(7, 7))
    log_total, log_expected, _ = summed_in_logs(chain_automaton(transitions), scores)
    alone, both, expected, moves = summed_chain(scores, transitions)
    assert [alone, both] == pytest.approx([log_total] * 2, rel=1e-9)
    np.testing.assert_allclose(expected, log_expected, atol=1e-7)
    assert moves.sum() == pytest.approx(n_words - 1)


def test_bound_is_far_from_underflow() -> None:
    assert frontier.WINDOW_BOUND == WINDOW_BOUND < -math.log(np.finfo(np.float64).tiny) - 100


# exp


def test_exp_is_as_good_as_the_library() -> None:
    rng = np.random.default_rng(11)
    values = np.concatenate([rng.uniform(-700, 700, 2000), rng.normal(size=2000), [0.0, -0.0, 700.0, -700.0, 1e-300]])
    found = values.copy()
    exp_kernel(found)
    wanted = np.array([math.exp(value) for value in values])
    np.testing.assert_allclose(found, wanted, rtol=4.5e-16, atol=0.0)
    assert found[values == 0.0].tolist() == [1.0, 1.0]


def test_exp_of_minus_infinity_is_exactly_zero() -> None:
    values = np.array([-np.inf, 0.0, -np.inf] * 5)
    exp_kernel(values)
    assert values.tolist() == [0.0, 1.0, 0.0] * 5
