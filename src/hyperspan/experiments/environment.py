"""What the figures depend on: machine, versions, date."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import hyperspan

PACKAGES = ("numpy", "scipy", "numba")


def environment(seconds: float) -> dict[str, Any]:
    """Return what the figures of an experiment that took so long depend on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "seconds": round(seconds, 1),
        "versions": {
            "hyperspan": hyperspan.__version__,
            "python": platform.python_version(),
            **{name: version_of(name) for name in PACKAGES},
        },
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
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
