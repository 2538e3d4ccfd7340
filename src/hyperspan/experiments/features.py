"""The value of each group of features: development F1 without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hyperspan.experiments.cells import percent
from hyperspan.experiments.plotting import COLOURS, new_figure
from hyperspan.experiments.result import Column, Result, Row, conclude
from hyperspan.experiments.run import Experiment, Run
from hyperspan.experiments.training import find
from hyperspan.features import TemplateSet
from hyperspan.features.columns import SemanticCategories, keys_of
from hyperspan.features.templates import Template
from hyperspan.mentions import Sentence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = "nothing"


def run(run: Run) -> Result:
    """Train 'shared' with all groups of features, then without each; and 'segments' without each of its own groups."""
    dataset = run.data.largest
    train, dev = dataset.split("train"), dataset.split("dev")
    rows: list[Row] = []
    of_words = run.options.templates
    possible = tuple(
        each for each in of_words.with_spans() if not each.is_of_spans or _is_possible(each, train, run.options.lexicon)
    )
    templates = {"shared": of_words, "segments": TemplateSet(possible, of_words.source)}
    of_spans = dict.fromkeys(each.group for each in possible if each.is_of_spans)
    groups = {"shared": of_words.groups, "segments": tuple(of_spans)}
    for structure, of_structure in groups.items():
        whole = 0.0
        for group in (NOTHING, *of_structure):
            kept = templates[structure] if group == NOTHING else templates[structure].without(group)
            name = f"features: {structure} without {group}, {dataset.name}"
            made = run.part(name, partial(_make, run, structure, kept, train, dev))
            whole = made["row"]["f1"] if group == NOTHING else whole
            change = round(made["row"]["f1"] - whole, 3)
            rows.append({"structure": structure, "without": group, **made["row"], "change": change})
    columns = (
        Column("structure", "structure"),
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
            [
                (f"{row['structure']} {row['without']}: {row['change']:+.1f}", row["change"] < 0)
                for row in rows
                if row["without"] != NOTHING
            ],
            "ours",
        ),
    )
    notes = (
        f"On all development sentences of {dataset.name}, λ = 1, 'probable' with the threshold "
        "tuned each time on the same sentences; each setting once. Groups without their resource are left out.",
    )
    return Result(columns, rows, [], conclusions, notes)


def _is_possible(template: Template, sentences: Sequence[Sentence], lexicon: SemanticCategories | None) -> bool:
    """Return whether some sentence has everything that a template uses."""
    return all(
        any(keys_of(part.column.source, sentence, lexicon) is not None for sentence in sentences)
        for part in template.parts
    )


def _make(
    run: Run, structure: str, kept: TemplateSet, train: Sequence[Sentence], dev: Sequence[Sentence]
) -> dict[str, Any]:
    recognizer = run.options.train(train, structure=structure, templates=kept, on_iteration=run.progress.iteration)
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
    rows = [row for row in reversed(document["rows"]) if row["without"] != NOTHING]
    figure, (panel,) = new_figure(height=1.0 + 0.3 * len(rows))
    names = [f"{row['without']} ({row['structure']})" for row in rows]
    panel.barh(names, [row["change"] for row in rows], color=[COLOURS[row["structure"]] for row in rows])
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
