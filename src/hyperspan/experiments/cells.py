"""One cell of the paper's main table: train a model, choose its penalty, and score it with every decoder.

Several experiments use the same cells, so each is computed once and stored.
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
"""The three structures of the paper."""

TRAINED = (*STRUCTURES, "segments")
"""The structures that are trained: those of the paper, and its future work."""

ENCODINGS, DERIVATIONS = "encodings", "derivations"
"""The two readings of the paper's normaliser. Its printed formula sums over hypergraphs, that is, over distinct
encodings; the usual inside algorithm sums over derivations, because it expands a node once for each parent."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A model and its training data.

    Parameters
    ----------
    dataset : Dataset
    training : {"Train-Disc", "Train-Orig"}
    structure : {"linear", "shared", "split", "segments"}
    model : {"derivations", "encodings"}
        The distribution.
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
        """The cell in words."""
        types = len(self.dataset.types)
        several = f", {types} types" if types > 1 else ""
        choices = ", ".join(f"{penalty:g}" for penalty in self.penalties)
        return (
            f"{self.dataset.name}{several}, {self.training}: {self.structure} ({self.model}), "
            f"λ {'of ' if len(self.penalties) > 1 else ''}{choices}"
        )


def models_of(structure: str) -> tuple[str, ...]:
    """Return the models of a structure; the chain and segments have only one each."""
    return (ENCODINGS,) if structure in ("linear", "segments") else (DERIVATIONS, ENCODINGS)


def cell_scores(run: Run, cell: Cell) -> dict[str, Any]:
    """Return the scores of a cell, as plain data, in percent.

    Returns
    -------
    dict
        ``l2`` is the chosen penalty, and ``dev_f1`` the F1 of each; ``scores`` by decoder over the test sentences
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
        del recognizer  # so that at most two models are in memory
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
    """Return a share in percent, with three decimals."""
    return round(100.0 * share, 3)
