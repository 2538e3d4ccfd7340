"""Find mentions in several processes: units are sent in batches, and results return in their order."""

from __future__ import annotations

import gc
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from hyperspan.errors import WorkerError
from hyperspan.mentions import Unit
from hyperspan.recognizer.model import BATCH_WORDS, batches

if TYPE_CHECKING:
    from hyperspan.recognizer.recognizer import Recognizer

Result = TypeVar("Result")

Work = Callable[["Recognizer", list[Unit]], Iterable[Result]]
"""Makes one result from each unit. It is sent to other processes, so it must be a module-level function."""

_BATCH_WORDS = BATCH_WORDS // 2
"""Smaller than for one process, since processes wait for one another at the end."""

_MOST_UNDER_WAY = 8
"""How many batches per process may wait for a slow one."""

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Sentences and mentions form no reference cycles, so frequent garbage collection would waste time."""

_here: Recognizer | None = None


def in_processes(
    recognizer: Recognizer, work: Work[Result], units: Iterable[Unit], n_workers: int
) -> Iterator[tuple[Unit, Result]]:
    """Yield each unit with its result, in order; only a few batches are processed at a time.

    This process is one of the workers: instead of waiting, it processes batches that no other worker has started.

    Raises
    ------
    WorkerError
        If a worker was killed, for example because there was not enough memory.
    """
    pool = ProcessPoolExecutor(n_workers - 1, initializer=_start, initargs=(recognizer,))
    under_way: deque[tuple[list[Unit], Future[list[Result]]]] = deque()
    try:
        for batch in batches(units, _BATCH_WORDS, whole_documents=recognizer.reads_documents_):
            n_open = sum(not made.done() for _, made in under_way)
            made = pool.submit(_work, work, batch) if n_open < 2 * (n_workers - 1) else _done(work, recognizer, batch)
            under_way.append((batch, made))
            while under_way and (under_way[0][1].done() or len(under_way) > _MOST_UNDER_WAY * n_workers):
                yield from _finished(*under_way.popleft())
        while under_way:
            batch, made = under_way.popleft()
            yield from _finished(batch, _done(work, recognizer, batch) if made.cancel() else made)
    except BrokenExecutor:
        raise WorkerError(
            "a worker process was killed, perhaps because there was not enough memory; use fewer workers"
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _finished(batch: list[Unit], made: Future[list[Result]]) -> Iterator[tuple[Unit, Result]]:
    return zip(batch, made.result(), strict=True)


def _done(work: Work[Result], recognizer: Recognizer, batch: list[Unit]) -> Future[list[Result]]:
    made: Future[list[Result]] = Future()
    made.set_result(list(work(recognizer, batch)))
    return made


def _start(recognizer: Recognizer) -> None:
    global _here
    logging.getLogger("hyperspan").setLevel(logging.ERROR)  # the first process logs the warnings
    recognizer.scorer_.use_threads(1)
    gc.freeze()  # collecting objects inherited from the parent would copy shared memory
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    _here = recognizer


def _work(work: Work[Result], units: list[Unit]) -> list[Result]:
    assert _here is not None
    return list(work(_here, units))
