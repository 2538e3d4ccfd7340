"""Work in several threads comes back in order, and so do its errors."""

from __future__ import annotations

import threading

import pytest

from hyperspan.threads import run


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_tasks", [0, 1, 3, 100])
def test_results_come_in_order(n_threads, n_tasks):
    assert run(n_threads, lambda number: number * number, n_tasks) == [number * number for number in range(n_tasks)]


def test_several_threads_work_at_the_same_time():
    together = threading.Barrier(2, timeout=30)  # nobody gets past it alone
    run(2, lambda number: together.wait(), 2)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_is_raised_when_all_have_stopped(n_threads):
    def work(number: int) -> int:
        if number == 7:
            raise ValueError("seven")
        return number

    with pytest.raises(ValueError, match="seven"):
        run(n_threads, work, 20)
    assert run(n_threads, abs, 5) == [0, 1, 2, 3, 4]


def test_no_work_is_begun_after_an_error_in_another_thread():
    here, n_done, has_failed = threading.get_ident(), 0, threading.Event()

    def work(number: int) -> None:
        nonlocal n_done
        if threading.get_ident() != here:
            has_failed.set()
            raise ValueError("not here")
        assert has_failed.wait(30)
        threading.Event().wait(0.5)  # until the error has left the other thread
        n_done += 1

    with pytest.raises(ValueError, match="not here"):
        run(2, work, 20)
    assert n_done == 1


def test_work_may_itself_be_cut_into_work():
    def work(number: int) -> list[int]:
        return run(2, lambda inner: number * inner, 4)

    assert run(2, work, 10) == [[number * inner for inner in range(4)] for number in range(10)]
