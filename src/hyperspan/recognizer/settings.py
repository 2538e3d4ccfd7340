"""The settings of a recognizer, and their validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Literal

import numpy as np

from hyperspan.errors import StructureError, UsageError
from hyperspan.features import TemplateSet
from hyperspan.features.columns import ClusterPaths, SemanticCategories
from hyperspan.inference import check_decoder, distribution_class, distribution_names
from hyperspan.scoring import scorer_class
from hyperspan.structures import structure

CHOICES = {
    "device": ("auto", "cpu", "cuda"),
    "precision": ("auto", "float32", "bfloat16"),
    "save_precision": ("float32", "float16"),
}
"""Settings of a neural scorer that only accept certain names."""

OF_ENCODER = (
    "epochs",
    "batch_size",
    "encoder_lr",
    "head_lr",
    "dropout",
    "layers",
    "context",
    "patience",
    "precision",
    "freeze",
    "save_precision",
)
"""Settings that only apply with an encoder."""

_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Settings:
    """The arguments of a `Recognizer`, which describes each of them.

    They are stored as given; `check` validates them.
    """

    structure: str
    max_components: int
    distribution: str
    l2: float | Literal["auto"]
    features: str | Path | TemplateSet
    clusters: ClusterPaths | None
    lexicon: SemanticCategories | None
    annotator: str
    frequent: int
    max_iterations: int
    tolerance: float
    decode: str
    threshold: float | None
    n_threads: int
    seed: int
    scorer: str = "linear"
    initial_weights: Literal["frequencies", "zero"] = "frequencies"
    longest_part: int | None = None
    longest_gap: int | None = None
    encoder: str | None = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    epochs: int = 12
    batch_size: int = 16
    encoder_lr: float = 3e-5
    head_lr: float = 1e-3
    dropout: float = 0.5
    layers: int = 4
    context: int = 0
    patience: int = 4
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    freeze: bool = False
    save_precision: Literal["float32", "float16"] = "float32"
    rescore: Literal["auto", "on", "off"] = "off"
    types: Sequence[str] | None = None

    @property
    def sizes(self) -> dict[str, int]:
        """The given sizes of the structure, by name; the others come from the training data."""
        given = {"longest_part": self.longest_part, "longest_gap": self.longest_gap}
        return {name: size for name, size in given.items() if size is not None}

    def check(self) -> None:
        """Raise an error for invalid settings; structure, features and annotator are checked when they are created.

        Raises
        ------
        UsageError
            The message says what was given and what was expected.
        """
        check_decoder(self.decode)
        scorer_class(self.scorer)
        if self.distribution not in distribution_names():
            expected = ", ".join(distribution_names())
            raise UsageError(f"distribution is {self.distribution!r}; expected one of {expected}")
        if self.l2 != "auto" and not (isinstance(self.l2, Real) and 0.0 <= self.l2 < np.inf):
            raise UsageError(f"l2 is {self.l2!r}; expected a number that is not negative, or 'auto'")
        for name in ("frequent", "max_iterations", "n_threads"):
            check_number(name, getattr(self, name))
        for name, size in self.sizes.items():
            check_number(name, size)
        if not (isinstance(self.tolerance, Real) and 0.0 <= self.tolerance < 1.0):
            raise UsageError(f"tolerance is {self.tolerance!r}; expected a number from 0 to below 1")
        made = structure(self.structure, ["any"], self.max_components, self.sizes)
        try:
            distribution_class(made, self.distribution)
        except StructureError as error:
            raise UsageError(str(error)) from None
        if self.initial_weights not in ("frequencies", "zero"):
            raise UsageError(f"initial_weights is {self.initial_weights!r}; expected 'frequencies' or 'zero'")
        if self.rescore not in ("auto", "on", "off"):
            raise UsageError(f"rescore is {self.rescore!r}; expected 'auto', 'on' or 'off'")
        check_threshold(self.threshold)
        is_listed = isinstance(self.types, list | tuple) and all(isinstance(type, str) for type in self.types)
        if self.types is not None and not (is_listed and self.types):
            raise UsageError(f"types is {shown(self.types)}; expected a list of names, such as ['Finding'], or None")
        self._check_encoder()

    def _check_encoder(self) -> None:
        for name in ("epochs", "batch_size", "layers", "patience"):
            check_number(name, getattr(self, name))
        if not isinstance(self.context, Integral) or self.context < 0:
            raise UsageError(f"context is {self.context!r}; expected a whole number of words from 0")
        for name in ("encoder_lr", "head_lr"):
            rate = getattr(self, name)
            if not (isinstance(rate, Real) and 0.0 < rate < 1.0):
                raise UsageError(f"{name} is {rate!r}; expected a number above 0 and below 1")
        if not (isinstance(self.dropout, Real) and 0.0 <= self.dropout < 1.0):
            raise UsageError(f"dropout is {self.dropout!r}; expected a number from 0 to below 1")
        for name, names in CHOICES.items():
            if getattr(self, name) not in names:
                raise UsageError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(names)}")


def check_number(name: str, value: object, least: int = 1) -> None:
    """Raise an error if a value is not a whole number of at least ``least``."""
    if not isinstance(value, Integral) or value < least:
        raise UsageError(f"{name} is {value!r}; expected a whole number from {least}")


def check_threshold(threshold: float | None) -> None:
    """Raise an error if a threshold is not a probability above 0."""
    if threshold is not None and not (isinstance(threshold, Real) and 0.0 < threshold <= 1.0):
        raise UsageError(f"threshold is {threshold!r}; expected a number above 0 and up to 1")


def shown(value: object) -> str:
    """Show a setting on one line; a long value is replaced by the name of its class.

    Examples
    --------
    >>> shown("shared"), shown(range(10)), shown(list(range(100)))
    ("'shared'", 'range(0, 10)', '<list>')
    """
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"<{type(value).__name__}>"
