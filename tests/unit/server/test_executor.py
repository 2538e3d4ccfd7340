"""Places, turns and time: nobody waits for a stranger's long text, and nothing that was given up stays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from hyperspan.server import Limits
from hyperspan.server.errors import ApiError
from hyperspan.server.executor import Executor


class Gate:
    """Work that takes until it is told to end."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> str:
        self.has_begun.set()
        assert self.may_end.wait(20)
        return "done"


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.may_end.set()


async def begun(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.has_begun.wait, 20)


def test_results_and_errors_come_back():
    async def ask() -> int:
        executor = Executor(Limits(threads=1))
        with executor.slot() as slot:
            with pytest.raises(KeyError, match="no such word"):
                await slot.run({}.__getitem__, "no such word")
            return await slot.run(len, "abc")

    assert asyncio.run(ask()) == 3


def test_a_full_house_is_said_at_once_and_places_come_back():
    async def ask() -> None:
        executor = Executor(Limits(threads=1, queue=1))
        first, second = executor.slot(), executor.slot()
        with pytest.raises(ApiError, match="2 requests are under way, as many as are taken at a time") as refused:
            executor.slot()
        assert refused.value.status_code == 503
        assert refused.value.headers == {"Retry-After": "1"}
        first.leave()
        first.leave()
        assert executor.n_under_way == 1
        with executor.slot():
            assert executor.n_under_way == 2
        second.leave()
        assert executor.n_under_way == 0

    asyncio.run(ask())


def test_what_takes_too_long_is_given_up(gate):
    async def ask() -> None:
        executor = Executor(Limits(threads=1, seconds=0.05))
        expected = pytest.raises(ApiError, match=r"not done within 0\.05 seconds and was given up")
        with executor.slot() as slot, expected as refused:
            await slot.run(gate)
        assert refused.value.status_code == 503
        assert executor.n_under_way == 0
        gate.may_end.set()
        with executor.slot() as slot:
            assert await slot.run(len, "ab") == 2

    asyncio.run(ask())


def test_the_time_is_that_of_the_request_not_of_its_pieces():
    n_done = 0

    async def ask() -> None:
        nonlocal n_done
        with Executor(Limits(threads=1, seconds=0.2)).slot() as slot:
            while n_done < 1000:
                await slot.run(threading.Event().wait, 0.02)
                n_done += 1

    with pytest.raises(ApiError, match=r"not done within 0\.2 seconds"):
        asyncio.run(ask())
    assert n_done < 20


def test_what_was_cancelled_before_its_turn_never_runs(gate):
    async def ask() -> list[str]:
        executor = Executor(Limits(threads=1))
        ran: list[str] = []
        running = asyncio.create_task(executor.run(gate))
        await begun(gate)
        waiting = asyncio.create_task(executor.run(ran.append, "cancelled"))
        after = asyncio.create_task(executor.run(ran.append, "kept"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.may_end.set()
        assert await running == "done"
        await after
        return ran

    assert asyncio.run(ask()) == ["kept"]


def test_a_long_text_does_not_keep_a_sentence_waiting():
    async def ask() -> list[str]:
        executor = Executor(Limits(threads=1))
        done: list[str] = []

        async def long() -> None:
            with executor.slot() as slot:
                for piece in range(50):
                    await slot.run(done.append, f"long {piece}")

        async def short() -> None:
            while len(done) < 3:
                await asyncio.sleep(0)
            with executor.slot() as slot:
                await slot.run(done.append, "short")

        await asyncio.gather(long(), short())
        return done

    done = asyncio.run(ask())
    assert len(done) == 51
    assert done.index("short") < 40


def test_closing_drops_what_waits(gate):
    async def ask() -> None:
        executor = Executor(Limits(threads=1))
        running = asyncio.create_task(executor.run(gate))
        await begun(gate)
        waiting = asyncio.create_task(executor.run(len, "ab"))
        await asyncio.sleep(0)
        executor.close()
        gate.may_end.set()
        assert await running == "done"
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(ask())
