"""Checkpoints of neural training: weights, the optimiser's state, and the best weights so far."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import torch
from msgspec import UNSET, Meta, Struct, UnsetType
from numpy.typing import NDArray

from hyperspan.errors import ModelError
from hyperspan.neural.progress import Progress
from hyperspan.recognizer.checkpoint import Checkpointer
from hyperspan.recognizer.model_file import read_arrays
from hyperspan.schema import Count, Penalty, Share, check_array, check_finite, fitted

if TYPE_CHECKING:
    from hyperspan.neural.training import Learner

_MOMENTS = {"mean": "exp_avg", "square": "exp_avg_sq"}
"""The optimiser's state of each weight: the names in files and in torch."""

_log = logging.getLogger(__name__)


class NeuralCheckpointer(Checkpointer):
    """Saves a learner from time to time, and restores it.

    Parameters
    ----------
    path : path, optional
        The file; if not given, nothing is saved.
    learner : Learner
    fingerprint : str
        Identifies data and settings; a checkpoint with a different fingerprint is an error.
    """

    def __init__(self, path: Path | None, learner: Learner, fingerprint: str) -> None:
        super().__init__(path, fingerprint)
        self.learner = learner

    def content(self, search: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return plain data and arrays."""
        progress: Progress = search
        learner, steps = self.learner, dict[str, int]()
        arrays: dict[str, NDArray[Any]] = {}
        for name, weights in learner.trainable.items():
            arrays[f"weights.{name}"] = _array(weights)
            remembered = learner.optimizer.state.get(weights)
            if remembered:
                steps[name] = int(remembered["step"])
                arrays |= {f"{ours}.{name}": _array(remembered[theirs]) for ours, theirs in _MOMENTS.items()}
        arrays |= {f"best.{name}": array for name, array in (progress.best or {}).items()}
        data = {name: value for name, value in vars(progress).items() if name != "best"}
        return {**data, "steps": steps, "has_best": progress.best is not None}, arrays

    def load_progress(self, n_epochs: int) -> Progress | None:
        """Restore the learner from the file, if there is one, and return its progress.

        Raises
        ------
        ModelError
            If it was made with other data or settings, or is not a valid checkpoint.
        """
        if self.path is None or not self.path.is_file():
            _log.warning("there is no checkpoint %s to resume from: starting from the beginning", self.path)
            return None
        data, arrays = read_arrays(self.path, "checkpoint")
        if data.get("fingerprint") != self.fingerprint:
            raise ModelError(
                f"{self.path} was made with other data or settings; resume with the same, or train without --resume"
            )
        try:
            return self._set(data.get("search"), arrays, n_epochs)
        except ModelError as error:
            raise ModelError(f"{self.path} was not written by this program: {error}") from None

    def _set(self, search: Any, arrays: Mapping[str, NDArray[Any]], n_epochs: int) -> Progress:
        found: ProgressSchema = fitted(search, ProgressSchema)
        learner = self.learner
        check_finite(found.loss, found.seconds, found.best_f1, *(record.loss for record in found.records))
        if found.epoch >= n_epochs or found.step > learner.n_steps or len(found.records) != found.epoch:
            raise ModelError("its progress is not possible")
        if set(found.steps) - set(learner.trainable):
            raise ModelError("it has weights that are not trained")
        shapes = {name: tuple(weights.shape) for name, weights in learner.trainable.items()}
        with torch.no_grad():
            for name, weights in learner.trainable.items():
                weights.copy_(_tensor(arrays, f"weights.{name}", shapes[name]))
                if name in found.steps:
                    moments = {
                        theirs: _tensor(arrays, f"{ours}.{name}", shapes[name]).to(weights.device)
                        for ours, theirs in _MOMENTS.items()
                    }
                    # The fused optimiser of a GPU reads its number of steps there; on a CPU, it is there anyway.
                    n_steps = torch.tensor(float(found.steps[name]), device=weights.device)
                    learner.optimizer.state[weights] = {"step": n_steps, **moments}
        best = None
        if found.has_best:
            best = {name: _tensor(arrays, f"best.{name}", shapes[name]).numpy() for name in shapes}
        kept = {name: search[name] for name in vars(Progress()) if name != "best"}
        return Progress(**kept, best=best)


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.detach().cpu().numpy()
    return array


def _tensor(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> torch.Tensor:
    array = check_array(arrays, name, np.float32, shape)
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{name!r} has numbers that are not finite")
    return torch.from_numpy(np.array(array))


class EpochSchema(Struct, forbid_unknown_fields=True):
    """A line of the training log."""

    iteration: Count
    loss: float
    dev_f1: Share | UnsetType = UNSET


class ProgressSchema(Struct, forbid_unknown_fields=True):
    """The progress of training."""

    epoch: Count
    step: Count
    loss: float
    seconds: Penalty
    dev_f1: Share | None
    best_f1: Annotated[float, Meta(ge=-1.0, le=1.0)]
    best_epoch: Count
    stopped: Annotated[str, Meta(max_length=0)]
    records: list[EpochSchema]
    steps: dict[str, Annotated[int, Meta(ge=1, le=2**53)]]
    has_best: bool
