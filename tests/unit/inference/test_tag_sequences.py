"""Over tag sequences: everything equals going through all of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from enumeration import FOR_TAGS, batch_of, case_name, chi_square, enumeration, random_scores, single
from hyperspan import Mention
from hyperspan.inference import distribution, tag_sequences
from hyperspan.inference.numba.chain import are_within_bounds
from hyperspan.structures import Linear

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
    found = single(made, scores, transitions=transitions).marginals()
    assert found.log_partition[0] == pytest.approx(everything.log_partition(scores, transitions), rel=1e-13)
    probs = everything.probs(scores, transitions)
    wanted = np.tensordot(probs, everything.uses, axes=1)
    np.testing.assert_allclose(found.edges, wanted, rtol=0, atol=1e-13)
    moves = np.zeros_like(transitions)
    for prob, edges in zip(probs, everything.outcomes, strict=True):
        for (_, before), (_, after) in pairwise(edges):
            moves[before, after] += prob
    np.testing.assert_allclose(found.transitions, moves, rtol=0, atol=1e-12)


@cases
def test_k_best(made: Linear, n_words: int) -> None:
    rng, everything = np.random.default_rng(2), enumeration(made, n_words)
    scores, transitions = random_scores(rng, made, n_words), random_transitions(rng, made)
    log_scores = everything.log_scores(scores, transitions)
    order = np.argsort(-log_scores, kind="stable")[:15]
    found = single(made, scores, transitions=transitions)
    (ranked,) = found.k_best(15)
    assert [outcome.score for outcome in ranked] == pytest.approx(log_scores[order].tolist(), rel=1e-12)
    assert [outcome.edges for outcome in ranked] == [everything.outcomes[place] for place in order]
    assert found.best()[0].score == pytest.approx(log_scores.max(), rel=1e-12)
    assert found.best()[0].edges == everything.outcomes[log_scores.argmax()]


@pytest.mark.parametrize("size", [1.0, 300.0])
def test_samples_are_drawn_in_proportion(size: float) -> None:
    rng, made = np.random.default_rng(3), Linear(("A",))
    everything = enumeration(made, 3)
    scores, transitions = random_scores(rng, made, 3), random_transitions(rng, made)
    scores[0, 3:] -= size
    log_scores, probs = everything.log_scores(scores, transitions), everything.probs(scores, transitions)
    place = {edges: index for index, edges in enumerate(everything.outcomes)}
    counts = np.zeros(len(place))
    (drawn,) = single(made, scores, transitions=transitions).sample(3000, seed=5)
    for outcome in drawn:
        counts[place[outcome.edges]] += 1
        assert outcome.score == pytest.approx(log_scores[place[outcome.edges]])
    assert chi_square(counts, probs) > 1e-3
    assert single(made, scores, transitions=transitions).sample(3000, seed=5) == [drawn]
    assert single(made, scores, transitions=transitions).sample(3000, seed=6) != [drawn]


def shares(made: Linear, scores: np.ndarray, transitions: np.ndarray) -> dict[Mention, float]:
    """The probability that the reading has each mention, by going through all sequences."""
    everything, exact = enumeration(made, len(scores)), {}
    for prob, edges in zip(everything.probs(scores, transitions), everything.outcomes, strict=True):
        for mention in made.decode(edges, "enough").mentions:
            exact[mention] = exact.get(mention, 0.0) + prob
    return exact


@pytest.mark.parametrize("in_logs", [False, True])
def test_the_probability_of_a_mention_is_the_share_of_readings_that_have_it(
    in_logs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tag_sequences, "N_SAMPLES", 3_000)
    made = Linear(("A",))
    for seed in range(1 if in_logs else 4):
        rng = np.random.default_rng(seed)
        scores, transitions = random_scores(rng, made, 4), random_transitions(rng, made)
        if in_logs:
            scores[2, 6] = -np.inf
        assert are_within_bounds(scores, transitions) != in_logs
        exact = shares(made, scores, transitions)
        found = single(made, scores, transitions=transitions)
        (probs,) = found.mention_probs([list(exact)])
        assert probs == pytest.approx(list(exact.values()), abs=0.04)
        everything = {mention: mention.prob for mention in found.probable(0.0)[0].mentions}
        for mention, prob in zip(exact, probs, strict=True):
            assert everything.get(mention, prob) == pytest.approx(prob, abs=1e-12)
            assert mention in everything or prob < 0.001
            assert found.joint_probs([[mention]]) == [prob]
        by_parts = {
            mention for mention, prob in everything.items() if prob >= (0.2 if len(mention.parts) == 1 else 0.01)
        }
        assert set(found.probable((0.2, 0.01))[0].mentions) == by_parts


def test_it_is_exact_where_there_are_only_runs() -> None:
    made = Linear(("A",))
    rng = np.random.default_rng(7)
    scores, transitions = random_scores(rng, made, 4), random_transitions(rng, made)
    scores[:, 3:] = -60.0
    exact = shares(made, scores, transitions)
    found = single(made, scores, transitions=transitions)
    assert found.mention_probs([list(exact)])[0] == pytest.approx(list(exact.values()), rel=1e-9)
    wanted = {mention: pytest.approx(prob, rel=1e-9) for mention, prob in exact.items() if prob >= 0.2}
    assert {mention: mention.prob for mention in found.probable(0.2)[0].mentions} == wanted


@pytest.mark.parametrize("size", [1.0, 300.0])
def test_the_best_tags_are_read_and_their_mentions_have_their_probability(size: float) -> None:
    made = Linear(("A",))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        scores, transitions = random_scores(rng, made, 4, size=size), random_transitions(rng, made)
        everything = enumeration(made, 4)
        best = everything.outcomes[everything.log_scores(scores, transitions).argmax()]
        exact = shares(made, scores, transitions)
        for reading in ("enough", "all"):
            (decoded,) = single(made, scores, transitions=transitions).read_best(reading)
            assert decoded == made.decode(best, reading)
            wanted = [exact.get(mention, 0.0) for mention in decoded.mentions]
            assert [mention.prob for mention in decoded.mentions] == pytest.approx(wanted, abs=0.15)


def test_the_most_probable_are_kept_and_the_rest_is_missed() -> None:
    made = Linear(("A",))
    found = single(made, random_scores(np.random.default_rng(5), made, 3))
    (everything,), (likely,) = found.probable(0.0), found.probable(0.2)
    assert not everything.truncated
    assert likely.mentions == tuple(mention for mention in everything.mentions if (mention.prob or 0.0) >= 0.2)
    (cut,) = found.probable(0.0, limit=2)
    assert cut.truncated
    best = sorted((mention.prob or 0.0 for mention in everything.mentions), reverse=True)[:2]
    assert sorted((mention.prob or 0.0 for mention in cut.mentions), reverse=True) == best


def test_several_mentions_at_once_have_their_share_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tag_sequences, "N_SAMPLES", 4_000)
    made = Linear(("A",))
    everything, scores = enumeration(made, 3), random_scores(np.random.default_rng(6), made, 3)
    pair = {Mention("A", [(0, 1)]), Mention("A", [(1, 3)])}
    exact = sum(
        prob
        for prob, edges in zip(everything.probs(scores), everything.outcomes, strict=True)
        if pair <= set(made.decode(edges, "enough").mentions)
    )
    found = single(made, scores)
    assert found.joint_probs([pair]) == pytest.approx([exact], abs=0.03)
    assert found.joint_probs([[]]) == [1.0]


def test_beyond_the_bounds_logs_do_the_work() -> None:
    made, scores = Linear(("Finding",)), np.zeros((4, 7))
    scores[1, 1:] = -900.0
    assert not are_within_bounds(scores, np.zeros((7, 7)))
    scores[2, :6] = -np.inf
    assert not are_within_bounds(scores, np.zeros((7, 7)))
    (drawn,) = single(made, scores).sample(50)
    assert {dict(outcome.edges)[1] for outcome in drawn} == {0}
    assert {dict(outcome.edges)[2] for outcome in drawn} == {6}
    assert len({outcome.edges for outcome in drawn}) > 5


def test_room_that_runs_out_is_made_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    made, rng = Linear(("Drug", "Finding")), np.random.default_rng(3)
    pieces = [random_scores(rng, made, 9) for _ in range(5)]
    found = distribution(made, batch_of(pieces, random_transitions(rng, made)))
    whole = found.probable(0.0)
    read = [here.mentions for here in whole]
    probs = found.mention_probs(read)
    monkeypatch.setattr(tag_sequences, "_ROOM", 2)
    small = found.probable(0.0)
    assert small == whole
    assert found.mention_probs(read) == probs
    assert [[mention.prob for mention in here.mentions] for here in small] == probs
    assert sum(len(here) for here in read) > 200


@pytest.mark.parametrize("largest", [10, 2**31 - 1])
def test_rows_have_the_same_key_where_they_are_equal(largest: int) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (300, 8), dtype=np.int32)
    rows[:, 1::2] *= largest
    _, wanted = np.unique(rows, axis=0, return_inverse=True)
    _, found = np.unique(tag_sequences._keys(rows), return_inverse=True)
    assert found.tolist() == wanted.tolist()


def test_what_cannot_be_read_from_tags_has_no_probability() -> None:
    made = Linear(("Drug",))
    four_parts = Mention("Drug", [(0, 1), (2, 3), (4, 5), (6, 7)])
    assert single(made, random_scores(np.random.default_rng(0), made, 8)).mention_probs([[four_parts]]) == [[0.0]]
