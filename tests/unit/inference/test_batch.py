"""Batches: the same whatever the threads and neighbours, and wrong input is refused in words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from enumeration import random_scores
from hyperspan.errors import StructureError
from hyperspan.inference import OVER, Over, batch, distribution, sum_batch
from hyperspan.structures import structure

pytestmark = pytest.mark.kernel

KINDS = [("linear", "encodings"), *((name, over) for name in ("mention", "shared", "split") for over in OVER)]


@pytest.mark.parametrize(("name", "over"), KINDS)
def test_the_same_bits_for_any_number_of_threads(name: str, over: Over, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, made = np.random.default_rng(0), structure(name, ["A", "B"], 2)
    monkeypatch.setattr(batch, "WORDS_A_CHUNK", 10)
    lengths = rng.integers(0, 6, size=70)
    scores, first_word = random_scores(rng, made, int(lengths.sum()), size=2.0), np.cumsum([0, *lengths])
    transitions = rng.normal(size=(made.n_labels, made.n_labels)) if name == "linear" else None
    first, *others = (
        sum_batch(made, scores, first_word, over=over, transitions=transitions, n_threads=n_threads)
        for n_threads in (1, 2, 3)
    )
    for other in others:
        for one, same in zip(first, other, strict=True):
            assert one.tobytes() == same.tobytes()


@pytest.mark.parametrize(("name", "over"), KINDS)
def test_sentences_do_not_touch_each_other(name: str, over: Over) -> None:
    rng, made = np.random.default_rng(1), structure(name, ["A", "B"], 3)
    lengths = [3, 0, 1, 7, 2]
    scores, first_word = random_scores(rng, made, sum(lengths), forbidden=0.05), np.cumsum([0, *lengths])
    together = sum_batch(made, scores, first_word, over=over)
    moves = np.zeros_like(together.expected_transitions)
    for sentence, (first, last) in enumerate(pairwise(first_word)):
        alone = sum_batch(made, scores[first:last], np.array([0, last - first]), over=over)
        assert alone.log_partition[0] == together.log_partition[sentence]
        assert np.array_equal(alone.expected, together.expected[first:last])
        moves += alone.expected_transitions
    np.testing.assert_allclose(together.expected_transitions, moves, rtol=1e-12, atol=1e-15)
    forward = sum_batch(made, scores, first_word, over=over, wants_expected=False)
    np.testing.assert_allclose(forward.log_partition, together.log_partition, rtol=1e-14)
    assert forward.expected.shape == (0, made.n_labels)


@pytest.mark.parametrize("over", OVER)
def test_types_do_not_touch_each_other(over: Over) -> None:
    rng, both, one = np.random.default_rng(2), structure("split", ["A", "B"]), structure("split", ["A"])
    scores = random_scores(rng, both, 5)
    first_word = np.array([0, 5])
    together = sum_batch(both, scores, first_word, over=over)
    halves = [sum_batch(one, scores[:, columns], first_word, over=over) for columns in (slice(33), slice(33, 66))]
    assert together.log_partition[0] == pytest.approx(halves[0].log_partition[0] + halves[1].log_partition[0])
    np.testing.assert_allclose(together.expected, np.hstack([half.expected for half in halves]), rtol=1e-13)


@pytest.mark.parametrize(("name", "over"), KINDS)
@pytest.mark.parametrize("first_word", [[0], [0, 0], [0, 0, 0, 0]])
def test_empty_batches_and_empty_sentences(name: str, over: Over, first_word: list[int]) -> None:
    made = structure(name, ["A"])
    totals = sum_batch(made, np.zeros((0, made.n_labels)), np.array(first_word), over=over)
    assert totals.log_partition.tolist() == [0.0] * (len(first_word) - 1)
    assert totals.expected.shape == (0, made.n_labels)
    assert totals.expected_transitions.shape == ((7, 7) if name == "linear" else (0, 0))
    assert np.all(totals.expected_transitions == 0.0)


def test_scores_may_have_any_layout_and_are_left_alone() -> None:
    made = structure("shared", ["A"])
    scores = np.asfortranarray(random_scores(np.random.default_rng(3), made, 6))
    before = scores.copy()
    found = sum_batch(made, scores, [0, 2, 6])
    assert np.array_equal(scores, before)
    assert np.array_equal(found.expected, sum_batch(made, np.ascontiguousarray(scores), np.array([0, 2, 6])).expected)


@pytest.mark.parametrize("name", ["shared", "linear"])
def test_wrong_scores_are_refused(name: str) -> None:
    made = structure(name, ["A"])
    n_labels = made.n_labels
    with pytest.raises(
        StructureError, match=rf"scores have shape \(3, {n_labels + 1}\); expected \(n_words, {n_labels}"
    ):
        sum_batch(made, np.zeros((3, n_labels + 1)), np.array([0, 3]))
    with pytest.raises(StructureError, match=rf"scores have shape \({n_labels},\); expected"):
        distribution(made, np.zeros(n_labels))
    for value in (np.nan, np.inf):
        scores = np.zeros((3, n_labels))
        scores[1, 2] = value
        with pytest.raises(
            StructureError, match=f"the score of label 2 at word 1 is {value}; expected a number, or -inf"
        ):
            sum_batch(made, scores, np.array([0, 3]))
        with pytest.raises(StructureError, match="or -inf to forbid the edge"):
            distribution(made, scores)


@pytest.mark.parametrize("first_word", [[], [0], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [[0, 3]]])
def test_wrong_borders_are_refused(first_word: list) -> None:
    made = structure("mention", ["A"])
    with pytest.raises(StructureError, match=r"first_word is .*; expected it to rise from 0 to the number of words, 3"):
        sum_batch(made, np.zeros((3, 5)), np.array(first_word, dtype=np.int64))


def test_wrong_transitions_are_refused() -> None:
    linear, shared = structure("linear", ["A"]), structure("shared", ["A"])
    scores = np.zeros((2, 7))
    with pytest.raises(StructureError, match=r"transitions have shape \(7, 6\); expected \(7, 7\)"):
        distribution(linear, scores, transitions=np.zeros((7, 6)))
    for value in (np.nan, np.inf):
        transitions = np.zeros((7, 7))
        transitions[3, 4] = value
        with pytest.raises(StructureError, match=f"the score of tag 4 after tag 3 is {value}; expected a number"):
            sum_batch(linear, scores, np.array([0, 2]), transitions=transitions)
    message = "transitions are for the structure 'linear', not for 'shared'"
    with pytest.raises(StructureError, match=message):
        sum_batch(shared, np.zeros((2, 25)), np.array([0, 2]), transitions=np.zeros((7, 7)))
    with pytest.raises(StructureError, match=message):
        distribution(shared, np.zeros((2, 25)), transitions=np.zeros((7, 7)))


def test_wrong_distributions_are_refused() -> None:
    linear, shared = structure("linear", ["A"]), structure("shared", ["A"])
    message = "the distribution is 'trees'; expected one of encodings, mention-sets, derivations"
    for made in (linear, shared):
        scores = np.zeros((2, made.n_labels))
        with pytest.raises(StructureError, match=message):
            sum_batch(made, scores, np.array([0, 2]), over="trees")
        with pytest.raises(StructureError, match=message):
            distribution(made, scores, over="trees")
    message = "the structure 'linear' is over tag sequences only, not over 'mention-sets'"
    with pytest.raises(StructureError, match=message):
        sum_batch(linear, np.zeros((2, 7)), np.array([0, 2]), over="mention-sets")
    with pytest.raises(StructureError, match=message):
        distribution(linear, np.zeros((2, 7)), over="mention-sets")
