"""Places, turns and time: nobody waits for a stranger's long text, and nothing that was given up goes on."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperspan.errors import HyperspanError
from hyperspan.server import Limits
from hyperspan.server.errors import ApiError
from hyperspan.server.executor import Executor
from hyperspan.server.workers import CAN_FORK

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="work is done in threads here, which cannot be ended")


SLACK = 20.0
"""Seconds that a busy machine may take for what takes none; what is not ended takes far longer."""


@contextmanager
def opened(context: object = None, **limits: Any) -> Iterator[Executor]:
    executor = Executor(Limits(**limits), context)
    try:
        yield executor
    finally:
        executor.close()


# Pieces of work: functions of a module, which get the context first.


def length(context: object, text: str) -> int:
    return len(text)


def fail(context: object, error: Exception) -> None:
    raise error


def append(context: Path, line: str) -> None:
    with open(context, "a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def sleep(context: object, seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def spin(context: Path) -> None:
    context.write_text(str(os.getpid()))
    while True:  # the interpreter's lock is never given up for long, nor is a signal's handler ever called
        sum(range(10_000_000))


def grow(context: object, n_bytes: int) -> int:
    return int(np.ones(n_bytes, dtype=np.uint8).sum())


def die(context: object) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def test_results_and_errors_come_back():
    async def ask(executor: Executor) -> int:
        with executor.slot() as slot:
            with pytest.raises(HyperspanError, match=r"^no such type$"):
                await slot.run(fail, HyperspanError("no such type"))
            with pytest.raises(ApiError, match="too long") as refused:
                await slot.run(fail, ValueError("secret") and _Refusal())
            assert (refused.value.status_code, refused.value.details) == (422, ["word 1"])
            with pytest.raises(ApiError, match="something went wrong on our side") as broken:
                await slot.run(fail, ValueError("secret"))
            assert broken.value.status_code == 500
            return await slot.run(length, "abc")

    with opened(threads=1) as executor:
        assert asyncio.run(ask(executor)) == 3


class _Refusal(ApiError):
    def __init__(self) -> None:
        super().__init__(422, "too long", ["word 1"])


def test_what_goes_wrong_on_our_side_is_in_the_log(caplog):
    async def ask(executor: Executor) -> None:
        with executor.slot() as slot:
            await slot.run(fail, ValueError("what nobody thought of"))

    with opened(threads=1) as executor, pytest.raises(ApiError):
        asyncio.run(ask(executor))
    assert "ValueError: what nobody thought of" in caplog.text


def test_a_full_house_is_said_at_once_and_places_come_back():
    async def ask(executor: Executor) -> None:
        first, second = executor.slot(), executor.slot()
        with pytest.raises(ApiError, match="2 requests are in progress, the maximum at a time") as refused:
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

    with opened(threads=1, queue=1) as executor:
        asyncio.run(ask(executor))


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def assert_ends(process: int) -> None:
    end = time.monotonic() + SLACK
    while is_alive(process):
        assert time.monotonic() < end, "it is still there"
        time.sleep(0.01)


def test_what_takes_too_long_is_ended(tmp_path):
    async def ask(executor: Executor) -> None:
        begin = time.monotonic()
        expected = pytest.raises(ApiError, match=r"not done within 0\.5 seconds and was given up")
        with executor.slot() as slot, expected as refused:
            await slot.run(spin)
        assert time.monotonic() - begin < 0.5 + SLACK
        assert refused.value.status_code == 503
        assert executor.n_under_way == 0
        with executor.slot() as slot:
            assert await slot.run(length, "ab") == 2, "another worker has taken its place"

    with opened(tmp_path / "process", threads=1, seconds=0.5) as executor:
        asyncio.run(ask(executor))
        assert_ends(int((tmp_path / "process").read_text()))


def test_the_time_is_that_of_the_request_not_of_its_pieces():
    n_done = 0

    async def ask(executor: Executor) -> None:
        nonlocal n_done
        with executor.slot() as slot:
            while n_done < 1000:
                await slot.run(sleep, 0.1)
                n_done += 1

    with opened(threads=1, seconds=3) as executor, pytest.raises(ApiError, match="not done within 3 seconds"):
        asyncio.run(ask(executor))
    assert 0 < n_done <= 30


def test_the_time_may_have_begun_before_the_place_was_taken(tmp_path):
    async def ask(executor: Executor) -> None:
        with executor.slot(asyncio.get_running_loop().time() + 0.2) as slot:
            await slot.run(spin)

    begin = time.monotonic()
    with (
        opened(tmp_path / "process", threads=1, seconds=500) as executor,
        pytest.raises(ApiError, match="not done within 500 seconds"),
    ):
        asyncio.run(ask(executor))
    assert time.monotonic() - begin < SLACK


def test_what_was_cancelled_before_its_turn_never_runs(tmp_path):
    async def ask(executor: Executor) -> None:
        slot = executor.slot()
        running = asyncio.create_task(slot.run(sleep, 0.3))
        await asyncio.sleep(0.05)
        waiting = asyncio.create_task(slot.run(append, "cancelled"))
        after = asyncio.create_task(slot.run(append, "kept"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await running
        await after

    with opened(tmp_path / "lines", threads=1) as executor:
        asyncio.run(ask(executor))
    assert (tmp_path / "lines").read_text() == "kept\n"


def test_a_long_text_does_not_keep_a_sentence_waiting(tmp_path):
    async def ask(executor: Executor) -> None:
        async def long() -> None:
            with executor.slot() as slot:
                for piece in range(50):
                    await slot.run(append, f"long {piece}")

        async def short() -> None:
            await asyncio.sleep(0)
            with executor.slot() as slot:
                await slot.run(append, "short")

        await asyncio.gather(long(), short())

    with opened(tmp_path / "lines", threads=1) as executor:
        asyncio.run(ask(executor))
    done = (tmp_path / "lines").read_text().splitlines()
    assert len(done) == 51
    assert done.index("short") < 5


def test_as_many_run_at_a_time_as_there_are_workers():
    async def ask(executor: Executor) -> list[int]:
        with executor.slot() as slot:
            return await asyncio.gather(*(slot.run(sleep, 0.3) for _ in range(6)))

    with opened(threads=3) as executor:
        begin = time.monotonic()
        processes = asyncio.run(ask(executor))
        assert time.monotonic() - begin >= 0.6, "there were more than three"
    assert len(set(processes)) == 3


def test_memory_is_bounded():
    async def ask(executor: Executor) -> None:
        with executor.slot() as slot:
            with pytest.raises(ApiError, match="takes more than 300 MB and was given up") as refused:
                await slot.run(grow, 500_000_000)
            assert refused.value.status_code == 503
            assert await slot.run(grow, 100_000_000) == 100_000_000

    with opened(threads=1, memory=300_000_000) as executor:
        asyncio.run(ask(executor))


def test_a_worker_that_breaks_is_replaced(caplog):
    async def ask(executor: Executor) -> None:
        with executor.slot() as slot:
            with pytest.raises(ApiError, match="something went wrong on our side"):
                await slot.run(die)
            assert await slot.run(length, "ab") == 2
        with executor.slot() as slot:
            outcomes = await asyncio.gather(
                slot.run(die), slot.run(length, "a"), slot.run(die), slot.run(length, "ab"), return_exceptions=True
            )
            assert outcomes[1::2] == [1, 2]

    with opened(threads=1) as executor:
        asyncio.run(ask(executor))
    assert "a worker ended in the middle of its work" in caplog.text


def test_a_worker_that_cannot_be_made_now_can_be_made_later(monkeypatch):
    async def ask(executor: Executor) -> None:
        with executor.slot() as slot:
            with monkeypatch.context() as exhausted:
                exhausted.setattr(executor._forks, "worker", no_worker)
                for _ in range(3):
                    with pytest.raises(OSError, match="too many open files"):
                        await slot.run(length, "ab")
            assert await slot.run(length, "ab") == 2
            with monkeypatch.context() as exhausted:
                exhausted.setattr(executor._forks, "worker", no_worker)
                broken, waiting = asyncio.create_task(slot.run(die)), asyncio.create_task(slot.run(length, "abc"))
                with pytest.raises(ApiError, match="something went wrong on our side"):
                    await broken
            assert await slot.run(length, "ab") == 2
            assert await waiting == 3

    def no_worker() -> None:
        raise OSError("too many open files")

    with opened(threads=1, seconds=5) as executor:
        asyncio.run(ask(executor))


def test_closing_ends_what_runs_and_drops_what_waits():
    async def ask(executor: Executor) -> int:
        with executor.slot() as slot:
            process = await slot.run(sleep, 0)
            running = asyncio.create_task(slot.run(sleep, 500))
            waiting = asyncio.create_task(slot.run(length, "ab"))
            await asyncio.sleep(0.1)
            executor.close()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            with pytest.raises(ApiError):
                await running
            return process

    with opened(threads=1, seconds=500) as executor:
        assert_ends(asyncio.run(ask(executor)))


def test_an_executor_that_is_forgotten_leaves_no_process():
    async def ask(executor: Executor) -> int:
        with executor.slot() as slot:
            return await slot.run(sleep, 0)

    executor = Executor(Limits(threads=1))
    process = asyncio.run(ask(executor))
    assert is_alive(process)
    del executor
    gc.collect()
    assert_ends(process)


def test_workers_end_with_the_server(tmp_path):
    import subprocess
    import sys

    code = (
        "import asyncio, os, signal, time\n"
        "from hyperspan.server import Limits\n"
        "from hyperspan.server.executor import Executor\n"
        "def process(context): return os.getpid()\n"
        "executor = Executor(Limits(threads=1))\n"
        "async def ask():\n"
        "    with executor.slot() as slot: print(await slot.run(process), flush=True)\n"
        "asyncio.run(ask())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert_ends(int(done.stdout))


def test_workers_do_not_hold_what_the_server_has_open():
    import socket

    async def ask(executor: Executor, ours: socket.socket, theirs: socket.socket) -> bytes:
        with executor.slot() as slot:
            await slot.run(length, "")
            theirs.close()
            ours.settimeout(5)
            return ours.recv(1)

    ours, theirs = socket.socketpair()
    with opened(threads=1) as executor, ours:
        assert asyncio.run(ask(executor, ours, theirs)) == b"", "the other end is closed"
