"""Batches: the same whatever the neighbours, and wrong input is refused in words."""

from __future__ import annotations

import numpy as np
import pytest

from enumeration import batch_of, random_scores, single
from hyperspan import Mention
from hyperspan.errors import StructureError, UsageError
from hyperspan.inference import DECODERS, ScoreBatch, check_decoder, distribution, distribution_names, encodings, sums
from hyperspan.inference.outcomes import by_number_of_parts
from hyperspan.structures import structure

pytestmark = pytest.mark.kernel

KINDS = [
    ("linear", "encodings"),
    *((name, over) for name in ("mention", "shared", "split") for over in distribution_names()),
]


def pieces_of(made, lengths: list[int], seed: int, *, size: float = 1.0, forbidden: float = 0.0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [random_scores(rng, made, n_words, size=size, forbidden=forbidden) for n_words in lengths]


@pytest.mark.parametrize(("name", "over"), KINDS)
@pytest.mark.parametrize("size", [1.0, 200.0])
def test_sums_do_not_depend_on_what_else_is_in_the_batch(name: str, over: str, size: float) -> None:
    made = structure(name, ["A", "B"], 3)
    pieces = pieces_of(made, [3, 0, 1, 7, 2, 9, 4, 4, 0], 1, size=size, forbidden=0.05)
    batch = batch_of(pieces)
    together = distribution(made, batch, over)
    log_partition, marginals = together.log_partition(), together.marginals()
    transitions = np.zeros_like(marginals.transitions)
    for number, scores in enumerate(pieces):
        alone = single(made, scores, over)
        assert alone.log_partition()[0] == log_partition[number]
        assert alone.marginals().log_partition[0] == marginals.log_partition[number]
        here = marginals.edges[batch.first_word[number] : batch.first_word[number + 1]]
        assert alone.marginals().edges.tobytes() == here.tobytes()
        transitions += alone.marginals().transitions
    np.testing.assert_allclose(marginals.transitions, transitions, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(log_partition, marginals.log_partition, rtol=1e-14)


@pytest.mark.parametrize(("name", "over"), KINDS)
@pytest.mark.parametrize("size", [0.7, 200.0])
@pytest.mark.parametrize("most_cells", [sums.MOST_CELLS, 6 << 5])
def test_mentions_do_not_depend_on_what_else_is_in_the_batch(
    name: str, over: str, size: float, most_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor do they where some sentences are so long that they are summed one at a time."""
    monkeypatch.setattr(sums, "MOST_CELLS", most_cells)
    made = structure(name, ["A", "B"], 3)
    pieces = pieces_of(made, [4, 7, 1, 0, 9, 3, 3, 8, 2, 6], 5, size=size)
    together, apart = distribution(made, batch_of(pieces), over), [single(made, scores, over) for scores in pieces]
    for decode in DECODERS.values():
        for here, over_one in zip(decode(together, 0.2), apart, strict=True):
            (alone,) = decode(over_one, 0.2)
            assert here == alone
            assert [mention.prob for mention in here.mentions] == [mention.prob for mention in alone.mentions]
    assert together.best() == [over_one.best()[0] for over_one in apart]
    assert together.k_best(3) == [over_one.k_best(3)[0] for over_one in apart]
    assert together.sample(3, seed=2) == [over_one.sample(3, seed=2)[0] for over_one in apart]
    mentions = [[Mention("A", [(0, 1)]), Mention("B", [(0, len(scores))])] if len(scores) else [] for scores in pieces]
    assert together.mention_probs(mentions) == [
        over_one.mention_probs([here])[0] for over_one, here in zip(apart, mentions, strict=True)
    ]
    assert together.joint_probs(mentions) == [
        over_one.joint_probs([here])[0] for over_one, here in zip(apart, mentions, strict=True)
    ]


@pytest.mark.parametrize("over", distribution_names())
def test_types_do_not_touch_each_other(over: str) -> None:
    rng, both, one = np.random.default_rng(2), structure("split", ["A", "B"]), structure("split", ["A"])
    scores = random_scores(rng, both, 5)
    together = single(both, scores, over).marginals()
    halves = [single(one, scores[:, columns], over).marginals() for columns in (slice(33), slice(33, 66))]
    assert together.log_partition[0] == pytest.approx(halves[0].log_partition[0] + halves[1].log_partition[0])
    np.testing.assert_allclose(together.edges, np.hstack([half.edges for half in halves]), rtol=1e-13)


@pytest.mark.parametrize(("name", "over"), KINDS)
@pytest.mark.parametrize("first_word", [[0], [0, 0], [0, 0, 0, 0]])
def test_empty_batches_and_empty_sentences(name: str, over: str, first_word: list[int]) -> None:
    made, n_sentences = structure(name, ["A"]), len(first_word) - 1
    found = distribution(made, ScoreBatch(np.zeros((0, made.n_labels)), np.array(first_word)), over)
    marginals = found.marginals()
    assert found.log_partition().tolist() == marginals.log_partition.tolist() == [0.0] * n_sentences
    assert marginals.edges.shape == (0, made.n_labels)
    assert marginals.transitions.shape == ((7, 7) if name == "linear" else (0, 0))
    assert np.all(marginals.transitions == 0.0)
    assert [outcome.edges for outcome in found.best()] == [()] * n_sentences
    assert [[outcome.edges for outcome in here] for here in found.k_best(2)] == [[()]] * n_sentences
    assert [[outcome.edges for outcome in here] for here in found.sample(2)] == [[(), ()]] * n_sentences
    assert found.mention_probs([[]] * n_sentences) == [[]] * n_sentences
    assert found.joint_probs([[]] * n_sentences) == [1.0] * n_sentences
    for decode in DECODERS.values():
        assert [here.mentions for here in decode(found, 0.0)] == [()] * n_sentences


@pytest.mark.parametrize("name", ["mention", "shared", "split"])
@pytest.mark.parametrize("threshold", [0.3, (0.2, 0.02), (0.02, 0.2)], ids=str)
def test_a_search_leaves_out_only_what_has_nothing_to_find(name: str, threshold, monkeypatch) -> None:
    monkeypatch.setattr(encodings, "_ROOM", 0)  # so that there is room for few at a time
    made = structure(name, ["A", "B", "C"], 3)
    pieces = pieces_of(made, [5, 1, 0, 4, 3, 2, 6, 4, 4, 5, 3, 1, 2, 5, 6, 3], 11)
    for number, scores in enumerate(pieces):
        scores[:, made.start_labels[number % 3 :]] -= 3.0 * (number % 4)  # many, few or no mentions are probable
    together = distribution(made, batch_of(pieces))
    found, least = together.probable(threshold), by_number_of_parts(threshold, 3)
    for scores, here, everything in zip(pieces, found, together.probable(1e-9), strict=True):
        assert single(made, scores).probable(threshold) == [here]
        probable = [mention for mention in everything.mentions if mention.prob >= least[len(mention.parts) - 1]]
        assert [(mention, mention.prob) for mention in here.mentions] == [
            (mention, mention.prob) for mention in probable
        ]
    assert sum(len(here.mentions) for here in found) > 0


def test_empty_sentences_at_the_end_read_nothing() -> None:
    made = structure("shared", ["A", "B"], 3)
    pieces = pieces_of(made, [1, 1, 1, 0], 6)
    found = distribution(made, batch_of(pieces))
    assert found.log_partition()[3] == 0.0
    assert not found.probable(0.0)[3].mentions


@pytest.mark.parametrize(("name", "over"), KINDS)
def test_a_sentence_in_which_everything_is_forbidden(name: str, over: str) -> None:
    made = structure(name, ["A", "B"])
    scores = np.zeros((6, made.n_labels))
    scores[3] = -np.inf
    found = distribution(made, ScoreBatch(scores, np.array([0, 2, 4, 6])), over)
    marginals = found.marginals()
    assert found.log_partition()[1] == marginals.log_partition[1] == -np.inf
    assert np.all(np.isfinite(marginals.log_partition[[0, 2]]))
    assert np.all(marginals.edges[2:4] == 0.0)
    assert np.all(np.isfinite(marginals.edges))
    assert np.all(np.isfinite(marginals.transitions))
    assert [len(here) for here in found.k_best(2)] == [2, 0, 2]
    with pytest.raises(StructureError, match="there is no best outcome: every outcome is forbidden by scores of -inf"):
        found.best()
    with pytest.raises(StructureError, match="there is no best outcome: every outcome is forbidden by scores of -inf"):
        found.read_best("enough")
    with pytest.raises(StructureError, match="nothing can be drawn: every outcome is forbidden by scores of -inf"):
        found.sample(2)
    if name != "linear":
        mention = Mention("B", [(0, 2)])
        first, forbidden, last = found.mention_probs([[mention]] * 3)
        assert forbidden == [0.0]
        assert 0.0 < first[0] == last[0] < 1.0
        assert found.joint_probs([[mention]] * 3)[1] == 0.0
        first, forbidden, last = found.probable(0.0)
        assert forbidden.mentions == ()
        assert first.mentions == last.mentions != ()


def test_scores_may_have_any_layout_and_are_left_alone() -> None:
    made = structure("shared", ["A"])
    scores = np.asfortranarray(random_scores(np.random.default_rng(3), made, 6))
    before, first_word = scores.copy(), np.array([0, 2, 6])
    found = distribution(made, ScoreBatch(scores, first_word)).marginals()
    assert np.array_equal(scores, before)
    again = distribution(made, ScoreBatch(np.ascontiguousarray(scores), first_word)).marginals()
    assert np.array_equal(found.edges, again.edges)


def test_a_batch_is_cut_between_sentences_into_shares_of_its_words() -> None:
    made = structure("mention", ["A"])
    batch = batch_of(pieces_of(made, [5, 0, 1, 4, 4, 6, 0], 7))
    for n_pieces in (1, 2, 3, 9):
        cut = batch.cut(n_pieces)
        assert len(cut) == n_pieces
        assert np.array_equal(np.concatenate([piece.scores for piece in cut]), batch.scores)
        assert np.concatenate([piece.lengths for piece in cut]).tolist() == batch.lengths.tolist()
        for piece in cut:
            distribution(made, piece)  # every piece is a batch by itself
    assert [len(piece.scores) for piece in batch.cut(2)] == [10, 10]
    assert np.array_equal(batch.sentence(3).scores, batch.scores[6:10])


@pytest.mark.parametrize("name", ["shared", "linear"])
def test_wrong_scores_are_refused(name: str) -> None:
    made = structure(name, ["A"])
    n_labels = made.n_labels
    message = rf"scores have shape \(3, {n_labels + 1}\); expected \(n_words, {n_labels}\)"
    with pytest.raises(StructureError, match=message):
        single(made, np.zeros((3, n_labels + 1)))
    with pytest.raises(StructureError, match=rf"scores have shape \({n_labels},\); expected"):
        single(made, np.zeros(n_labels))
    for value in (np.nan, np.inf):
        scores = np.zeros((3, n_labels))
        scores[1, 2] = value
        message = f"the score of label 2 at word 1 is {value}; expected a number, or -inf to forbid the edge"
        with pytest.raises(StructureError, match=message):
            single(made, scores)


@pytest.mark.parametrize("first_word", [[], [0], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [[0, 3]]])
def test_wrong_borders_are_refused(first_word: list) -> None:
    made = structure("mention", ["A"])
    with pytest.raises(StructureError, match=r"first_word is .*; expected it to rise from 0 to the number of words, 3"):
        distribution(made, ScoreBatch(np.zeros((3, 5)), np.array(first_word, dtype=np.int64)))


def test_wrong_transitions_are_refused() -> None:
    linear, shared = structure("linear", ["A"]), structure("shared", ["A"])
    scores = np.zeros((2, 7))
    with pytest.raises(StructureError, match=r"transitions have shape \(7, 6\); expected \(7, 7\)"):
        single(linear, scores, transitions=np.zeros((7, 6)))
    for value in (np.nan, np.inf):
        transitions = np.zeros((7, 7))
        transitions[3, 4] = value
        message = f"the score of tag 4 after tag 3 is {value}; expected a number, or -inf to forbid the transition"
        with pytest.raises(StructureError, match=message):
            single(linear, scores, transitions=transitions)
    with pytest.raises(StructureError, match="there are transitions, but the structure 'shared' has none"):
        single(shared, np.zeros((2, 25)), transitions=np.zeros((7, 7)))


def test_wrong_distributions_are_refused() -> None:
    linear, shared = structure("linear", ["A"]), structure("shared", ["A"])
    message = "the distribution is 'trees'; expected one of encodings, mention-sets, derivations"
    for made in (linear, shared):
        with pytest.raises(StructureError, match=message):
            single(made, np.zeros((2, made.n_labels)), "trees")
    message = "the structure 'linear' has no distribution 'mention-sets'; expected one of encodings, or another"
    with pytest.raises(StructureError, match=message):
        single(linear, np.zeros((2, 7)), "mention-sets")


def test_wrong_decoders_are_refused() -> None:
    with pytest.raises(UsageError, match="decode is 'most'; expected one of probable, enough, all"):
        check_decoder("most")


@pytest.mark.parametrize(("name", "over"), KINDS)
def test_questions_that_cannot_be_answered(name: str, over: str) -> None:
    made = structure(name, ["Drug", "Finding"], 2)
    found = distribution(made, batch_of(pieces_of(made, [3, 2], 8)), over)
    for call in (found.mention_probs, found.joint_probs):
        with pytest.raises(StructureError, match=r"ends beyond the 2 words of the sentence"):
            call([[Mention("Drug", [(0, 1)])], [Mention("Drug", [(1, 3)])]])
        with pytest.raises(StructureError, match="type 'Pill' is not in this structure, which knows 'Drug', 'Finding'"):
            call([[Mention("Drug", [(0, 1)])], [Mention("Pill", [(0, 1)])]])
        with pytest.raises(StructureError, match="there are mentions for 1 of 2 sentences"):
            call([[Mention("Drug", [(0, 1)])]])
    for call, argument in [(found.k_best, "k"), (found.sample, "n_samples")]:
        with pytest.raises(StructureError, match=f"{argument} is 0; expected at least 1"):
            call(0)
    with pytest.raises(StructureError, match="limit is 0; expected at least 1"):
        found.probable(limit=0)


@pytest.mark.parametrize("decoder", ["probable", "enough", "all"])
@pytest.mark.parametrize("name", ["linear", "shared"])
def test_a_sentence_yields_a_thousand_mentions_at_the_most(name: str, decoder: str) -> None:
    made = structure(name, ["Finding"], 2)
    mentions = [Mention("Finding", [(word, word + 1)]) for word in range(1_100)]
    scores = np.zeros((1_100, made.n_labels))
    for word, label in made.encode(mentions, 1_100).encoding:
        scores[word, label] = 9.0
    (decoded,) = DECODERS[decoder](distribution(made, ScoreBatch.of_sentence(scores)), 0.3)
    assert (len(decoded.mentions), decoded.truncated) == (1_000, True)
