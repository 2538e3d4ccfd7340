"""Checkpoints: save the state of training from time to time, so that it can be resumed after a crash."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import LearningError, ModelError, UsageError
from hyperspan.files import check_file
from hyperspan.learning import Search
from hyperspan.learning.history import HISTORY
from hyperspan.recognizer.model_file import read_arrays, write_arrays
from hyperspan.recognizer.schema import check_checkpoint
from hyperspan.schema import check_array

PERIOD = 30.0
"""Seconds between checkpoints in a long training; early ones come more often, slow ones less often."""

FIRST = 1.0
"""Seconds until the first checkpoint; the time of each next one doubles."""

_log = logging.getLogger(__name__)


class Interrupted(LearningError):
    """Training was stopped before it was finished."""

    def __init__(self, iteration: int) -> None:
        super().__init__(f"training was stopped after iteration {iteration}")
        self.iteration = iteration


class Checkpointer:
    """Saves the state of training from time to time, using at most a tenth of the running time.

    Parameters
    ----------
    path : path, optional
        The file; if not given, nothing is saved.
    fingerprint : str
        Identifies data and settings; a checkpoint with a different fingerprint is an error.
    note : mapping
        Plain data to save with the search; see `read_note`.

    Raises
    ------
    UsageError
        If the path is a folder, or something else that cannot become a file.
    """

    def __init__(self, path: str | Path | None, fingerprint: str, note: Mapping[str, Any] | None = None) -> None:
        self.path = None if path is None else Path(path)
        if self.path is not None:
            check_file(self.path)
        self.fingerprint = fingerprint
        self.note = dict(note or {})
        self._begin = time.monotonic()
        self._next = self._begin + FIRST
        self._has_warned = False

    def load(self, n_weights: int, penalties: Sequence[float]) -> Search | None:
        """Return the saved search, or None if there is none.

        Parameters
        ----------
        n_weights : int
            The number of weights.
        penalties : sequence of float
            The penalties to try.

        Raises
        ------
        ModelError
            If it was made with other data or settings, or is not a valid checkpoint.
        """
        if self.path is None or not self.path.is_file():
            _log.warning("there is no checkpoint %s to resume from: starting from the beginning", self.path)
            return None
        data, arrays = _read(self.path)
        if data["fingerprint"] != self.fingerprint:
            raise ModelError(
                f"{self.path} was made with other data or settings; resume with the same, or train without --resume"
            )
        try:
            _check_arrays(data["search"], arrays, n_weights, penalties)
        except ModelError as error:
            raise ModelError(f"{self.path} was not written by this program: {error}") from None
        return Search.of_arrays(data["search"], arrays)

    def content(self, search: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the saved state of a search, as plain data and arrays."""
        data, arrays = search.to_arrays()
        return data, arrays

    def save_in_time(self, search: Any) -> None:
        """Save if enough time has passed since the last checkpoint, as `save_if_possible` does."""
        if time.monotonic() >= self._next:
            self.save_if_possible(search)

    def save_if_possible(self, search: Any) -> None:
        """Save now; a full disk does not stop training."""
        if not saved(lambda: self.save(search), warns=not self._has_warned):
            self._has_warned = True
            self._next = time.monotonic() + PERIOD

    def save(self, search: Any) -> None:
        """Save now."""
        if self.path is None:
            return
        begin = time.monotonic()
        data, arrays = self.content(search)
        content = {"fingerprint": self.fingerprint, "note": self.note, "search": data}
        write_arrays(self.path, "checkpoint", content, arrays)
        now = time.monotonic()
        self._next = now + max(min(PERIOD, now - self._begin), 10.0 * (now - begin))


def saved(save: Callable[[], None], *, warns: bool = True) -> bool:
    """Save a state of training, and return whether that was possible: a full disk does not stop training."""
    try:
        save()
    except (ModelError, UsageError) as error:  # the latter if not even an empty file can be made
        if warns:
            _log.warning("%s. Training continues without a checkpoint", error)
        return False
    return True


def read_note(path: str | Path | None) -> dict[str, Any]:
    """Return the note saved in a checkpoint; empty if there is no such file."""
    if path is None or not Path(path).is_file():
        return {}
    note: dict[str, Any] = _read(Path(path))[0]["note"]
    return note


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    data, arrays = read_arrays(path, "checkpoint")
    try:
        check_checkpoint(data)
    except ModelError as error:
        raise ModelError(f"{path} was not written by this program: {error}") from None
    return data, arrays


def _check_arrays(
    search: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], n_weights: int, penalties: Sequence[float]
) -> None:
    """Raise an error if arrays do not fit a search for this many weights: compiled code reads them unchecked."""
    if list(search["penalties"]) != list(penalties):
        raise ModelError(f"its search is for the penalties {search['penalties']}, not {list(penalties)}")
    vectors = ["weights", *(["best"] if "best" in arrays else [])]
    found = [check_array(arrays, name, np.float64, (n_weights,)) for name in vectors]
    n_slopes = 0 if "gradient" in arrays and not arrays["gradient"].size else n_weights  # none before the first step
    found.append(check_array(arrays, "gradient", np.float64, (n_slopes,)))
    if "remembered" in arrays or search["state"]["n_steps"]:
        n_rows = 2 * (HISTORY + 1)
        found.append(check_array(arrays, "remembered", np.float32, (n_rows, n_weights)))
        found.append(check_array(arrays, "products", np.float64, (n_rows, n_rows)))
    if not all(bool(np.all(np.isfinite(array))) for array in found):
        raise ModelError("it has numbers that are not finite")
    if search["stage"] >= len(penalties) and "best" not in arrays:
        raise ModelError("its search is done, but has no weights")
