"""Time the command line in separate processes, with and without compiled code in the cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Disagreement

HYPERSPAN = ("-m", "hyperspan")
"""The arguments that run the command line, after the interpreter."""

TEXT = "Left and right kidneys are enlarged.\n"

FIRST_ITERATIONS = 5
"""The iterations of a user's first training, where compiling takes most of the time."""

_CACHE = "NUMBA_CACHE_DIR"


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources of a process: seconds of wall time, and of CPU time on all cores."""

    wall: float
    cpu: float


def run_python(
    *arguments: str, python: str = sys.executable, text: str = "", environment: Mapping[str, str] | None = None
) -> tuple[str, Usage]:
    """Run an interpreter; return what it printed, and its resources.

    Raises
    ------
    Disagreement
        If it fails.

    Examples
    --------
    >>> printed, usage = run_python("-c", "print(input())", text="No fever.")
    >>> printed, usage.wall > 0
    ('No fever.\\n', True)
    """
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run(
        [python, *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    wall, after = time.perf_counter() - begin, os.times()
    if done.returncode:
        raise Disagreement(
            f"{' '.join(arguments)} ended with exit code {done.returncode}: {done.stderr.strip()[-500:]}"
        )
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, Usage(wall, cpu)


def run_hyperspan(
    *arguments: str, python: str = sys.executable, text: str = "", environment: Mapping[str, str] | None = None
) -> Usage:
    """Run a hyperspan command, and return its resources."""
    return run_python(*HYPERSPAN, *arguments, python=python, text=text, environment=environment)[1]


@contextmanager
def empty_cache() -> Iterator[dict[str, str]]:
    """Yield an environment with an empty cache of compiled code, which is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        yield {_CACHE: folder}


def first_starts(commands: Mapping[str, Sequence[str]], python: str = sys.executable) -> dict[str, dict[str, Usage]]:
    """Run each command with an empty cache of compiled code, and again with the cache that the first run has filled.

    Returns
    -------
    dict of str to dict of str to Usage
        The resources of each command, ``cold`` and ``warm``.
    """
    found = {}
    for name, arguments in commands.items():
        with empty_cache() as environment:
            found[name] = {
                state: run_hyperspan(*arguments, python=python, text=TEXT, environment=environment)
                for state in ("cold", "warm")
            }
    return found


def first_commands(model: Path, corpus: Path, threads: int) -> dict[str, list[str]]:
    """Return a user's first commands: predict one sentence, and train on a small corpus."""
    return {
        "predict": ["predict", str(model), "-"],
        "train": [
            *("train", str(corpus), "-o", str(corpus.with_name("first.model"))),
            *("--max-iterations", str(FIRST_ITERATIONS), "--threads", str(threads)),
        ],
    }
