"""What a second look at whole mentions changes: the same corpus and structure with it and without.

Runs the commands a user would run, and nothing else:

    hyperspan train TRAIN --dev DEV --structure shared --rescore on -o MODEL
    hyperspan predict MODEL GOLD -o PREDICTED
    hyperspan evaluate GOLD PREDICTED --compare WITHOUT --json
    hyperspan predict MODEL GOLD --threshold 0.05 -o PREDICTED
    hyperspan evaluate GOLD PREDICTED --calibration --json
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.commands import HYPERSPAN, run_python
from benchmarks.results import SCORES, Result
from hyperspan import corpora
from hyperspan.errors import UsageError

CORPORA = ("chia", "chia:Condition", "pgxcorpus")
"""Names of folders; after a colon the types that are kept, with commas between them."""

STRUCTURES = ("linear", "shared")

LEAST_PROBABLE = "0.05"
"""Mentions less probable than this have no part in calibration."""

HEAD = """\
| corpus | structure | second look | all mentions P / R / F1 | discontiguous sentences | discontiguous mentions | \
calibration error | p | training |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def rows(
    folder: Path, names: Sequence[str], structures: Sequence[str], split: str, options: Sequence[str] = ()
) -> Iterator[Result]:
    """Yield two rows for each corpus and structure, without and with a second look.

    Raises
    ------
    UsageError
        If a file is not there.
    """
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            corpus = restricted(folder, name, split, Path(work))
            for structure in structures:
                yield from of_structure(corpus, name, structure, split, Path(work), options)


def restricted(folder: Path, name: str, split: str, work: Path) -> Path:
    """Return the folder of a corpus, or a copy of it with some types alone."""
    name, _, types = name.partition(":")
    source, kept = folder / name, {*types.split(",")}
    for part in {"train", "dev", split}:
        if not (source / f"{part}.jsonl").is_file():
            raise UsageError(
                f"there is no file '{source / part}.jsonl'; expected a corpus as 'hyperspan convert' writes it"
            )
    if not types:
        return source.absolute()
    target = work / f"{name}-{types}"
    target.mkdir(exist_ok=True)
    for part in {"train", "dev", split}:
        units = corpora.read(source / f"{part}.jsonl")
        corpora.write(
            [unit.with_mentions([mention for mention in unit.mentions if mention.type in kept]) for unit in units],
            target / f"{part}.jsonl",
            format="jsonl",
        )
    return target


def of_structure(
    corpus: Path, name: str, structure: str, split: str, work: Path, options: Sequence[str]
) -> Iterator[Result]:
    """Train one structure without and with a second look, and yield a row for each."""
    train, dev, gold = (str(corpus / f"{part}.jsonl") for part in ("train", "dev", split))
    before = None
    for rescore in ("off", "on"):
        model, predicted = str(work / "model"), str(work / f"{rescore}.jsonl")
        learn = ("train", train, "--dev", dev, "--structure", structure, "--rescore", rescore, "-o", model, "--json")
        printed, usage = run_python(*HYPERSPAN, *learn, *options)
        trained = json.loads(printed)
        run_python(*HYPERSPAN, "predict", model, gold, "-o", predicted)
        compared = () if before is None else ("--compare", before)
        scores = json.loads(run_python(*HYPERSPAN, "evaluate", gold, predicted, *compared, "--json")[0])
        everything = str(work / "everything.jsonl")
        run_python(*HYPERSPAN, "predict", model, gold, "--threshold", LEAST_PROBABLE, "-o", everything)
        calibrated = json.loads(run_python(*HYPERSPAN, "evaluate", gold, everything, "--calibration", "--json")[0])
        yield {
            "corpus": name,
            "structure": structure,
            "rescore": rescore,
            "threshold": trained["threshold"],
            "rescoring": trained["rescoring"],
            "seconds": round(usage.wall, 1),
            "cpu_seconds": round(usage.cpu, 1),
            "calibration": calibrated["calibration"],
            "significance": scores.get("significance"),
            **{each: scores[each] for each in SCORES},
        }
        before = predicted


def row_text(row: Result) -> str:
    """Return a row of the table in Markdown."""
    numbers = " | ".join(
        " / ".join(f"{100 * row[name][key]:.1f}" for key in ("precision", "recall", "f1")) for name in SCORES
    )
    tested: dict[str, Any] | None = row["significance"]
    p_value = "" if tested is None else f"{tested['all']['p_bootstrap']:.4f}"
    looked = "yes" if row["rescore"] == "on" else "no"
    error = row["calibration"]["error"]
    cells = (row["corpus"], row["structure"], looked, numbers, f"{error:.3f}", p_value, f"{row['seconds']:.0f} s")
    return f"| {' | '.join(cells)} |"
