"""Summarise a model as plain data."""

from __future__ import annotations

from typing import Any

from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.settings import Settings


def summarise(settings: Settings, model: Model, training: Training) -> dict[str, Any]:
    """Return a model's settings, sizes and training."""
    return {
        "structure": settings.structure,
        "max_components": settings.max_components,
        "distribution": settings.distribution,
        "types": list(model.structure.types),
        **model.scorer.describe(),
        "annotator": settings.annotator,
        "l2": training.l2,
        "decode": settings.decode,
        "threshold": training.threshold,
        "threshold_curve": training.threshold_curve,
        "iterations": training.n_iterations,
        "stopped": training.log[-1]["stopped"],
        "left_out": training.left_out,
        "dev_scores": training.dev_scores,
        "rescoring": training.rescoring,
        "rescorer": None if model.rescorer is None else model.rescorer.describe(),
        "training_log": training.log,
    }
