"""The paper's table of its data: sentences, mentions by parts, overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperspan.corpora.statistics import overlapping_pairs, statistics
from hyperspan.diagnostics import counted
from hyperspan.experiments.data import Data, Dataset
from hyperspan.experiments.result import Column, Conclusion, Result, Row, beside, conclude, paper_columns
from hyperspan.experiments.run import Experiment, Run
from hyperspan.mentions import Sentence
from hyperspan.text import tokenize

VALUES = ("sentences", "parts_1", "parts_2", "parts_3", "mentions", "overlaps", "different_types")

_PUBLISHED = {
    "Train": (534, 544, 607, 44, 1195, 205, 58),
    "Tr80": (416, 448, 476, 33, 957, 164, 48),
    "Tr20": (118, 96, 131, 11, 238, 41, 10),
    "Dev": (303, 357, 421, 18, 796, 240, 28),
    "Test": (430, 584, 610, 16, 1210, 327, 61),
}

TRAIN_ORIG = 10_405
"""Sentences of the whole training set, "including those with no entities"; the paper does not say of which setting."""

ALL, APART = "all", "discontiguous"

_NAMES = {"train": "Train", "dev": "Dev", "test": "Test"}
_SMALL_NAMES = {"train": "Tr80", "dev": "Tr20"}


def published() -> list[Row]:
    """Return the published table, which is about the discontiguous subset; it has only one number about the whole."""
    return [
        {"split": "Train", "subset": ALL, "sentences": TRAIN_ORIG},
        *(
            {"split": split, "subset": APART, **dict(zip(VALUES, numbers, strict=True))}
            for split, numbers in _PUBLISHED.items()
        ),
    ]


def run(run: Run) -> Result:
    """Count every split and its discontiguous subset."""
    rows = []
    pairs = {True: 0, False: 0}
    for name, sentences in splits_of(run.data):
        run.progress.say(f"data-stats: {name}")
        for subset in (ALL, APART):
            kept = [sentence for sentence in sentences if subset == ALL or sentence.is_discontiguous]
            rows.append({"split": name, "subset": subset, **counts(kept), "lost": sum(len(one.lost) for one in kept)})
        if name not in _SMALL_NAMES.values():
            for has_apart in different_types(sentences):
                pairs[has_apart] += 1
    is_papers = any(dataset.paper for dataset in run.data.datasets)
    has_types = bool(run.data.typed) or not is_papers
    if not has_types:
        rows = [{**row, "different_types": None} for row in rows]
    values = (
        Column("sentences", "sentences"),
        Column("parts_1", "1 part"),
        Column("parts_2", "2 parts"),
        Column("parts_3", "3 parts"),
        Column("parts_more", "more"),
        Column("mentions", "mentions"),
        Column("overlaps", "overlaps"),
        Column("different_types", "of different types"),
        Column("lost", "not read"),
    )
    table = beside(rows, published(), ("split", "subset"), VALUES) if is_papers else rows
    shown = paper_columns(column for column in values if column.name in VALUES) if is_papers else ()
    columns = (Column("split", "split"), Column("subset", "which"), *values, *shown)
    notes = (
        "'overlaps' are pairs of mentions that share a word. 'not read' are mentions that were skipped in reading: "
        "they are in no other column, but count as missed in every score.",
        f"Defects skipped while reading: {_skipped(run.data)}",
        *([f"Widened to whole words: {counted(run.data.widened, 'mention')}."] if run.data.widened else []),
        *(() if has_types else ("Overlaps of different types need --mrsty MRSTY.RRF, which tells the types.",)),
    )
    return Result(columns, table, published(), tuple(conclusions(rows, pairs)), notes)


def splits_of(data: Data) -> Iterator[tuple[str, Sequence[Sentence]]]:
    """Yield the splits under the paper's names: those of LARGE, and the two parts into which SMALL splits Train."""
    datasets = data.typed or data.datasets
    by_name = {dataset.paper: dataset for dataset in datasets}
    if "SMALL" not in by_name:
        yield from _named(datasets[-1], _NAMES)
        return
    large, small = by_name.get("LARGE"), by_name["SMALL"]
    if large is None:
        yield "Train", (*small.splits["train"], *small.splits["dev"])
        yield from _named(small, _SMALL_NAMES)
        yield "Dev", small.splits["test"]  # the test documents of 2013 are the development documents of 2014
        return
    yield "Train", large.splits["train"]
    yield from _named(small, _SMALL_NAMES)
    yield from _named(large, {"dev": "Dev", "test": "Test"})


def _named(dataset: Dataset, names: dict[str, str]) -> Iterator[tuple[str, Sequence[Sentence]]]:
    for split, name in names.items():
        if split in dataset.splits:
            yield name, dataset.splits[split]


def counts(sentences: Sequence[Sentence]) -> Row:
    """Count sentences, mentions by parts, and overlaps."""
    found = statistics(sentences, tokenize)
    return {
        "sentences": found.sentences,
        **{f"parts_{number}": found.by_parts[str(number)] for number in (1, 2, 3)},
        "parts_more": found.by_parts["4+"],
        "mentions": found.mentions,
        "overlaps": found.overlaps,
        "different_types": found.overlaps_of_different_types,
    }


def different_types(sentences: Sequence[Sentence]) -> Iterator[bool]:
    """Yield, for each overlapping pair of different types, whether one of the two is discontiguous."""
    for sentence in sentences:
        for one, other in overlapping_pairs(sentence.mentions):
            if one.type != other.type:
                yield one.is_discontiguous or other.is_discontiguous


def conclusions(rows: Sequence[Row], pairs: dict[bool, int]) -> Iterator[Conclusion]:
    """Check the paper's statements about its data."""
    whole, subset = (_total(rows, name) for name in (ALL, APART))
    if whole["mentions"]:
        share = 100.0 * whole["apart"] / whole["mentions"]
        yield conclude(
            "Few mentions are discontiguous (8.95 % in the paper; here: below 20 %)",
            [(f"{share:.2f} % of {whole['mentions']:,}", share < 20.0)],
        )
    if subset["mentions"]:
        share = 100.0 * subset["apart"] / subset["mentions"]
        yield conclude(
            "In sentences with a discontiguous mention, about half of the mentions are (53.61 %; here: 40 to 60 %)",
            [(f"{share:.2f} % of {subset['mentions']:,}", 40.0 <= share <= 60.0)],
        )
    more = sum(row["parts_more"] for row in _wholes(rows, ALL))
    yield conclude("No mention has more than three parts", [(f"{more:,} of {whole['mentions']:,} do", more == 0)])
    total = sum(pairs.values())
    yield conclude(
        "Nearly all overlaps of different types involve a discontiguous mention (here: 90 %)",
        [(f"{pairs[True]:,} of {total:,}", pairs[True] >= 0.9 * total)] if total else [],
    )


def _wholes(rows: Sequence[Row], subset: str) -> list[Row]:
    """Return the rows of a subset, without those that would count a sentence twice."""
    return [row for row in rows if row["subset"] == subset and row["split"] not in _SMALL_NAMES.values()]


def _total(rows: Sequence[Row], subset: str) -> dict[str, int]:
    wholes = _wholes(rows, subset)
    return {
        "mentions": sum(row["mentions"] for row in wholes),
        "apart": sum(row["mentions"] - row["parts_1"] for row in wholes),
    }


def _skipped(data: Data) -> str:
    kinds: dict[str, Any] = data.skipped
    if not kinds:
        return "none."
    twice = {"semeval2014", "shareclef2013"} <= set(data.source)
    return f"{', '.join(f'{count:,} {kind}' for kind, count in kinds.items())}." + (
        " Both releases have the reports of Train and Dev, and defects in both count twice." if twice else ""
    )


EXPERIMENT = Experiment(
    "data-stats",
    "sentences, mentions by number of parts, and overlaps",
    "Table 1: The statistics of the data",
    ("train",),
    run,
    trains=False,
)
