"""The three distributions compared on development data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hyperspan.diagnostics import counted
from hyperspan.evaluation import Calibration
from hyperspan.experiments.cells import percent
from hyperspan.experiments.data import evenly
from hyperspan.experiments.plotting import new_figure
from hyperspan.experiments.result import Column, Conclusion, Result, Row, conclude
from hyperspan.experiments.run import Experiment, Run
from hyperspan.experiments.training import Found, find
from hyperspan.inference import distribution_names, encode_gold, negative_log_likelihood
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Recognizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_PROBABLE = 0.05
"""Calibration ignores mentions less probable than this."""

MOST_LIKELIHOODS = 500
"""The number of training sentences whose likelihoods are compared with one."""


def run(run: Run) -> Result:
    """Train 'shared' once for each distribution and score the development data."""
    dataset = run.data.largest
    train, dev = dataset.split("train"), dataset.split("dev")
    rows: list[Row] = []
    reliability: dict[str, list[dict[str, Any]]] = {}
    for over in distribution_names():
        made = run.part(f"distribution: {over}, {dataset.name}", partial(_make, run, over, train, dev))
        reliability[over] = made["reliability"]
        rows.append({"distribution": over, **made["row"]})
    columns = (
        Column("distribution", "distribution"),
        Column("enough_f1", "enough F1"),
        Column("enough_discontiguous_f1", "disc. F1"),
        Column("probable_f1", "probable F1"),
        Column("probable_discontiguous_f1", "disc. F1"),
        Column("calibration_error", "calibration error", 3),
        Column("above_one", "likelihoods above 1"),
        Column("iterations", "iterations"),
        Column("seconds", "seconds"),
    )
    notes = (
        f"On all development sentences of {dataset.name}, structure 'shared', λ = 1; 'disc. F1' over discontiguous "
        "mentions only. The threshold of 'probable' is tuned on the same sentences.",
        f"Calibration error: for mentions with a probability of at least {LEAST_PROBABLE}, the mean difference between "
        "their probability and the share that is right, in ten bins weighted by size.",
        f"Likelihoods above 1: training sentences (of at most {MOST_LIKELIHOODS:,}) whose gold has a higher score than "
        "the normaliser, which is impossible for a probability.",
        "The paper's printed formula sums over hypergraphs, which is 'encodings'. The paper does not say how it "
        "computed the sum; the usual inside algorithm sums over 'derivations', and that its system did so is our "
        "guess.",
    )
    return Result(columns, rows, [], tuple(conclusions(rows)), notes, {"reliability": reliability})


def _make(run: Run, over: str, train: Sequence[Sentence], dev: Sequence[Sentence]) -> dict[str, Any]:
    begin = time.perf_counter()
    recognizer = run.options.train(train, over=over, on_iteration=run.progress.iteration)
    seconds = time.perf_counter() - begin
    found = find(recognizer, dev, LEAST_PROBABLE)
    threshold = found.best_threshold()
    row: Row = {}
    for decoder in ("enough", "probable"):
        scores = found.evaluate(decoder, threshold)
        row[f"{decoder}_f1"] = percent(scores.all.f1)
        row[f"{decoder}_discontiguous_f1"] = percent(scores.discontiguous_mentions.f1)
    calibration = reliability_of(found)
    row["calibration_error"] = round(calibration.error, 4)
    row["above_one"] = above_one(recognizer, evenly(train, MOST_LIKELIHOODS))
    row["iterations"] = recognizer.n_iter_
    row["seconds"] = round(seconds, 1)
    return {"row": row, "reliability": bins_of(calibration)}


def reliability_of(found: Found) -> Calibration:
    """Compare the probabilities of candidates with the share that is right."""
    return Calibration.of(
        (mention.prob, mention in gold)
        for gold, candidates in zip(
            map(set, (each.mentions for each in found.sentences)), found.candidates, strict=True
        )
        for mention in candidates
    )


def bins_of(calibration: Calibration) -> list[dict[str, Any]]:
    """Return the non-empty bins as plain data."""
    return [
        {"mentions": kept.n_mentions, "prob": round(kept.mean_prob, 4), "right": round(kept.share_right, 4)}
        for kept in calibration.bins
        if kept.n_mentions
    ]


def above_one(recognizer: Recognizer, sentences: Sequence[Sentence]) -> int:
    """Count the sentences whose gold mentions have a likelihood above one under the formula they were trained with."""
    over = recognizer.distribution_over(sentences)
    gold = encode_gold(type(over), recognizer.structure_, sentences)
    losses = (
        negative_log_likelihood(over.sentence(number), gold.sentences(number, number + 1)).value
        for number in range(len(sentences))
    )
    return sum(loss < -1e-6 for loss in losses)


def conclusions(rows: Sequence[Row]) -> Iterator[Conclusion]:
    """Check our statements about the three distributions."""
    at = {row["distribution"]: row for row in rows}
    exact, formula = at["encodings"], at["derivations"]
    for decoder in ("enough", "probable"):
        value = f"{decoder}_f1"
        yield conclude(
            f"Exact probabilities over encodings have the highest F1 with '{decoder}'",
            [
                (f"{exact[value]:.1f} > {other} {at[other][value]:.1f}", exact[value] > at[other][value])
                for other in ("mention-sets", "derivations")
            ],
            "ours",
        )
    yield conclude(
        "Over derivations, with each gold edge counted once, a likelihood can exceed one; otherwise it cannot",
        [
            (f"derivations: {counted(formula['above_one'], 'sentence')}", formula["above_one"] > 0),
            *(
                (f"{name}: {at[name]['above_one']:,}", at[name]["above_one"] == 0)
                for name in ("encodings", "mention-sets")
            ),
        ],
        "ours",
    )


def plot(document: Mapping[str, Any]) -> Figure:
    """Draw the share of mentions that is right against their predicted probability."""
    figure, (panel,) = new_figure(width=5.0, height=4.6)
    panel.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, label="perfect calibration")
    for mark, (name, bins) in zip("os^", document["details"]["reliability"].items(), strict=True):
        panel.plot([kept["prob"] for kept in bins], [kept["right"] for kept in bins], marker=mark, label=name)
    panel.set_xlabel("probability of a mention")
    panel.set_ylabel("share that is right")
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1)
    panel.legend()
    return figure


EXPERIMENT = Experiment(
    "distribution",
    "over encodings, over sets of mentions, and over derivations",
    "ours",
    ("train", "dev"),
    run,
    plot,
)
