"""Sums in scaled products agree with sums in logs and with the plain references, on both sides of the bound."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from enumeration import batch_of, random_scores, single
from hyperspan import Mention
from hyperspan.inference import distribution, sums
from hyperspan.inference.automaton import chain_automaton, staircase_automaton
from hyperspan.inference.numba.chain import are_within_bounds, chain_messages
from hyperspan.inference.numba.frontier import WINDOW_BOUND, least_sum_kernel, staircase_table
from hyperspan.inference.numba.log_space import k_best_paths, log_messages
from hyperspan.inference.reference.algebra import COUNT, LOG_SUM, k_best
from hyperspan.inference.reference.automaton import total
from hyperspan.inference.reference.derivations import derivations_total
from hyperspan.structures import Hypergraph, Linear, Staircase
from hyperspan.structures.staircase import END, NO_START, START, STAY

pytestmark = pytest.mark.kernel

STAIRCASES = [Staircase(n_parts, exact) for n_parts in (1, 2, 3, 4) for exact in (False, True)] + [Staircase(5)]
FEW_STAIRCASES = [Staircase(1), Staircase(2), Staircase(3), Staircase(3, exact=True)]
needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes minutes with the compiler off")


@pytest.fixture(params=["side by side", "one at a time"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Sums are made eight at a time, or as if every sentence were too long for that."""
    monkeypatch.setattr(sums, "MOST_CELLS", 1 << 60 if request.param == "side by side" else 0)
    return request.param


def one_block(staircase: Staircase) -> Hypergraph:
    return Hypergraph("test", ("Finding",), (staircase,))


def summed(staircase: Staircase, pieces: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum in scaled products: the log totals, the marginals, and which sums are given up."""
    batch = batch_of(pieces)
    (over,) = sums.sums_over(one_block(staircase), batch)
    marginals, log_total, is_given_up = np.empty(batch.scores.shape), np.empty(len(over)), np.zeros(len(over), bool)
    log_total[over.sentence] = over.run(batch, marginals)
    is_given_up[over.sentence[over.given_up]] = True
    return log_total, marginals, is_given_up


def is_within_bounds(staircase: Staircase, scores: np.ndarray) -> bool:
    spreads = np.empty((3, staircase.n_nodes + 1))
    return least_sum_kernel(staircase_table(staircase), scores, 0, len(scores), 0, True, spreads) == 0.0


@pytest.mark.parametrize("staircase", STAIRCASES, ids=str)
@pytest.mark.parametrize("forbidden", [0.0, 0.1, 0.4])
def test_scaled_products_and_logs_agree_with_the_reference(staircase: Staircase, forbidden: float, width: str) -> None:
    rng, automaton = np.random.default_rng(0), staircase_automaton(staircase)
    lengths = (1, 2, 0, 5 if staircase.n_parts > 3 else 7)
    pieces = [random_scores(rng, one_block(staircase), n, size=2.0, forbidden=forbidden) for n in lengths]
    log_totals, marginals, _ = summed(staircase, pieces)
    in_logs = [log_messages(automaton, scores) for scores in pieces]
    wanted = [total(automaton, scores.tolist(), LOG_SUM) for scores in pieces]
    assert log_totals.tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert [messages.log_total for messages in in_logs] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    log_marginals = np.concatenate([messages.marginals for messages in in_logs])
    is_possible = np.repeat(np.array(wanted) > -np.inf, lengths)
    np.testing.assert_allclose(marginals[is_possible], log_marginals[is_possible], rtol=1e-10, atol=1e-14)
    is_forbidden = np.isneginf(np.concatenate(pieces)) & is_possible[:, None]
    assert np.all(marginals[is_forbidden] == 0.0)
    assert np.all(log_marginals[is_forbidden] == 0.0)


@pytest.mark.parametrize("staircase", FEW_STAIRCASES, ids=str)
@pytest.mark.parametrize("size", [1.0, 1000.0])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_batches_agree_with_the_references(staircase: Staircase, size: float, forbidden: float, width: str) -> None:
    rng, made, automaton = np.random.default_rng(1), one_block(staircase), staircase_automaton(staircase)
    pieces = [random_scores(rng, made, n, size=size, forbidden=forbidden) for n in (3, 0, 1, 6, 2)]
    batch = batch_of(pieces)
    over_encodings, over_sets = distribution(made, batch), distribution(made, batch, "mention-sets")
    wanted = [total(automaton, scores.tolist(), LOG_SUM) for scores in pieces]
    assert over_encodings.log_partition().tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert over_encodings.marginals().log_partition.tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    wanted = [derivations_total(staircase, scores.tolist(), LOG_SUM) for scores in pieces]
    assert over_sets.log_partition().tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    for over in (over_encodings, over_sets):
        edges = over.marginals().edges
        assert np.all(np.isfinite(edges))
        assert np.all(edges[np.isneginf(batch.scores)] == 0.0)
    assert np.all(over_encodings.marginals().edges <= 1.0 + 1e-9)


@pytest.mark.parametrize("staircase", FEW_STAIRCASES, ids=str)
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_k_best_agrees_with_the_reference(staircase: Staircase, forbidden: float) -> None:
    rng, made = np.random.default_rng(2), one_block(staircase)
    automaton = staircase_automaton(staircase)
    for n_words, k in [(1, 1), (3, 2), (4, 7)]:
        scores = random_scores(rng, made, n_words, forbidden=forbidden)
        found = k_best_paths(automaton, scores, k)
        wanted = total(automaton, scores.tolist(), k_best(k))
        assert [outcome.score for outcome in found] == pytest.approx([score for score, _ in wanted])
        assert [outcome.edges for outcome in found] == [tuple(sorted(edges)) for _, edges in wanted]
        for outcome in found:
            assert sum(scores[word, label] for word, label in outcome.edges) == pytest.approx(outcome.score)


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(2), Staircase(3), Staircase(2, exact=True)], ids=str)
def test_the_best_derivations_agree_with_the_reference(staircase: Staircase) -> None:
    rng, made = np.random.default_rng(3), one_block(staircase)
    for n_words, forbidden, k in [(1, 0.0, 1), (3, 0.3, 5), (5, 0.0, 3)]:
        scores = random_scores(rng, made, n_words, forbidden=forbidden)
        (found,) = single(made, scores, "mention-sets").k_best(k)
        wanted = derivations_total(staircase, scores.tolist(), k_best(k))
        assert [outcome.score for outcome in found] == pytest.approx([score for score, _ in wanted])
        assert [outcome.edges for outcome in found] == [tuple(sorted(edges)) for _, edges in wanted]


def test_references_count_only_what_is_allowed() -> None:
    rng, staircase = np.random.default_rng(4), Staircase(2)
    scores = random_scores(rng, one_block(staircase), 4, forbidden=0.3)
    ones = np.where(np.isneginf(scores), -np.inf, 0.0)
    for reference, table in ((total, staircase_automaton(staircase)), (derivations_total, staircase)):
        count = reference(table, scores.tolist(), COUNT)
        assert math.exp(reference(table, ones.tolist(), LOG_SUM)) == pytest.approx(count)


# Chains


@pytest.mark.parametrize("forbidden", [0.0, 0.2])
@pytest.mark.parametrize("n_tags", [7, 13])
def test_chain_agrees_with_the_reference(n_tags: int, forbidden: float) -> None:
    rng, made = np.random.default_rng(5), Linear(("A", "B")[: n_tags // 6])
    transitions = rng.normal(size=(n_tags, n_tags))
    transitions[rng.random(transitions.shape) < forbidden] = -np.inf
    automaton = chain_automaton(transitions)
    for n_words in (1, 2, 6):
        scores = random_scores(rng, made, n_words, size=2.0, forbidden=forbidden)
        wanted = total(automaton, scores.tolist(), LOG_SUM)
        in_logs = log_messages(automaton, scores)
        by_arc = np.zeros((n_tags + 1, n_tags))
        by_arc[automaton.arc_from, automaton.arc_label] = in_logs.arc_marginals
        found = single(made, scores, transitions=transitions).marginals()
        assert [found.log_partition[0], in_logs.log_total] == pytest.approx([wanted] * 2, rel=1e-12)
        np.testing.assert_allclose(found.edges, in_logs.marginals, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(found.transitions, by_arc[:n_tags], rtol=1e-10, atol=1e-14)
        best = k_best_paths(automaton, scores, 4)
        ranked = total(automaton, scores.tolist(), k_best(4))
        assert [outcome.score for outcome in best] == pytest.approx([score for score, _ in ranked])
        assert [outcome.edges for outcome in best] == [edges for _, edges in ranked]


@pytest.mark.parametrize("size", [1.0, 1000.0])
def test_chain_batches_agree_with_the_reference(size: float) -> None:
    rng, made, lengths = np.random.default_rng(6), Linear(("A",)), [4, 0, 1, 7]
    pieces = [random_scores(rng, made, n_words, size=size, forbidden=0.1) for n_words in lengths]
    transitions = rng.normal(scale=size, size=(7, 7))
    found = distribution(made, batch_of(pieces, transitions)).marginals()
    wanted = [total(chain_automaton(transitions), scores.tolist(), LOG_SUM) for scores in pieces]
    assert found.log_partition.tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(found.edges.sum(axis=1), 1.0, rtol=1e-9)
    assert found.transitions.sum() == pytest.approx(sum(max(0, length - 1) for length in lengths))


# The bound


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(2), Staircase(3), Staircase(5)], ids=str)
def test_both_sides_of_the_bound_agree(staircase: Staircase, width: str) -> None:
    rng, made, sides = np.random.default_rng(7), one_block(staircase), set()
    for size in (1.0, 5.0, 20.0, 60.0, 200.0):
        scores = random_scores(rng, made, 6, size=size)
        fits = is_within_bounds(staircase, scores)
        sides.add(fits)
        in_logs = log_messages(staircase_automaton(staircase), scores)
        found = single(made, scores).marginals()
        if fits:
            log_total, marginals, is_given_up = summed(staircase, [scores])
            assert not is_given_up.any()
            assert log_total[0] == found.log_partition[0]
            assert np.array_equal(found.edges, marginals)
        np.testing.assert_allclose(found.edges, in_logs.marginals, atol=1e-9)
        assert found.log_partition[0] == pytest.approx(in_logs.log_total, rel=1e-12)
        assert single(made, scores).log_partition()[0] == pytest.approx(in_logs.log_total, rel=1e-12)
    assert sides == {True, False}


@pytest.mark.parametrize("size", [10.0, 15.0, 60.0])
def test_beyond_the_bound_the_backward_pass_tells_what_is_safe(size: float, width: str) -> None:
    """Scaled products go on where nothing that matters was lost, and are given up where it was."""
    staircase, rng, is_safe = Staircase(3), np.random.default_rng(11), []
    for _ in range(10):
        scores = random_scores(rng, one_block(staircase), 12, size=size)
        assert not is_within_bounds(staircase, scores)
        in_logs = log_messages(staircase_automaton(staircase), scores)
        log_total, marginals, is_given_up = summed(staircase, [scores])
        is_safe.append(not is_given_up[0])
        if is_safe[-1]:
            assert log_total[0] == pytest.approx(in_logs.log_total, rel=1e-12)
            np.testing.assert_allclose(marginals, in_logs.marginals, atol=1e-9)
        found = single(one_block(staircase), scores).marginals()
        assert found.log_partition[0] == pytest.approx(in_logs.log_total, rel=1e-12)
        np.testing.assert_allclose(found.edges, in_logs.marginals, atol=1e-9)
    assert any(is_safe) == (size < 60.0)


def test_only_the_sums_that_lose_something_are_given_up(width: str) -> None:
    staircase, rng = Staircase(2), np.random.default_rng(12)
    pieces = [random_scores(rng, one_block(staircase), 4) for _ in range(11)]
    pieces[3][1:3, START] = -np.inf
    pieces[6][:, 2] = 5_000.0
    log_totals, marginals, is_given_up = summed(staircase, pieces)
    assert np.flatnonzero(is_given_up).tolist() == [6]
    for number, scores in enumerate(pieces):
        if number != 6:
            in_logs = log_messages(staircase_automaton(staircase), scores)
            assert log_totals[number] == pytest.approx(in_logs.log_total, rel=1e-12)
            np.testing.assert_allclose(marginals[4 * number : 4 * number + 4], in_logs.marginals, atol=1e-12)


def test_a_state_that_underflows_and_matters_is_found_out(width: str) -> None:
    """Starting costs e^-690 at the only word where it is allowed, and staying gains it back word by word."""
    staircase, n_words = Staircase(1), 100
    scores = np.zeros((n_words, staircase.n_labels))
    scores[:, START] = -np.inf
    scores[0, START] = -690.0
    scores[:, staircase.label_of[0, STAY]] = 9.0
    scores[1:4, NO_START] = 30.0
    scores[1:4, staircase.label_of[0, STAY]] = -90.0
    scores[4:, staircase.label_of[0, STAY]] = 15.0
    in_logs = log_messages(staircase_automaton(staircase), scores)
    found = single(one_block(staircase), scores).marginals()
    assert in_logs.marginals[0, START] > 0.99
    assert found.log_partition[0] == pytest.approx(in_logs.log_total, rel=1e-12)
    np.testing.assert_allclose(found.edges, in_logs.marginals, atol=1e-9)


def test_what_a_word_takes_and_gives_back_is_not_lost(width: str) -> None:
    """Within one word a start gains what staying costs; the words after it make up for the rest."""
    staircase, n_words = Staircase(1), 7
    scores = np.full((n_words, staircase.n_labels), -np.inf)
    scores[:, NO_START] = 0.0
    scores[0, START] = 290.0
    scores[0, staircase.label_of[0, STAY]] = -705.0
    scores[1:6, staircase.label_of[0, STAY]] = 100.0
    scores[6, staircase.label_of[0, END]] = 0.0
    over = single(one_block(staircase), scores)
    assert over.marginals().log_partition[0] == over.log_partition()[0] == pytest.approx(85.0)
    assert over.marginals().edges[0, START] == pytest.approx(1.0)
    mention = Mention("Finding", [(0, 7)])
    assert over.mention_probs([[mention]])[0] == over.joint_probs([[mention]]) == pytest.approx([1.0])


def test_the_bound_itself_makes_no_difference(width: str) -> None:
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
    in_logs = log_messages(staircase_automaton(staircase), scores)
    log_total, marginals, is_given_up = summed(staircase, [scores])
    assert not is_given_up[0]
    assert log_total[0] == pytest.approx(in_logs.log_total, rel=1e-12)
    np.testing.assert_allclose(marginals, in_logs.marginals, atol=1e-9)


@pytest.mark.parametrize("value", [-1000.0, 1000.0, -300.0, 300.0])
def test_large_scores_of_one_edge(value: float) -> None:
    staircase = Staircase(2)
    for label in range(staircase.n_labels):
        scores = np.zeros((5, staircase.n_labels))
        scores[1:3, label] = value
        wanted = total(staircase_automaton(staircase), scores.tolist(), LOG_SUM)
        over = single(one_block(staircase), scores)
        assert over.log_partition()[0] == pytest.approx(wanted, rel=1e-12)
        assert over.marginals().log_partition[0] == pytest.approx(wanted, rel=1e-12)
        assert np.all((over.marginals().edges >= 0.0) & (over.marginals().edges <= 1.0 + 1e-9))


@pytest.mark.parametrize("staircase", [Staircase(1), Staircase(3), Staircase(4)], ids=str)
def test_forbidden_starts_in_a_long_sentence(staircase: Staircase) -> None:
    """Nodes that nothing leads to have ever more ways to go on, which must neither overflow nor become NaN."""
    n_words = 120 if numba.config.DISABLE_JIT else 400
    scores = np.zeros((n_words, staircase.n_labels))
    scores[:, 1] = -np.inf
    found = single(one_block(staircase), scores).marginals()
    assert found.log_partition[0] == 0.0
    assert np.all(found.edges[:, 0] == 1.0)
    assert np.all(found.edges[:, 1:] == 0.0)


def test_forbidden_ends_in_a_long_sentence() -> None:
    """All who start stay: only the one state without a mention can end, however few ways lead there."""
    staircase, n_words = Staircase(2), 160 if numba.config.DISABLE_JIT else 400
    scores = np.zeros((n_words, staircase.n_labels))
    for label, (_, children) in enumerate(staircase.edges, start=2):
        if children & 1:
            scores[:, label] = -np.inf
    found = single(one_block(staircase), scores).marginals()
    assert found.log_partition[0] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(found.edges[:, 0], 1.0, rtol=1e-9)
    assert np.all(found.edges[:, 1:] == 0.0)


def test_a_tag_cut_off_from_the_others_in_a_long_sentence() -> None:
    made, n_words = Linear(("A",)), 600
    scores, transitions = np.zeros((n_words, 7)), np.zeros((7, 7))
    transitions[0, 1:] = transitions[1:, 0] = -np.inf
    scores[-1, 1:] = -np.inf
    found = single(made, scores, transitions=transitions).marginals()
    assert found.log_partition[0] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(found.edges[:, 0], 1.0, rtol=1e-9)
    assert np.all(found.edges[:, 1:] == 0.0)
    assert found.transitions[0, 0] == pytest.approx(n_words - 1)


@needs_compiler
@pytest.mark.parametrize("n_parts", [2, 3])
@pytest.mark.parametrize("size", [1.0, 8.0])
def test_five_thousand_words(n_parts: int, size: float) -> None:
    staircase, n_words = Staircase(n_parts), 5_000
    scores = random_scores(np.random.default_rng(9), one_block(staircase), n_words, size=size)
    in_logs = log_messages(staircase_automaton(staircase), scores)
    log_total, marginals, is_given_up = summed(staircase, [scores])
    assert np.isfinite(in_logs.log_total)
    assert not is_given_up[0]
    assert log_total[0] == pytest.approx(in_logs.log_total, rel=1e-9)
    np.testing.assert_allclose(marginals, in_logs.marginals, atol=1e-7)
    np.testing.assert_allclose(marginals[:, :2].sum(axis=1), 1.0, rtol=1e-10)
    over_sets = single(one_block(staircase), scores - 4.0, "mention-sets").marginals()
    assert np.isfinite(over_sets.log_partition[0])
    assert np.all(np.isfinite(over_sets.edges))


@needs_compiler
def test_a_chain_of_five_thousand_words() -> None:
    rng, n_words = np.random.default_rng(10), 5_000
    scores, transitions = rng.normal(scale=3.0, size=(n_words, 7)), rng.normal(size=(7, 7))
    in_logs = log_messages(chain_automaton(transitions), scores)
    assert are_within_bounds(scores, transitions)
    counts = np.zeros((7, 7))
    log_total, messages = chain_messages(scores, transitions, np.array([0, n_words]), counts)
    assert log_total[0] == pytest.approx(in_logs.log_total, rel=1e-9)
    np.testing.assert_allclose(messages.alpha * messages.beta, in_logs.marginals, atol=1e-7)
    assert counts.sum() == pytest.approx(n_words - 1)


def test_bound_is_far_from_underflow() -> None:
    assert -math.log(np.finfo(np.float64).tiny) - 100 > WINDOW_BOUND
