"""The machine, package versions and date that measurements depend on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "numba")


def environment(packages: Sequence[str] = PACKAGES) -> dict[str, Any]:
    """Return the date, the machine, and the versions of Python, hyperspan and the given packages."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "versions": {
            "hyperspan": version_of("hyperspan"),
            "python": platform.python_version(),
            **{name: version_of(name) for name in packages},
        },
    }


def version_of(package: str) -> str | None:
    """Return the version of a package, or None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cpu_name() -> str:
    """Return the processor's name, if the system reveals it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
