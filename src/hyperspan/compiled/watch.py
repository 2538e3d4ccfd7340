"""Measure compile time: users pay it once, so it is reported when it happens and left out of estimates.

Numba compiles a kernel when it is first called on a machine, and caches it on disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from numba.core import event


class CompileWatch(event.Listener):
    """Measures the time of compiling, and reports once that it begins.

    Attributes
    ----------
    seconds : float
        The total compile time since the watch began, in all threads.
    tell : callable, optional
        Called without arguments when the first kernel is compiled.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.tell: Callable[[], None] | None = None
        self._begun: list[float] = []

    def on_start(self, event: Any) -> None:
        """Record when a kernel's compilation begins; the kernels that it calls are compiled within."""
        self._begun.append(time.perf_counter())
        if self.tell is not None:
            tell, self.tell = self.tell, None
            tell()

    def on_end(self, event: Any) -> None:
        """Count the compile time of an outermost kernel."""
        begun = self._begun.pop()
        if not self._begun:
            self.seconds += time.perf_counter() - begun


@lru_cache(maxsize=1)
def compile_watch() -> CompileWatch:
    """Return the watch of this process, which begins with the first call."""
    watch = CompileWatch()
    event.register("numba:compile", watch)
    return watch
