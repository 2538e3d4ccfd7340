"""Places, turns and time: nobody waits for a stranger's long text, and nothing that was given up stays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from hyperspan.server import Limits
from hyperspan.server.refusals import Refused
from hyperspan.server.work import Work


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
        work = Work(Limits(threads=1))
        with work.place() as place:
            with pytest.raises(KeyError, match="no such word"):
                await place.run({}.__getitem__, "no such word")
            return await place.run(len, "abc")

    assert asyncio.run(ask()) == 3


def test_a_full_house_is_said_at_once_and_places_come_back():
    async def ask() -> None:
        work = Work(Limits(threads=1, queue=1))
        first, second = work.place(), work.place()
        with pytest.raises(Refused, match="2 requests are under way, as many as are taken at a time") as refused:
            work.place()
        assert refused.value.status_code == 503
        assert refused.value.headers == {"Retry-After": "1"}
        first.leave()
        first.leave()
        assert work.n_under_way == 1
        with work.place():
            assert work.n_under_way == 2
        second.leave()
        assert work.n_under_way == 0

    asyncio.run(ask())


def test_what_takes_too_long_is_given_up(gate):
    async def ask() -> None:
        work = Work(Limits(threads=1, seconds=0.05))
        expected = pytest.raises(Refused, match=r"not done within 0\.05 seconds and was given up")
        with work.place() as place, expected as refused:
            await place.run(gate)
        assert refused.value.status_code == 503
        assert work.n_under_way == 0
        gate.may_end.set()
        with work.place() as place:
            assert await place.run(len, "ab") == 2

    asyncio.run(ask())


def test_the_time_is_that_of_the_request_not_of_its_pieces():
    n_done = 0

    async def ask() -> None:
        nonlocal n_done
        with Work(Limits(threads=1, seconds=0.2)).place() as place:
            while n_done < 1000:
                await place.run(threading.Event().wait, 0.02)
                n_done += 1

    with pytest.raises(Refused, match=r"not done within 0\.2 seconds"):
        asyncio.run(ask())
    assert n_done < 20


def test_what_was_cancelled_before_its_turn_never_runs(gate):
    async def ask() -> list[str]:
        work = Work(Limits(threads=1))
        ran: list[str] = []
        running = asyncio.create_task(work.run(gate))
        await begun(gate)
        waiting = asyncio.create_task(work.run(ran.append, "cancelled"))
        after = asyncio.create_task(work.run(ran.append, "kept"))
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
        work = Work(Limits(threads=1))
        done: list[str] = []

        async def long() -> None:
            with work.place() as place:
                for piece in range(50):
                    await place.run(done.append, f"long {piece}")

        async def short() -> None:
            while len(done) < 3:
                await asyncio.sleep(0)
            with work.place() as place:
                await place.run(done.append, "short")

        await asyncio.gather(long(), short())
        return done

    done = asyncio.run(ask())
    assert len(done) == 51
    assert done.index("short") < 40


def test_closing_drops_what_waits(gate):
    async def ask() -> None:
        work = Work(Limits(threads=1))
        running = asyncio.create_task(work.run(gate))
        await begun(gate)
        waiting = asyncio.create_task(work.run(len, "ab"))
        await asyncio.sleep(0)
        work.close()
        gate.may_end.set()
        assert await running == "done"
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(ask())
