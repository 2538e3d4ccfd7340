"""Execute requests: each takes a slot, and its work is done in pieces by a few processes.

The pieces of all requests are in one queue, first come, first served, so that a long document delays a sentence by at
most one piece. Work that exceeds its time is terminated: see `hyperspan.server.workers`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any

from hyperspan.errors import HyperspanError
from hyperspan.server.errors import ApiError, broken, too_large_for_memory, too_many, too_slow
from hyperspan.server.limits import Limits
from hyperspan.server.workers import CAN_FORK, ForkServer, Worker, WorkerDiedError

_log = logging.getLogger(__name__)


class Executor:
    """Assigns slots to requests, and runs pieces of work.

    Parameters
    ----------
    limits : Limits
    context : object
        The first argument of every piece of work: the models.
    prepare : callable, optional
        Called once before the first piece of work; all workers share what it loads and compiles.
    """

    def __init__(self, limits: Limits, context: object = None, prepare: Callable[[], object] | None = None) -> None:
        self._limits = limits
        self._context = context
        self._prepare = prepare
        self._forks = ForkServer(context, limits.memory)
        self._threads = None if CAN_FORK else ThreadPoolExecutor(limits.threads, "hyperspan-server")
        self._n_workers = 0
        self._idle: list[Worker] = []
        self._line: deque[asyncio.Future[Worker]] = deque()
        self.n_under_way = 0

    def start(self) -> None:
        """Prepare everything, so that the first request need not wait."""
        prepare, self._prepare = self._prepare, None
        if prepare is not None:
            prepare()

    def check_room(self) -> None:
        """Raise an error if all slots are taken.

        Raises
        ------
        ApiError
            With status 503.
        """
        if self.n_under_way >= self._limits.places:
            raise too_many(self._limits.places)

    def slot(self, deadline: float | None = None) -> Slot:
        """Return a slot for one request, or raise an error as `check_room` does.

        Parameters
        ----------
        deadline : float, optional
            When it must be done, by the loop's clock; by default, now plus the time limit.
        """
        self.check_room()
        seconds = self._limits.seconds
        return Slot(self, seconds, asyncio.get_running_loop().time() + seconds if deadline is None else deadline)

    async def run(self, deadline: float, work: Callable[..., Any], *args: Any) -> Any:
        """Run one piece of work; if its request disappears before its turn, it is not started.

        Raises
        ------
        ApiError
            If the work failed or needed too much memory.
        WorkerDiedError
            If the worker was terminated.
        """
        self.start()
        loop = asyncio.get_running_loop()
        if self._threads is not None:
            return await loop.run_in_executor(self._threads, work, self._context, *args)
        worker = await self._take(loop)
        try:
            kind, value = await worker.ask(deadline - loop.time(), work, args)
        except BaseException:  # it has died, or will when its time is over: do not wait for it
            self._lose(worker)
            raise
        self._give_back(worker)
        return self._outcome(kind, value)

    def _outcome(self, kind: str, value: Any) -> Any:
        if kind == "result":
            return value
        if kind == "refused":
            raise ApiError(*value)
        if kind == "ours":
            raise HyperspanError(value)
        if kind == "memory":
            raise too_large_for_memory(self._limits.memory)
        _log.error("a piece of work broke: %s", value)
        raise broken()

    async def _take(self, loop: asyncio.AbstractEventLoop) -> Worker:
        """Wait for an idle worker."""
        if self._idle:
            return self._idle.pop()
        if self._n_workers < self._limits.threads:
            return self._new_worker()
        turn: asyncio.Future[Worker] = loop.create_future()
        self._line.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # a worker became free at the same moment
                self._give_back(turn.result())
            raise

    def _give_back(self, worker: Worker) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(worker)
                return
        self._idle.append(worker)

    def _new_worker(self) -> Worker:
        """Return a new worker, which counts only if it could be made: processes or open files may be exhausted."""
        worker = self._forks.worker()
        self._n_workers += 1
        return worker

    def _lose(self, worker: Worker) -> None:
        worker.close()
        self._n_workers -= 1
        if any(not turn.done() for turn in self._line):
            with suppress(OSError):  # the next request tries again
                self._give_back(self._new_worker())

    def close(self) -> None:
        """Drop waiting requests and terminate running work."""
        for turn in self._line:
            turn.cancel()
        self._line.clear()
        for worker in self._idle:
            worker.close()
        self._idle.clear()
        self._n_workers = 0
        self._forks.close()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)


class Slot:
    """A slot for one request, from its acceptance until its response is sent, with its deadline.

    It can safely be left twice.
    """

    def __init__(self, executor: Executor, seconds: float, deadline: float) -> None:
        self._executor = executor
        self._seconds = seconds
        self._deadline = deadline
        self._is_taken = True
        executor.n_under_way += 1

    async def run(self, work: Callable[..., Any], *args: Any) -> Any:
        """Run one piece of work within the remaining time.

        Parameters
        ----------
        work : callable
            A module-level function: it runs in another process, with the executor's context as its first argument.
        *args
            Plain data.

        Raises
        ------
        ApiError
            With status 503, if the time is over.
        """
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._executor.run(self._deadline, work, *args)
        except TimeoutError:
            raise too_slow(self._seconds) from None
        except WorkerDiedError:
            if asyncio.get_running_loop().time() > self._deadline - _CLOCK:
                raise too_slow(self._seconds) from None
            _log.error("a worker ended in the middle of its work; another one takes its place")
            raise broken() from None

    def leave(self) -> None:
        """Free the slot."""
        if self._is_taken:
            self._is_taken = False
            self._executor.n_under_way -= 1

    def __enter__(self) -> Slot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()


_CLOCK = 0.05
"""The maximum number of seconds by which the clocks of two processes may differ."""
