"""Who may work, and for how long: requests take a place, and their work is done in pieces by a few threads.

The pieces of all requests stand in one line, first come first served, so that a long document does not keep a sentence
waiting for longer than its next piece takes. The compiled code gives up the interpreter's lock, so that as many pieces
run side by side as there are threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, TypeVar

from hyperspan.server.errors import too_many, too_slow
from hyperspan.server.limits import Limits

Args = ParamSpec("Args")
Result = TypeVar("Result")


class Executor:
    """Hands out places, and runs pieces of work in threads.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.threads, "hyperspan-server")
        self.n_under_way = 0

    def check_room(self) -> None:
        """Refuse a request, if all places are taken.

        Raises
        ------
        ApiError
            With status 503.
        """
        if self.n_under_way >= self._limits.places:
            raise too_many(self._limits.places)

    def slot(self) -> Slot:
        """Return a place for one request, or refuse it as `check_room` does."""
        self.check_room()
        return Slot(self, self._limits.seconds)

    async def run(self, work: Callable[Args, Result], *args: Args.args, **kwargs: Args.kwargs) -> Result:
        """Run one piece of work in a thread; a piece whose request is gone before its turn is not run at all."""
        future = self._pool.submit(work, *args, **kwargs)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Drop what waits; what runs ends with its piece."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Slot:
    """A place for one request, from when it is accepted until its answer is sent, and the time it has.

    Leaving it twice does no harm.
    """

    def __init__(self, executor: Executor, seconds: float) -> None:
        self._executor = executor
        self._seconds = seconds
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._is_taken = True
        executor.n_under_way += 1

    async def run(self, work: Callable[Args, Result], *args: Args.args, **kwargs: Args.kwargs) -> Result:
        """Run one piece of work, within the time that is left.

        Raises
        ------
        ApiError
            With status 503, when the time is over.
        """
        return await self.in_time(self._executor.run(work, *args, **kwargs))

    async def in_time(self, what: Awaitable[Result]) -> Result:
        """Wait for something, within the time that is left."""
        try:
            async with asyncio.timeout_at(self._deadline):
                return await what
        except TimeoutError:
            raise too_slow(self._seconds) from None

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
