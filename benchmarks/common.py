"""What the scripts here share: what their figures depend on, and how they are written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperspan.bench import environment as environment_of


def environment(*packages: str, threads: int) -> dict[str, Any]:
    """Return what figures depend on: commit, processor, load, threads, versions, date."""
    return environment_of(threads, packages)


def write_json(path: Path | None, report: Mapping[str, Any]) -> None:
    """Write a report, if a file was asked for."""
    if path:
        path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
