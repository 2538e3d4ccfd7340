"""Run compiled code, which releases the interpreter lock, in several threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from typing import TypeVar

Result = TypeVar("Result")


def run(n_threads: int, work: Callable[[int], Result], n_tasks: int) -> list[Result]:
    """Call a function for each number from 0 in several threads, including this one; return the results in order.

    If a call fails, no others are begun.
    """
    if n_threads <= 1 or n_tasks <= 1:
        return [work(number) for number in range(n_tasks)]
    results: dict[int, Result] = {}
    numbers = iter(range(n_tasks))  # each thread takes the next number when it has finished one

    def take() -> None:
        try:
            for number in numbers:
                results[number] = work(number)
        except BaseException:
            for _ in numbers:  # so that no thread begins another
                pass
            raise

    others = [_pool(n_threads - 1, os.getpid()).submit(take) for _ in range(n_threads - 1)]
    try:
        take()
    finally:
        begun = [other for other in others if not other.cancel()]  # threads that have not started yet are not needed
        wait(begun)
    for other in begun:
        other.result()
    return [results[number] for number in range(n_tasks)]


@lru_cache(maxsize=4)
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """Return a cached thread pool for this process: threads do not survive a fork."""
    return ThreadPoolExecutor(n_threads, f"hyperspan-{process}")
