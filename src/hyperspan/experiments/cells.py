"""One cell of the paper's main table: a model trained, its penalty chosen, and scored with every decoder.

Several experiments look at the same cells, so each is made once and kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from hyperspan.evaluation import Score
from hyperspan.experiments.data import Dataset
from hyperspan.experiments.run import Run
from hyperspan.experiments.training import DECODERS, find, find_enough
from hyperspan.recognizer import Recognizer

TRAINING = ("Train-Disc", "Train-Orig")
"""Only the training sentences with a discontiguous mention, or all of them."""

STRUCTURES = ("linear", "shared", "split")
"""The three of the paper."""

TRAINED = (*STRUCTURES, "segments")
"""Those that are trained: the paper's future work beside its own."""

ENCODINGS, DERIVATIONS = "encodings", "derivations"
"""The two readings of the paper's normaliser. Its printed formula sums over hypergraphs, which is over distinct
encodings; the recursion that it names sums over derivations, if a node is expanded once for each parent."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What is trained on what.

    Parameters
    ----------
    dataset : Dataset
    training : {"Train-Disc", "Train-Orig"}
    structure : {"linear", "shared", "split", "segments"}
    model : {"derivations", "encodings"}
        What probabilities are over.
    penalties : tuple of float
        The values of λ to choose from, on development data with ``enough``.
    """

    dataset: Dataset
    training: str
    structure: str
    model: str
    penalties: tuple[float, ...]

    @property
    def name(self) -> str:
        """What it is, in words."""
        types = len(self.dataset.types)
        several = f", {types} types" if types > 1 else ""
        choices = ", ".join(f"{penalty:g}" for penalty in self.penalties)
        return (
            f"{self.dataset.name}{several}, {self.training}: {self.structure} ({self.model}), "
            f"λ {'of ' if len(self.penalties) > 1 else ''}{choices}"
        )


def models_of(structure: str) -> tuple[str, ...]:
    """Return the models of a structure: the chain has only one, over tag sequences, and so have segments."""
    return (ENCODINGS,) if structure in ("linear", "segments") else (DERIVATIONS, ENCODINGS)


def cell_scores(run: Run, cell: Cell) -> dict[str, Any]:
    """Return the scores of a cell, as plain data, in percent.

    Returns
    -------
    dict
        ``l2`` the penalty chosen and ``dev_f1`` what was found for each; ``scores`` by decoder over the test sentences
        with a discontiguous mention; ``by_type`` the same with ``enough``; ``threshold``, ``iterations``, ``seconds``.
    """
    return run.part(cell.name, lambda: _make(run, cell))


def _make(run: Run, cell: Cell) -> dict[str, Any]:
    begin = time.perf_counter()
    train = cell.dataset.split("train", discontiguous=cell.training == "Train-Disc")
    dev = cell.dataset.split("dev", discontiguous=True)
    test = cell.dataset.split("test", discontiguous=True)
    best: tuple[float, float, Recognizer] | None = None
    dev_f1: dict[str, float] = {}
    iterations = 0
    for penalty in cell.penalties:
        recognizer = run.options.train(
            train,
            structure=cell.structure,
            over=cell.model,
            l2=penalty,
            on_iteration=run.progress.iteration,
        )
        iterations += recognizer.n_iter_
        f1 = percent(find_enough(recognizer, dev).all.f1)
        dev_f1[f"{penalty:g}"] = f1
        if best is None or f1 > best[0]:
            best = (f1, penalty, recognizer)
        del recognizer  # so that no more than two are held at a time
    assert best is not None
    threshold = find(best[2], dev).best_threshold()
    found = find(best[2], test)
    scores = {decoder: found.evaluate(decoder, threshold) for decoder in DECODERS}
    return {
        "l2": best[1],
        "dev_f1": dev_f1,
        "threshold": threshold,
        "scores": {
            decoder: {**score_dict(score.all), "discontiguous_mentions": score_dict(score.discontiguous_mentions)}
            for decoder, score in scores.items()
        },
        "by_type": {type: score_dict(score) for type, score in scores["enough"].by_type.items()},
        "left_out": best[2].left_out_,
        "iterations": iterations,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def score_dict(score: Score) -> dict[str, Any]:
    """Return a score in percent, with its counts."""
    return {
        "precision": percent(score.precision),
        "recall": percent(score.recall),
        "f1": percent(score.f1),
        "tp": score.tp,
        "fp": score.fp,
        "fn": score.fn,
    }


def percent(share: float) -> float:
    """Return a share in percent, with three digits after the point."""
    return round(100.0 * share, 3)
