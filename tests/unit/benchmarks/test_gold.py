"""How probable gold mentions are to a model."""

from __future__ import annotations

import pytest

from benchmarks.gold import count, fewer, is_discontiguous, of_one_type, probs_of, row_text, rows, splits, words_of
from hyperspan import Mention, Recognizer, Sentence
from hyperspan.errors import UsageError

APART = Mention("F", [(0, 1), (2, 3)])
WEAK = Sentence(["Arms", "and", "legs"], [APART, Mention("F", [(2, 3)])])
CALM = Sentence(["arms", "legs"], [Mention("F", [(0, 2)])])


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer(max_iterations=5).fit([WEAK, CALM] * 3)


def test_probabilities_are_those_of_the_distribution(recognizer):
    found = list(probs_of(recognizer, [WEAK, CALM]))
    assert [gold.mention for gold in found] == [*WEAK.mentions, *CALM.mentions]
    over = recognizer.distribution_over([WEAK])
    assert [gold.prob for gold in found[:2]] == pytest.approx(over.mention_probs([WEAK.mentions])[0])
    (enough,) = over.read_best("enough")
    assert [gold.is_found for gold in found[:2]] == [mention in enough.mentions for mention in WEAK.mentions]


def test_mentions_that_a_model_cannot_have_are_left_out(recognizer):
    other = WEAK.with_mentions([Mention("Drug", [(0, 1)]), APART])
    assert [gold.mention for gold in probs_of(recognizer, [other])] == [APART]


def test_rows_tell_what_was_known(recognizer):
    made = {row.which: row for row in rows(recognizer, {"train": [CALM], "dev": [WEAK], "test": [CALM]})}
    assert [row.n_mentions for row in made.values()] == [2, 1, 1, 1, 0]
    assert made["held out, discontiguous"].mean == made["held out, discontiguous"].highest > 0
    assert made["held out, discontiguous, with the words of a training mention"].n_mentions == 1  # arms legs
    empty = made["training, discontiguous"]
    assert row_text(empty) == "| training, discontiguous | 0 | 0.000 | 0.00 | 0 | 0 |"


def test_words_are_compared_in_small_letters_and_without_gaps():
    assert words_of(WEAK, APART) == words_of(CALM, CALM.mentions[0]) == ("F", "arms", "legs")


def test_one_type_for_all():
    both = Sentence(["a"], [Mention("A", [(0, 1)]), Mention("B", [(0, 1)])])
    assert of_one_type(both).mentions == (Mention("Mention", [(0, 1)]),)


def test_a_part_of_the_training_data():
    kept = fewer([WEAK, CALM, CALM] * 20, 15, 5)
    assert (len(kept), count(kept, is_discontiguous)) == (15, 5)
    assert len(fewer([CALM] * 5, 3, 2)) == 3


def test_splits_of_some_types(tmp_path):
    made = splits("demo", ["Finding"])
    assert {mention.type for mention in (m for s in made["dev"] for m in s.mentions)} == {"Finding"}
    path = tmp_path / "train.jsonl"
    path.write_text('{"doc": "a", "tokens": ["no"]}\n')
    with pytest.raises(UsageError, match="has no dev sentences; expected train, dev and test"):
        splits(str(tmp_path))
