"""The results table of the README: train, predict and evaluate every structure with every decoder.

Runs the commands a user would run, and nothing else:

    hyperspan train $CORPORA/chia/train.jsonl --dev $CORPORA/chia/dev.jsonl --structure shared -o MODEL
    hyperspan predict MODEL $CORPORA/chia/test.jsonl --decode probable -o PREDICTED
    hyperspan evaluate $CORPORA/chia/test.jsonl PREDICTED --json
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.commands import HYPERSPAN, run_python
from hyperspan.errors import UsageError

CORPORA = ("chia", "pgxcorpus")
STRUCTURES = ("linear", "mention", "shared", "split")
DECODERS = ("all", "enough", "probable")
SPLITS = ("test", "dev")

SCORES = ("all", "discontiguous_sentences", "discontiguous_mentions")

HEAD = """\
| corpus | structure | decoding | all mentions P / R / F1 | discontiguous sentences | discontiguous mentions |
| --- | --- | --- | --- | --- | --- |"""

Result = dict[str, Any]


def rows(
    folder: Path, corpora: Sequence[str], structures: Sequence[str], split: str, options: Sequence[str] = ()
) -> Iterator[Result]:
    """Yield a row for each corpus, structure and decoder.

    Raises
    ------
    UsageError
        If a file is not there, or there is no such structure or split.
    """
    for structure in structures:
        if structure not in STRUCTURES:
            raise UsageError(f"there is no structure {structure!r}; expected one of {', '.join(STRUCTURES)}")
    if split not in SPLITS:
        raise UsageError(f"the split is {split!r}; expected one of {', '.join(SPLITS)}")
    for corpus in corpora:
        for part in ("train", "dev", split):
            path = folder / corpus / f"{part}.jsonl"
            if not path.is_file():
                raise UsageError(f"there is no file '{path}'; expected a corpus as 'hyperspan convert' writes it")
    with tempfile.TemporaryDirectory() as work:
        for corpus in corpora:
            for structure in structures:
                yield from of_structure((folder / corpus).absolute(), structure, split, Path(work), options)


def of_structure(corpus: Path, structure: str, split: str, work: Path, options: Sequence[str] = ()) -> Iterator[Result]:
    """Train one structure and yield a row for each decoder."""
    train, dev, gold = (str(corpus / f"{part}.jsonl") for part in ("train", "dev", split))
    model, predicted = str(work / f"{corpus.name}.{structure}.model"), str(work / "predicted.jsonl")
    printed, usage = run_python(
        *HYPERSPAN, *("train", train, "--dev", dev, "--structure", structure, "-o", model, "--json"), *options
    )
    trained = json.loads(printed)
    for decode in DECODERS:
        run_python(*HYPERSPAN, "predict", model, gold, "--decode", decode, "-o", predicted)
        scores = json.loads(run_python(*HYPERSPAN, "evaluate", gold, predicted, "--json")[0])
        yield {
            "corpus": corpus.name,
            "structure": structure,
            "decode": decode,
            "iterations": trained["iterations"],
            "weights": trained["weights"],
            "threshold": trained["threshold"],
            "seconds": round(usage.wall, 1),
            **{name: scores[name] for name in SCORES},
        }


def row_text(row: Result) -> str:
    """Return a row of the table in Markdown."""
    numbers = " | ".join(
        " / ".join(f"{100 * row[name][key]:.1f}" for key in ("precision", "recall", "f1")) for name in SCORES
    )
    return f"| {row['corpus']} | {row['structure']} | {row['decode']} | {numbers} |"
