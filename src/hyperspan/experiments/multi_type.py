"""The paper's table of results by type: Train-Orig, ``enough``, with the penalties of the main experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hyperspan.experiments.cells import DERIVATIONS, ENCODINGS, STRUCTURES, TRAINED, Cell, cell_scores, models_of
from hyperspan.experiments.data import NotPossible
from hyperspan.experiments.plotting import COLOURS, bars, legend_above, new_figure
from hyperspan.experiments.result import Column, Conclusion, Result, Row, beside, conclude, paper_columns
from hyperspan.experiments.run import Experiment, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINING = "Train-Orig"
TOTAL = "Total"
VALUES = ("gold", "precision", "recall", "f1")

# The number of mentions, then P, R and F1 of the chain, 'shared' and 'split'.
_PUBLISHED = {
    "A": (289, 69.8, 59.9, 64.4, 79.4, 56.1, 65.7, 81.0, 56.1, 66.3),
    "B": (418, 50.0, 34.0, 40.5, 56.8, 29.0, 38.4, 58.2, 28.0, 37.8),
    "N": (503, 62.1, 37.8, 47.0, 84.8, 43.3, 57.4, 84.9, 42.4, 56.5),
    TOTAL: (1210, 60.3, 41.7, 49.3, 74.3, 41.4, 53.2, 75.5, 40.7, 52.9),
}


def published() -> list[Row]:
    """Return the published table, a row for each structure and type."""
    return [
        {
            "structure": structure,
            "type": type,
            **dict(zip(VALUES, (numbers[0], *numbers[1 + 3 * place : 4 + 3 * place]), strict=True)),
        }
        for place, structure in enumerate(STRUCTURES)
        for type, numbers in _PUBLISHED.items()
    ]


def run(run: Run) -> Result:
    """Train every model on data with several types."""
    dataset = (run.data.typed or run.data.datasets)[-1]
    if len(dataset.types) < 2:
        if run.data.typed:
            what = "its concept codes tell no others"
        elif dataset.paper:
            what = "give --mrsty MRSTY.RRF for its types A, B and N"
        else:
            what = "give a corpus with several"
        raise NotPossible(f"{dataset.name!r} has only the type {', '.join(dataset.types)}; {what}")
    rows: list[Row] = []
    single: dict[tuple[str, str], float] = {}
    for structure in TRAINED:
        for model in models_of(structure):
            penalties = run.settings.penalties
            if run.data.typed:
                of_main = cell_scores(run, Cell(run.data.largest, TRAINING, structure, model, penalties))
                if structure in STRUCTURES:
                    single[structure, model] = of_main["scores"]["enough"]["f1"]
                penalties = (of_main["l2"],)
            made = cell_scores(run, Cell(dataset, TRAINING, structure, model, penalties))
            names = {"structure": structure, "model": model}
            for type, scores in {**made["by_type"], TOTAL: made["scores"]["enough"]}.items():
                row = {**scores, "gold": scores["tp"] + scores["fn"]}
                rows.append({**names, "type": type, "l2": made["l2"], **{value: row[value] for value in VALUES}})
    titles = ("mentions", "P", "R", "F1")
    values = tuple(Column(name, title) for name, title in zip(VALUES, titles, strict=True))
    columns = (
        *(Column(name, name) for name in ("structure", "model", "type")),
        Column("l2", "λ", 3),
        *values,
        *paper_columns(values),
    )
    notes = [f"{dataset.name}, {TRAINING}, 'enough', over the test sentences with a discontiguous mention."]
    if not dataset.paper:
        notes.append("The published numbers are for other data and other types; only the totals are shown.")
    if is_small := dataset.paper == "SMALL":
        notes.append("The published numbers are for LARGE, so none are shown; give --semeval2014 for it.")
    return Result(
        columns,
        beside(rows, [] if is_small else published(), ("structure", "type"), VALUES),
        published(),
        tuple(conclusions(rows, single)),
        tuple(notes),
    )


def conclusions(rows: Sequence[Row], single: Mapping[tuple[str, str], float]) -> Iterator[Conclusion]:
    """Check the paper's conclusions one by one."""
    total = {(row["structure"], row["model"]): row["f1"] for row in rows if row["type"] == TOTAL}
    yield conclude(
        "Several types make the task harder",
        (
            (f"{structure} ({model}): {total[structure, model]:.1f} < {f1:.1f}", total[structure, model] < f1)
            for (structure, model), f1 in single.items()
        ),
    )
    chain = total["linear", ENCODINGS]
    for model in (DERIVATIONS, ENCODINGS):
        yield conclude(
            f"With several types, too, the hypergraphs are better than the chain (over {model})",
            (
                (f"{structure} {total[structure, model]:.1f} > linear {chain:.1f}", total[structure, model] > chain)
                for structure in ("shared", "split")
            ),
        )


def plot(document: Mapping[str, Any]) -> Figure:
    """Draw F1 by type."""
    rows = document["rows"]
    types = list(dict.fromkeys(row["type"] for row in rows))
    at = {(row["structure"], row["model"], row["type"]): row["f1"] for row in rows}
    names = [(structure, model) for structure in TRAINED for model in models_of(structure)]
    series = {
        f"{structure} ({model})": [at.get((structure, model, type)) for type in types] for structure, model in names
    }
    figure, (panel,) = new_figure(width=2.0 + 1.3 * len(types))
    hatches = ["//" if model == DERIVATIONS else "" for _, model in names]
    bars(panel, types, series, [COLOURS[structure] for structure, _ in names], hatches)
    panel.set_ylabel("F1 on discontiguous sentences (%)")
    panel.tick_params(axis="x", labelrotation=30 if len(types) > 6 else 0)
    legend_above(figure, panel)
    return figure


EXPERIMENT = Experiment(
    "multi-type",
    "precision, recall and F1 for every type",
    "Table 4: Results when entities are split into three types",
    ("train", "dev", "test"),
    run,
    plot,
)
