"""Over encodings: everything equals going through all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from brute_force import all_mentions
from enumeration import FOR_ENCODINGS, THREE_PARTS, case_name, enumeration, random_scores
from hyperspan import Mention
from hyperspan.errors import StructureError
from hyperspan.inference import base, distribution
from hyperspan.inference.algebra import LOG_SUM
from hyperspan.inference.borders import Borders, find_borders
from hyperspan.inference.encodings import Encodings
from hyperspan.inference.frontier_reference import frontier_reference
from hyperspan.inference.restricted import probable_kernel
from hyperspan.inference.together import Sentences, probs_in
from hyperspan.structures import Block, Hypergraph, Staircase, decode_all, structure
from hyperspan.structures.staircase import NO_START, STAY

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
    found = distribution(made, scores)
    assert found.log_partition() == pytest.approx(everything.log_partition(scores), rel=1e-13)
    wanted = np.tensordot(everything.probs(scores), everything.uses, axes=1)
    np.testing.assert_allclose(found.expected_counts(), wanted, rtol=0, atol=1e-13)
    assert np.all(found.expected_counts()[np.isneginf(scores)] == 0.0)


@small_cases
def test_edge_probabilities_are_the_slope_of_the_sum(made, n_words: int) -> None:
    scores = random_scores(np.random.default_rng(1), made, n_words)
    expected = distribution(made, scores).expected_counts()
    step = 1e-5
    for word in range(n_words):
        for label in range(made.n_labels):
            around = []
            for change in (step, -step):
                moved = scores.copy()
                moved[word, label] += change
                around.append(distribution(made, moved).log_partition())
            assert (around[0] - around[1]) / (2 * step) == pytest.approx(expected[word, label], abs=1e-7)


@cases
def test_k_best(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(2), made, n_words)
    log_scores = everything.log_scores(scores)
    order = np.argsort(-log_scores, kind="stable")[:20]
    found = distribution(made, scores).k_best(20)
    assert [outcome.score for outcome in found] == pytest.approx(log_scores[order].tolist(), rel=1e-12, abs=1e-12)
    assert [outcome.edges for outcome in found] == [everything.outcomes[place] for place in order]
    assert distribution(made, scores).best() == distribution(made, scores).k_best(1)[0]


def test_k_best_gives_no_more_than_there_are() -> None:
    made = structure("mention", ["A", "B"])
    scores = random_scores(np.random.default_rng(3), made, 2)
    found = distribution(made, scores).k_best(1000)
    assert len(found) == len({outcome.edges for outcome in found}) == 8 * 8


@pytest.mark.parametrize(
    ("made", "n_words"),
    [(structure("shared", ["A"], 2), 3), (structure("split", ["A", "B"], 2), 2), (THREE_PARTS, 6)],
    ids=case_name,
)
def test_samples_are_drawn_in_proportion(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(4), made, n_words)
    probs = everything.probs(scores)
    place = {edges: index for index, edges in enumerate(everything.outcomes)}
    counts = np.zeros(len(place))
    drawn = distribution(made, scores).sample(1500, seed=7)
    for outcome in drawn:
        counts[place[outcome.edges]] += 1
        assert outcome.score == pytest.approx(everything.log_scores(scores)[place[outcome.edges]])
    assert chi_square(counts, probs) > 1e-3
    assert drawn == distribution(made, scores).sample(1500, seed=7)
    assert drawn != distribution(made, scores).sample(1500, seed=8)


def chi_square(counts: np.ndarray, probs: np.ndarray) -> float:
    """How probable counts as odd as these are; rare outcomes are taken together."""
    wanted = probs * counts.sum()
    is_common = wanted >= 5
    seen = [*counts[is_common], counts[~is_common].sum()]
    expected = [*wanted[is_common], wanted[~is_common].sum()]
    return float(stats.chisquare(seen, expected, sum_check=False).pvalue)


@small_cases
def test_probability_of_mentions(made, n_words: int) -> None:
    everything = enumeration(made, n_words)
    rng = np.random.default_rng(5)
    scores = random_scores(rng, made, n_words)
    probs, found = everything.probs(scores), distribution(made, scores)
    for mention in everything.mentions:
        wanted = everything.prob_of(probs, frozenset([mention]))
        assert found.prob_of([mention]) == pytest.approx(wanted, rel=1e-11)
    for _ in range(15):
        several = rng.choice(len(everything.mentions), size=min(3, len(everything.mentions)), replace=False)
        mentions = frozenset(everything.mentions[place] for place in several)
        assert found.prob_of(mentions) == pytest.approx(everything.prob_of(probs, mentions), rel=1e-11)
    assert found.prob_of([]) == 1.0


@pytest.mark.parametrize("size", [1.0, 60.0])
@pytest.mark.parametrize("n_parts", [3, 4, 5])
def test_mentions_of_many_parts_in_longer_sentences(n_parts: int, size: float) -> None:
    """What contains a mention is all that is left when the edges without its links are forbidden."""
    staircase, n_words = Staircase(n_parts), 2 * n_parts + 1
    made = Hypergraph("shared", ("Finding",), (staircase,))
    scores = random_scores(np.random.default_rng(6), made, n_words, size=size)
    found = distribution(made, scores)
    whole = frontier_reference(staircase, scores.tolist(), LOG_SUM)
    assert found.log_partition() == pytest.approx(whole, rel=1e-12)
    for words in (range(0, 2 * n_parts, 2), range(1, n_words, 2), [0, 1, 3, n_words - 1]):
        mention = Mention.of_words("Finding", words)
        restricted = scores.copy()
        restricted[mention.start, NO_START] = -np.inf
        for word, node, child in staircase.path(mention):
            for label, (parent, children) in enumerate(staircase.edges, start=2):
                if parent == node and not children & child:
                    restricted[word, label] = -np.inf
        left = frontier_reference(staircase, restricted.tolist(), LOG_SUM)
        assert found.prob_of([mention]) == pytest.approx(np.exp(left - whole), rel=1e-9)


@cases
@pytest.mark.parametrize("size", [1.0, 150.0])
def test_probability_of_partial_structures(made, n_words: int, size: float) -> None:
    everything = enumeration(made, n_words)
    rng = np.random.default_rng(7)
    scores = random_scores(rng, made, n_words, size=size)
    probs, found = everything.probs(scores), distribution(made, scores)
    outcomes = [set(edges) for edges in everything.outcomes]
    for _ in range(8):
        whole = everything.outcomes[rng.integers(len(outcomes))]
        some = {whole[place] for place in rng.choice(len(whole), size=rng.integers(1, len(whole) + 1), replace=False)}
        wanted = sum(prob for prob, edges in zip(probs, outcomes, strict=True) if some <= edges)
        assert found.prob_of_edges(some) == pytest.approx(wanted, rel=1e-8, abs=1e-300)
    whole = distribution(made, scores).best()
    assert found.prob_of_edges(whole.edges) == pytest.approx(np.exp(whole.score - found.log_partition()), rel=1e-9)
    assert found.prob_of_edges([]) == 1.0


def test_edges_of_one_node_exclude_each_other() -> None:
    made = structure("shared", ["Finding"], 2)
    found = distribution(made, np.zeros((3, made.n_labels)))
    assert found.prob_of_edges([(0, 0), (0, 1)]) == 0.0
    assert found.prob_of_edges([(1, 2), (1, 3)]) == 0.0


@small_cases
@pytest.mark.parametrize("size", [0.5, 2.0, 90.0])
def test_probable_finds_exactly_the_mentions_above_the_threshold(made, n_words: int, size: float) -> None:
    everything = enumeration(made, n_words)
    scores = random_scores(np.random.default_rng(8), made, n_words, size=size)
    probs, found = everything.probs(scores), distribution(made, scores)
    exact = {mention: everything.prob_of(probs, frozenset([mention])) for mention in everything.mentions}
    for threshold in (0.0, 0.01, 0.123, 0.3, 0.77):
        decoded = found.probable(threshold)
        assert not decoded.truncated
        wanted = [mention for mention in sorted(exact) if exact[mention] >= threshold and exact[mention] > 1e-290]
        likely = [mention for mention in decoded.mentions if exact[mention] > 1e-290]
        assert likely == wanted
        for mention in likely:
            assert mention.prob == pytest.approx(exact[mention], rel=1e-8)


def in_logs(made: Hypergraph, scores: np.ndarray) -> Encodings:
    """Return a distribution that works in log space, where scaled products would do."""
    over = Encodings(made, scores)
    for block in made.blocks:
        over._known_borders[block.first_label] = find_borders(*over._of_block(block), in_logs=True)
    return over


def probable_by(over: Encodings, borders: Borders, block: Block, threshold: float) -> list[tuple[list, float]]:
    """Return the parts and probabilities that a search finds with given borders."""
    table, automaton, scores = over._of_block(block)
    probs, n_parts = np.empty(500), np.zeros(500, dtype=np.int64)
    parts = np.zeros((500, block.staircase.n_parts, 2), dtype=np.int64)
    n_found, _ = probable_kernel(table, automaton, borders, scores, threshold, 10_000, probs, n_parts, parts)
    return [(parts[at, : n_parts[at]].tolist(), probs[at]) for at in range(n_found)]


def test_sums_in_logs_give_the_same_probabilities() -> None:
    """The search and the restricted sweep exist twice; here both run on the same scores."""
    made = structure("split", ["Finding"], 3)
    scores = random_scores(np.random.default_rng(9), made, 6)
    products, logs = Encodings(made, scores), in_logs(made, scores)
    for mention in all_mentions(6, max_parts=3)[::3]:
        assert logs.prob_of([mention]) == pytest.approx(products.prob_of([mention]), rel=1e-11)
    for block in made.blocks:
        by_logs, by_products = logs._borders(block), products._borders(block)
        assert by_logs.is_log
        assert not by_products.is_log
        found = probable_by(products, by_products, block, 0.02)
        again = probable_by(logs, by_logs, block, 0.02)
        assert len(found) > 2
        assert [parts for parts, _ in again] == [parts for parts, _ in found]
        assert [prob for _, prob in again] == pytest.approx([prob for _, prob in found], rel=1e-11)


def test_improbable_mentions_are_no_trouble() -> None:
    made, n_words = structure("shared", ["Finding"], 2), 60
    scores = random_scores(np.random.default_rng(10), made, n_words)
    scores[:, [label for label, (_, children) in enumerate(made.staircases[0].edges, 2) if children & STAY]] -= 10.0
    long = Mention("Finding", [(0, 20), (30, 60)])
    prob = distribution(made, scores).prob_of([long])
    assert 1e-300 < prob < 1e-180
    assert in_logs(made, scores).prob_of([long]) == pytest.approx(prob, rel=1e-9)
    sentences = Sentences(made, scores, np.array([0, n_words]))
    assert probs_in(sentences, [[long]])[0][0] == pytest.approx(prob, rel=1e-12)


def test_mentions_of_the_best_structure_can_be_read() -> None:
    made = structure("shared", ["Finding"])
    mentions = (
        Mention("Finding", [(0, 1)]),
        Mention("Finding", [(0, 1), (2, 4)]),
        Mention("Finding", [(0, 1), (5, 6)]),
    )
    scores = np.full((6, made.n_labels), -5.0)
    for word, label in made.encode(mentions, 6).encoding:
        scores[word, label] = 5.0
    found = distribution(made, scores)
    assert decode_all(made, found.best().edges).mentions == mentions
    assert found.probable(0.9).mentions == mentions


def test_limits_are_kept_and_told() -> None:
    made = structure("shared", ["Finding"])
    found = distribution(made, np.zeros((8, made.n_labels)))
    everything = found.probable(0.0)
    assert len(everything.mentions) == len(all_mentions(8))
    cut = found.probable(0.0, limit=10)
    assert cut.truncated
    assert len(cut.mentions) == 10
    assert set(cut.mentions) <= set(everything.mentions)
    exact = found.probable(0.0, limit=len(everything.mentions))
    assert exact == everything
    assert not exact.truncated


def test_a_search_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MOST_STEPS", 50)
    made = structure("shared", ["Finding"])
    cut = distribution(made, np.zeros((20, made.n_labels))).probable(0.0)
    assert cut.truncated
    assert 0 < len(cut.mentions) < 50


def test_more_parts_mean_fewer_steps() -> None:
    assert [base.steps_for(2 * n_parts - 1) for n_parts in (1, 3, 4, 5)] == [200_000, 200_000, 50_000, 12_500]


def test_what_is_forbidden_has_no_best_no_samples_and_no_mentions() -> None:
    made = structure("shared", ["A", "B"], 2)
    scores = np.zeros((4, made.n_labels))
    scores[2, :2] = -np.inf
    found = distribution(made, scores)
    assert found.log_partition() == -np.inf
    assert found.k_best(3) == []
    with pytest.raises(StructureError, match="there is no best outcome: every outcome is forbidden"):
        found.best()
    with pytest.raises(StructureError, match="nothing can be drawn: every outcome is forbidden"):
        found.sample(2)
    assert found.probable(0.0).mentions == ()
    for type in ("A", "B"):
        assert found.prob_of([Mention(type, [(0, 1)])]) == 0.0
    assert found.prob_of_edges([(0, 0)]) == 0.0


def test_questions_that_cannot_be_answered() -> None:
    made = structure("shared", ["Finding"], 2)
    found = distribution(made, np.zeros((3, made.n_labels)))
    with pytest.raises(StructureError, match=r"ends beyond the 3 words of the sentence"):
        found.prob_of([Mention("Finding", [(2, 4)])])
    with pytest.raises(StructureError, match="type 'Drug' is not in this structure, which knows 'Finding'"):
        found.prob_of([Mention("Drug", [(0, 1)])])
    assert found.prob_of([Mention("Finding", [(0, 1), (2, 3)])]) > 0.0
    with pytest.raises(StructureError, match="no label 15 at word 0; expected one of 15 labels at one of 3 words"):
        found.prob_of_edges([(0, 15)])
    with pytest.raises(StructureError, match="no label 0 at word -1"):
        found.prob_of_edges([(-1, 0)])
    for call, name in [(found.k_best, "k"), (found.sample, "n_samples")]:
        with pytest.raises(StructureError, match=f"{name} is 0; expected at least 1"):
            call(0)
    with pytest.raises(StructureError, match="limit is 0; expected at least 1"):
        found.probable(limit=0)


def test_mentions_with_too_many_parts_have_no_probability() -> None:
    made = structure("mention", ["Finding"])
    found = distribution(made, np.zeros((3, made.n_labels)))
    assert found.prob_of([Mention("Finding", [(0, 1), (2, 3)])]) == 0.0
