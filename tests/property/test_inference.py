"""What holds for all scores: sums, probabilities and maxima agree with one another and with brute force."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from enumeration import batch_of, enumeration, single
from hyperspan import Mention
from hyperspan.inference import distribution, distribution_names
from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.reference.algebra import LOG_SUM
from hyperspan.inference.reference.automaton import total
from hyperspan.inference.reference.derivations import derivations_total
from hyperspan.structures import Hypergraph, structure

pytestmark = pytest.mark.kernel

scores_of_edges = st.one_of(
    st.floats(-4, 4), st.floats(-4, 4), st.sampled_from([-np.inf, 0.0, -1000.0, 1000.0]), st.floats(-300, 300)
)
names = st.sampled_from(["mention", "shared", "split"])
distributions = st.sampled_from(distribution_names())


@st.composite
def sentences(draw: st.DrawFn, max_words: int = 5) -> tuple[Hypergraph, np.ndarray]:
    """A structure with one type or two, and scores, some large, some forbidden."""
    made = structure(draw(names), ("Finding", "Drug")[: draw(st.integers(1, 2))], draw(st.integers(1, 3)))
    assert isinstance(made, Hypergraph)
    shape = draw(st.integers(0, max_words)), made.n_labels
    return made, draw(arrays(np.float64, shape, elements=scores_of_edges, fill=st.sampled_from([0.0, -1.0])))


@settings(max_examples=60)
@given(sentences(), distributions)
def test_sums_agree_with_the_references(case: tuple[Hypergraph, np.ndarray], over: str) -> None:
    made, scores = case
    wanted = 0.0
    for block in made.blocks:
        rows = scores[:, block.first_label : block.first_label + block.staircase.n_labels].tolist()
        if over == "encodings":
            wanted += total(staircase_automaton(block.staircase), rows, LOG_SUM)
        else:
            wanted += derivations_total(block.staircase, rows, LOG_SUM)
    found = single(made, scores, over)
    assert found.log_partition()[0] == pytest.approx(wanted, rel=1e-11, abs=1e-11)
    assert found.marginals().log_partition[0] == pytest.approx(wanted, rel=1e-11, abs=1e-11)


@settings(max_examples=60)
@given(sentences(), distributions)
def test_what_is_forbidden_never_happens(case: tuple[Hypergraph, np.ndarray], over: str) -> None:
    made, scores = case
    found = single(made, scores, over)
    edges, log_partition = found.marginals().edges, found.log_partition()[0]
    assert np.all(np.isfinite(edges))
    assert np.all(edges >= 0.0)
    assert np.all(edges[np.isneginf(scores)] == 0.0)
    is_possible = log_partition > -np.inf
    for block in made.blocks:
        of_t = edges[:, block.first_label : block.first_label + 2].sum(axis=1)
        np.testing.assert_allclose(of_t, 1.0 if is_possible else 0.0, rtol=1e-9)
    if is_possible:
        for outcome in (*found.k_best(3)[0], *found.sample(3)[0]):
            assert outcome.score > -np.inf
            assert outcome.score <= log_partition + 1e-9 * max(1.0, abs(outcome.score))
    else:
        assert found.k_best(3) == [[]]


@settings(max_examples=40)
@given(sentences(max_words=3), st.data())
def test_mentions_agree_with_brute_force(case: tuple[Hypergraph, np.ndarray], data: st.DataObject) -> None:
    made, scores = case
    n_words = len(scores)
    is_small = n_words < 3 or len(made.types) == 1
    over = data.draw(st.sampled_from(["encodings", "mention-sets"])) if is_small else "encodings"
    everything, found = enumeration(made, n_words, over), single(made, scores, over)
    probs = everything.probs(scores)
    threshold = data.draw(st.sampled_from([0.037, 0.31, 0.63]))
    exact = {mention: everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions}
    (probable,) = found.probable(threshold)
    near = {mention for mention, prob in exact.items() if abs(prob - threshold) < 1e-9}
    assert {*probable.mentions} - near == {mention for mention, prob in exact.items() if prob >= threshold} - near
    for mention in probable.mentions:
        assert mention.prob == pytest.approx(exact[mention], rel=1e-8)
    assert found.mention_probs([list(exact)])[0] == pytest.approx(list(exact.values()), rel=1e-8, abs=1e-12)
    if everything.mentions:
        some = data.draw(st.frozensets(st.sampled_from(everything.mentions), max_size=3))
        assert found.joint_probs([some]) == pytest.approx([everything.prob_of(probs, some)], rel=1e-8, abs=1e-12)


@settings(max_examples=40)
@given(sentences())
def test_mentions_lose_probability_with_every_further_one(case: tuple[Hypergraph, np.ndarray]) -> None:
    made, scores = case
    for over in ("encodings", "mention-sets"):
        found = single(made, scores, over)
        mentions = [Mention("Finding", [(word, word + 1)]) for word in range(len(scores))]
        probs = [found.joint_probs([mentions[:size]])[0] for size in range(len(mentions) + 1)]
        assert all(later <= before * (1 + 1e-9) for before, later in pairwise(probs))


@settings(max_examples=30)
@given(sentences(), sentences(), distributions)
def test_batches_are_sentences_side_by_side(one, other, over: str) -> None:
    made, scores = one
    more = other[1][:, : made.n_labels] if other[1].shape[1] >= made.n_labels else scores[::-1]
    pieces = [scores, scores[:0], more]
    together = distribution(made, batch_of(pieces), over).marginals()
    apart = [single(made, piece, over).marginals() for piece in pieces]
    assert together.log_partition.tolist() == [found.log_partition[0] for found in apart]
    assert np.array_equal(together.edges, np.concatenate([found.edges for found in apart]))
