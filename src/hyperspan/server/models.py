"""The served models, by name."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from hyperspan.diagnostics import quoted
from hyperspan.errors import UsageError
from hyperspan.recognizer import Recognizer
from hyperspan.render.colours import DARK, LIGHT, TypeColours
from hyperspan.server.errors import ApiError
from hyperspan.text import annotator

_BRIEF = (
    "structure",
    "max_components",
    "distribution",
    "types",
    "decode",
    "threshold",
    "features",
    "weights",
    "encoder",
    "parameters",
    "iterations",
    "annotator",
)


class Model:
    """A served recognizer.

    Parameters
    ----------
    name : str
    recognizer : Recognizer
        A trained recognizer.

    Attributes
    ----------
    turn : context manager
        A lock to hold while using the recognizer: annotators of other packages are not thread-safe.
    """

    def __init__(self, name: str, recognizer: Recognizer) -> None:
        self.name = name
        self.recognizer = recognizer
        self.annotator = annotator(recognizer.annotator)
        self.turn: AbstractContextManager[Any] = nullcontext() if recognizer.annotator == "none" else threading.Lock()
        colours = TypeColours(recognizer.types_)
        known = recognizer.summary()
        self.brief: dict[str, Any] = {
            "name": name,
            **{key: known.get(key) for key in _BRIEF},  # not every scorer has features or an encoder
            "colours": {
                type: {"number": number, "light": LIGHT[number], "dark": DARK[number]}
                for type, number in zip(recognizer.types_, map(colours.index, recognizer.types_), strict=True)
            },
            "dev_scores": known["dev_scores"] or None,
        }
        self.summary: dict[str, Any] = {**known, **self.brief}


class Models:
    """All served models; the first is the default.

    Examples
    --------
    >>> Models({})
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: there is no model to serve; expected at least one
    """

    def __init__(self, recognizers: Mapping[str, Recognizer]) -> None:
        if not recognizers:
            raise UsageError("there is no model to serve; expected at least one")
        self._models = {name: Model(name, recognizer) for name, recognizer in recognizers.items()}

    def __iter__(self) -> Iterator[Model]:
        return iter(self._models.values())

    @property
    def names(self) -> list[str]:
        """The names, in the given order."""
        return list(self._models)

    @property
    def default(self) -> Model:
        """The default model."""
        return next(iter(self))

    def named(self, name: str | None) -> Model:
        """Return a model by name.

        Raises
        ------
        ApiError
            With status 404, if there is no model of that name.
        """
        if name is None:
            return self.default
        if name not in self._models:
            known = ", ".join(map(quoted, self._models))
            raise ApiError(404, f"there is no model {quoted(name)}; expected one of {known}")
        return self._models[name]
