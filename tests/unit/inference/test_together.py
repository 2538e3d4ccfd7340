"""Many sentences at once: the same as one after the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Mention
from hyperspan.errors import StructureError
from hyperspan.inference import distribution
from hyperspan.inference import together as module
from hyperspan.inference.together import Sentences, all_in, best_in, enough_in, probable_in, probs_in
from hyperspan.structures import Hypergraph, decode_all, decode_enough, structure
from hyperspan.structures.decoding import all_of_blocks, enough_of_blocks

pytestmark = pytest.mark.kernel

STRUCTURES = [
    structure("shared", ["Drug", "Finding"], 3),
    structure("split", ["Finding"], 3),
    structure("mention", ["Finding"]),
    structure("shared", ["Finding"], 4),
]


def sentences_of(made: Hypergraph, lengths: list[int], seed: int, size: float, forbidden: float = 0.0) -> Sentences:
    """Random scores of sentences of these lengths."""
    rng = np.random.default_rng(seed)
    first_word = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    scores = rng.normal(0.0, size, (int(first_word[-1]), made.n_labels))
    scores[rng.random(scores.shape) < forbidden] = -np.inf
    return Sentences(made, scores, first_word)


def one_by_one(sentences: Sentences) -> list:
    bounds = sentences.first_word.tolist()
    return [distribution(sentences.structure, sentences.scores[first:last]) for first, last in pairwise(bounds)]


lengths = st.lists(st.integers(0, 7), max_size=5)


@pytest.mark.parametrize("made", STRUCTURES, ids=lambda made: f"{made.name}{made.max_components}")
@settings(max_examples=20)
@given(lengths=lengths, seed=st.integers(0, 999), size=st.sampled_from([0.5, 3.0, 300.0]), forbids=st.booleans())
def test_probable_mentions_are_those_of_each_sentence(made, lengths, seed, size, forbids) -> None:
    sentences = sentences_of(made, lengths, seed, size, 0.1 if forbids else 0.0)
    for limit in (1_000, 3):
        together = probable_in(sentences, 0.05, limit=limit)
        apart = [over.probable(0.05, limit=limit) for over in one_by_one(sentences)]
        assert together == apart
        for here, alone in zip(together, apart, strict=True):
            assert [m.prob for m in here.mentions] == pytest.approx([m.prob for m in alone.mentions], rel=1e-9)
    for over, here in zip(one_by_one(sentences), probable_in(sentences, 0.05), strict=True):
        for mention in here.mentions:
            assert mention.prob == pytest.approx(over.prob_of([mention]), rel=1e-8)


@pytest.mark.parametrize("made", STRUCTURES, ids=lambda made: f"{made.name}{made.max_components}")
@settings(max_examples=20)
@given(lengths=lengths, seed=st.integers(0, 999), size=st.sampled_from([0.5, 3.0, 300.0]))
def test_the_best_are_those_of_each_sentence_and_so_are_probabilities(made, lengths, seed, size) -> None:
    sentences = sentences_of(made, lengths, seed, size)
    best = best_in(sentences)
    apart = one_by_one(sentences)
    for over, blocks in zip(apart, best, strict=True):
        edges = over.best().edges
        assert edges == over.k_best(1)[0].edges
        assert all_of_blocks(blocks) == decode_all(made, edges)
        assert enough_of_blocks(blocks) == decode_enough(made, edges)
    for together, reading in ((enough_in(sentences), enough_of_blocks), (all_in(sentences), all_of_blocks)):
        assert together == [reading(blocks) for blocks in best]
        mentions = [here.mentions for here in together]
        for over, here, probs in zip(apart, mentions, probs_in(sentences, mentions), strict=True):
            assert probs == pytest.approx([over.prob_of([mention]) for mention in here], rel=1e-9, abs=1e-300)
            assert [mention.prob for mention in here] == pytest.approx(probs, rel=1e-9, abs=1e-300)


def test_room_that_runs_out_is_emptied_and_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = sentences_of(STRUCTURES[0], [6] * 12, 3, 1.0)
    whole = probable_in(sentences, 0.01, limit=20)
    monkeypatch.setattr(module, "_ROOM", 1)
    assert probable_in(sentences, 0.01, limit=20) == whole
    assert sum(len(here.mentions) for here in whole) > 60


def test_a_sentence_without_outcome_takes_nothing_from_the_others() -> None:
    made = STRUCTURES[0]
    sentences = sentences_of(made, [3, 3, 3], 4, 1.0)
    sentences.scores[4, :2] = -np.inf
    found = probable_in(sentences, 0.01)
    assert not found[1].mentions
    assert found[0].mentions
    assert found[2].mentions
    mention = Mention("Finding", [(0, 2)])
    probs = probs_in(sentences, [[mention], [mention], [mention]])
    assert probs[1] == [0.0]
    assert 0.0 < probs[0][0] < 1.0
    with pytest.raises(StructureError, match="there is no best outcome: every outcome is forbidden by scores of -inf"):
        best_in(sentences)


def test_what_does_not_fit_is_refused() -> None:
    made = STRUCTURES[0]
    sentences = sentences_of(made, [3, 2], 5, 1.0)
    with pytest.raises(StructureError, match="ends beyond the 2 words of the sentence"):
        probs_in(sentences, [[], [Mention("Drug", [(1, 3)])]])
    with pytest.raises(StructureError, match="'Pill' is not in this structure"):
        probs_in(sentences, [[Mention("Pill", [(0, 1)])], []])
    with pytest.raises(StructureError, match="limit is 0; expected at least 1"):
        probable_in(sentences, limit=0)
    with pytest.raises(StructureError):
        probable_in(Sentences(made, sentences.scores[:, 1:], sentences.first_word))
    four = Mention("Finding", [(0, 1), (2, 3), (4, 5), (6, 7)])
    assert probs_in(sentences_of(made, [7], 6, 1.0), [[four]]) == [[0.0]]


def test_sentences_too_long_for_lanes_are_summed_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = sentences_of(STRUCTURES[1], [3, 9, 5, 0, 7], 4, 1.0)
    in_lanes, read = probable_in(sentences, 0.1), enough_in(sentences)
    monkeypatch.setattr(module, "_LONGEST_IN_LANES", 5)
    for together, apart in ((in_lanes, probable_in(sentences, 0.1)), (read, enough_in(sentences))):
        assert together == apart
        for here, alone in zip(together, apart, strict=True):
            assert [m.prob for m in here.mentions] == pytest.approx([m.prob for m in alone.mentions], rel=1e-9)


def test_how_many_there_are_changes_nothing() -> None:
    sentences = sentences_of(STRUCTURES[0], [4, 7, 1, 0, 9, 3, 3, 8, 2, 6], 5, 1.0)
    for function in (probable_in, enough_in, all_in):
        together = function(sentences)
        for (first, last), here in zip(pairwise(sentences.first_word.tolist()), together, strict=True):
            alone = Sentences(sentences.structure, sentences.scores[first:last], np.array([0, last - first]))
            (decoded,) = function(alone)
            assert [(m, m.prob) for m in decoded.mentions] == [(m, m.prob) for m in here.mentions]
