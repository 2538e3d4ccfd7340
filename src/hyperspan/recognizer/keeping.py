"""A recognizer as one file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import HyperspanError, ModelError
from hyperspan.features import Extractor, TemplateSet
from hyperspan.features.templates import NAMED
from hyperspan.learning import Parameters, check_parameters
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.model_file import read_arrays, write_arrays
from hyperspan.recognizer.settings import Settings
from hyperspan.structures import structure

_NOT_KEPT = ("features", "clusters", "lexicon", "n_threads")
"""Settings that are not written as such: the first three are part of the extractor, and threads change nothing."""

_FEATURES = "features."


def write_model(path: Path, settings: Settings, model: Model, training: Training, *, with_names: bool = True) -> None:
    """Write everything that was learned to one file; the same content gives the same bytes."""
    state, arrays = model.extractor.to_state()
    state["templates_source"] = Path(state["templates_source"]).name  # where it stood is nobody's business
    data = {
        "settings": {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in vars(settings).items()
            if name not in _NOT_KEPT
        },
        "types": list(model.structure.types),
        "features": state,
        "feature_names": {str(feature): name for feature, name in model.names.items()} if with_names else {},
        "annotator": training.annotator,
        "l2": training.l2,
        "threshold": training.threshold,
        "threshold_curve": training.threshold_curve,
        "n_iterations": training.n_iterations,
        "training_log": training.log,
        "dev_scores": training.dev_scores,
        "left_out": training.left_out,
        "n_transitions": model.parameters.n_transitions,
    }
    of_model: dict[str, NDArray[Any]] = {
        "weights": model.weights,
        "row_of_feature": model.parameters.row_of_feature,
        "first_pair": model.parameters.first_pair,
        "pair_label": model.parameters.pair_label,
        "dense_label": model.parameters.dense_label,
        "base_score": model.parameters.base_score,
    }
    write_arrays(path, "model", data, of_model | {_FEATURES + name: array for name, array in arrays.items()})


def read_model(path: Path, defaults: Mapping[str, Any]) -> tuple[Settings, Model, Training]:
    """Read what `write_model` wrote.

    Parameters
    ----------
    path : path
    defaults : mapping
        Settings that are not in the file, such as the number of threads.

    Raises
    ------
    ModelError
        If the file is truncated, altered, or from a newer version.
    """
    data, arrays = read_arrays(path, "model")
    try:
        settings, model, training = _remade(data, arrays, defaults)
        settings.check()
        check_parameters(model.structure, model.parameters, model.n_features)
        if any(not 0 <= feature < model.n_features for feature in model.names):
            raise ModelError("it names features that it does not have")
    except KeyError as error:
        raise ModelError(f"{path} lacks {error}; it was not written by this program") from None
    except (HyperspanError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path} was not written by this program: {error}") from None
    if model.weights.dtype != np.float64 or model.weights.shape != (model.parameters.n_weights,):
        raise ModelError(f"{path} does not have as many weights as its features need; train again")
    if not np.all(np.isfinite(model.weights)):
        raise ModelError(f"{path} has weights that are not numbers; train again, with a higher l2")
    return settings, model, training


def _remade(
    data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], defaults: Mapping[str, Any]
) -> tuple[Settings, Model, Training]:
    of_features = {name.removeprefix(_FEATURES): array for name, array in arrays.items() if name.startswith(_FEATURES)}
    chosen = {**defaults, **data["settings"]}
    written_as = structure(chosen["structure"], tuple(data["types"]), chosen["max_components"])
    extractor = Extractor.from_state(data["features"], of_features, threads=chosen["n_threads"])
    if chosen["annotator"] == "auto":  # what it meant then, not what it means here
        chosen["annotator"] = data["annotator"]["name"]
    chosen["features"] = _named(extractor.templates)
    chosen["clusters"], chosen["lexicon"] = extractor.clusters, extractor.lexicon
    settings = Settings(**chosen)
    one_each = np.arange(len(arrays["first_pair"]) - 1, dtype=np.int32)  # in files from before features shared rows
    parameters = Parameters(
        written_as.n_labels,
        data["n_transitions"],
        arrays.get("row_of_feature", one_each),
        arrays["first_pair"],
        arrays["pair_label"],
        arrays["dense_label"],
        arrays["base_score"],
    )
    training = Training(
        l2=data["l2"],
        threshold=data["threshold"],
        n_iterations=data["n_iterations"],
        log=data["training_log"],
        dev_scores=data["dev_scores"],
        left_out=data["left_out"],
        annotator=dict(data["annotator"]),
        threshold_curve=data.get("threshold_curve", []),  # files from before it was recorded have none
    )
    names = {int(feature): str(name) for feature, name in data.get("feature_names", {}).items()}
    model = Model(written_as, settings.distribution, extractor, parameters, arrays["weights"], names)
    return settings, model, training


def _named(templates: TemplateSet) -> TemplateSet | str:
    """Return templates by name, if they are still those of that name."""
    is_ours = templates.source in NAMED and tuple(templates) == tuple(TemplateSet.load(templates.source))
    return templates.source if is_ours else templates
