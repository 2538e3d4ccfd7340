"""Work in several threads comes back in order, and so do its errors."""

from __future__ import annotations

import threading

import pytest

from hyperspan.learning.vectors import N_PIECES, run, run_pieces


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


def test_pieces_cover_everything_once():
    pieces = run_pieces(lambda begin, end: (begin, end), 1_000, n_threads=1)
    assert len(pieces) == N_PIECES
    assert [begin for begin, _ in pieces] == [0, *(end for _, end in pieces[:-1])]
    assert pieces[-1][1] == 1_000
