"""Take the pictures of the page: ``python docs/screenshot.py`` trains the demo model, serves it and writes PNGs.

Needs Playwright and Chromium. ``--address`` takes the picture of a server that runs already.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OUTPUT = Path(__file__).parent / "pictures"

TEXT = """\
You saw dark or black material when you vomited.
The patient had blood in his mouth and on his tongue, pupils were pinpoint and reactive.
Infarctions, either water shed or embolic.
"""

WIDTH, PHONE, HEIGHT, LOWEST = 1100, 420, 900, 1_700

_SERVE = "import sys; from hyperspan.cli import main; sys.argv[0] = 'hyperspan'; main()"


@contextmanager
def served() -> Iterator[str]:
    """Serve the demo model; gives the address."""
    command = [sys.executable, "-c", _SERVE, "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        told = ""
        for line in process.stderr or ():
            told += line
            if found := re.search(r"at (http://\S+)", told):
                break
        else:
            raise SystemExit(f"the server did not start:\n{told}")
        try:
            yield found[1]
        finally:
            process.terminate()


def take(address: str, output: Path, *, scheme: str = "light") -> list[Path]:
    """Take a picture of a mention with its reasons, one of a correction, and one of a phone."""
    from playwright.sync_api import sync_playwright

    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        pictures = [
            _why(_read(browser, address, WIDTH, scheme), output / "serve.png"),
            _corrected(_read(browser, address, WIDTH, scheme), output / "serve-correct.png"),
            _why(_read(browser, address, PHONE, "dark"), output / "serve-phone.png"),
        ]
        browser.close()
    return pictures


def _read(browser: Browser, address: str, width: int, scheme: str) -> Page:
    """Open the page and find mentions in a text."""
    page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    page.goto(address)
    page.locator("#about dl").wait_for(state="attached")
    page.locator("#text").fill(TEXT)
    page.locator("#find").click()
    page.locator(".sentence.drawn").nth(2).wait_for()
    return page


def _why(page: Page, path: Path) -> Path:
    page.locator(".sentence").nth(1).locator("button.label", has_text="Finding").first.click()
    page.locator(".panel .alternatives").wait_for()
    return _shoot(page, path)


def _corrected(page: Page, path: Path) -> Path:
    first, second = page.locator(".sentence").first, page.locator(".sentence").nth(1)
    for item in (first, second):
        for label in range(item.locator("button.label").count()):
            item.locator("button.label").nth(label).focus()
            page.keyboard.press("a")
    second.get_by_role("button", name="Add a mention").click()
    for word in ("pupils", "pinpoint"):
        page.locator(".switch-word", has_text=word).click()
    page.locator(".panel select").select_option("Finding")
    return _shoot(page, path)


def _shoot(page: Page, path: Path) -> Path:
    """Take the picture down to the end of what is opened."""
    page.evaluate("scrollTo(0, 0)")
    box = page.locator(".panel").bounding_box()
    assert box is not None
    width = page.viewport_size["width"] if page.viewport_size else WIDTH
    height = min(LOWEST, round(box["y"] + box["height"] + 24))
    page.set_viewport_size({"width": width, "height": height})
    page.mouse.move(0, 0)
    page.screenshot(path=path)
    page.close()
    return path


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT, help="The folder.")
    parser.add_argument("--address")
    parser.add_argument("--scheme", choices=["light", "dark"], default="light")
    given = parser.parse_args()
    if given.address:
        pictures = take(given.address, given.output, scheme=given.scheme)
    else:
        with served() as address:
            pictures = take(address, given.output, scheme=given.scheme)
    for path in pictures:
        print(f"wrote {path}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
