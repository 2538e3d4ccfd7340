"""Commands of ours without a process of their own, for tests that are not about processes."""

from __future__ import annotations

import io
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import pytest

from benchmarks.commands import HYPERSPAN, Usage
from hyperspan.cli import main


def run_here(*arguments: str) -> tuple[str, Usage]:
    """Do what `benchmarks.commands.run_python` does with a command of ours, in this process."""
    assert arguments[: len(HYPERSPAN)] == HYPERSPAN
    out, err = io.StringIO(), io.StringIO()
    wall, cpu = time.perf_counter(), time.process_time()
    words = ["hyperspan", *arguments[len(HYPERSPAN) :]]
    with (
        patch.object(sys, "argv", words),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main()
    assert not end.value.code, err.getvalue()
    return out.getvalue(), Usage(time.perf_counter() - wall, time.process_time() - cpu)
