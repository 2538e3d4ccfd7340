"""Over sets of mentions: everything equals going through all of them."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import stats

from enumeration import FOR_MENTION_SETS, THREE_PARTS, case_name, enumeration, random_scores
from hyperspan import Mention
from hyperspan.errors import StructureError
from hyperspan.inference import distribution, mention_sets
from hyperspan.structures import structure

pytestmark = pytest.mark.kernel

cases = pytest.mark.parametrize(("made", "n_words"), FOR_MENTION_SETS, ids=case_name)


@cases
@pytest.mark.parametrize("over", ["mention-sets", "derivations"])
@pytest.mark.parametrize("forbidden", [0.0, 0.15])
def test_sum_and_expected_counts(made, n_words: int, over, forbidden: float) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(0), made, n_words, forbidden=forbidden)
    found = distribution(made, scores, over=over)
    assert found.log_partition() == pytest.approx(everything.log_partition(scores), rel=1e-13)
    wanted = np.tensordot(everything.probs(scores), everything.uses, axes=1)
    np.testing.assert_allclose(found.expected_counts(), wanted, rtol=1e-11, atol=1e-13)
    assert np.all(found.expected_counts()[np.isneginf(scores)] == 0.0)


@cases
def test_expected_counts_are_the_slope_of_the_sum(made, n_words: int) -> None:
    scores = random_scores(np.random.default_rng(1), made, n_words)
    expected = distribution(made, scores, over="mention-sets").expected_counts()
    step = 1e-5
    for word in range(n_words):
        for label in range(made.n_labels):
            around = []
            for change in (step, -step):
                moved = scores.copy()
                moved[word, label] += change
                around.append(distribution(made, moved, over="mention-sets").log_partition())
            assert (around[0] - around[1]) / (2 * step) == pytest.approx(expected[word, label], abs=1e-7)


@cases
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_k_best(made, n_words: int, forbidden: float) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(2), made, n_words, forbidden=forbidden)
    log_scores = everything.log_scores(scores)
    order = [place for place in np.argsort(-log_scores, kind="stable")[:12] if log_scores[place] > -np.inf]
    found = distribution(made, scores, over="mention-sets").k_best(12)
    assert [outcome.score for outcome in found] == pytest.approx(log_scores[order].tolist(), rel=1e-12, abs=1e-12)
    assert [outcome.edges for outcome in found] == [everything.outcomes[place] for place in order]
    for outcome in found:
        assert outcome.mentions is not None
        assert made.unfold(outcome.mentions, n_words).encoding == outcome.edges
        assert list(outcome.mentions) == sorted(outcome.mentions)
    assert len({outcome.mentions for outcome in found}) == len(found)


def test_outcomes_and_sets_of_mentions_are_one_to_one() -> None:
    made = structure("shared", ["Finding"], 3)
    scores = random_scores(np.random.default_rng(3), made, 3)
    found = distribution(made, scores, over="mention-sets").k_best(200)
    everything = enumeration(made, 3, "mention-sets")
    assert len(found) == 128
    assert {frozenset(outcome.mentions or ()) for outcome in found} == set(everything.sets)


@pytest.mark.parametrize(
    ("made", "n_words"),
    [(structure("shared", ["A"], 2), 3), (structure("split", ["A", "B"], 2), 2), (THREE_PARTS, 6)],
    ids=case_name,
)
def test_samples_are_drawn_in_proportion(made, n_words: int) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(4), made, n_words)
    probs = everything.probs(scores)
    place = {mentions: index for index, mentions in enumerate(everything.sets)}
    counts = np.zeros(len(place))
    drawn = distribution(made, scores, over="mention-sets").sample(1200, seed=7)
    for outcome in drawn:
        index = place[frozenset(outcome.mentions or ())]
        counts[index] += 1
        assert outcome.edges == everything.outcomes[index]
        assert outcome.score == pytest.approx(everything.log_scores(scores)[index])
    wanted = probs * counts.sum()
    is_common = wanted >= 5
    seen = [*counts[is_common], counts[~is_common].sum()]
    expected = [*wanted[is_common], wanted[~is_common].sum()]
    assert stats.chisquare(seen, expected, sum_check=False).pvalue > 1e-3
    assert drawn == distribution(made, scores, over="mention-sets").sample(1200, seed=7)


@cases
def test_probability_of_mentions(made, n_words: int) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    rng = np.random.default_rng(5)
    scores = random_scores(rng, made, n_words)
    probs, found = everything.probs(scores), distribution(made, scores, over="mention-sets")
    for mention in everything.mentions:
        assert found.prob_of([mention]) == pytest.approx(everything.prob_of(probs, frozenset([mention])), rel=1e-11)
    for size in (2, 3, 4):
        several = rng.choice(len(everything.mentions), size=min(size, len(everything.mentions)), replace=False)
        mentions = frozenset(everything.mentions[place] for place in several)
        assert found.prob_of(mentions) == pytest.approx(everything.prob_of(probs, mentions), rel=1e-11)
    assert found.prob_of([]) == 1.0


@cases
@pytest.mark.parametrize("size", [0.5, 3.0])
def test_probable_finds_exactly_the_mentions_above_the_threshold(made, n_words: int, size: float) -> None:
    everything = enumeration(made, n_words, "mention-sets")
    scores = random_scores(np.random.default_rng(6), made, n_words, size=size)
    probs = everything.probs(scores)
    exact = {mention: everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions}
    for threshold in (0.0, 0.01, 0.123, 0.3, 0.77):
        decoded = distribution(made, scores, over="mention-sets").probable(threshold)
        assert decoded.mentions == tuple(mention for mention in sorted(exact) if exact[mention] >= threshold)
        assert not decoded.truncated
        for mention in decoded.mentions:
            assert mention.prob == pytest.approx(exact[mention], rel=1e-11)


def test_astronomically_many_mentions_are_cut_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mention_sets, "MOST_TREE_NODES", 2_000)
    monkeypatch.setattr(mention_sets, "MOST_STEPS", 20_000)
    made, n_words = structure("shared", ["Finding"]), 80
    found = distribution(made, np.zeros((n_words, made.n_labels)), over="mention-sets")
    n_mentions = sum(comb(n_words + 1, 2 * parts) for parts in (1, 2, 3))
    assert found.log_partition() == pytest.approx(n_mentions * np.log(2), rel=1e-12)
    fond_of_branches = np.zeros((n_words, made.n_labels))
    fond_of_branches[:, [1, 8, 11, 18, 21, 24]] = 1.0
    best = distribution(made, fond_of_branches, over="mention-sets").k_best(2)
    for outcome in (*found.sample(2), *best):
        assert outcome.truncated
        assert outcome.mentions is not None
        assert len(outcome.mentions) <= 1_000
    probable = found.probable(0.3)
    assert probable.truncated
    assert len(probable.mentions) == 1_000
    assert np.all(np.isfinite(found.expected_counts()))


def test_probabilities_at_zero_scores_are_one_half() -> None:
    made = structure("split", ["Finding"])
    found = distribution(made, np.zeros((4, made.n_labels)), over="mention-sets")
    decoded = found.probable(0.5 - 1e-12)
    assert len(decoded.mentions) == 15
    assert [mention.prob for mention in decoded.mentions] == pytest.approx([0.5] * 15)
    assert found.probable(0.5 + 1e-12).mentions == ()


def test_what_is_forbidden_has_no_best_no_samples_and_no_mentions() -> None:
    made = structure("shared", ["A", "B"], 2)
    scores = np.zeros((4, made.n_labels))
    scores[2, :2] = -np.inf
    found = distribution(made, scores, over="mention-sets")
    assert found.log_partition() == -np.inf
    assert found.k_best(3) == []
    with pytest.raises(StructureError, match="there is no best outcome: every outcome is forbidden"):
        found.best()
    with pytest.raises(StructureError, match="nothing can be drawn: every outcome is forbidden"):
        found.sample(2)
    assert found.probable(0.0).mentions == ()
    for type in ("A", "B"):
        assert found.prob_of([Mention(type, [(0, 1)])]) == 0.0


def test_questions_that_cannot_be_answered() -> None:
    made = structure("shared", ["Finding"], 2)
    found = distribution(made, np.zeros((3, made.n_labels)), over="mention-sets")
    for call, name in [(found.k_best, "k"), (found.sample, "n_samples")]:
        with pytest.raises(StructureError, match=f"{name} is 0; expected at least 1"):
            call(0)
    with pytest.raises(StructureError, match="limit is 0; expected at least 1"):
        found.probable(limit=0)
    with pytest.raises(StructureError, match="ends beyond the 3 words of the sentence"):
        found.prob_of([Mention("Finding", [(3, 4)])])
    assert found.prob_of([Mention("Finding", [(0, 1), (2, 3)])]) == pytest.approx(0.5)
    contiguous = distribution(structure("mention", ["Finding"]), np.zeros((3, 5)), over="mention-sets")
    assert contiguous.prob_of([Mention("Finding", [(0, 1), (2, 3)])]) == 0.0


def test_the_published_formula_can_exceed_one() -> None:
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
    published = distribution(made, scores, over="derivations")
    log_likelihood = sum(scores[word, label] for word, label in gold) - published.log_partition()
    over_sets = distribution(made, scores, over="mention-sets")
    assert published.log_partition() == over_sets.log_partition()
    assert log_likelihood > 0.0
    assert over_sets.best().score <= over_sets.log_partition()
