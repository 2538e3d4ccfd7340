"""The table of the supplement: how the time of an iteration grows with the number of types.

Mentions get random types. Times are CPU times of one thread, so that other work on the machine hardly matters.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from hyperspan.experiments.data import NotPossible, evenly
from hyperspan.experiments.plotting import COLOURS, MARKS, new_figure
from hyperspan.experiments.result import Column, Conclusion, Result, Row, beside, conclude, paper_columns
from hyperspan.experiments.run import Experiment, Run
from hyperspan.experiments.training import Options
from hyperspan.learning import Record
from hyperspan.mentions import Sentence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TYPES = (1, 2, 4, 8, 16)
STRUCTURES = ("linear", "shared")
"""The numbers of types in the published table."""

TIMED = (*STRUCTURES, "segments")

_PUBLISHED = {
    "linear": (1.0, 2.015, 5.018, 12.174, 35.313),
    "shared": (1.0, 2.067, 4.552, 9.455, 19.272),
}

MOST_SENTENCES, QUICK_SENTENCES = 1000, 60
"""The maximum number of training sentences with a mention that are used."""

ITERATIONS, QUICK_ITERATIONS = 12, 4

LINEAR_GROWTH = 1.25
"""Growth of up to a quarter more than the number of types still counts as linear."""


def published() -> list[Row]:
    """Return the published table."""
    return [
        {"types": n_types, **{name: _PUBLISHED[name][place] for name in STRUCTURES}}
        for place, n_types in enumerate(TYPES)
    ]


def run(run: Run) -> Result:
    """Time every structure with 1, 2, 4 … types."""
    is_quick = run.settings.quick
    with_mentions = [sentence for sentence in run.data.largest.split("train") if sentence.mentions]
    sentences = evenly(with_mentions, QUICK_SENTENCES if is_quick else MOST_SENTENCES)
    iterations = QUICK_ITERATIONS if is_quick else ITERATIONS
    options = replace(run.options, max_iterations=iterations, threads=1)
    seconds: dict[str, list[float]] = {name: [] for name in TIMED}
    for n_types in TYPES:
        typed = with_random_types(sentences, n_types, run.settings.seed)
        for structure in TIMED:
            run.progress.say(f"type-scaling: {structure}, {n_types} types")
            seconds[structure].append(time_of_evaluation(typed, structure, options))
    rows: list[Row] = [
        {
            "types": n_types,
            **{name: round(seconds[name][place] / seconds[name][0], 3) for name in TIMED},
            **{f"{name}_ms": round(1000.0 * seconds[name][place], 2) for name in TIMED},
        }
        for place, n_types in enumerate(TYPES)
    ]
    values = tuple(Column(name, name, 3) for name in TIMED)
    columns = (
        Column("types", "types"),
        *values,
        *paper_columns(column for column in values if column.name in STRUCTURES),
        *(Column(f"{name}_ms", f"{name}, ms", 1) for name in TIMED),
    )
    notes = (
        "The time of one evaluation of the objective and its gradient, relative to one type. An iteration takes one or "
        f"slightly more: the median over {iterations} iterations with one thread, on {len(sentences):,} sentences.",
    )
    return Result(
        columns, beside(rows, published(), ["types"], STRUCTURES), published(), tuple(conclusions(rows)), notes
    )


def with_random_types(sentences: Sequence[Sentence], n_types: int, seed: int) -> list[Sentence]:
    """Return sentences whose mentions have random types; the same for the same seed.

    If mentions with the same words get the same type, one of them is kept.

    Examples
    --------
    >>> from hyperspan.mentions import Mention
    >>> sentence = Sentence(["no", "fever", "today"], [Mention("Finding", [(1, 2)]), Mention("Finding", [(2, 3)])])
    >>> [mention.type for mention in with_random_types([sentence], 16, seed=0)[0].mentions]
    ['T12', 'T13']
    """
    random = Random(seed)
    return [
        sentence.with_mentions(
            {replace(mention, type=f"T{random.randrange(n_types):02}") for mention in sentence.mentions}
        )
        for sentence in sentences
    ]


def time_of_evaluation(sentences: Sequence[Sentence], structure: str, options: Options) -> float:
    """Return the median time in seconds of an evaluation of the objective during training."""
    times: list[float] = []
    before: list[tuple[float, int]] = []

    def watch(record: Record) -> None:
        now = (time.thread_time(), record.n_evaluations)
        if before and now[1] > before[-1][1]:
            times.append((now[0] - before[-1][0]) / (now[1] - before[-1][1]))
        before.append(now)

    options.train(sentences, structure=structure, on_iteration=watch)
    if not times:
        raise NotPossible(f"training on {len(sentences):,} sentences stopped at once: too few to measure the time")
    return statistics.median(times)


def conclusions(rows: Sequence[Row]) -> Iterator[Conclusion]:
    """Check the paper's conclusion."""
    last = rows[-1]
    for claim, least in (
        ("With 16 types the chain has slowed down more than 'shared'", last["types"]),
        ("With four and eight types it has, too (read from the table)", 4),
    ):
        yield conclude(
            claim,
            [
                (f"{row['types']} types: {row['linear']:.1f} > {row['shared']:.1f}", row["linear"] > row["shared"])
                for row in rows
                if row["types"] >= least
            ],
        )
    sources: dict[str, Literal["paper", "ours"]] = {"shared": "paper", "segments": "ours"}
    for name, source in sources.items():
        if name not in last:  # the published table has no segments
            continue
        yield conclude(
            f"The time of {name!r} grows like the number of types",
            [
                (
                    f"{last['types']} types: {last[name]:.1f} ≤ {LINEAR_GROWTH * last['types']:g}",
                    last[name] <= LINEAR_GROWTH * last["types"],
                )
            ],
            source,
        )


def plot(document: Mapping[str, Any]) -> Figure:
    """Draw times against types, with the published ones dashed."""
    rows = document["rows"]
    figure, (panel,) = new_figure()
    types = [row["types"] for row in rows]
    for name in TIMED:
        style: dict[str, Any] = {"marker": MARKS[name], "color": COLOURS[name]}
        panel.plot(types, [row[name] for row in rows], label=name, **style)
        if name in STRUCTURES:
            paper = [row[f"paper_{name}"] for row in rows]
            panel.plot(types, paper, "--", label=f"{name}, paper", alpha=0.6, **style)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log", base=2)
    panel.set_xticks(types, list(map(str, types)))
    panel.set_xlabel("types")
    panel.set_ylabel("time of an iteration, relative to one type")
    panel.legend()
    return figure


EXPERIMENT = Experiment(
    "type-scaling",
    "time per training iteration for 1, 2, 4, 8 and 16 types",
    "Supplement, Table 3: The time taken per training iteration",
    ("train",),
    run,
    plot,
)
