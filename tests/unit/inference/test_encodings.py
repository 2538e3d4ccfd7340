"""Over encodings: everything equals going through all of them."""

from __future__ import annotations

import numpy as np
import pytest

from brute_force import all_mentions
from enumeration import FOR_ENCODINGS, THREE_PARTS, batch_of, case_name, chi_square, enumeration, random_scores, single
from hyperspan import Mention
from hyperspan.inference import distribution, encodings, outcomes, sums
from hyperspan.inference.automaton import staircase_automaton
from hyperspan.inference.numba.frontier import forward_backward_kernel
from hyperspan.inference.numba.mention_marginals import Bounds, restricted_totals_kernel
from hyperspan.inference.outcomes import by_number_of_parts
from hyperspan.inference.reference.algebra import LOG_SUM
from hyperspan.inference.reference.automaton import total
from hyperspan.inference.reference.mention_marginals import ClampedSums
from hyperspan.structures import Hypergraph, Staircase, structure
from hyperspan.structures.staircase import NO_START, START, STAY

pytestmark = pytest.mark.kernel

cases = pytest.mark.parametrize(("made", "n_words"), FOR_ENCODINGS, ids=case_name)
small_cases = pytest.mark.parametrize(
    ("made", "n_words"), [case for case in FOR_ENCODINGS if case[1] < 4 or case[0].max_components < 3], ids=case_name
)


@cases
@pytest.mark.parametrize("forbidden", [0.0, 0.15])
def test_sum_and_edge_probabilities(made, n_words: int, forbidden: float) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(0), made, n_words, forbidden=forbidden)
    found = single(made, scores)
    marginals = found.marginals()
    assert found.log_partition()[0] == pytest.approx(everything.log_partition(scores), rel=1e-13)
    assert marginals.log_partition[0] == pytest.approx(everything.log_partition(scores), rel=1e-13)
    wanted = np.tensordot(everything.probs(scores), everything.uses, axes=1)
    np.testing.assert_allclose(marginals.edges, wanted, rtol=0, atol=1e-13)
    assert np.all(marginals.edges[np.isneginf(scores)] == 0.0)


@cases
def test_k_best(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(2), made, n_words)
    log_scores = everything.log_scores(scores)
    order = np.argsort(-log_scores, kind="stable")[:20]
    (found,) = single(made, scores).k_best(20)
    assert [outcome.score for outcome in found] == pytest.approx(log_scores[order].tolist(), rel=1e-12, abs=1e-12)
    assert [outcome.edges for outcome in found] == [everything.outcomes[place] for place in order]


def test_k_best_gives_no_more_than_there_are() -> None:
    made = structure("mention", ["A", "B"])
    (found,) = single(made, random_scores(np.random.default_rng(3), made, 2)).k_best(1000)
    assert len(found) == len({outcome.edges for outcome in found}) == 8 * 8


@pytest.mark.parametrize(
    ("made", "n_words"),
    [(structure("shared", ["A"], 2), 3), (structure("split", ["A", "B"], 2), 2), (THREE_PARTS, 6)],
    ids=case_name,
)
def test_samples_are_drawn_in_proportion(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(4), made, n_words)
    log_scores, probs = everything.log_scores(scores), everything.probs(scores)
    place = {edges: index for index, edges in enumerate(everything.outcomes)}
    counts = np.zeros(len(place))
    (drawn,) = single(made, scores).sample(1500, seed=7)
    for outcome in drawn:
        counts[place[outcome.edges]] += 1
        assert outcome.score == pytest.approx(log_scores[place[outcome.edges]])
    assert chi_square(counts, probs) > 1e-3
    assert single(made, scores).sample(1500, seed=7) == [drawn]
    assert single(made, scores).sample(1500, seed=8) != [drawn]


@small_cases
@pytest.mark.parametrize("most_cells", [sums.MOST_CELLS, 0])
def test_probability_of_mentions(made, n_words: int, most_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "MOST_CELLS", most_cells)
    everything = enumeration(made, n_words)
    rng = np.random.default_rng(5)
    scores = random_scores(rng, made, n_words)
    probs, found = everything.probs(scores), single(made, scores)
    exact = [everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions]
    assert found.mention_probs([everything.mentions])[0] == pytest.approx(exact, rel=1e-11)
    for mention, prob in zip(everything.mentions[::3], exact[::3], strict=True):
        assert found.joint_probs([[mention]]) == pytest.approx([prob], rel=1e-11)
    for _ in range(15):
        several = rng.choice(len(everything.mentions), size=min(3, len(everything.mentions)), replace=False)
        mentions = frozenset(everything.mentions[place] for place in several)
        assert found.joint_probs([mentions]) == pytest.approx([everything.prob_of(probs, mentions)], rel=1e-11)
    assert found.joint_probs([[]]) == [1.0]


@pytest.mark.parametrize("size", [1.0, 60.0])
@pytest.mark.parametrize("n_parts", [3, 4, 5])
def test_mentions_of_many_parts_in_longer_sentences(n_parts: int, size: float) -> None:
    """What contains a mention is all that is left when the edges without its links are forbidden."""
    staircase, n_words = Staircase(n_parts), 2 * n_parts + 1
    made, automaton = Hypergraph("shared", ("Finding",), (staircase,)), staircase_automaton(staircase)
    scores = random_scores(np.random.default_rng(6), made, n_words, size=size)
    found = single(made, scores)
    whole = total(automaton, scores.tolist(), LOG_SUM)
    assert found.log_partition()[0] == pytest.approx(whole, rel=1e-12)
    for words in (range(0, 2 * n_parts, 2), range(1, n_words, 2), [0, 1, 3, n_words - 1]):
        mention = Mention.of_words("Finding", words)
        clamped = scores.copy()
        clamped[mention.start, NO_START] = -np.inf
        for word, node, child in staircase.path(mention):
            for label, (parent, children) in enumerate(staircase.edges, start=2):
                if parent == node and not children & child:
                    clamped[word, label] = -np.inf
        left = np.exp(total(automaton, clamped.tolist(), LOG_SUM) - whole)
        assert found.mention_probs([[mention]])[0] == pytest.approx([left], rel=1e-9)
        assert found.joint_probs([[mention]]) == pytest.approx([left], rel=1e-9)
        if size == 1.0:
            assert found.given(mention).log_partition()[0] - whole == pytest.approx(np.log(left), rel=1e-9)


@small_cases
@pytest.mark.parametrize("size", [0.5, 2.0, 90.0])
@pytest.mark.parametrize("most_cells", [sums.MOST_CELLS, 0])
def test_probable_finds_exactly_the_mentions_above_the_threshold(
    made, n_words: int, size: float, most_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "MOST_CELLS", most_cells)
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(8), made, n_words, size=size)
    probs, found = everything.probs(scores), single(made, scores)
    exact = {mention: everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions}
    for threshold in (0.0, 0.01, 0.123, 0.3, 0.77, (0.3, 0.01), (0.01, 0.2, 0.05), (0.5, 0.5, 0.0)):
        (decoded,) = found.probable(threshold)
        least = by_number_of_parts(threshold, 3)
        assert not decoded.truncated
        wanted = [
            mention
            for mention in sorted(exact)
            if exact[mention] >= least[len(mention.parts) - 1] and exact[mention] > 1e-290
        ]
        likely = [mention for mention in decoded.mentions if exact[mention] > 1e-290]
        assert likely == wanted
        for mention in likely:
            assert mention.prob == pytest.approx(exact[mention], rel=1e-8)


@small_cases
@pytest.mark.parametrize("size", [1.0, 90.0])
def test_the_best_outcome_is_read_and_its_mentions_have_their_probability(made, n_words: int, size: float) -> None:
    everything = enumeration(made, n_words)
    for seed in range(3):
        scores = random_scores(np.random.default_rng(seed), made, n_words, size=size)
        probs, best = everything.probs(scores), everything.outcomes[everything.log_scores(scores).argmax()]
        for reading in ("enough", "all"):
            (decoded,) = single(made, scores).read_best(reading)
            assert decoded == made.decode(best, reading)
            exact = [everything.prob_of(probs, frozenset([mention])) for mention in decoded.mentions]
            assert [mention.prob for mention in decoded.mentions] == pytest.approx(exact, rel=1e-8)


@cases
def test_the_probability_of_any_mention_and_of_any_of_several_parts(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(5), made, n_words)
    probs, batch = everything.probs(scores), batch_of([scores])
    for over in sums.sums_over(made, batch):
        table, work = over.table, over.workspace(keeps_beta=False)
        forward_backward_kernel(table, batch.scores, over.arrays, 0, over.n_padded, work, batch.scores[:0])
        restricted_totals_kernel(table, n_words, work)
        for lane, number in enumerate(over.block):
            first = made.blocks[number].first_label
            is_used = everything.uses[:, :, first : first + table.n_labels].any(axis=1)
            nothing, one_part = work.states[:2, lane] / work.alpha[n_words << table.n_nodes, lane]
            assert 1.0 - nothing == pytest.approx(probs[is_used[:, START]].sum(), rel=1e-9)
            has_several = is_used[:, table.label_node > 0].any(axis=1)
            assert 1.0 - one_part == pytest.approx(probs[has_several].sum(), rel=1e-9, abs=1e-14)


def test_logs_give_the_same_probabilities_as_products() -> None:
    made, n_words = structure("split", ["Finding"], 3), 6
    scores = random_scores(np.random.default_rng(9), made, n_words)
    found, mentions = single(made, scores), all_mentions(n_words, max_parts=3)
    probs = dict(zip(mentions, found.mention_probs([mentions])[0], strict=True))
    probable = {}
    for block in made.blocks:
        of_block = np.ascontiguousarray(scores[:, block.first_label : block.first_label + block.staircase.n_labels])
        clamped = ClampedSums(block.staircase, staircase_automaton(block.staircase), of_block)
        for mention in mentions[::3]:
            if block.staircase.holds(mention):
                assert np.exp(clamped.log_prob(mention.parts)) == pytest.approx(probs[mention], rel=1e-11)
        here, was_cut = clamped.probable("Finding", Bounds.of(block.staircase, 0.02, 10_000, 1_000))
        assert not was_cut
        probable |= {mention: pytest.approx(mention.prob, rel=1e-11) for mention in here}
    assert len(probable) > 6
    assert {mention: mention.prob for mention in found.probable(0.02)[0].mentions} == probable


def test_improbable_mentions_are_no_trouble() -> None:
    made, n_words = structure("shared", ["Finding"], 2), 60
    staircase = made.staircases[0]
    scores = random_scores(np.random.default_rng(10), made, n_words)
    scores[:, [label for label, (_, children) in enumerate(staircase.edges, 2) if children & STAY]] -= 10.0
    long = Mention("Finding", [(0, 20), (30, 60)])
    ((prob,),) = single(made, scores).mention_probs([[long]])
    assert 1e-300 < prob < 1e-180
    in_logs = ClampedSums(staircase, staircase_automaton(staircase), scores).log_prob(long.parts)
    assert np.log(prob) == pytest.approx(in_logs, rel=1e-12)


def test_mentions_of_the_best_structure_can_be_read() -> None:
    made = structure("shared", ["Finding"])
    mentions = tuple(Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)]))
    scores = np.full((6, made.n_labels), -5.0)
    for word, label in made.encode(mentions, 6).encoding:
        scores[word, label] = 5.0
    found = single(made, scores)
    assert made.decode(found.best()[0].edges, "all").mentions == mentions
    for decoded in (found.read_best("all"), found.read_best("enough"), found.probable(0.9)):
        assert decoded[0].mentions == mentions


def test_limits_are_kept_and_told() -> None:
    made = structure("shared", ["Finding"])
    found = single(made, np.zeros((8, made.n_labels)))
    (everything,) = found.probable(0.0)
    assert set(everything.mentions) == set(all_mentions(8))
    (cut,) = found.probable(0.0, limit=10)
    assert cut.truncated
    assert len(cut.mentions) == 10
    assert set(cut.mentions) <= set(everything.mentions)
    (exact,) = found.probable(0.0, limit=len(everything.mentions))
    assert exact == everything
    assert not exact.truncated


def test_limits_are_kept_and_told_where_logs_do_the_work() -> None:
    made = structure("mention", ["Finding"])
    scores = np.zeros((8, made.n_labels))
    scores[3, :2] = 5_000.0
    found = single(made, scores)
    assert len(found.probable(0.0)[0].mentions) == len(all_mentions(8, max_parts=1))
    (cut,) = found.probable(0.0, limit=10)
    assert cut.truncated
    assert len(cut.mentions) == 10


def test_a_search_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "MOST_STEPS", 50)
    made = structure("shared", ["Finding"])
    (cut,) = single(made, np.zeros((20, made.n_labels))).probable(0.0)
    assert cut.truncated
    assert 0 < len(cut.mentions) < 50


def test_room_that_runs_out_is_emptied_and_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made, rng = structure("shared", ["Drug", "Finding"], 3), np.random.default_rng(3)
    found = distribution(made, batch_of([random_scores(rng, made, 6) for _ in range(12)]))
    whole = found.probable(0.01, limit=20)
    monkeypatch.setattr(encodings, "_ROOM", 1)
    assert found.probable(0.01, limit=20) == whole
    assert sum(len(here.mentions) for here in whole) > 60


def test_more_parts_mean_fewer_steps() -> None:
    assert [encodings.steps_for(2 * n_parts - 1) for n_parts in (1, 3, 4, 5)] == [200_000, 200_000, 50_000, 12_500]


def test_mentions_with_too_many_parts_have_no_probability() -> None:
    mention = Mention("Finding", [(0, 1), (2, 3)])
    found = single(structure("mention", ["Finding"]), np.zeros((3, 5)))
    assert found.mention_probs([[mention, Mention("Finding", [(0, 1)])]])[0] == [0.0, pytest.approx(0.5)]
    assert found.joint_probs([[mention]]) == [0.0]
