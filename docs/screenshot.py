"""Take the picture of the page: ``python docs/screenshot.py`` trains the demo model, serves it and writes a PNG.

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

OUTPUT = Path(__file__).parent / "pictures" / "serve.png"

TEXT = """\
You saw dark or black material when you vomited.
The patient had blood in his mouth and on his tongue, pupils were pinpoint and reactive.
Infarctions, either water shed or embolic.
"""

WIDTH, HEIGHT = 1100, 900

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


def take(address: str, output: Path, *, scheme: str = "light") -> None:
    """Find mentions in a text, open a hypergraph, light a mention and take the picture."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
        page.goto(address)
        page.locator("#about dl").wait_for(state="attached")
        page.locator("#text").fill(TEXT)
        page.locator("#find").click()
        page.get_by_role("button", name="Hypergraph of sentence 3").click()
        page.locator(".figure svg").wait_for()
        figure = page.locator(".figure").bounding_box()
        if figure is None:
            raise SystemExit("the hypergraph was not drawn")
        page.set_viewport_size({"width": WIDTH, "height": round(figure["y"] + figure["height"] + 8)})
        page.locator(".sentence").nth(2).locator("button.label").first.hover()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=output)
        browser.close()


def main() -> None:
    """Take the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    parser.add_argument("--address")
    parser.add_argument("--scheme", choices=["light", "dark"], default="light")
    given = parser.parse_args()
    if given.address:
        take(given.address, given.output, scheme=given.scheme)
    else:
        with served() as address:
            take(address, given.output, scheme=given.scheme)
    print(f"wrote {given.output}, {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
