"""Compiling is a cost that users pay once: it is told while it happens, and left out of estimates.

Numba compiles a kernel the first time it is called on a machine and keeps it on the disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from numba.core import event


class CompileWatch(event.Listener):
    """Adds up the time that compiling takes, and says once that it begins.

    Attributes
    ----------
    seconds : float
        How long kernels were compiled since the watch began, whichever thread did it.
    tell : callable, optional
        Called without arguments when the first kernel is compiled.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.tell: Callable[[], None] | None = None
        self._begun: list[float] = []

    def on_start(self, event: Any) -> None:
        """Note when a kernel begins; those that it calls are compiled meanwhile."""
        self._begun.append(time.perf_counter())
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell()

    def on_end(self, event: Any) -> None:
        """Count the time of a kernel that no other called."""
        begun = self._begun.pop()
        if not self._begun:
            self.seconds += time.perf_counter() - begun


@lru_cache(maxsize=1)
def compile_watch() -> CompileWatch:
    """Return the watch of this process, which begins when it is first asked for."""
    watch = CompileWatch()
    event.register("numba:compile", watch)
    return watch
