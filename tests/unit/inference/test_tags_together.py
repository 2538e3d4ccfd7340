"""The tags of many sentences at once: the same as one after the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Mention
from hyperspan.errors import StructureError
from hyperspan.inference import distribution
from hyperspan.inference import tags_together as module
from hyperspan.inference.tag_sequences import TagSequences
from hyperspan.inference.tags_together import TagScores, all_tags_in, enough_tags_in, probable_tags_in, tag_probs_in
from hyperspan.structures import Linear, decode_all, decode_enough

pytestmark = pytest.mark.kernel

TYPES = ("Drug", "Finding")


def scores_of(lengths: list[int], seed: int, size: float, *, forbids: bool = False, n_types: int = 2) -> TagScores:
    """Random scores of sentences of these lengths."""
    rng, made = np.random.default_rng(seed), Linear(TYPES[:n_types])
    first_word = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    scores = rng.normal(0.0, size, (int(first_word[-1]), made.n_labels))
    if forbids:
        scores[rng.random(scores.shape) < 0.1] = -np.inf
        scores[:, 0] = 0.0
    return TagScores(made, scores, rng.normal(0.0, 1.0, (made.n_labels, made.n_labels)), first_word)


def one_by_one(sentences: TagScores) -> list[TagSequences]:
    bounds = pairwise(sentences.first_word.tolist())
    made, transitions = sentences.structure, sentences.transitions
    return [distribution(made, sentences.scores[first:last], transitions=transitions) for first, last in bounds]


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(0, 7), max_size=5),
    seed=st.integers(0, 999),
    size=st.sampled_from([0.5, 3.0, 300.0]),
    forbids=st.booleans(),
)
def test_mentions_and_probabilities_are_those_of_each_sentence(lengths, seed, size, forbids) -> None:
    sentences = scores_of(lengths, seed, size, forbids=forbids)
    apart = one_by_one(sentences)
    for limit in (1_000, 3):
        together = probable_tags_in(sentences, 0.05, limit=limit)
        alone = [over.probable(0.05, limit=limit) for over in apart]
        assert together == alone
        assert [[m.prob for m in here.mentions] for here in together] == [
            [m.prob for m in here.mentions] for here in alone
        ]
    for together, reading in ((enough_tags_in(sentences), decode_enough), (all_tags_in(sentences), decode_all)):
        assert together == [reading(sentences.structure, over.best().edges) for over in apart]
        probs = tag_probs_in(sentences, [here.mentions for here in together])
        assert probs == [over.probs_of(here.mentions) for over, here in zip(apart, together, strict=True)]
        assert probs == [[mention.prob for mention in here.mentions] for here in together]


def test_room_that_runs_out_is_made_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = scores_of([9] * 5, 3, 1.0)
    whole = probable_tags_in(sentences, 0.0)
    read = [here.mentions for here in whole]
    probs = tag_probs_in(sentences, read)
    monkeypatch.setattr(module, "_ROOM", 2)
    small = probable_tags_in(sentences, 0.0)
    assert small == whole
    assert tag_probs_in(sentences, read) == probs
    assert [[m.prob for m in here.mentions] for here in small] == probs
    assert sum(len(here) for here in read) > 200


def test_what_cannot_be_read_from_tags_has_no_probability() -> None:
    sentences = scores_of([8], 0, 1.0)
    four_parts = Mention("Drug", [(0, 1), (2, 3), (4, 5), (6, 7)])
    assert tag_probs_in(sentences, [[four_parts]]) == [[0.0]]


def test_questions_that_cannot_be_answered() -> None:
    sentences = scores_of([3, 2], 0, 1.0)
    with pytest.raises(StructureError, match="there is no type 'Dose'; expected one of Drug, Finding"):
        tag_probs_in(sentences, [[], [Mention("Dose", [(0, 1)])]])
    with pytest.raises(StructureError, match="ends beyond the 2 words of the sentence"):
        tag_probs_in(sentences, [[], [Mention("Drug", [(0, 3)])]])
    with pytest.raises(StructureError, match="n_samples is 0; expected at least 1"):
        tag_probs_in(sentences, [[], []], n_samples=0)
    with pytest.raises(StructureError, match=r"scores have shape \(5, 13\); expected \(n_words, 7\)"):
        probable_tags_in(sentences._replace(structure=Linear(("A",))))
    forbidden = sentences._replace(scores=np.full((5, 13), -np.inf))
    with pytest.raises(StructureError, match="there is no best outcome"):
        enough_tags_in(forbidden)
