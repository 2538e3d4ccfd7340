"""Over tag sequences: everything equals going through all of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from enumeration import FOR_TAGS, case_name, enumeration, random_scores
from hyperspan import Mention
from hyperspan.errors import StructureError
from hyperspan.inference import distribution
from hyperspan.structures import Linear, decode_enough, structure

pytestmark = pytest.mark.kernel

cases = pytest.mark.parametrize(("made", "n_words"), FOR_TAGS, ids=case_name)


def random_transitions(rng: np.random.Generator, made: Linear) -> np.ndarray:
    return rng.normal(size=(made.n_labels, made.n_labels))


@cases
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_sum_and_probabilities(made: Linear, n_words: int, forbidden: float) -> None:
    rng, everything = np.random.default_rng(0), enumeration(made, n_words)
    scores = random_scores(rng, made, n_words, forbidden=forbidden)
    transitions = random_transitions(rng, made)
    found = distribution(made, scores, transitions=transitions)
    assert found.log_partition() == pytest.approx(everything.log_partition(scores, transitions), rel=1e-13)
    probs = everything.probs(scores, transitions)
    wanted = np.tensordot(probs, everything.uses, axes=1)
    np.testing.assert_allclose(found.expected_counts(), wanted, rtol=0, atol=1e-13)
    moves = np.zeros_like(transitions)
    for prob, edges in zip(probs, everything.outcomes, strict=True):
        for (_, before), (_, after) in pairwise(edges):
            moves[before, after] += prob
    np.testing.assert_allclose(found.expected_transitions(), moves, rtol=0, atol=1e-12)


def test_expected_counts_are_the_slope_of_the_sum() -> None:
    rng, made = np.random.default_rng(1), Linear(("A",))
    scores, transitions = random_scores(rng, made, 4), random_transitions(rng, made)
    found = distribution(made, scores, transitions=transitions)
    for array, expected in ((scores, found.expected_counts()), (transitions, found.expected_transitions())):
        for place in np.ndindex(array.shape):
            around = []
            for change in (1e-5, -1e-5):
                kept = array[place]
                array[place] = kept + change
                around.append(distribution(made, scores.copy(), transitions=transitions.copy()).log_partition())
                array[place] = kept
            assert (around[0] - around[1]) / 2e-5 == pytest.approx(expected[place], abs=1e-7)


@cases
def test_k_best(made: Linear, n_words: int) -> None:
    rng, everything = np.random.default_rng(2), enumeration(made, n_words)
    scores, transitions = random_scores(rng, made, n_words), random_transitions(rng, made)
    log_scores = everything.log_scores(scores, transitions)
    order = np.argsort(-log_scores, kind="stable")[:15]
    found = distribution(made, scores, transitions=transitions)
    assert [outcome.score for outcome in found.k_best(15)] == pytest.approx(log_scores[order].tolist(), rel=1e-12)
    assert [outcome.edges for outcome in found.k_best(15)] == [everything.outcomes[place] for place in order]
    for outcome in found.k_best(3):
        assert found.score(outcome.edges) == pytest.approx(outcome.score)


def test_samples_are_drawn_in_proportion() -> None:
    rng, made = np.random.default_rng(3), Linear(("A",))
    everything = enumeration(made, 3)
    scores, transitions = random_scores(rng, made, 3), random_transitions(rng, made)
    probs = everything.probs(scores, transitions)
    place = {edges: index for index, edges in enumerate(everything.outcomes)}
    counts = np.zeros(len(place))
    drawn = distribution(made, scores, transitions=transitions).sample(3000, seed=5)
    for outcome in drawn:
        counts[place[outcome.edges]] += 1
        assert outcome.score == pytest.approx(everything.log_scores(scores, transitions)[place[outcome.edges]])
    wanted = probs * counts.sum()
    is_common = wanted >= 5
    seen = [*counts[is_common], counts[~is_common].sum()]
    expected = [*wanted[is_common], wanted[~is_common].sum()]
    assert stats.chisquare(seen, expected, sum_check=False).pvalue > 1e-3


def test_probability_of_partial_tag_sequences() -> None:
    rng, made = np.random.default_rng(4), Linear(("A",))
    everything = enumeration(made, 4)
    scores, transitions = random_scores(rng, made, 4), random_transitions(rng, made)
    probs, found = everything.probs(scores, transitions), distribution(made, scores, transitions=transitions)
    for some in ({(0, 1)}, {(1, 2), (3, 0)}, {(0, 0), (1, 0), (2, 0), (3, 0)}, {(0, 0), (0, 1)}):
        wanted = sum(prob for prob, edges in zip(probs, everything.outcomes, strict=True) if some <= set(edges))
        assert found.prob_of_edges(some) == pytest.approx(wanted, rel=1e-11)
    assert found.prob_of_edges([]) == 1.0
    with pytest.raises(StructureError, match="no label 7 at word 0; expected one of 7 labels at one of 4 words"):
        found.prob_of_edges([(0, 7)])


def shares(made: Linear, scores: np.ndarray, transitions: np.ndarray) -> dict[Mention, float]:
    """The probability that the reading has each mention, by going through all sequences."""
    everything, exact = enumeration(made, len(scores)), {}
    for prob, edges in zip(everything.probs(scores, transitions), everything.outcomes, strict=True):
        for mention in decode_enough(made, edges).mentions:
            exact[mention] = exact.get(mention, 0.0) + prob
    return exact


def test_the_probability_of_a_mention_is_the_share_of_readings_that_have_it() -> None:
    made = Linear(("A",))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        scores, transitions = random_scores(rng, made, 4), random_transitions(rng, made)
        exact = shares(made, scores, transitions)
        found = distribution(made, scores, transitions=transitions)
        probs = found.probs_of(exact, n_samples=3_000)
        assert probs == pytest.approx(list(exact.values()), abs=0.04)
        everything = {mention: mention.prob for mention in found.probable(0.0, n_samples=3_000).mentions}
        for mention, prob in zip(exact, probs, strict=True):
            assert everything.get(mention, prob) == pytest.approx(prob, abs=1e-12)
            assert mention in everything or prob < 0.001
            assert found.prob_of([mention], n_samples=3_000) == prob


def test_it_is_exact_where_there_are_only_runs() -> None:
    made = Linear(("A",))
    rng = np.random.default_rng(7)
    scores, transitions = random_scores(rng, made, 4), random_transitions(rng, made)
    scores[:, 3:] = -60.0
    exact = shares(made, scores, transitions)
    found = distribution(made, scores, transitions=transitions)
    assert found.probs_of(exact) == pytest.approx(list(exact.values()), rel=1e-9)
    wanted = {mention: pytest.approx(prob, rel=1e-9) for mention, prob in exact.items() if prob >= 0.2}
    assert {mention: mention.prob for mention in found.probable(0.2).mentions} == wanted


def test_the_most_probable_are_kept_and_the_rest_is_missed() -> None:
    made = Linear(("A",))
    found = distribution(made, random_scores(np.random.default_rng(5), made, 3))
    everything = found.probable(0.0)
    likely = found.probable(0.2)
    assert not everything.truncated
    assert likely.mentions == tuple(mention for mention in everything.mentions if (mention.prob or 0.0) >= 0.2)
    cut = found.probable(0.0, limit=2)
    assert cut.truncated
    best = sorted((mention.prob or 0.0 for mention in everything.mentions), reverse=True)[:2]
    assert sorted((mention.prob or 0.0 for mention in cut.mentions), reverse=True) == best


def test_several_mentions_at_once_have_their_share_of_samples() -> None:
    made = Linear(("A",))
    everything, scores = enumeration(made, 3), random_scores(np.random.default_rng(6), made, 3)
    pair = {Mention("A", [(0, 1)]), Mention("A", [(1, 3)])}
    exact = sum(
        prob
        for prob, edges in zip(everything.probs(scores), everything.outcomes, strict=True)
        if pair <= set(decode_enough(made, edges).mentions)
    )
    found = distribution(made, scores)
    assert found.prob_of(pair, n_samples=4000) == pytest.approx(exact, abs=0.03)
    assert found.prob_of([]) == 1.0


def test_what_is_forbidden_has_no_best_and_no_samples() -> None:
    made = structure("linear", ["A"])
    scores = np.zeros((3, 7))
    scores[1] = -np.inf
    found = distribution(made, scores)
    assert found.log_partition() == -np.inf
    assert found.prob_of_edges([(0, 0)]) == 0.0
    with pytest.raises(StructureError, match="there is no best outcome: every outcome is forbidden"):
        found.best()
    with pytest.raises(StructureError, match="nothing can be drawn: every outcome is forbidden"):
        found.sample(1)


def test_questions_that_cannot_be_answered() -> None:
    found = distribution(structure("linear", ["A"]), np.zeros((3, 7)))
    for call, name in [(found.k_best, "k"), (found.sample, "n_samples")]:
        with pytest.raises(StructureError, match=f"{name} is 0; expected at least 1"):
            call(0)
    with pytest.raises(StructureError, match="limit is 0; expected at least 1"):
        found.probable(limit=0)
