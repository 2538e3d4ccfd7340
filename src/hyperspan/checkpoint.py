"""Checkpoints: a search for weights saved from time to time, so that training survives being killed."""

from __future__ import annotations

import time
from pathlib import Path

from hyperspan.errors import LearningError, ModelError
from hyperspan.learning import Search
from hyperspan.model_file import read_arrays, write_arrays

PERIOD = 30.0
"""Seconds from one checkpoint to the next, at least."""


class Interrupted(LearningError):
    """Training was stopped before it was done."""

    def __init__(self, iteration: int) -> None:
        super().__init__(f"training was stopped after iteration {iteration}")
        self.iteration = iteration


class Keeper:
    """Saves a search from time to time, without spending more than a tenth of the time on it."""

    def __init__(self, path: str | Path | None, fingerprint: str) -> None:
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self._next = time.monotonic() + PERIOD

    def load(self) -> Search:
        """Return the saved search, if it is one with the same data and settings."""
        if self.path is None or not self.path.is_file():
            raise ModelError(f"there is no checkpoint {str(self.path)!r} to resume from; train without --resume")
        data, arrays = read_arrays(self.path, "checkpoint")
        if data["fingerprint"] != self.fingerprint:
            raise ModelError(
                f"{self.path} was made with other data or settings; resume with the same, or train without --resume"
            )
        return Search.of_arrays(data["search"], arrays)

    def save_in_time(self, search: Search) -> None:
        """Save, if the last time is long enough ago."""
        if self.path is not None and time.monotonic() >= self._next:
            self.save(search)

    def save(self, search: Search) -> None:
        """Save now."""
        if self.path is None:
            return
        begin = time.monotonic()
        data, arrays = search.to_arrays()
        write_arrays(self.path, "checkpoint", {"fingerprint": self.fingerprint, "search": data}, arrays)
        now = time.monotonic()
        self._next = now + max(PERIOD, 10.0 * (now - begin))

    def remove(self) -> None:
        """Remove the checkpoint: the search is done."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
