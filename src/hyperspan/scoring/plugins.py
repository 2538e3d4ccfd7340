"""Scorers of other packages: found by name among installed packages, and loaded on demand."""

from __future__ import annotations

GROUP = "hyperspan.scorers"
"""The group of entry points. Each names a scorer and the module whose import registers it."""


def load_plugin(name: str) -> None:
    """Import the module that registers a scorer, if an installed package names one."""
    from importlib.metadata import entry_points  # imported here, since it is slow to load

    for entry in entry_points(group=GROUP, name=name):
        entry.load()
