"""The results table of the README: train, predict and evaluate every structure with every way to read it.

Runs the commands a user would run, and nothing else:

    hyperspan train $CORPORA/chia/train.jsonl --dev $CORPORA/chia/dev.jsonl --structure shared -o MODEL
    hyperspan predict MODEL $CORPORA/chia/test.jsonl --decode probable -o PREDICTED
    hyperspan evaluate $CORPORA/chia/test.jsonl PREDICTED --json

Usage: python benchmarks/results.py CORPORA [--corpus chia] [--structure shared] [--split test] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import environment, write_json

STRUCTURES = ("linear", "mention", "shared", "split")
DECODERS = ("all", "enough", "probable")


def hyperspan(*arguments: object) -> str:
    """Run the command line and return what it prints."""
    command = [str(Path(sys.executable).with_name("hyperspan")), "--quiet", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def run(corpus: Path, structure: str, split: str, work: Path, options: list[str]) -> list[dict[str, Any]]:
    """Train one structure and return a row for each way to read it."""
    model, predicted = work / f"{corpus.name}.{structure}.model", work / "predicted.jsonl"
    begin = time.perf_counter()
    trained = json.loads(
        hyperspan(
            "train",
            corpus / "train.jsonl",
            "--dev",
            corpus / "dev.jsonl",
            "--structure",
            structure,
            "-o",
            model,
            "--json",
            *options,
        )
    )
    seconds = time.perf_counter() - begin
    rows = []
    for decode in DECODERS:
        hyperspan("predict", model, corpus / f"{split}.jsonl", "--decode", decode, "-o", predicted)
        scores = json.loads(hyperspan("evaluate", corpus / f"{split}.jsonl", predicted, "--json"))
        rows.append(
            {
                "corpus": corpus.name,
                "structure": structure,
                "decode": decode,
                "iterations": trained["iterations"],
                "weights": trained["weights"],
                "threshold": trained["threshold"],
                "seconds": round(seconds, 1),
                **{name: scores[name] for name in ("all", "discontiguous_sentences", "discontiguous_mentions")},
            }
        )
        print(row_text(rows[-1]), flush=True)
    return rows


def row_text(row: dict[str, Any]) -> str:
    """Return a row of the table in Markdown."""
    scores = [row[name] for name in ("all", "discontiguous_sentences", "discontiguous_mentions")]
    numbers = " | ".join(
        " / ".join(f"{100 * score[key]:.1f}" for key in ("precision", "recall", "f1")) for score in scores
    )
    return f"| {row['corpus']} | {row['structure']} | {row['decode']} | {numbers} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", type=Path, help="the folder that holds chia and pgxcorpus")
    parser.add_argument("--corpus", action="append", help="which (default: chia, pgxcorpus)")
    parser.add_argument("--structure", action="append", choices=STRUCTURES, help="which (default: all)")
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--option", action="append", default=[], help="passed on to train, as --option=--l2=auto")
    parser.add_argument("--json", type=Path, help="also write the rows and the environment here")
    arguments = parser.parse_args()
    print(
        "| corpus | structure | decoding | all mentions P / R / F1 | discontiguous sentences | discontiguous mentions |"
    )
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for corpus in arguments.corpus or ("chia", "pgxcorpus"):
            for structure in arguments.structure or STRUCTURES:
                rows += run(arguments.corpora / corpus, structure, arguments.split, Path(work), arguments.option)
    write_json(arguments.json, {"env": environment("numpy", "numba", "scipy", threads=2), "rows": rows})


if __name__ == "__main__":
    main()
