"""The threshold chosen on some sentences and scored on others."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.thresholds import curve_of, measure, part, splits
from hyperspan.errors import UsageError
from hyperspan.learning import ThresholdCurve
from hyperspan.mentions import Mention, Sentence


def curve(n_sentences: int, n_empty: int = 0) -> ThresholdCurve:
    """Sentences with a candidate each, right as often as its probability says."""
    draw = np.random.default_rng(0)
    gold, found = [], []
    for prob in draw.uniform(0.1, 1.0, n_sentences).tolist():
        gold.append([Mention("A", [(0, 1)])] if draw.uniform() < prob else [])
        found.append([Mention("A", [(0, 1)], prob=prob)])
    return ThresholdCurve.of([*gold, *[()] * n_empty], [*found, *[()] * n_empty])


def test_a_part_counts_its_own_sentences_only():
    whole = curve(40, n_empty=10)
    both = [part(whole, np.arange(0, 50, 2)), part(whole, np.arange(1, 50, 2))]
    assert [half.n_sentences for half in both] == [25, 25]
    assert [len(half.gold) for half in both] == [20, 20]
    np.testing.assert_array_equal(sum(half.right.sum(axis=0) for half in both), whole.right.sum(axis=0))


def test_few_sentences_gain_and_the_threshold_scatters_less():
    rows = list(measure(curve(400, n_empty=20), 30, sizes=(25, 50, 300)))
    assert [row.n_sentences for row in rows] == [25, 50, 210]
    for row in rows:
        assert row.gain == pytest.approx(row.chosen - row.highest)
        assert row.spread[1] < row.spread[0]
    assert rows[0].gain > 0.005
    assert rows[0].worst[1] > rows[0].worst[0]


def test_the_same_every_time():
    assert list(measure(curve(60), 3)) == list(measure(curve(60), 3))


def test_nothing_to_choose_by():
    with pytest.raises(UsageError, match="nothing to choose on"):
        list(measure(ThresholdCurve.of([[]], [[]]), 3))


def test_splits_of_a_corpus(tmp_path):
    mentions = [{"type": "A", "spans": [[1, 2]]}, {"type": "B", "spans": [[0, 1]]}]
    line = json.dumps({"tokens": ["no", "blood"], "mentions": mentions}) + "\n"
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text(line * 3)
    train, dev = splits(str(tmp_path), frozenset(["A"]))
    assert [len(train), len(dev)] == [3, 3]
    assert {mention.type for sentence in train for mention in sentence.mentions} == {"A"}
    made = curve_of(train, [Sentence(["blood"], [Mention("A", [(0, 1)])])], "mention", 3)
    assert (made.n_sentences, made.thresholds[0]) == (1, 0.1)
    (tmp_path / "dev.jsonl").write_text("")
    with pytest.raises(UsageError, match="3 training and 0 development sentences"):
        splits(str(tmp_path))
