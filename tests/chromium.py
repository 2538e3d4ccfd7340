"""The browser that tests of pages drive."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The shell first: the same engine without a browser's own windows, which take two thirds of the work."""


def launch(playwright: Playwright) -> Browser:
    """Start Chromium, or skip the test where there is none."""
    path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"Chromium is not installed: looked for {', '.join(NAMES)}")
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
