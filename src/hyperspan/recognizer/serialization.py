"""Write a recognizer to one file, and read it back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyperspan.errors import HyperspanError, ModelError
from hyperspan.inference import current_name, distribution_class
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.model_file import read_arrays, write_arrays
from hyperspan.recognizer.schema import NOT_KEPT, check_model
from hyperspan.recognizer.settings import OF_ENCODER, Settings
from hyperspan.scoring import mention_scorer_class, scorer_class
from hyperspan.structures import structure
from hyperspan.text.annotators import check_named_by_file

_RESCORER = "rescorer."
"""The prefix of the names of its arrays."""


def write_model(path: Path, settings: Settings, model: Model, training: Training, *, with_names: bool = True) -> None:
    """Write everything that was learned to one file; the same content gives the same bytes."""
    state, arrays = model.scorer.state()
    if not with_names and "feature_names" in state:
        state["feature_names"] = {}
    if model.rescorer is not None:
        of_rescorer, more = model.rescorer.state()
        state["rescorer"] = {"name": model.rescorer.name, **of_rescorer}
        arrays |= {_RESCORER + name: array for name, array in more.items()}
    data = {
        "settings": {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in vars(settings).items()
            if name not in NOT_KEPT and (settings.encoder is not None or name not in OF_ENCODER)
        },
        "types": list(model.structure.types),
        "sizes": model.structure.sizes,
        "annotator": training.annotator,
        "l2": training.l2,
        "threshold": training.threshold,
        "n_iterations": training.n_iterations,
        "threshold_curve": training.threshold_curve,
        "training_log": training.log,
        "dev_scores": training.dev_scores,
        "left_out": training.left_out,
        "rescoring": training.rescoring,
        **state,
    }
    write_arrays(path, "model", data, arrays)


def read_model(path: Path, defaults: Mapping[str, Any]) -> tuple[Settings, Model, Training]:
    """Read what `write_model` wrote.

    Parameters
    ----------
    path : path
    defaults : mapping
        Values for settings that are not in the file, such as the number of threads.

    Raises
    ------
    ModelError
        If the file is truncated, altered, or from a newer version.
    """
    data, arrays = read_arrays(path, "model")
    try:
        check_model(data)
        for name in (data["settings"]["annotator"], data["annotator"]["name"]):
            check_named_by_file(name)
        return _remade(data, arrays, defaults)
    except KeyError as error:
        raise ModelError(f"{path} lacks {error}; it was not written by this program") from None
    except (HyperspanError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelError(f"{path} was not written by this program: {error}") from None


def _remade(
    data: Mapping[str, Any], arrays: Mapping[str, Any], defaults: Mapping[str, Any]
) -> tuple[Settings, Model, Training]:
    chosen = {**defaults, **data["settings"]}
    chosen["distribution"] = current_name(chosen["distribution"])
    sizes = data.get("sizes", {})  # older files have none
    written_as = structure(chosen["structure"], tuple(data["types"]), chosen["max_components"], sizes)
    distribution_class(written_as, chosen["distribution"])
    of_kind = scorer_class(chosen["scorer"], written_as.kind)
    scorer = of_kind.from_state(written_as, data, arrays, n_threads=chosen["n_threads"])
    if chosen["annotator"] == "auto":  # what it meant in training, not what it means here
        chosen["annotator"] = data["annotator"]["name"]
    settings = Settings(**{**chosen, **scorer.settings()})
    settings.check()
    training = Training(
        l2=data["l2"],
        threshold=data["threshold"],
        n_iterations=data["n_iterations"],
        log=data["training_log"],
        dev_scores=data["dev_scores"],
        left_out=data["left_out"],
        annotator=dict(data["annotator"]),
        threshold_curve=data.get("threshold_curve", []),  # older files have none
        rescoring=data.get("rescoring", {}),  # nor this
    )
    rescorer = None
    if "rescorer" in data:
        from hyperspan.scoring import linear_mentions as _registers_itself  # noqa: F401 - only if needed

        state = dict(data["rescorer"])
        of_rescorer = {name.removeprefix(_RESCORER): arrays[name] for name in arrays if name.startswith(_RESCORER)}
        found = mention_scorer_class(state.pop("name"))
        rescorer = found.from_state(written_as, scorer, state, of_rescorer, n_threads=chosen["n_threads"])
    return settings, Model(written_as, settings.distribution, scorer, rescorer), training
