"""The effect of a second look at whole mentions: the same corpora and structures with and without it.

It only runs the commands that a user would run:

    hyperspan train TRAIN --dev DEV --structure shared --rescore on -o MODEL
    hyperspan predict MODEL GOLD -o PREDICTED
    hyperspan evaluate GOLD PREDICTED --compare WITHOUT --json
    hyperspan predict MODEL GOLD --threshold 0.05 -o PREDICTED
    hyperspan evaluate GOLD PREDICTED --calibration --json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.results import SCORES, Result, calibration_of, corpora_of, numbers_of, predicted, scores_of, trained

CORPORA = ("chia", "chia:Condition", "pgxcorpus")
STRUCTURES = ("linear", "shared")
SPLITS = ("dev", "test")
KEYS = ("corpus", "split", "structure", "rescore")

HEAD = """\
| corpus | split | structure | second look | all mentions P / R / F1 | discontiguous sentences | \
discontiguous mentions | calibration error (by chance) | p | training, CPU |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def rows(
    folder: Path,
    names: Sequence[str],
    structures: Sequence[str],
    splits: Sequence[str],
    work: Path,
    options: Sequence[str] = (),
) -> Iterator[Result]:
    """Yield two rows for each corpus, structure and split, without and with a second look.

    Parameters and exceptions are those of `benchmarks.results.rows`; each model is trained once.
    """
    for name, corpus in corpora_of(folder, names, structures, splits, work).items():
        for structure in structures:
            models = {rescore: trained(corpus, structure, work, options, rescore) for rescore in ("off", "on")}
            for split in splits:
                gold, before = corpus / f"{split}.jsonl", list[str]()
                for rescore, (model, said) in models.items():
                    calibration = calibration_of(model, gold)
                    found = predicted(model, gold)
                    scores = scores_of(gold, found, *before)
                    before = ["--compare", str(found)]
                    yield {
                        "corpus": name,
                        "split": split,
                        "structure": structure,
                        "rescore": rescore,
                        **{each: said[each] for each in ("threshold", "rescoring", "seconds", "cpu_seconds")},
                        "calibration": calibration,
                        "significance": scores.get("significance"),
                        **{each: scores[each] for each in SCORES},
                    }


def row_text(row: Result) -> str:
    """Return a row of the table in Markdown."""
    tested = row["significance"]
    cells = (
        row["corpus"],
        row["split"],
        row["structure"],
        "yes" if row["rescore"] == "on" else "no",
        *numbers_of(row),
        "{error:.3f} ({by_chance:.3f})".format_map(row["calibration"]),
        "" if tested is None else f"{tested['all']['p_bootstrap']:.4f}",
        f"{row['cpu_seconds']:.0f} s",
    )
    return f"| {' | '.join(cells)} |"
