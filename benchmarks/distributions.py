"""The three distributions side by side on development data: F1, calibration, iterations and time.

Calibration is over all mentions with a probability of at least 0.05: the mean distance between how probable mentions
are said to be and how many of them are right, over ten bins of probability weighted by their size.

Usage: python benchmarks/distributions.py CORPORA/pgxcorpus [--type Condition] [--max-iterations 100] [--json FILE]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ablation import read
from common import environment, write_json
from hyperspan.evaluation import evaluate
from hyperspan.inference import OVER
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Recognizer


def calibration_error(dev: Sequence[Sentence], recognizer: Recognizer) -> float:
    """Return the expected calibration error of mention probabilities."""
    probs, rights = [], []
    for sentence, found in zip(dev, recognizer.find(dev, decode="probable", threshold=0.05), strict=True):
        probs += [mention.prob for mention in found.mentions]
        rights += [mention in set(sentence.mentions) for mention in found.mentions]
    prob, right = np.array(probs, dtype=float), np.array(rights, dtype=float)
    bins = np.minimum((prob * 10).astype(int), 9)
    gaps = [abs(prob[bins == b].mean() - right[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins)]
    return float(sum(gaps))


def row_of(over: str, train: list[Sentence], dev: list[Sentence], max_iterations: int) -> dict[str, Any]:
    """Train with one distribution and score the development data."""
    begin = time.perf_counter()
    recognizer = Recognizer(distribution=over, max_iterations=max_iterations).fit(train, dev=dev)
    row: dict[str, Any] = {
        "distribution": over,
        "iterations": recognizer.n_iter_,
        "seconds": round(time.perf_counter() - begin, 1),
        "threshold": recognizer.threshold_,
        "calibration_error": calibration_error(dev, recognizer),
    }
    for decode in ("enough", "probable"):
        found = [
            sentence.with_mentions(found.mentions)
            for sentence, found in zip(dev, recognizer.find(dev, decode=decode), strict=True)
        ]
        scores = evaluate(dev, found)
        row[decode] = {"all": scores.all.f1, "discontiguous_mentions": scores.discontiguous_mentions.f1}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a folder with train.jsonl and dev.jsonl")
    parser.add_argument("--type", help="only mentions of this type")
    parser.add_argument("--max-iterations", type=int, default=100)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    train, dev = (read(arguments.corpus / f"{split}.jsonl", arguments.type) for split in ("train", "dev"))
    print(
        "| distribution | enough: all / discontiguous F1 | probable: all / discontiguous F1 | calibration error |",
        end="",
    )
    print(" iterations | seconds |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    rows = []
    for over in OVER:
        rows.append(row_of(over, train, dev, arguments.max_iterations))
        row = rows[-1]
        numbers = " | ".join(
            f"{100 * row[decode]['all']:.1f} / {100 * row[decode]['discontiguous_mentions']:.1f}"
            for decode in ("enough", "probable")
        )
        print(
            f"| {over} | {numbers} | {row['calibration_error']:.3f} | {row['iterations']} | {row['seconds']} |",
            flush=True,
        )
    write_json(arguments.json, {"env": environment("numpy", "numba", "scipy", threads=2), "rows": rows})


if __name__ == "__main__":
    main()
