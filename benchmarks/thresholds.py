"""How well the chosen threshold generalises: choose it on some development sentences, and score it on others.

A model is trained once on the training split. Then the development sentences are split in two at random, many times: a
threshold is chosen on some sentences of one half, and scored by F1 on the other half. The same is done with the
threshold of the highest F1, the baseline that `ThresholdCurve.choose` must not be worse than.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperspan import Recognizer, corpora
from hyperspan.corpora import demo
from hyperspan.errors import UsageError
from hyperspan.learning import LOWEST_THRESHOLD, ThresholdCurve
from hyperspan.mentions import Sentence
from hyperspan.text import as_sentences

SIZES = (10, 25, 50, 100, 200)
"""The numbers of sentences to choose on; half of the development data is added."""


class Row(NamedTuple):
    """The result for one number of sentences, in F1 from 0 to 1, averaged over the random splits.

    ``gain`` is how much higher the F1 of the chosen threshold is than that of the one with the highest F1;
    ``worst`` has both at the fifth percentile of the splits, ``spread`` the standard deviations of both thresholds.
    """

    n_sentences: int
    highest: float
    chosen: float
    gain: float
    worst: tuple[float, float]
    spread: tuple[float, float]


def measure(curve: ThresholdCurve, n_cuts: int, seed: int = 0, sizes: Sequence[int] = SIZES) -> Iterator[Row]:
    """Yield a row for each number of sentences that leaves half of them to score on."""
    draw = np.random.default_rng(seed)
    half = curve.n_sentences // 2
    if not half or curve.is_empty:
        raise UsageError(
            "there is nothing to choose on: expected development sentences in which the model finds mentions"
        )
    for size in sorted({*(size for size in sizes if size < half), half}):
        scores, thresholds = [], []
        for _ in range(n_cuts):
            order = draw.permutation(curve.n_sentences)
            some, others = part(curve, order[:size]), part(curve, order[half:])
            pair = (float(curve.thresholds[some.f_score().argmax()]), some.choose())
            thresholds.append(pair)
            scores.append([others.row(threshold)["f1"] for threshold in pair])
        highest, chosen = np.mean(scores, axis=0).tolist()
        worst, spread = np.quantile(scores, 0.05, axis=0).tolist(), np.std(thresholds, axis=0).tolist()
        yield Row(size, highest, chosen, chosen - highest, (worst[0], worst[1]), (spread[0], spread[1]))


def part(curve: ThresholdCurve, sentences: NDArray[np.int64]) -> ThresholdCurve:
    """Return the curve of some of the sentences; those without any counts come last."""
    counted = sentences[sentences < len(curve.gold)]
    return replace(
        curve,
        right=curve.right[counted],
        found=curve.found[counted],
        gold=curve.gold[counted],
        n_sentences=len(sentences),
    )


def splits(data: str, types: frozenset[str] | None = None) -> tuple[list[Sentence], list[Sentence]]:
    """Return the training and the development sentences of a corpus, with the mentions of some or all types."""
    corpus = demo.load("sentences") if data == "demo" else corpora.read(data)
    train, dev = (
        [
            sentence.with_mentions(mention for mention in sentence.mentions if types is None or mention.type in types)
            for sentence in as_sentences(corpus.split(name))
        ]
        for name in ("train", "dev")
    )
    if not train or not dev:
        raise UsageError(f"{data!r} has {len(train):,} training and {len(dev):,} development sentences; expected both")
    return train, dev


def curve_of(train: Sequence[Sentence], dev: Sequence[Sentence], structure: str, max_iterations: int) -> ThresholdCurve:
    """Train a model, and count the mentions that each threshold finds in the development sentences."""
    recognizer = Recognizer(structure=structure, max_iterations=max_iterations).fit(train)
    return recognizer.threshold_curve(dev, lowest=LOWEST_THRESHOLD)


def row_text(row: Row) -> str:
    """Return a row of the table in Markdown."""
    return (
        f"| {row.n_sentences} | {100 * row.highest:.2f} | {100 * row.chosen:.2f} | {100 * row.gain:+.2f} | "
        f"{100 * row.worst[0]:.1f}, {100 * row.worst[1]:.1f} | {row.spread[0]:.3f}, {row.spread[1]:.3f} |"
    )


HEAD = """\
| chosen by | highest F1 | chosen | gain | fifth percentile of both | spread of both thresholds |
| ---: | ---: | ---: | ---: | --- | --- |"""
