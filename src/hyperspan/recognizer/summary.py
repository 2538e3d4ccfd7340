"""What a model is, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.features import FeatureBlock
from hyperspan.learning.twins import first_of_rows
from hyperspan.mentions import Sentence
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.settings import Settings

NAMED = 20
"""How many of the strongest features of each label have their names in the model."""


def summarise(settings: Settings, model: Model, training: Training) -> dict[str, Any]:
    """Return a model's settings, sizes and training."""
    return {
        "structure": settings.structure,
        "max_components": settings.max_components,
        "distribution": settings.distribution,
        "types": list(model.structure.types),
        "features": model.n_features,
        "weights": len(model.weights),
        "templates": [list(row) for row in model.extractor.templates.rows()],
        "skipped_templates": [skipped.template.name for skipped in model.extractor.skipped],
        "annotator": settings.annotator,
        "l2": training.l2,
        "decode": settings.decode,
        "threshold": training.threshold,
        "threshold_curve": training.threshold_curve,
        "iterations": training.n_iterations,
        "stopped": training.log[-1]["stopped"],
        "left_out": training.left_out,
        "dev_scores": training.dev_scores,
        "training_log": training.log,
    }


def strongest_features(model: Model, names: Mapping[int, str], top: int) -> dict[str, list[dict[str, Any]]]:
    """Return the features with the greatest weights for each label, by their name or else by their hash.

    Features that the training data could not tell apart have the same weights: one stands for all of them.
    """
    hashes = model.extractor.to_state()[1]["feature_hash"]
    parameters = model.parameters
    weights = model.weights[parameters.n_labels + parameters.n_transitions :]
    first_feature = first_of_rows(parameters.row_of_feature)
    n_features = np.bincount(parameters.row_of_feature, minlength=parameters.n_rows)
    name_of_row: dict[int, str] = {}
    for feature in sorted(names):
        name_of_row.setdefault(int(parameters.row_of_feature[feature]), names[feature])
    rows = np.repeat(np.arange(parameters.n_rows), np.diff(parameters.first_pair))
    strongest: dict[str, list[dict[str, Any]]] = {}
    for label, pairs in _strongest_pairs(model, top):
        strongest[model.structure.label_name(label)] = [
            {
                "feature": name_of_row.get(int(rows[pair])) or f"#{hashes[first_feature[rows[pair]]]:016x}",
                "twins": int(n_features[rows[pair]]) - 1,
                "weight": float(weights[pair]),
            }
            for pair in pairs
        ]
    return strongest


def names_of_strongest(model: Model, sentences: Sequence[Sentence], block: FeatureBlock) -> dict[int, str]:
    """Return the names of the strongest features for each label, by id, given sentences and their features.

    Only one sentence is described for each of them, since names are slow to make.
    """
    parameters = model.parameters
    rows = np.repeat(np.arange(parameters.n_rows), np.diff(parameters.first_pair))
    pairs = np.concatenate([np.empty(0, dtype=np.int64), *(pairs for _, pairs in _strongest_pairs(model, NAMED))])
    wanted = np.zeros(model.n_features, dtype=np.bool_)
    wanted[first_of_rows(parameters.row_of_feature)[rows[pairs]]] = True
    places = np.flatnonzero(wanted[block.feature])
    features, first = np.unique(block.feature[places], return_index=True)
    tokens = np.searchsorted(block.first_feature, places[first], side="right") - 1
    chosen = np.unique(np.searchsorted(block.first_token, tokens, side="right") - 1)
    names = model.extractor.names(sentences[number] for number in chosen.tolist()).names
    return {feature: names[feature] for feature in features.tolist() if feature in names}


def _strongest_pairs(model: Model, top: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each label with the places of its greatest weights among the pairs."""
    parameters = model.parameters
    strength = np.abs(model.weights[parameters.n_labels + parameters.n_transitions :])
    for label in parameters.dense_label.tolist():
        of_label = np.flatnonzero(parameters.pair_label == label)
        yield label, of_label[np.argsort(-strength[of_label], kind="stable")[:top]]
