"""The table of the supplement: the best λ on development data, for every model of the main experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hyperspan.experiments.cells import DERIVATIONS, STRUCTURES, TRAINING, Cell, cell_scores, models_of
from hyperspan.experiments.plotting import COLOURS, MARKS, legend_above, new_figure
from hyperspan.experiments.result import Column, Result, Row, beside, conclude, paper_columns
from hyperspan.experiments.run import Experiment, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Train-Disc and Train-Orig of SMALL, then of LARGE.
_PUBLISHED = {
    "linear": (0.25, 0.125, 0.125, 0.25),
    "shared": (0.5, 0.125, 0.125, 0.125),
    "split": (2.0, 0.125, 0.5, 0.25),
}

WEAK = 0.25
"""The strongest penalty that the paper chose for Train-Orig."""

KEYS = ("compared_with", "training", "structure")


def published() -> list[Row]:
    """Return the published table."""
    places = [(setting, training) for setting in ("SMALL", "LARGE") for training in TRAINING]
    return [
        {**dict(zip(KEYS, (*place, structure), strict=True)), "l2": l2}
        for structure, chosen in _PUBLISHED.items()
        for place, l2 in zip(places, chosen, strict=True)
    ]


def run(run: Run) -> Result:
    """Choose the penalty of every model, or reuse the choice of the main experiment."""
    rows: list[Row] = []
    for dataset in run.data.datasets:
        for training in TRAINING:
            for structure in STRUCTURES:
                for model in models_of(structure):
                    made = cell_scores(run, Cell(dataset, training, structure, model, run.settings.penalties))
                    names = (dataset.name, dataset.compared_with, training, structure, model)
                    rows.append(
                        {
                            **dict(zip(("data", *KEYS, "model"), names, strict=True)),
                            "l2": made["l2"],
                            **{f"f1_{penalty}": f1 for penalty, f1 in made["dev_f1"].items()},
                        }
                    )
    weakest = min(run.settings.penalties)
    chosen = Column("l2", "λ", 3)
    columns = (
        *(Column(name, name) for name in ("data", "training", "structure", "model")),
        *(Column(f"f1_{penalty:g}", f"dev F1, λ={penalty:g}") for penalty in run.settings.penalties),
        chosen,
        *paper_columns([chosen]),
    )
    of_all = [row for row in rows if row["training"] == "Train-Orig"]
    conclusions = (
        conclude(
            f"For models trained on all sentences, a weak penalty is best (read from the table: {WEAK} or less)",
            [
                (f"{row['data']} {row['structure']} ({row['model']}): {row['l2']:g}", row["l2"] <= WEAK)
                for row in of_all
                if weakest <= WEAK < max(run.settings.penalties)
            ],
        ),
    )
    notes = (
        "F1 on the development sentences with a discontiguous mention, with 'enough'; among equally good penalties, "
        "the strongest is chosen. Every penalty has the same number of iterations, from "
        + ("zero weights." if run.settings.as_published else "biases at the logarithms of frequencies, all else zero."),
    )
    return Result(columns, beside(rows, published(), KEYS, ["l2"]), published(), conclusions, notes)


def plot(document: Mapping[str, Any]) -> Figure:
    """Draw development F1 against λ."""
    rows = document["rows"]
    penalties = document["settings"]["penalties"]
    places = list(dict.fromkeys((row["data"], row["training"]) for row in rows))
    figure, panels = new_figure(len(places), width=1.2 + 3.0 * len(places))
    for panel, place in zip(panels, places, strict=True):
        for row in rows:
            if (row["data"], row["training"]) == place:
                structure, model = row["structure"], row["model"]
                panel.plot(
                    penalties,
                    [row[f"f1_{penalty:g}"] for penalty in penalties],
                    marker=MARKS[structure],
                    color=COLOURS[structure],
                    linestyle="--" if model == DERIVATIONS else "-",
                    label=f"{structure} ({model})",
                )
        panel.set_xscale("log", base=2)
        panel.set_xticks(penalties, [f"{penalty:g}" for penalty in penalties])
        panel.set_xlabel("λ")
        panel.set_title(", ".join(place))
    panels[0].set_ylabel("development F1 (%)")
    legend_above(figure, panels[-1])
    return figure


EXPERIMENT = Experiment(
    "regularisation",
    "the penalty that is best on development data",
    "Supplement, Table 2: Regularization hyperparameter",
    ("train", "dev", "test"),
    run,
    plot,
)
