"""Every structure on the development data of a corpus, with the same features: F1 and calibration.

    python -m benchmarks.structures ../shared/data/chia --type Condition --structures shared segments

Prints a row of a Markdown table for each structure as soon as it is known.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from hyperspan import Recognizer, Sentence, corpora
from hyperspan.experiments.distribution import LEAST_PROBABLE, reliability_of
from hyperspan.experiments.training import find
from hyperspan.text import as_sentences

COLUMNS = ("structure", "λ", "enough F1", "probable F1", "P", "R", "disc. F1", "calibration error", "iterations", "s")


def sentences_of(file: Path, types: list[str]) -> list[Sentence]:
    """Return the sentences of a corpus with the mentions of some types, or of all."""
    return [
        sentence.with_mentions(mention for mention in sentence.mentions if not types or mention.type in types)
        for sentence in as_sentences(corpora.stream(file))
    ]


def row_of(structure: str, l2: float, train: list[Sentence], dev: list[Sentence], n_threads: int) -> list[str]:
    """Train a structure and return its row."""
    begin = time.process_time()
    recognizer = Recognizer(structure=structure, l2=l2, n_threads=n_threads).fit(train)
    seconds = time.process_time() - begin
    found = find(recognizer, dev, LEAST_PROBABLE)
    enough, probable = (found.evaluate(decoder, found.best_threshold()) for decoder in ("enough", "probable"))
    shares = (enough.all.f1, probable.all.f1, probable.all.precision, probable.all.recall)
    return [
        structure,
        f"{l2:g}",
        *(f"{100 * share:.1f}" for share in (*shares, probable.discontiguous_mentions.f1)),
        f"{reliability_of(found).error:.3f}",
        str(recognizer.n_iter_),
        f"{seconds:.0f}",
    ]


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, help="A folder with train and dev files.")
    parser.add_argument("--type", action="append", default=[], help="Only mentions of this type; may come repeatedly.")
    parser.add_argument("--structures", nargs="+", default=["linear", "shared", "split", "segments"])
    parser.add_argument("--l2", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    train, dev = (sentences_of(given.corpus / f"{name}.jsonl", given.type) for name in ("train", "dev"))
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    for structure in given.structures:
        print(f"| {' | '.join(row_of(structure, given.l2, train, dev, given.threads))} |", flush=True)


if __name__ == "__main__":
    main()
