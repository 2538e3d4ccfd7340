"""Compiling is told once, and its time is kept apart."""

from __future__ import annotations

import numba
import pytest
from numba.core import config

from hyperspan.compiled.watch import CompileWatch, compile_watch

needs_compiler = pytest.mark.skipif(vars(config)["DISABLE_JIT"], reason="the compiler is off")


@needs_compiler
def test_the_first_kernel_is_told_and_all_of_them_are_timed():
    watch, told = compile_watch(), []
    watch.tell = lambda: told.append("compiling")
    before = watch.seconds

    @numba.njit
    def inner(number):
        return number + 1

    @numba.njit
    def outer(number):
        return inner(number) * 2

    assert outer(1) == 4
    first = watch.seconds - before
    assert first > 0.0
    assert outer(2) == 6  # is compiled already
    assert watch.seconds - before == first
    assert outer(2.0) == 6.0  # for another type it is compiled again, and not told any more
    assert watch.seconds - before > first
    assert told == ["compiling"]


def test_kernels_that_others_call_are_not_counted_twice(monkeypatch):
    times = iter([0.0, 1.0, 3.0, 7.0])
    monkeypatch.setattr("hyperspan.compiled.watch.time.perf_counter", lambda: next(times))
    watch = CompileWatch()
    watch.on_start(None)
    watch.on_start(None)
    watch.on_end(None)
    assert watch.seconds == 0.0
    watch.on_end(None)
    assert watch.seconds == 3.0


def test_there_is_one_watch():
    assert compile_watch() is compile_watch()
