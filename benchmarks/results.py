"""The results table of the README: train, predict and evaluate every structure with every decoder.

It only runs the commands that a user would run:

    hyperspan train $CORPORA/chia/train.jsonl --dev $CORPORA/chia/dev.jsonl --structure shared -o MODEL
    hyperspan predict MODEL $CORPORA/chia/test.jsonl --decode probable -o PREDICTED
    hyperspan evaluate $CORPORA/chia/test.jsonl PREDICTED --json
    hyperspan predict MODEL $CORPORA/chia/test.jsonl --threshold 0.05 -o PREDICTED
    hyperspan evaluate $CORPORA/chia/test.jsonl PREDICTED --calibration --json
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.commands import HYPERSPAN, run_python
from benchmarks.reporting import write
from hyperspan import corpora
from hyperspan.errors import UsageError

CORPORA = ("chia", "pgxcorpus")
"""Names of folders; optionally a colon and the types to keep, separated by commas: ``chia:Condition``."""

STRUCTURES = ("linear", "mention", "shared", "split", "segments")
DECODERS = ("all", "enough", "probable")
SPLITS = ("test", "dev")

KEYS = ("corpus", "split", "structure", "decode")
"""The keys that identify a row."""

SCORES = ("all", "discontiguous_sentences", "discontiguous_mentions")

LEAST_PROBABLE = "0.05"
"""Calibration ignores mentions less probable than this."""

HEAD = """\
| corpus | split | structure | decoding | all mentions P / R / F1 | discontiguous sentences | discontiguous mentions | \
calibration error |
| --- | --- | --- | --- | --- | --- | --- | --- |"""

Result = dict[str, Any]


def rows(
    folder: Path,
    names: Sequence[str],
    structures: Sequence[str],
    splits: Sequence[str],
    work: Path,
    options: Sequence[str] = (),
) -> Iterator[Result]:
    """Yield a row for each corpus, structure, split and decoder.

    Models and predictions are written to the folder ``work``.

    Raises
    ------
    UsageError
        If a file does not exist, or a structure or split is unknown.
    """
    for name, corpus in corpora_of(folder, names, structures, splits, work).items():
        for structure in structures:
            model, _ = trained(corpus, structure, work, options)
            for split in splits:
                gold = corpus / f"{split}.jsonl"
                calibration = calibration_of(model, gold)
                for decode in DECODERS:
                    scores = scores_of(gold, predicted(model, gold, "--decode", decode))
                    yield {
                        "corpus": name,
                        "split": split,
                        "structure": structure,
                        "decode": decode,
                        "calibration": calibration if decode == "probable" else None,
                        **{each: scores[each] for each in SCORES},
                    }


def corpora_of(
    folder: Path, names: Sequence[str], structures: Sequence[str], splits: Sequence[str], work: Path
) -> dict[str, Path]:
    """Return the folder of each corpus, after checking that everything exists.

    Raises
    ------
    UsageError
        As in `rows`.
    """
    for structure in structures:
        if structure not in STRUCTURES:
            raise UsageError(f"there is no structure {structure!r}; expected one of {', '.join(STRUCTURES)}")
    for split in splits:
        if split not in SPLITS:
            raise UsageError(f"the split is {split!r}; expected one of {', '.join(SPLITS)}")
    return {name: restricted(folder, name, ("train", "dev", *splits), work) for name in names}


def restricted(folder: Path, name: str, parts: Sequence[str], work: Path) -> Path:
    """Return the folder of a corpus, or of a copy with some types only."""
    name, _, types = name.partition(":")
    source, kept = folder / name, {*types.split(",")}
    for part in parts:
        if not (source / f"{part}.jsonl").is_file():
            raise UsageError(
                f"there is no file '{source / part}.jsonl'; expected a corpus as 'hyperspan convert' writes it"
            )
    if not types:
        return source.absolute()
    target = work / f"{name}-{types}"
    target.mkdir(exist_ok=True)
    for part in parts:
        units = corpora.read(source / f"{part}.jsonl")
        corpora.write(
            [unit.with_mentions([mention for mention in unit.mentions if mention.type in kept]) for unit in units],
            target / f"{part}.jsonl",
            format="jsonl",
        )
    return target


def trained(
    corpus: Path, structure: str, work: Path, options: Sequence[str] = (), rescore: str = "off"
) -> tuple[Path, Result]:
    """Train a structure; return the model, and the output of ``train --json`` with the seconds it took.

    A model that exists already, with that output beside it, is reused.
    """
    train, dev = (str(corpus / f"{part}.jsonl") for part in ("train", "dev"))
    model = work / f"{corpus.name}.{structure}{'' if rescore == 'off' else '.rescored'}.model"
    said = model.with_suffix(".json")
    if not (model.exists() and said.exists()):
        learn = ("train", train, "--dev", dev, "--structure", structure, "--rescore", rescore, "-o", str(model))
        printed, usage = run_python(*HYPERSPAN, *learn, "--json", *options)
        write(said, {**json.loads(printed), "seconds": round(usage.wall, 1), "cpu_seconds": round(usage.cpu, 1)})
    return model, json.loads(said.read_text(encoding="utf-8"))


def predicted(model: Path, gold: Path, *options: str) -> Path:
    """Return the file with the predictions of a model for a split, beside the model."""
    target = model.with_name(f"{model.stem}.{gold.stem}.jsonl")
    run_python(*HYPERSPAN, "predict", str(model), str(gold), *options, "-o", str(target))
    return target


def scores_of(gold: Path, found: Path, *options: str) -> Result:
    """Return the output of ``evaluate --json``."""
    scores: Result = json.loads(run_python(*HYPERSPAN, "evaluate", str(gold), str(found), *options, "--json")[0])
    return scores


def calibration_of(model: Path, gold: Path) -> Result:
    """Return the calibration of a model's probabilities."""
    calibration: Result = scores_of(gold, predicted(model, gold, "--threshold", LEAST_PROBABLE), "--calibration")[
        "calibration"
    ]
    return calibration


def numbers_of(row: Result) -> list[str]:
    """Return precision, recall and F1 of all mentions, discontiguous sentences and mentions, as text."""
    return [" / ".join(f"{100 * row[name][key]:.1f}" for key in ("precision", "recall", "f1")) for name in SCORES]


def row_text(row: Result) -> str:
    """Return a row of the table in Markdown."""
    error = f"{row['calibration']['error']:.3f}" if row["calibration"] else ""
    cells = (row["corpus"], row["split"], row["structure"], row["decode"], *numbers_of(row), error)
    return f"| {' | '.join(cells)} |"
