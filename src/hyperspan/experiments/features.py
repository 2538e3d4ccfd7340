"""What each group of features is worth: development F1 without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hyperspan.experiments.cells import percent
from hyperspan.experiments.plotting import COLOURS, new_figure
from hyperspan.experiments.result import Column, Result, Row, conclude
from hyperspan.experiments.run import Experiment, Run
from hyperspan.experiments.training import find
from hyperspan.mentions import Sentence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = "nothing"


def run(run: Run) -> Result:
    """Train 'shared' with all groups of features, then without each of them."""
    dataset = run.data.largest
    train, dev = dataset.split("train"), dataset.split("dev")
    rows: list[Row] = []
    for group in (NOTHING, *run.options.templates.groups):
        made = run.part(f"features: without {group}, {dataset.name}", partial(_make, run, group, train, dev))
        rows.append({"without": group, **made["row"]})
    whole = rows[0]
    for row in rows:
        row["change"] = round(row["f1"] - whole["f1"], 3)
    columns = (
        Column("without", "without"),
        Column("f1", "F1"),
        Column("change", "change"),
        Column("discontiguous_sentences_f1", "disc. sentences F1"),
        Column("discontiguous_f1", "disc. mentions F1"),
        Column("features", "features"),
    )
    conclusions = (
        conclude(
            "No group of features can be left out without loss",
            [(f"{row['without']}: {row['change']:+.1f}", row["change"] < 0) for row in rows[1:]],
            "ours",
        ),
    )
    notes = (
        f"On all development sentences of {dataset.name}, structure 'shared', λ = 1, 'probable' with the threshold "
        "tuned each time on the same sentences; each setting once. Groups whose resource is not there are left out.",
    )
    return Result(columns, rows, [], conclusions, notes)


def _make(run: Run, group: str, train: Sequence[Sentence], dev: Sequence[Sentence]) -> dict[str, Any]:
    templates = run.options.templates
    kept = templates if group == NOTHING else templates.without(group)
    recognizer = run.options.train(train, templates=kept, on_iteration=run.progress.iteration)
    found = find(recognizer, dev)
    scores = found.evaluate("probable", found.best_threshold())
    return {
        "row": {
            "f1": percent(scores.all.f1),
            "discontiguous_sentences_f1": percent(scores.discontiguous_sentences.f1),
            "discontiguous_f1": percent(scores.discontiguous_mentions.f1),
            "features": recognizer.n_features_,
        }
    }


def plot(document: Mapping[str, Any]) -> Figure:
    """Draw the change of F1 without each group."""
    rows = list(reversed(document["rows"][1:]))
    figure, (panel,) = new_figure(height=1.0 + 0.3 * len(rows))
    panel.barh([row["without"] for row in rows], [row["change"] for row in rows], color=COLOURS["shared"])
    panel.axvline(0.0, color="black", linewidth=0.8)
    panel.set_xlabel("change of development F1 without the group (points)")
    return figure


EXPERIMENT = Experiment(
    "features",
    "development F1 without each group of features",
    "ours",
    ("train", "dev"),
    run,
    plot,
)
