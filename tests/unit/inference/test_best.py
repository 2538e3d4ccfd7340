"""The best outcome: kernels, references, the k best and going through everything all agree, ties included."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import FOR_ENCODINGS, case_name, enumeration, random_scores
from hyperspan.inference import distribution
from hyperspan.inference.automaton import chain_automaton, staircase_automaton
from hyperspan.inference.best import best_of_block, best_tags_of
from hyperspan.inference.best_reference import best_reference, best_tags_reference
from hyperspan.inference.frontier import staircase_table
from hyperspan.inference.paths import k_best_paths
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


@settings(max_examples=150)
@given(staircase=st.sampled_from(STAIRCASES), n_words=st.integers(0, 5), kind=kinds, seed=st.integers(0, 9_999))
def test_kernel_reference_and_k_best_agree_on_staircases(staircase, n_words, kind, seed) -> None:
    scores = scores_of(kind, (n_words, staircase.n_labels), seed)
    (score,), labels = best_of_block(staircase_table(staircase), scores, np.array([0, n_words]))
    by_reference = best_reference(staircase, scores.tolist())
    ranked = k_best_paths(staircase_automaton(staircase), scores, 1)
    if by_reference is None:
        assert score == -np.inf
        assert not ranked
        return
    edges = sorted((word, int(label)) for word, row in enumerate(labels) for label in row if label >= 0)
    assert (score, tuple(edges)) == by_reference == (ranked[0].score, ranked[0].edges)


@settings(max_examples=150)
@given(n_tags=st.integers(1, 8), n_words=st.integers(0, 6), kind=kinds, seed=st.integers(0, 9_999))
def test_kernel_reference_and_k_best_agree_on_tags(n_tags, n_words, kind, seed) -> None:
    scores = scores_of(kind, (n_words, n_tags), seed)
    transitions = scores_of(kind, (n_tags, n_tags), seed + 1)
    (score,), tags = best_tags_of(scores, transitions, np.array([0, n_words]))
    by_reference = best_tags_reference(scores.tolist(), transitions.tolist())
    ranked = k_best_paths(chain_automaton(transitions), scores, 1)
    if by_reference is None:
        assert score == -np.inf
        assert not ranked
        return
    assert (score, tags.tolist()) == by_reference
    assert (ranked[0].score, [label for _, label in ranked[0].edges]) == by_reference


@pytest.mark.parametrize(("made", "n_words"), FOR_ENCODINGS, ids=case_name)
def test_nothing_is_better(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    for seed in range(3):
        scores = random_scores(np.random.default_rng(seed), made, n_words)
        best = distribution(made, scores).best()
        log_scores = everything.log_scores(scores)
        assert best.score == pytest.approx(log_scores.max(), rel=1e-12)


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
