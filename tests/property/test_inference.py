"""What holds for all scores: sums, probabilities and maxima agree with one another and with brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from enumeration import enumeration
from hyperspan import Mention
from hyperspan.inference import OVER, Over, distribution, sum_batch
from hyperspan.inference.algebra import LOG_SUM
from hyperspan.inference.derivations_reference import derivations_reference
from hyperspan.inference.frontier_reference import frontier_reference
from hyperspan.structures import Hypergraph, structure

pytestmark = pytest.mark.kernel

scores_of_edges = st.one_of(
    st.floats(-4, 4), st.floats(-4, 4), st.sampled_from([-np.inf, 0.0, -1000.0, 1000.0]), st.floats(-300, 300)
)
names = st.sampled_from(["mention", "shared", "split"])


@st.composite
def sentences(draw: st.DrawFn, max_words: int = 5) -> tuple[Hypergraph, np.ndarray]:
    """A structure with one type or two, and scores, some large, some forbidden."""
    made = structure(draw(names), ("Finding", "Drug")[: draw(st.integers(1, 2))], draw(st.integers(1, 3)))
    assert isinstance(made, Hypergraph)
    shape = draw(st.integers(0, max_words)), made.n_labels
    return made, draw(arrays(np.float64, shape, elements=scores_of_edges, fill=st.sampled_from([0.0, -1.0])))


@settings(max_examples=60)
@given(sentences(), st.sampled_from(OVER))
def test_sums_agree_with_the_references(case: tuple[Hypergraph, np.ndarray], over: Over) -> None:
    made, scores = case
    reference = frontier_reference if over == "encodings" else derivations_reference
    wanted = sum(
        reference(
            block.staircase,
            scores[:, block.first_label : block.first_label + block.staircase.n_labels].tolist(),
            LOG_SUM,
        )
        for block in made.blocks
    )
    assert distribution(made, scores, over=over).log_partition() == pytest.approx(wanted, rel=1e-11, abs=1e-11)


@settings(max_examples=60)
@given(sentences(), st.sampled_from(OVER))
def test_what_is_forbidden_never_happens(case: tuple[Hypergraph, np.ndarray], over: Over) -> None:
    made, scores = case
    found = distribution(made, scores, over=over)
    expected = found.expected_counts()
    assert np.all(np.isfinite(expected))
    assert np.all(expected >= 0.0)
    assert np.all(expected[np.isneginf(scores)] == 0.0)
    is_possible = found.log_partition() > -np.inf
    for block in made.blocks:
        of_t = expected[:, block.first_label : block.first_label + 2].sum(axis=1)
        np.testing.assert_allclose(of_t, 1.0 if is_possible else 0.0, rtol=1e-9)
    if is_possible:
        for outcome in (*found.k_best(3), *found.sample(3)):
            assert outcome.score > -np.inf
            assert outcome.score <= found.log_partition() + 1e-9 * max(1.0, abs(outcome.score))
    else:
        assert found.k_best(3) == []


@settings(max_examples=40)
@given(sentences(max_words=3), st.data())
def test_mentions_agree_with_brute_force(case: tuple[Hypergraph, np.ndarray], data: st.DataObject) -> None:
    made, scores = case
    n_words = len(scores)
    over = (
        data.draw(st.sampled_from(["encodings", "mention-sets"]))
        if n_words < 3 or len(made.types) == 1
        else "encodings"
    )
    everything, found = enumeration(made, n_words, over), distribution(made, scores, over=over)
    probs = everything.probs(scores)
    threshold = data.draw(st.sampled_from([0.037, 0.31, 0.63]))
    exact = {mention: everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions}
    probable = found.probable(threshold)
    near = {mention for mention, prob in exact.items() if abs(prob - threshold) < 1e-9}
    assert {*probable.mentions} - near == {mention for mention, prob in exact.items() if prob >= threshold} - near
    for mention in probable.mentions:
        assert mention.prob == pytest.approx(exact[mention], rel=1e-8)
    if everything.mentions:
        some = data.draw(st.frozensets(st.sampled_from(everything.mentions), max_size=3))
        assert found.prob_of(some) == pytest.approx(everything.prob_of(probs, some), rel=1e-8, abs=1e-12)


@settings(max_examples=40)
@given(sentences())
def test_mentions_lose_probability_with_every_further_one(case: tuple[Hypergraph, np.ndarray]) -> None:
    made, scores = case
    for over in ("encodings", "mention-sets"):
        found = distribution(made, scores, over=over)
        mentions = [Mention("Finding", [(word, word + 1)]) for word in range(len(scores))]
        probs = [found.prob_of(mentions[:size]) for size in range(len(mentions) + 1)]
        assert all(later <= before * (1 + 1e-9) for before, later in pairwise(probs))


@settings(max_examples=30)
@given(sentences(), sentences(), st.integers(1, 3))
def test_batches_are_sentences_side_by_side(one, other, n_threads: int) -> None:
    made, scores = one
    more = other[1][:, : made.n_labels] if other[1].shape[1] >= made.n_labels else scores[::-1]
    first_word = np.cumsum([0, len(scores), 0, len(more)])
    totals = sum_batch(made, np.vstack([scores, more]), first_word, n_threads=n_threads)
    wanted = [distribution(made, scores), distribution(made, scores[:0]), distribution(made, more)]
    assert totals.log_partition.tolist() == [
        float(sum_batch(made, found.scores, [0, found.n_words]).log_partition[0]) for found in wanted
    ]
    assert np.array_equal(totals.expected, np.vstack([found.expected_counts() for found in wanted]))
