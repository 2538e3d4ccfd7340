"""Over the sets of mentions of segments: everything equals going through all of them."""

from __future__ import annotations

import math
import tracemalloc
from itertools import combinations
from math import comb

import numpy as np
import pytest

from enumeration import FOR_SEGMENTS, ONE, TWO, batch_of, case_name, chi_square, enumeration, random_scores
from enumeration import single as one_sentence
from hyperspan import Mention, Sentence
from hyperspan.errors import StructureError
from hyperspan.inference import ScoreBatch, distribution, encode_gold, negative_log_likelihood
from hyperspan.inference import segments as over_segments
from hyperspan.inference.reference.algebra import COUNT, LOG_SUM, k_best
from hyperspan.inference.reference.segments import segments_total
from hyperspan.structures import Segments

pytestmark = pytest.mark.kernel

cases = pytest.mark.parametrize(("made", "n_words"), FOR_SEGMENTS, ids=case_name)
sizes = pytest.mark.parametrize("size", [1.0, 300.0], ids=["scaled products", "log space"])


def single(made, scores):
    return one_sentence(made, scores, "encodings")


@cases
@sizes
@pytest.mark.parametrize("forbidden", [0.0, 0.15])
def test_sum_and_expected_counts(made, n_words: int, size: float, forbidden: float) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(0), made, n_words, size=size, forbidden=forbidden)
    found = single(made, scores)
    marginals = found.marginals()
    assert found.log_partition()[0] == pytest.approx(everything.log_partition(scores), rel=1e-13, abs=1e-13)
    assert marginals.log_partition[0] == found.log_partition()[0]
    wanted = np.tensordot(everything.probs(scores), everything.uses, axes=1)
    np.testing.assert_allclose(marginals.edges, wanted, rtol=1e-9, atol=1e-12)
    assert np.all(marginals.edges[np.isneginf(scores)] == 0.0)


@cases
def test_the_kernel_is_the_reference_and_the_formulas_of_the_documentation(made, n_words: int) -> None:
    scores = random_scores(np.random.default_rng(1), made, n_words, forbidden=0.1)
    total = single(made, scores).log_partition()[0]
    assert total == pytest.approx(segments_total(made, scores.tolist(), LOG_SUM), rel=1e-13)
    assert total == pytest.approx(written_out(made, scores), rel=1e-12)


def written_out(made: Segments, scores: np.ndarray) -> float:
    """V, C, U, W and log Z as docs/segments.md has them."""

    def softplus(x: float) -> float:
        return math.log1p(math.exp(x))

    def less_one(u: float) -> float:
        return math.log(math.expm1(u)) if u > 0.0 else -math.inf

    n_words, n_levels, total = len(scores), made.max_components, 0.0
    for type_id in range(len(made.types)):
        starts: list[float] = []
        for level in reversed(range(n_levels)):
            turns = [0.0] * n_words
            for j in range(n_words):
                if level < n_levels - 1:
                    value = softplus(scores[j, made.end_label(type_id, level)])
                    for gap in range(1, min(made.longest_gap, n_words - j - 2) + 1):
                        value += softplus(scores[j, made.gap_label(type_id, level, gap)] + starts[j + 1 + gap])
                    turns[j] = less_one(value)
            starts = [
                less_one(
                    sum(
                        softplus(scores[i, made.part_label(type_id, level, j - i + 1)] + turns[j])
                        for j in range(i, min(n_words, i + made.longest_part))
                    )
                )
                for i in range(n_words)
            ]
        total += sum(map(softplus, starts))
    return total


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_at_zero_scores_there_are_as_many_outcomes_as_sets_of_mentions(n_parts: int) -> None:
    made = Segments(ONE, n_parts, 7, 7)
    for n_words in range(1, 8):
        scores = np.zeros((n_words, made.n_labels))
        n_mentions = sum(comb(n_words + 1, 2 * parts) for parts in range(1, n_parts + 1))
        assert segments_total(made, scores.tolist(), COUNT) == 2**n_mentions
        assert single(made, scores).log_partition()[0] == pytest.approx(n_mentions * math.log(2.0), rel=1e-13)


@cases
@sizes
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_best_and_k_best(made, n_words: int, size: float, forbidden: float) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(2), made, n_words, size=size, forbidden=forbidden)
    log_scores = np.sort(everything.log_scores(scores))[::-1][:12]
    wanted = log_scores[log_scores > -np.inf].tolist()
    (found,) = single(made, scores).k_best(12)
    assert [outcome.score for outcome in found] == pytest.approx(wanted, rel=1e-11, abs=1e-11)
    assert len({outcome.mentions for outcome in found}) == len(found)
    for outcome in found:
        assert outcome.mentions == made.decode(outcome.edges, "all").mentions
        assert outcome.edges == made.encode(outcome.mentions, n_words).encoding
    (best,) = single(made, scores).best()
    assert best.score == pytest.approx(found[0].score)
    if len(made.types) == 1:
        ((score, _),) = segments_total(made, scores.tolist(), k_best(1))
        assert best.score == pytest.approx(score)


@cases
@sizes
@pytest.mark.parametrize("reading", ["all", "enough"])
def test_the_best_set_is_read_with_its_probabilities(made, n_words: int, size: float, reading: str) -> None:
    for seed in range(5):
        scores = random_scores(np.random.default_rng(seed), made, n_words, size=size, forbidden=0.1) - 0.3 * size
        found = single(made, scores)
        (decoded,) = found.read_best(reading)
        assert decoded.mentions == found.best()[0].mentions
        probs = [mention.prob for mention in decoded.mentions]
        assert probs == pytest.approx(found.mention_probs([decoded.mentions])[0], rel=1e-12)


@cases
@sizes
def test_mention_probabilities_and_moved_counts(made, n_words: int, size: float) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(3), made, n_words, size=size, forbidden=0.05)
    found, probs = single(made, scores), everything.probs(scores)
    average = np.tensordot(probs, everything.uses, axes=1)
    (of_mentions,) = found.mention_probs([everything.mentions])
    for mention, prob in zip(everything.mentions, of_mentions, strict=True):
        assert prob == pytest.approx(everything.prob_of(probs, frozenset([mention])), rel=1e-9, abs=1e-13)
        if prob > 1e-6:
            has_it = np.array([mention in sets for sets in everything.sets])
            given = np.tensordot(probs[has_it] / probs[has_it].sum(), everything.uses[has_it], axes=1)
            np.testing.assert_allclose(found.moved(mention), given - average, rtol=1e-6, atol=1e-8)


@cases
def test_joint_probabilities(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(4), made, n_words)
    found, probs = single(made, scores), everything.probs(scores)
    for several in combinations(everything.mentions[:9], min(3, len(everything.mentions))):
        wanted = everything.prob_of(probs, frozenset(several))
        assert found.joint_probs([several])[0] == pytest.approx(wanted, rel=1e-10)


@cases
@pytest.mark.parametrize("threshold", [0.02, 0.3])
def test_probable_finds_every_mention_that_is(made, n_words: int, threshold: float) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(5), made, n_words, size=2.0, forbidden=0.05)
    probs = everything.probs(scores)
    wanted = {mention: everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions}
    (decoded,) = single(made, scores).probable(threshold)
    assert {mention: pytest.approx(mention.prob, rel=1e-9) for mention in decoded.mentions} == {
        mention: prob for mention, prob in wanted.items() if prob >= threshold
    }
    assert not decoded.truncated


@pytest.mark.parametrize(("made", "n_words"), [(Segments(ONE, 2, 2, 1), 3), (Segments(TWO, 1, 2, 1), 2)])
def test_samples_are_as_frequent_as_they_are_probable(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(6), made, n_words)
    number_of = {outcome: number for number, outcome in enumerate(everything.outcomes)}
    (samples,) = single(made, scores).sample(4_000, seed=1)
    drawn = np.bincount([number_of[sample.edges] for sample in samples], minlength=len(number_of))
    assert chi_square(drawn, everything.probs(scores)) > 1e-3
    assert single(made, scores).sample(20, seed=1) == single(made, scores).sample(20, seed=1)
    for sample in samples[:20]:
        assert sample.score == pytest.approx(sum(scores[edge] for edge in sample.edges))


@pytest.mark.parametrize("depth", [5.0, 900.0, 1e4])
def test_samples_are_right_where_a_mention_is_forced_to_go_on_although_that_is_improbable(depth: float) -> None:
    """The first part outweighs what follows it, whose own probability underflows: it has exactly one child then."""
    made = Segments(ONE, 2, 1, 2)
    scores = np.full((4, made.n_labels), -np.inf)
    scores[0, made.part_label(0, 0, 1)] = 2.0 * depth + 20.0
    for gap, weight in ((1, 0.25), (2, 0.75)):
        scores[0, made.gap_label(0, 0, gap)] = math.log(weight) - depth
        scores[1 + gap, made.part_label(0, 1, 1)] = -depth
    (samples,) = single(made, scores).sample(2_000, seed=1)
    assert all(sample.mentions for sample in samples)
    drawn = [mention.parts[1][0] for sample in samples for mention in sample.mentions]
    assert drawn.count(2) / len(drawn) == pytest.approx(0.25, abs=0.03)


def test_gradient_is_the_finite_difference() -> None:
    made, rng = Segments(TWO, 3, 3, 3), np.random.default_rng(7)
    mentions = [Mention("Finding", parts) for parts in ([(0, 2), (3, 4)], [(0, 2), (3, 4), (5, 6)], [(1, 2), (3, 4)])]
    gold = encode_gold(over_segments.SegmentSets, made, [Sentence(["w"] * 6, [*mentions, Mention("Drug", [(5, 6)])])])
    scores = rng.normal(size=(6, made.n_labels))

    def value(moved: np.ndarray) -> float:
        return negative_log_likelihood(single(made, moved), gold).value

    loss = negative_log_likelihood(single(made, scores), gold)
    for word, label in np.ndindex(*scores.shape):
        step = np.zeros(scores.shape)
        step[word, label] = 1e-5
        slope = (value(scores + step) - value(scores - step)) / 2e-5
        assert loss.scores[word, label] == pytest.approx(slope, abs=1e-7)
    prob = math.exp(-loss.value)
    assert prob == pytest.approx(single(made, scores).joint_probs([[*mentions]])[0], rel=1.0)
    assert 0.0 < prob < 1.0


def test_a_sentence_is_the_same_in_a_batch() -> None:
    made, rng = Segments(TWO, 3, 4, 3), np.random.default_rng(8)
    arrays = [rng.normal(size=(n_words, made.n_labels)) for n_words in (5, 0, 1, 7)]
    arrays.append(300.0 * arrays[0])
    batch = distribution(made, batch_of(arrays))
    alone = [single(made, array) for array in arrays]
    assert batch.log_partition().tolist() == [each.log_partition()[0] for each in alone]
    np.testing.assert_array_equal(batch.marginals().edges, np.concatenate([each.marginals().edges for each in alone]))
    assert batch.probable(0.1) == [each.probable(0.1)[0] for each in alone]
    assert batch.k_best(3) == [each.k_best(3)[0] for each in alone]
    assert batch.best() == [each.best()[0] for each in alone]


@pytest.mark.parametrize("size", [0.0, 1e4, 1e250])
def test_long_sentences_and_huge_scores_neither_overflow_nor_take_more_than_bounded_memory(size: float) -> None:
    made, rng = Segments(ONE, 5, 6, 6), np.random.default_rng(9)
    scores = size * rng.normal(size=(500, made.n_labels)) if size else np.zeros((500, made.n_labels))
    found = single(made, scores)
    marginals = found.marginals()
    assert not np.isnan(marginals.log_partition[0])
    assert np.all(np.isfinite(marginals.edges))
    (decoded,) = found.probable(0.3)
    assert len(decoded.mentions) <= 1_000
    assert found.best()[0].truncated == found.read_best("all")[0].truncated == (size > 0.0)


@pytest.mark.parametrize(
    ("part_end", "end_score"), [(2, 650.0), (1, 650.0)], ids=["leads to what can be reached", "leads nowhere"]
)
def test_parts_too_near_the_beginning_for_their_level_do_not_matter_however_large(part_end, end_score) -> None:
    made = Segments(ONE, 3, 3, 3)
    scores = np.full((6, made.n_labels), -5.0)
    scores[2, made.part_label(0, 1, 1)] = -100.0
    scores[part_end, made.end_label(0, 1)] = end_score
    plain = single(made, scores).marginals()
    scores[0, made.part_label(0, 1, part_end + 1)] = 650.0
    marginals = single(made, scores).marginals()
    assert marginals.log_partition[0] == plain.log_partition[0]
    np.testing.assert_array_equal(marginals.edges, plain.edges)
    assert marginals.edges[0, made.part_label(0, 1, part_end + 1)] == 0.0


@pytest.mark.parametrize(("n_words", "is_cut"), [(1_000, False), (1_001, True)])
def test_the_best_set_is_truncated_only_if_it_has_too_many_mentions(n_words: int, is_cut: bool) -> None:
    made = Segments(ONE, 1, 1, 1)
    found = single(made, np.ones((n_words, made.n_labels)))
    (decoded,) = found.read_best("all")
    assert len(decoded.mentions) == 1_000
    assert decoded.truncated == found.best()[0].truncated == is_cut


def test_an_outcome_of_several_types_is_read_as_no_more_mentions_than_the_limit() -> None:
    made = Segments(TWO, 1, 1, 1)
    found = single(made, np.ones((600, made.n_labels)))
    (best,) = found.best()
    decoded = found.read(best, "enough")
    assert (len(best.mentions), best.truncated) == (1_200, False)
    assert (len(decoded.mentions), decoded.truncated) == (1_000, True)


def test_the_search_for_probable_mentions_is_bounded_and_says_so(monkeypatch) -> None:
    monkeypatch.setattr(over_segments, "MOST_STEPS", 50)
    made = Segments(ONE, 3, 5, 5)
    (decoded,) = single(made, np.zeros((30, made.n_labels))).probable(1e-6)
    assert decoded.truncated


@pytest.mark.parametrize("most_steps", range(6, 40))
def test_a_search_says_that_it_was_cut_wherever_that_happens(monkeypatch, most_steps: int) -> None:
    made = Segments(ONE, 2, 1, 5)
    found = single(made, np.zeros((4, made.n_labels)))
    (whole,) = found.probable(0.01)
    monkeypatch.setattr(over_segments, "MOST_STEPS", most_steps)
    (decoded,) = found.probable(0.01)
    assert not whole.truncated
    assert decoded.truncated == (len(decoded.mentions) < len(whole.mentions))


def test_sentences_with_very_many_mentions_are_searched_a_few_at_a_time(monkeypatch) -> None:
    made, rng = Segments(TWO, 3, 3, 3), np.random.default_rng(0)
    found = distribution(made, batch_of([rng.normal(size=(n_words, made.n_labels)) for n_words in (6, 0, 5) * 8]))
    whole, best = found.probable((0.04, 0.01)), found.read_best("all")
    monkeypatch.setattr(over_segments, "_ROOM", 1)
    monkeypatch.setattr(over_segments, "_MOST_ROWS", 4)
    n_rooms, room = [], over_segments.MentionRows.room
    monkeypatch.setattr(over_segments.MentionRows, "room", lambda n, parts: n_rooms.append(n) or room(n, parts))
    assert found.probable((0.04, 0.01)) == whole
    assert found.read_best("all") == best
    n_of_one = max(len(here.mentions) for here in whole)
    assert max(n_rooms) <= 4 * n_of_one < sum(len(here.mentions) for here in whole)


def test_the_memory_of_a_search_does_not_grow_with_the_longest_parts_and_gaps_allowed() -> None:
    made = Segments(ONE, 3, 3_000, 3_000)
    found = single(made, np.ones((5, made.n_labels)))
    searched, best = found.probable(0.01), found.read_best("all")  # compiled
    tracemalloc.start()
    assert found.probable(0.01) == searched
    assert found.read_best("all") == best
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_mentions = sum(comb(6, 2 * parts) for parts in (1, 2, 3))
    assert [len(here.mentions) for here in (*searched, *best)] == [n_mentions, n_mentions]
    assert peak < 100_000_000  # it would be two gigabytes


def test_mentions_that_cannot_be_written_have_no_probability() -> None:
    made = Segments(ONE, 2, 2, 1)
    found = single(made, np.zeros((6, made.n_labels)))
    too_long, too_far = Mention("Finding", [(0, 3)]), Mention("Finding", [(0, 1), (3, 4)])
    assert found.mention_probs([[too_long, too_far]]) == [[0.0, 0.0]]
    assert found.joint_probs([[too_long, Mention("Finding", [(0, 1)])]]) == [0.0]
    with pytest.raises(StructureError, match="cannot be encoded; expected one of at most 2 parts of 2 words with gaps"):
        found.moved(too_long)
    assert np.all(made.clamp(found.batch.scores, too_long, ()) == -np.inf)


def test_both_names_mean_the_same_distribution() -> None:
    made = Segments(ONE)
    batch = ScoreBatch.of_sentence(np.zeros((2, made.n_labels)))
    assert type(distribution(made, batch, "encodings")) is type(distribution(made, batch, "mention-sets"))
    with pytest.raises(StructureError, match="'segments' has no distribution 'derivations'; expected one of encodings"):
        distribution(made, batch, "derivations")
