"""The command line in processes of its own: how long it takes, with compiled code in the cache and without."""

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

HYPERSPAN = ("-c", "from hyperspan.cli import main; main()")
"""What runs the command line, after the name of an interpreter."""

TEXT = "Left and right kidneys are enlarged.\n"

FIRST_ITERATIONS = 5
"""How long the first training of a user goes on: compiling is what takes its time."""

_CACHE = "NUMBA_CACHE_DIR"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process took: seconds of the clock on the wall, and of all processors together."""

    wall: float
    cpu: float


def run_python(
    *arguments: str, python: str = sys.executable, text: str = "", environment: Mapping[str, str] | None = None
) -> tuple[str, Usage]:
    """Run an interpreter; return what it printed, and what it took.

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
    """Run a command of ours, and return what it took."""
    return run_python(*HYPERSPAN, *arguments, python=python, text=text, environment=environment)[1]


@contextmanager
def empty_cache() -> Iterator[dict[str, str]]:
    """Yield the environment in which nothing has been compiled yet; what is, is kept until the end."""
    with tempfile.TemporaryDirectory() as folder:
        yield {_CACHE: folder}


def first_starts(commands: Mapping[str, Sequence[str]], python: str = sys.executable) -> dict[str, dict[str, Usage]]:
    """Run each command with an empty cache of compiled code, then once more with what the first run left there.

    Returns
    -------
    dict of str to dict of str to Usage
        For each command what it took ``cold`` and ``warm``.
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
    """Return what a user does first: predict one sentence, and train on a small corpus."""
    return {
        "predict": ["predict", str(model), "-"],
        "train": [
            *("train", str(corpus), "-o", str(corpus.with_name("first.model"))),
            *("--max-iterations", str(FIRST_ITERATIONS), "--threads", str(threads)),
        ],
    }
