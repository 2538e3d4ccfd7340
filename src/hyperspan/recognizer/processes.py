"""Finding mentions in several processes: units go there in batches, and what was found comes back in their order."""

from __future__ import annotations

import gc
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from hyperspan.mentions import Unit
from hyperspan.recognizer.model import batches

if TYPE_CHECKING:
    from hyperspan.recognizer.recognizer import Recognizer

Result = TypeVar("Result")

Work = Callable[["Recognizer", list[Unit]], Iterable[Result]]
"""Makes one result of each of some units. It is sent to other processes, so it must be a function of a module."""

_here: Recognizer | None = None


def in_processes(
    recognizer: Recognizer, work: Work[Result], units: Iterable[Unit], n_workers: int
) -> Iterator[tuple[Unit, Result]]:
    """Yield each unit with what is made of it; only a few batches are under way at a time."""
    under_way: deque[tuple[list[Unit], Future[list[Result]]]] = deque()
    with ProcessPoolExecutor(n_workers, initializer=_start, initargs=(recognizer,)) as pool:
        for batch in batches(units):
            under_way.append((batch, pool.submit(_work, work, batch)))
            if len(under_way) > 2 * n_workers:
                yield from _finished(*under_way.popleft())
        while under_way:
            yield from _finished(*under_way.popleft())


def _finished(batch: list[Unit], made: Future[list[Result]]) -> Iterator[tuple[Unit, Result]]:
    return zip(batch, made.result(), strict=True)


def _start(recognizer: Recognizer) -> None:
    global _here
    logging.getLogger("hyperspan").setLevel(logging.ERROR)  # warnings are given by the first process
    recognizer.extractor_.threads = 1
    gc.freeze()  # what is here from the beginning stays; going over it would copy it, where memory is shared
    _here = recognizer


def _work(work: Work[Result], units: list[Unit]) -> list[Result]:
    assert _here is not None
    return list(work(_here, units))
