"""Over sets of mentions: everything equals going through all of them."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from enumeration import FOR_MENTION_SETS, THREE_PARTS, batch_of, case_name, chi_square, enumeration, random_scores
from enumeration import single as one_sentence
from hyperspan import Mention
from hyperspan.inference import DECODERS, distribution, mention_sets, outcomes
from hyperspan.inference.outcomes import by_number_of_parts
from hyperspan.structures import structure

pytestmark = pytest.mark.kernel

cases = pytest.mark.parametrize(("made", "n_words"), FOR_MENTION_SETS, ids=case_name)


def single(made, scores: np.ndarray, over: str = "mention-sets"):
    return one_sentence(made, scores, over)


@cases
@pytest.mark.parametrize("over", ["mention-sets", "derivations"])
@pytest.mark.parametrize("forbidden", [0.0, 0.15])
def test_sum_and_expected_counts(made, n_words: int, over, forbidden: float) -> None:
    everything = enumeration(made, n_words, over)
    scores = random_scores(np.random.default_rng(0), made, n_words, forbidden=forbidden)
    found = single(made, scores, over)
    marginals = found.marginals()
    assert found.log_partition()[0] == pytest.approx(everything.log_partition(scores), rel=1e-13)
    assert marginals.log_partition[0] == found.log_partition()[0]
    wanted = np.tensordot(everything.probs(scores), everything.uses, axes=1)
    np.testing.assert_allclose(marginals.edges, wanted, rtol=1e-11, atol=1e-13)
    assert np.all(marginals.edges[np.isneginf(scores)] == 0.0)


@cases
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_k_best(made, n_words: int, forbidden: float) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(2), made, n_words, forbidden=forbidden)
    log_scores = everything.log_scores(scores)
    order = [place for place in np.argsort(-log_scores, kind="stable")[:12] if log_scores[place] > -np.inf]
    (found,) = single(made, scores).k_best(12)
    assert [outcome.score for outcome in found] == pytest.approx(log_scores[order].tolist(), rel=1e-12, abs=1e-12)
    assert [outcome.edges for outcome in found] == [everything.outcomes[place] for place in order]
    for outcome in found:
        assert outcome.mentions is not None
        assert made.unfold(outcome.mentions, n_words).encoding == outcome.edges
        assert list(outcome.mentions) == sorted(outcome.mentions)
    assert len({outcome.mentions for outcome in found}) == len(found)
    if found:
        assert single(made, scores).best() == found[:1]


def test_outcomes_and_sets_of_mentions_are_one_to_one() -> None:
    made = structure("shared", ["Finding"], 3)
    (found,) = single(made, random_scores(np.random.default_rng(3), made, 3)).k_best(200)
    assert len(found) == 128
    assert {frozenset(outcome.mentions or ()) for outcome in found} == set(enumeration(made, 3, "mention-sets").sets)


@pytest.mark.parametrize(
    ("made", "n_words"),
    [(structure("shared", ["A"], 2), 3), (structure("split", ["A", "B"], 2), 2), (THREE_PARTS, 6)],
    ids=case_name,
)
def test_samples_are_drawn_in_proportion(made, n_words: int) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(4), made, n_words)
    log_scores, probs = everything.log_scores(scores), everything.probs(scores)
    place = {mentions: index for index, mentions in enumerate(everything.sets)}
    counts = np.zeros(len(place))
    (drawn,) = single(made, scores).sample(1200, seed=7)
    for outcome in drawn:
        index = place[frozenset(outcome.mentions or ())]
        counts[index] += 1
        assert outcome.edges == everything.outcomes[index]
        assert outcome.score == pytest.approx(log_scores[index])
    assert chi_square(counts, probs) > 1e-3
    assert single(made, scores).sample(1200, seed=7) == [drawn]


@cases
def test_probability_of_mentions(made, n_words: int) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    rng = np.random.default_rng(5)
    scores = random_scores(rng, made, n_words)
    probs, found = everything.probs(scores), single(made, scores)
    exact = [everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions]
    assert found.mention_probs([everything.mentions])[0] == pytest.approx(exact, rel=1e-11)
    for size in (1, 2, 3, 4):
        several = rng.choice(len(everything.mentions), size=min(size, len(everything.mentions)), replace=False)
        mentions = frozenset(everything.mentions[place] for place in several)
        assert found.joint_probs([mentions]) == pytest.approx([everything.prob_of(probs, mentions)], rel=1e-11)
    assert found.joint_probs([[]]) == [1.0]


@cases
@pytest.mark.parametrize("size", [0.5, 3.0])
def test_probable_finds_exactly_the_mentions_above_the_threshold(made, n_words: int, size: float) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(6), made, n_words, size=size)
    probs = everything.probs(scores)
    exact = {mention: everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions}
    for threshold in (0.0, 0.01, 0.123, 0.3, 0.77, (0.3, 0.01), (0.01, 0.2, 0.05)):
        (decoded,) = single(made, scores).probable(threshold)
        least = by_number_of_parts(threshold, 3)
        wanted = [mention for mention in sorted(exact) if exact[mention] >= least[len(mention.parts) - 1]]
        assert decoded.mentions == tuple(wanted)
        assert not decoded.truncated
        for mention in decoded.mentions:
            assert mention.prob == pytest.approx(exact[mention], rel=1e-11)


def test_astronomically_many_mentions_are_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mention_sets, "MOST_TREE_NODES", 2_000)
    monkeypatch.setattr(outcomes, "MOST_STEPS", 20_000)
    made, n_words = structure("shared", ["Finding"]), 80
    found = single(made, np.zeros((n_words, made.n_labels)))
    n_mentions = sum(comb(n_words + 1, 2 * parts) for parts in (1, 2, 3))
    assert found.log_partition()[0] == pytest.approx(n_mentions * np.log(2), rel=1e-12)
    fond_of_branches = np.zeros((n_words, made.n_labels))
    fond_of_branches[:, [1, 8, 11, 18, 21, 24]] = 1.0
    (best,) = single(made, fond_of_branches).k_best(2)
    for outcome in (*found.sample(2)[0], *best):
        assert outcome.truncated
        assert outcome.mentions is not None
        assert len(outcome.mentions) <= 1_000
    (probable,) = found.probable(0.3)
    assert probable.truncated
    assert len(probable.mentions) == 1_000
    assert np.all(np.isfinite(found.marginals().edges))


def test_probabilities_at_zero_scores_are_one_half() -> None:
    made = structure("split", ["Finding"])
    found = single(made, np.zeros((4, made.n_labels)))
    (decoded,) = found.probable(0.5 - 1e-12)
    assert len(decoded.mentions) == 15
    assert [mention.prob for mention in decoded.mentions] == pytest.approx([0.5] * 15)
    assert found.probable(0.5 + 1e-12)[0].mentions == ()


def test_mentions_with_too_many_parts_have_no_probability() -> None:
    mention = Mention("Finding", [(0, 1), (2, 3)])
    shared = structure("shared", ["Finding"], 2)
    assert single(shared, np.zeros((3, shared.n_labels))).joint_probs([[mention]]) == pytest.approx([0.5])
    contiguous = single(structure("mention", ["Finding"]), np.zeros((3, 5)))
    assert contiguous.mention_probs([[mention]]) == [[0.0]]
    assert contiguous.joint_probs([[mention]]) == [0.0]


@cases
def test_the_best_set_of_mentions_is_decoded_whatever_the_reading(made, n_words: int) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(8), made, n_words)
    probs, best = everything.probs(scores), everything.sets[everything.log_scores(scores).argmax()]
    for reading in ("enough", "all"):
        (decoded,) = single(made, scores).read_best(reading)
        assert decoded.mentions == tuple(sorted(best))
        exact = [everything.prob_of(probs, frozenset([mention])) for mention in decoded.mentions]
        assert [mention.prob for mention in decoded.mentions] == pytest.approx(exact, rel=1e-11)


# Derivations: the paper's formula as we infer it


def test_the_formula_can_exceed_one() -> None:
    """Gold edges count once, but the normaliser counts them once per use: here with an edge that costs a lot."""
    made = structure("shared", ["Finding"], 2)
    mentions = [
        Mention("Finding", parts) for parts in ([(0, 1), (2, 4)], [(1, 2), (3, 4)], [(0, 1), (3, 4)], [(0, 2), (3, 4)])
    ]
    mentions.append(Mention("Finding", [(0, 1), (2, 3)]))
    scores = np.full((4, made.n_labels), -20.0)
    gold = made.encode(mentions, 4).encoding
    for word, label in gold:
        scores[word, label] = 0.0
    for word, label in gold:
        if word == 3 and label > 1:
            scores[word, label] = -30.0
    derivations, over_sets = single(made, scores, "derivations"), single(made, scores)
    log_likelihood = sum(scores[word, label] for word, label in gold) - derivations.log_partition()[0]
    assert derivations.log_partition() == over_sets.log_partition()
    assert log_likelihood > 0.0
    assert over_sets.best()[0].score <= over_sets.log_partition()[0]


@cases
def test_derivations_are_given_back_as_encodings(made, n_words: int) -> None:
    """The outcome of a derivation is the encoding of its mentions: nodes have the children of all their uses."""
    scores = random_scores(np.random.default_rng(7), made, n_words)
    (sets,), (found,) = single(made, scores).k_best(5), single(made, scores, "derivations").k_best(5)
    assert [outcome.edges for outcome in found] == [made.encode(one.mentions, n_words).encoding for one in sets]
    assert [outcome.score for outcome in found] == [one.score for one in sets]
    assert all(outcome.mentions is None for outcome in found)


def crossed_scores(made) -> np.ndarray:
    """Scores under which the best derivation is of four mentions, whose encoding two of them that cross explain."""
    mentions = [Mention("Finding", [(0, 1), (3, 4)]), Mention("Finding", [(1, 2), (4, 5)])]
    scores = np.full((5, made.n_labels), -30.0)
    for word, label in made.encode(mentions, 5).encoding:
        scores[word, label] = 3.0
    return scores


def test_enough_and_all_read_the_best_derivation_each_in_its_way() -> None:
    """Four mentions or two explain the encoding: ``enough`` has as few as possible, alone and in a batch."""
    made = structure("shared", ["Finding"], 2)
    scores = crossed_scores(made)
    alone = single(made, scores, "derivations")
    together = distribution(made, batch_of([scores[:2] * 0.0 - 1.0, scores, scores[:0], scores]), "derivations")
    (outcome,) = alone.best()
    wanted = {reading: made.decode(outcome.edges, reading) for reading in ("enough", "all")}
    assert [len(wanted[reading].mentions) for reading in ("enough", "all")] == [2, 4]
    for reading in ("enough", "all"):
        (decoded,) = DECODERS[reading](alone, 0.3)
        assert decoded == wanted[reading]
        in_batch = DECODERS[reading](together, 0.3)
        assert in_batch[1] == in_batch[3] == decoded
        assert in_batch[2].mentions == ()
        assert all(mention.prob is not None for mention in decoded.mentions)
