"""What readers do with the page, in one line each."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (pip install playwright)")
pytest.importorskip("fastapi", reason="FastAPI is not installed (the extra 'serve')")
pytest.importorskip("uvicorn", reason="uvicorn is not installed (the extra 'serve')")

from playwright.sync_api import Page, expect

TONGUE = "The patient had blood in his mouth and on his tongue, pupils were pinpoint and reactive."

_COUNTED = re.compile(r"^[\d,]+ mentions? in [\d,]+ sentences?\.$")
_DRAWN = re.compile(r"\bdrawn\b")


def find(page: Page, text: str) -> None:
    """Type a text and wait until all of it has been read."""
    page.locator("#text").fill(text)
    page.locator("#find").click()
    wait(page)


def wait(page: Page) -> None:
    """Wait until nothing is under way and the sentences in the window are drawn."""
    expect(page.locator("#results")).to_be_visible()
    expect(page.locator("#stop")).to_be_hidden()
    expect(page.locator("#count")).to_have_text(_COUNTED)
    expect(page.locator(".sentence").first).to_have_class(_DRAWN)


def labels(page: Page, within: str = "") -> list[str]:
    """Return the labels of the mentions that are drawn."""
    return page.locator(f"{within} button.label").all_inner_texts()


def set_threshold(page: Page, value: float) -> None:
    """Move the slider, and wait until what it changes is drawn."""
    page.locator("#threshold").fill(f"{value:.2f}")
    next_frame(page)


def next_frame(page: Page) -> None:
    """Wait until the page has been drawn anew."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def give_files(page: Page, files: dict[str, str | bytes]) -> None:
    """Choose files in the dialogue."""
    page.locator("#file").set_input_files(
        [
            {
                "name": name,
                "mimeType": "text/plain",
                "buffer": content if isinstance(content, bytes) else content.encode(),
            }
            for name, content in files.items()
        ]
    )


def drop_files(page: Page, files: dict[str, str]) -> None:
    """Drop files on the page."""
    transfer = page.evaluate_handle(
        "(files) => { const transfer = new DataTransfer();"
        " for (const [name, text] of Object.entries(files)) transfer.items.add(new File([text], name));"
        " return transfer; }",
        files,
    )
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event("body", event, {"dataTransfer": transfer})


def call(page: Page, module: str, expression: str, argument: Any = None) -> Any:
    """Evaluate an expression over a module of the page, named ``it``, and an argument, named ``given``."""
    return page.evaluate(
        f"async (given) => {{ const it = await import('/static/{module}'); return {expression}; }}",
        json.loads(json.dumps(argument)),
    )
