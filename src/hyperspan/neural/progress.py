"""The progress of neural training, and its records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


@dataclass
class Progress:
    """The progress of training: the finished epochs, and the steps of the next one.

    Attributes
    ----------
    loss : float
        The sum over the steps of this epoch.
    best : dict of arrays, optional
        The weights of the best epoch on the development data.
    """

    epoch: int = 0
    step: int = 0
    loss: float = 0.0
    seconds: float = 0.0
    dev_f1: float | None = None
    best_f1: float = -1.0
    best_epoch: int = 0
    stopped: str = ""
    records: list[dict[str, Any]] = field(default_factory=list)
    best: dict[str, NDArray[Any]] | None = None

    def keep_best(self, dev_f1: float, weights: dict[str, torch.Tensor]) -> None:
        """Store the current weights, if there are no better ones."""
        if dev_f1 > self.best_f1:
            self.best_f1, self.best_epoch = dev_f1, self.epoch
            self.best = {name: np.array(each.detach().cpu().numpy()) for name, each in weights.items()}


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """The record after every step, and at the end of every epoch."""

    iteration: int
    n_iterations: int
    share: float
    loss: float
    seconds: float
    seconds_left: float
    dev_f1: float | None = None
    stopped: str = ""
    is_complete: bool = False
    fold: int = 0
    """The held-out fold of the training data: none."""
    n_folds: int = 0

    def as_dict(self, *, with_time: bool = True) -> dict[str, Any]:
        """Return the record as plain data."""
        record: dict[str, Any] = {"iteration": self.iteration, "loss": self.loss}
        if self.dev_f1 is not None:
            record["dev_f1"] = self.dev_f1
        if self.stopped:
            record["stopped"] = self.stopped
        if with_time:
            record["seconds"] = round(self.seconds, 3)
        return record

    def line(self, max_iterations: int) -> str:
        """Return one readable line.

        Examples
        --------
        >>> EpochRecord(3, 10, 0.5, 1.25, 61.0, 180.4, dev_f1=0.71).line(500)
        'epoch 3 of 10, 50 %  loss 1.250  dev F1 0.710  61 s, at most 180 s left'
        """
        score = "" if self.dev_f1 is None else f"  dev F1 {self.dev_f1:.3f}"
        return (
            f"epoch {self.iteration} of {self.n_iterations}, {self.share:.0%}".replace("%", " %")
            + f"  loss {self.loss:.3f}{score}  {self.seconds:.0f} s, at most {self.seconds_left:.0f} s left"
        )
