"""Scorers that other packages bring: found by name among installed packages, and loaded when they are asked for."""

from __future__ import annotations

GROUP = "hyperspan.scorers"
"""The group of entry points: each names a scorer and the module that registers it when it is imported."""


def load_plugin(name: str) -> None:
    """Import the module that registers a scorer, if an installed package names one; else do nothing."""
    from importlib.metadata import entry_points  # here, since it is slow to load

    for entry in entry_points(group=GROUP, name=name):
        entry.load()
