"""The learned attributes of a recognizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import ModelError, UsageError
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.settings import check_threshold
from hyperspan.scoring import MentionScorer, Scorer
from hyperspan.structures import Structure


class NoWeights(ModelError, AttributeError):
    """A learned attribute was requested before training."""

    def __init__(self) -> None:
        super().__init__("This Recognizer has no weights yet: call fit(...) or Recognizer.load(path) first.")


class Learned:
    """A trained model and its training record; every attribute raises `NoWeights` before training."""

    scorer: str

    _model: Model | None = None
    _training: Training | None = None

    @property
    def types_(self) -> tuple[str, ...]:
        """The types of mentions, in alphabetical order."""
        return self._learned().structure.types

    @property
    def structure_(self) -> Structure:
        """The structure that encodes mentions, with its labels."""
        return self._learned().structure

    @property
    def scorer_(self) -> Scorer:
        """The scorer of edges: for ``linear`` it has the extractor, parameters and weights."""
        return self._learned().scorer

    @property
    def rescorer_(self) -> MentionScorer | None:
        """The rescorer for a second look at whole mentions, if there is one."""
        return self._learned().rescorer

    @property
    def reads_documents_(self) -> bool:
        """Whether sentences of a document must stay together: for a second look, or if the encoder reads neighbours."""
        model = self._learned()
        return model.rescorer is not None or model.reads_documents

    @property
    def n_features_(self) -> int:
        """How many features the scorer knows, if it has features."""
        return int(self._of_scorer("features", self._learned().scorer.describe()))

    @property
    def weights_(self) -> NDArray[np.float64]:
        """The weights of features, if the scorer has any."""
        weights: NDArray[np.float64] = self._of_scorer("weights", self._learned().scorer.state()[1])
        return weights

    @property
    def l2_(self) -> float:
        """The penalty on weights: the one given, or the one that ``l2="auto"`` chose."""
        return self._learning().l2

    @property
    def threshold_(self) -> float:
        """The minimum probability of a mention under ``probable``."""
        return self._learning().threshold

    @threshold_.setter
    def threshold_(self, threshold: float) -> None:
        check_threshold(threshold)
        self._training = replace(self._learning(), threshold=float(threshold))

    @property
    def n_iter_(self) -> int:
        """The iterations of the optimiser, summed over all penalties tried."""
        return self._learning().n_iterations

    @property
    def training_log_(self) -> list[dict[str, Any]]:
        """A record for every iteration."""
        return self._learning().log

    @property
    def dev_scores_(self) -> dict[str, Any]:
        """All scores on the development data; empty if there is none."""
        return self._learning().dev_scores

    @property
    def left_out_(self) -> int:
        """How many training mentions the structure cannot encode."""
        return self._learning().left_out

    def _of_scorer(self, name: str, known: Mapping[str, Any]) -> Any:
        if name not in known:
            raise UsageError(f"the scorer {self.scorer!r} has no {name}; 'linear' has")
        return known[name]

    def _learned(self) -> Model:
        if self._model is None:
            raise NoWeights
        return self._model

    def _learning(self) -> Training:
        if self._training is None:
            raise NoWeights
        return self._training

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None
