"""The best outcome: kernels, the plain recursion, the k best and going through everything agree, ties included."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import FOR_ENCODINGS, FOR_TAGS, case_name, enumeration, random_scores, single
from hyperspan.inference.automaton import Automaton, chain_automaton, staircase_automaton
from hyperspan.inference.numba.frontier import staircase_table
from hyperspan.inference.numba.log_space import k_best_paths
from hyperspan.inference.numba.viterbi import best_of_block, best_tags_of
from hyperspan.inference.reference.algebra import k_best
from hyperspan.inference.reference.automaton import arcs, total
from hyperspan.structures import Staircase

pytestmark = pytest.mark.kernel

STAIRCASES = [Staircase(n, exact=exact) for n in (1, 2, 3) for exact in (False, True)] + [Staircase(4)]

kinds = st.sampled_from(["numbers", "ties", "forbidden"])


def scores_of(kind: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    """Scores without ties, with many, or with many of which some are forbidden."""
    rng = np.random.default_rng(seed)
    if kind == "numbers":
        return rng.normal(0.0, 3.0, shape)
    scores = rng.integers(-2, 3, shape).astype(np.float64)
    if kind == "forbidden":
        scores[rng.random(shape) < 0.3] = -np.inf
    return scores


def best_reference(automaton: Automaton, scores: np.ndarray) -> tuple[float, tuple[tuple[int, int], ...]] | None:
    """The best path, in plain words: of equal ones that whose last arcs come from lower states, then lower labels."""
    best = {automaton.start: (0.0, ())}
    for word, row in enumerate(scores.tolist()):
        for phase in arcs(automaton):
            after: dict = {}
            for source, target, label, arc_score in phase:
                if source in best:
                    score, edges = best[source]
                    if label >= 0:
                        score, edges = score + (arc_score + row[label]), (*edges, (word, label))
                    if score > after.get(target, (-np.inf,))[0]:
                        after[target] = score, edges
            best = after
    found = None
    for state in sorted(best):
        if automaton.final[state] and (found is None or best[state][0] > found[0]):
            found = best[state]
    return None if found is None else (found[0], tuple(sorted(found[1])))


@settings(max_examples=150)
@given(staircase=st.sampled_from(STAIRCASES), n_words=st.integers(0, 5), kind=kinds, seed=st.integers(0, 9_999))
def test_kernel_reference_and_k_best_agree_on_staircases(staircase, n_words, kind, seed) -> None:
    scores = scores_of(kind, (n_words, staircase.n_labels), seed)
    automaton = staircase_automaton(staircase)
    (score,), labels = best_of_block(staircase_table(staircase), scores, np.array([0, n_words]))
    by_reference = best_reference(automaton, scores)
    ranked = k_best_paths(automaton, scores, 1)
    if by_reference is None:
        assert score == -np.inf
        assert not ranked
        return
    edges = sorted((word, int(label)) for word, row in enumerate(labels) for label in row if label >= 0)
    assert (score, tuple(edges)) == by_reference == (ranked[0].score, ranked[0].edges)
    if kind == "numbers" and n_words < 4:
        [(of_total, chosen)] = total(automaton, scores.tolist(), k_best(1))
        assert score == pytest.approx(of_total)
        assert tuple(edges) == tuple(sorted(chosen))


@settings(max_examples=150)
@given(n_tags=st.integers(1, 8), n_words=st.integers(0, 6), kind=kinds, seed=st.integers(0, 9_999))
def test_kernel_reference_and_k_best_agree_on_tags(n_tags, n_words, kind, seed) -> None:
    scores = scores_of(kind, (n_words, n_tags), seed)
    transitions = scores_of(kind, (n_tags, n_tags), seed + 1)
    automaton = chain_automaton(transitions)
    (score,), tags = best_tags_of(scores, transitions, np.array([0, n_words]))
    by_reference = best_reference(automaton, scores)
    ranked = k_best_paths(automaton, scores, 1)
    if by_reference is None:
        assert score == -np.inf
        assert not ranked
        return
    assert (score, tuple(enumerate(tags.tolist()))) == by_reference == (ranked[0].score, ranked[0].edges)


@pytest.mark.parametrize(("made", "n_words"), [*FOR_ENCODINGS, *FOR_TAGS], ids=case_name)
def test_nothing_is_better(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    for seed in range(3):
        scores = random_scores(np.random.default_rng(seed), made, n_words)
        (best,) = single(made, scores).best()
        log_scores = everything.log_scores(scores)
        assert best.score == pytest.approx(log_scores.max(), rel=1e-12)
        assert best.edges == everything.outcomes[log_scores.argmax()]


def test_sentences_do_not_disturb_one_another() -> None:
    staircase = Staircase(3)
    table = staircase_table(staircase)
    scores = scores_of("numbers", (12, 2 * staircase.n_labels), 0)
    first_word = np.array([0, 5, 5, 6, 12])
    together, labels = best_of_block(table, scores, first_word, staircase.n_labels)
    for number, (first, last) in enumerate(pairwise(first_word)):
        alone = np.ascontiguousarray(scores[first:last, staircase.n_labels :])
        (score,), own = best_of_block(table, alone, np.array([0, last - first]))
        assert score == together[number]
        np.testing.assert_array_equal(own, labels[first:last])
