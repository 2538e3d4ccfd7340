"""The table of the supplement: the number of canonical encodings for small numbers of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log2
from typing import TYPE_CHECKING, Any

from hyperspan.ambiguity import count_table, relative_ambiguity
from hyperspan.experiments.cells import STRUCTURES
from hyperspan.experiments.plotting import COLOURS, MARKS, new_figure
from hyperspan.experiments.result import Column, Conclusion, Result, Row, beside, conclude, paper_columns
from hyperspan.experiments.run import Experiment, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = 7
PARTS = 3
"""The most parts of a mention in the paper; --max-components does not change it."""

LONGEST_CURVE = 30

_PUBLISHED: dict[int, tuple[int | str, int, int, int]] = {
    1: (2, 2, 2, 1),
    2: (8, 8, 8, 3),
    3: (46, 80, 80, 7),
    4: ("< 2401", 3584, 6656, 15),
    5: ("< 16807", 533504, 2367488, 31),
}

VALUES = (*STRUCTURES, "mention_sets_log2")


def published() -> list[Row]:
    """Return the published table; for the chain it has only bounds beyond three words."""
    return [{"words": n_words, **dict(zip(VALUES, numbers, strict=True))} for n_words, numbers in _PUBLISHED.items()]


def run(run: Run) -> Result:
    """Count, and compare every number with the published one."""
    table = count_table(LONGEST_CURVE, PARTS)
    rows: list[Row] = [
        {
            "words": n_words,
            **{name: table[name][n_words - 1] for name in STRUCTURES},
            "mention_sets_log2": table["mention_sets_log2"][n_words - 1],
        }
        for n_words in range(1, WORDS + 1)
    ]
    values = (*(Column(name, name) for name in STRUCTURES), Column("mention_sets_log2", "log2 of all sets"))
    curves = {name: [round(log2(count), 3) for count in table[name]] for name in STRUCTURES}
    return Result(
        (Column("words", "words"), *values, *paper_columns(values)),
        beside(rows, published(), ["words"], VALUES),
        published(),
        tuple(conclusions(rows)),
        (
            "Exact, for one type and mentions of at most three parts. "
            "For the chain, the paper has bounds from 4 words on.",
        ),
        {"log2": curves},
    )


def conclusions(rows: list[Row]) -> Iterator[Conclusion]:
    """Check the paper's numbers and what it concludes from them."""
    by_words = {row["words"]: row for row in rows}
    pairs = [
        (f"{name}, {row['words']} words", by_words[row["words"]][name], row[name])
        for row in published()
        for name in VALUES
    ]
    wrong = [what for what, ours, paper in pairs if not _agrees(ours, paper)]
    yield conclude(
        "All published counts are reproduced",
        [(f"{len(pairs) - len(wrong)} of {len(pairs)}{': not ' if wrong else ''}{', '.join(wrong)}", not wrong)],
    )
    yield conclude(
        "From four words on, the hypergraphs have more encodings than the chain",
        [
            (f"{row['words']} words: {row['linear']:,} < {row['shared']:,} < {row['split']:,}", _is_rising(row))
            for row in rows
            if row["words"] >= 4
        ],
    )
    chain, shared = relative_ambiguity("linear", "shared", PARTS), relative_ambiguity("shared", "split", PARTS)
    yield conclude(
        "The chain is more ambiguous than 'shared': A_r ≥ 10/3", [(f"the limit is {chain:.4f}", chain >= 10 / 3)]
    )
    yield conclude(
        "'shared' is more ambiguous than 'split': A_r > 15/11", [(f"the limit is {shared:.4f}", shared > 15 / 11)]
    )


def _agrees(ours: int, paper: int | str) -> bool:
    return ours < int(paper.removeprefix("< ")) if isinstance(paper, str) else ours == paper


def _is_rising(row: Row) -> bool:
    return bool(row["linear"] < row["shared"] < row["split"])


def plot(document: Mapping[str, Any]) -> Figure:
    """Draw the logarithm of the counts."""
    figure, (panel,) = new_figure()
    for name, curve in document["details"]["log2"].items():
        words = range(1, len(curve) + 1)
        panel.plot(words, curve, marker=MARKS[name], markevery=5, color=COLOURS[name], label=name)
    panel.set_xlabel("words")
    panel.set_ylabel("log2 of the number of canonical encodings")
    panel.legend()
    return figure


EXPERIMENT = Experiment(
    "canonical-counts",
    "the number of canonical encodings for small numbers of words",
    "Supplement, Table 1: The number of possible encodings for small values of n",
    (),
    run,
    plot,
    trains=False,
)
