"""Checkpoints: a search for weights saved from time to time, so that training survives being killed."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperspan.errors import LearningError, ModelError
from hyperspan.learning import Search
from hyperspan.recognizer.model_file import read_arrays, write_arrays

PERIOD = 30.0
"""Seconds from one checkpoint to the next, at least."""

_log = logging.getLogger(__name__)


class Interrupted(LearningError):
    """Training was stopped before it was done."""

    def __init__(self, iteration: int) -> None:
        super().__init__(f"training was stopped after iteration {iteration}")
        self.iteration = iteration


class Checkpointer:
    """Saves a search from time to time, without spending more than a tenth of the time on it.

    Parameters
    ----------
    path : path, optional
        The file; nothing is saved without one.
    fingerprint : str
        Identifies data and settings: a checkpoint with another is refused.
    note : mapping
        Plain data to save beside the search: see `read_note`.
    """

    def __init__(self, path: str | Path | None, fingerprint: str, note: Mapping[str, Any] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.note = dict(note or {})
        self._next = time.monotonic() + PERIOD
        self._has_warned = False

    def load(self) -> Search | None:
        """Return the saved search if there is one, and if it is one with the same data and settings."""
        if self.path is None or not self.path.is_file():
            _log.warning("there is no checkpoint %s to resume from: starting from the beginning", self.path)
            return None
        data, arrays = read_arrays(self.path, "checkpoint")
        if data.get("fingerprint") != self.fingerprint:
            raise ModelError(
                f"{self.path} was made with other data or settings; resume with the same, or train without --resume"
            )
        return Search.of_arrays(data["search"], arrays)

    def save_in_time(self, search: Search) -> None:
        """Save, if the last time is long enough ago; a full disk is no reason to stop learning."""
        if self.path is None or time.monotonic() < self._next:
            return
        try:
            self.save(search)
        except ModelError as error:
            if not self._has_warned:
                _log.warning("%s. Training goes on without a checkpoint", error)
            self._has_warned = True
            self._next = time.monotonic() + PERIOD

    def save(self, search: Search) -> None:
        """Save now."""
        if self.path is None:
            return
        begin = time.monotonic()
        data, arrays = search.to_arrays()
        content = {"fingerprint": self.fingerprint, "note": self.note, "search": data}
        write_arrays(self.path, "checkpoint", content, arrays)
        now = time.monotonic()
        self._next = now + max(PERIOD, 10.0 * (now - begin))


def read_note(path: str | Path | None) -> dict[str, Any]:
    """Return what stands beside the search in a checkpoint; nothing if there is no such file."""
    if path is None or not Path(path).is_file():
        return {}
    note: dict[str, Any] = read_arrays(Path(path), "checkpoint")[0].get("note", {})
    return note
