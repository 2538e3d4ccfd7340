"""Work in several threads: for compiled code, which lets others run beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import TypeVar

Result = TypeVar("Result")


def run(n_threads: int, work: Callable[[int], Result], n_tasks: int) -> list[Result]:
    """Call a function for every number from 0, in several threads, of which this is one, and return the results."""
    if n_threads <= 1 or n_tasks <= 1:
        return [work(number) for number in range(n_tasks)]
    results: dict[int, Result] = {}
    numbers = iter(range(n_tasks))  # each thread takes the next number when it is done with one

    def take() -> None:
        for number in numbers:
            results[number] = work(number)

    others = [_pool(n_threads - 1, os.getpid()).submit(take) for _ in range(n_threads - 1)]
    try:
        take()
    finally:
        for _ in numbers:  # there are some left only if this thread failed
            pass
        begun = [other for other in others if not other.cancel()]  # those that come too late need not come at all
        wait(begun)
    for other in begun:
        other.result()
    return [results[number] for number in range(n_tasks)]


@lru_cache(maxsize=4)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """Return threads that wait for work, always the same ones; they do not come along when a process forks."""
    return ThreadPoolExecutor(n_threads, f"hyperspan-{process}")
