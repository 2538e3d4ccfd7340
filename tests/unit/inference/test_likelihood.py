"""The likelihood: what going through all outcomes gives, and its gradient the slope of its value."""

from __future__ import annotations

import numpy as np
import pytest

from enumeration import FOR_ENCODINGS, FOR_MENTION_SETS, FOR_TAGS, batch_of, case_name, enumeration, random_scores
from hyperspan import Mention, Sentence
from hyperspan.inference import (
    ScoreBatch,
    distribution,
    distribution_class,
    encode_gold,
    negative_log_likelihood,
)
from hyperspan.structures import Linear, structure

pytestmark = pytest.mark.kernel

CASES = [
    *((made, n_words, "encodings") for made, n_words in FOR_ENCODINGS if n_words < 4 or made.max_components < 3),
    *((made, n_words, "mention-sets") for made, n_words in FOR_MENTION_SETS),
    *((made, n_words, "derivations") for made, n_words in FOR_MENTION_SETS if n_words < 4),
    *((made, n_words, "encodings") for made, n_words in FOR_TAGS),
]
cases = pytest.mark.parametrize(("made", "n_words", "over"), CASES, ids=case_name)


def gold_of(made, n_words: int, seed: int) -> list[Mention]:
    """A few mentions that the structure can write."""
    everything = enumeration(made, n_words).mentions
    rng = np.random.default_rng(seed)
    return [everything[place] for place in rng.choice(len(everything), size=min(3, len(everything)), replace=False)]


def sentence_of(mentions: list[Mention], n_words: int) -> Sentence:
    return Sentence([f"w{word}" for word in range(n_words)], mentions)


@cases
def test_value_and_gradient(made, n_words: int, over: str) -> None:
    rng = np.random.default_rng(0)
    pieces = [random_scores(rng, made, n_words) for _ in range(3)]
    transitions = rng.normal(size=(made.n_labels, made.n_labels)) if isinstance(made, Linear) else None
    batch = batch_of(pieces, transitions)
    gold_mentions = [gold_of(made, n_words, seed) for seed in range(3)]
    of_kind = distribution_class(made, over)
    gold = encode_gold(of_kind, made, [sentence_of(mentions, n_words) for mentions in gold_mentions])
    loss = negative_log_likelihood(distribution(made, batch, over), gold)
    everything, wanted = enumeration(made, n_words, over), 0.0
    for scores, mentions in zip(pieces, gold_mentions, strict=True):
        edges = of_kind.encode(made, mentions, n_words).encoding
        wanted += everything.log_partition(scores, transitions) - sum(scores[word, label] for word, label in edges)
        if transitions is not None:
            labels = [label for _, label in edges]
            wanted -= transitions[labels[:-1], labels[1:]].sum()
    assert loss.value == pytest.approx(wanted, rel=1e-12)
    check_slopes(made, over, batch, gold, loss)


def check_slopes(made, over: str, batch: ScoreBatch, gold, loss) -> None:
    """Central differences of the value at some scores and transitions are the gradient there."""
    rng, step = np.random.default_rng(1), 1e-5
    for array, gradient in ((batch.scores, loss.scores), (batch.transitions, loss.transitions)):
        assert array.shape == gradient.shape
        for place in rng.choice(array.size, size=min(array.size, 40), replace=False).tolist():
            kept, around = array.flat[place], []
            for change in (step, -step):
                array.flat[place] = kept + change
                around.append(negative_log_likelihood(distribution(made, batch, over), gold).value)
            array.flat[place] = kept
            assert (around[0] - around[1]) / (2 * step) == pytest.approx(gradient.flat[place], abs=1e-7)


@pytest.mark.parametrize(
    ("name", "over"),
    [("linear", "encodings"), *(("shared", over) for over in ("encodings", "mention-sets", "derivations"))],
)
def test_sentences_of_any_length_and_large_scores(name: str, over: str) -> None:
    """The gradient also holds where sums are made in logs, and where sentences are empty."""
    made, rng = structure(name, ["A", "B"], 2), np.random.default_rng(2)
    pieces = [random_scores(rng, made, n_words) for n_words in (0, 3, 1, 0, 5, 0)]
    pieces[1][0, :2] += 300.0 if over == "encodings" else 0.0
    transitions = rng.normal(size=(made.n_labels, made.n_labels)) if name == "linear" else None
    batch = batch_of(pieces, transitions)
    sentences = [sentence_of([Mention("A", [(0, 1)])] if len(piece) else [], len(piece)) for piece in pieces]
    gold = encode_gold(distribution_class(made, over), made, sentences)
    loss = negative_log_likelihood(distribution(made, batch, over), gold)
    check_slopes(made, over, batch, gold, loss)
    parts = [(0, 2), (2, 5), (5, 6)]
    values = [
        negative_log_likelihood(distribution(made, batch.sentences(begin, end), over), gold.sentences(begin, end)).value
        for begin, end in parts
    ]
    assert sum(values) == pytest.approx(loss.value, rel=1e-12)


def test_what_cannot_be_written_is_left_out_and_told() -> None:
    made = structure("mention", ["A"])
    gapped = Mention("A", [(0, 1), (2, 3)])
    gold = encode_gold(distribution_class(made), made, [sentence_of([], 2), sentence_of([gapped], 3)])
    assert gold.left_out == ((1, gapped),)
    assert gold.first_word.tolist() == [0, 2, 5]
    assert gold.word.tolist() == [0, 1, 2, 3, 4]
    assert gold.label.tolist() == [0] * 5
