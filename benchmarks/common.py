"""What the benchmarks share: taking turns, medians with their spread, and what the figures depend on."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def time_in_turn(
    variants: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Time all variants one after the other, several times over, after a round that does not count.

    Parameters
    ----------
    variants : mapping of str to callable
    rounds : int
    clock : callable
        ``time.perf_counter``, or ``time.thread_time`` for work on one thread of a machine that has other work too.
    """
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(rounds + 1):
        for name, run in variants.items():
            begin = clock()
            run()
            if turn:
                seconds[name].append(clock() - begin)
    return seconds


def spread(times: list[float], per: float = 1.0) -> dict[str, float]:
    """Return the median, least and most of some times, divided by something."""
    return {"median": statistics.median(times) / per, "least": min(times) / per, "most": max(times) / per}


def environment(*packages: str, threads: int) -> dict[str, Any]:
    """Return what the figures depend on: commit, processor, load, threads, versions, date."""
    git = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "commit": git.stdout.strip() or None,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "threads": threads,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "versions": {"python": platform.python_version(), **{name: version_of(name) for name in packages}},
    }


def version_of(package: str) -> str | None:
    """Return the version of an installed package, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cpu_name() -> str:
    """Return the processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def write_json(path: Path | None, report: Mapping[str, Any]) -> None:
    """Write a report, if a file was asked for."""
    if path:
        path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
