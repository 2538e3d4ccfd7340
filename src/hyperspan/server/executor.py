"""Who may work, and for how long: requests take a place, and their work is done in pieces by a few processes.

The pieces of all requests stand in one line, first come first served, so that a long document does not keep a sentence
waiting for longer than its next piece takes. What is not done in time is ended: see `hyperspan.server.workers`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

from hyperspan.errors import HyperspanError
from hyperspan.server.errors import ApiError, broken, too_large_for_memory, too_many, too_slow
from hyperspan.server.limits import Limits
from hyperspan.server.workers import CAN_FORK, ForkServer, Worker, WorkerDiedError

_log = logging.getLogger(__name__)


class Executor:
    """Hands out places, and has pieces of work done.

    Parameters
    ----------
    limits : Limits
    context : object
        What every piece of work gets as its first argument: the models.
    prepare : callable, optional
        Called once before the first piece of work; what it loads and compiles is there in all workers.
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
        """Make everything ready, so that the first request need not wait for it."""
        prepare, self._prepare = self._prepare, None
        if prepare is not None:
            prepare()

    def check_room(self) -> None:
        """Refuse a request, if all places are taken.

        Raises
        ------
        ApiError
            With status 503.
        """
        if self.n_under_way >= self._limits.places:
            raise too_many(self._limits.places)

    def slot(self, deadline: float | None = None) -> Slot:
        """Return a place for one request, or refuse it as `check_room` does.

        Parameters
        ----------
        deadline : float, optional
            The time of the loop at which it must be done; as the limits say from now on, if not given.
        """
        self.check_room()
        seconds = self._limits.seconds
        return Slot(self, seconds, asyncio.get_running_loop().time() + seconds if deadline is None else deadline)

    async def run(self, deadline: float, work: Callable[..., Any], *args: Any) -> Any:
        """Have one piece of work done; one whose request is gone before its turn is not begun at all.

        Raises
        ------
        ApiError
            If the work was refused, took too much memory, or broke.
        WorkerDiedError
            If the worker was ended.
        """
        self.start()
        loop = asyncio.get_running_loop()
        if self._threads is not None:
            return await loop.run_in_executor(self._threads, work, self._context, *args)
        worker = await self._take(loop)
        try:
            kind, value = await worker.ask(deadline - loop.time(), work, args)
        except BaseException:  # it has died, or will when its time is over: nobody waits for that
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
        """Wait for a worker that has nothing to do."""
        if self._idle:
            return self._idle.pop()
        if self._n_workers < self._limits.threads:
            self._n_workers += 1
            return self._forks.worker()
        turn: asyncio.Future[Worker] = loop.create_future()
        self._line.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came at the very moment
                self._give_back(turn.result())
            raise

    def _give_back(self, worker: Worker) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(worker)
                return
        self._idle.append(worker)

    def _lose(self, worker: Worker) -> None:
        worker.close()
        if any(not turn.done() for turn in self._line):
            self._give_back(self._forks.worker())
        else:
            self._n_workers -= 1

    def close(self) -> None:
        """Drop what waits, and end what runs."""
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
    """A place for one request, from when it is accepted until its answer is sent, and the time it has.

    Leaving it twice does no harm.
    """

    def __init__(self, executor: Executor, seconds: float, deadline: float) -> None:
        self._executor = executor
        self._seconds = seconds
        self._deadline = deadline
        self._is_taken = True
        executor.n_under_way += 1

    async def run(self, work: Callable[..., Any], *args: Any) -> Any:
        """Have one piece of work done, within the time that is left.

        Parameters
        ----------
        work : callable
            A function of a module: it runs in another process, and gets the executor's context first.
        *args
            Plain data.

        Raises
        ------
        ApiError
            With status 503, when the time is over.
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
        """Give the place back."""
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
"""Seconds by which the clocks of two processes may seem to differ."""
