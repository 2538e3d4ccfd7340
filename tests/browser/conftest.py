"""A real server on a free port and a real Chromium in front of it."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from browser.names import EVIL, EVIL_TYPES
from browser.views import opened
from chromium import launch
from examples import EXAMPLES, MOUTH
from hyperspan import Mention, Recognizer, Sentence
from hyperspan.corpora import demo

if TYPE_CHECKING:
    from playwright import sync_api

PATIENCE = 15_000
"""Milliseconds to wait for anything."""

_SERVE = "import sys; from hyperspan.cli import main; sys.argv[0] = 'hyperspan'; main()"
_WAITING_FOR_LINE = 120


def demo_model() -> Recognizer:
    """Train on a few sentences of the embedded corpus, and well enough on those that every reader knows."""
    sentences = [sentence for sentence in demo.generate(30, unit="sentences") if sentence.split == "train"]
    anatomy = [Mention("Anatomy", [(6, 7)]), Mention("Anatomy", [(10, 11)]), Mention("Anatomy", [(12, 13)])]
    known = [EXAMPLES[name] for name in ("laceration", "infarctions", "blood", "ethanol")]
    known.append(MOUTH.with_mentions([*MOUTH.mentions, *anatomy]))
    return Recognizer(max_iterations=30, n_threads=1).fit([*sentences, *known * 4])


def evil_model() -> Recognizer:
    """Train a model whose types are markup."""
    finding, drug = EVIL_TYPES
    sentences = [
        Sentence(["no", "fever", "with", "aspirin", "today"], [Mention(finding, [(1, 2)]), Mention(drug, [(3, 4)])]),
        Sentence(["pain", "and", "fever", "after", "aspirin"], [Mention(finding, [(2, 3)]), Mention(drug, [(4, 5)])]),
        Sentence(["<b>", "fever", "</b>", "and", "pain"], [Mention(finding, [(0, 3)])]),
        Sentence(["all", "is", "well"]),
    ]
    return Recognizer(max_iterations=20, n_threads=1, l2=0.01).fit(sentences * 3)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two model files, the second with a name and types that are markup."""
    folder = tmp_path_factory.mktemp("models")
    paths = [folder / "demo.model", folder / f"{EVIL}.model"]
    demo_model().save(paths[0])
    evil_model().save(paths[1])
    return paths


@pytest.fixture(scope="session")
def address(models: list[Path]) -> Iterator[str]:
    """The address of a running server."""
    command = [sys.executable, "-c", _SERVE, "serve", *map(str, models), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        told: list[str] = []
        patience = threading.Timer(_WAITING_FOR_LINE, process.kill)
        patience.start()
        found = None
        for line in process.stderr or ():
            told.append(line)
            if found := re.search(r"http://\S+", "".join(told)):
                break
        patience.cancel()
        if found is None:
            pytest.fail(f"the server did not start: {''.join(told)}")
        rest = threading.Thread(target=lambda: told.extend(process.stderr or ()), daemon=True)
        rest.start()
        yield found[0]
        process.terminate()
        assert process.wait(timeout=30) == 0, "".join(told)
        rest.join(timeout=5)
        assert "Traceback" not in "".join(told)


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    """Chromium; closed after each module, so that its event loop is in nobody's way."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = launch(playwright)
        yield launched
        launched.close()


@dataclass
class Watched:
    """A page, and whatever it should not have done."""

    page: sync_api.Page
    address: str
    complaints: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def watch(self) -> None:
        host = urlsplit(self.address).netloc
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda message: self._hear(message))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self._check(request.url, host))
        self.page.add_init_script(
            "window.boom = () => console.error('boom: markup was run');"
            "addEventListener('securitypolicyviolation', (event) =>"
            " console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));"
        )

    def _hear(self, message: sync_api.ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(text in message.text for text in self.allowed):
            self.complaints.append(f"console: {message.text}")

    def _check(self, url: str, host: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("blob", "data") and parts.netloc != host:
            self.complaints.append(f"request to another host: {url}")


class Pages:
    """Opens pages, and at the end holds them to what a page must never do."""

    def __init__(self, browser: sync_api.Browser, address: str) -> None:
        self._browser = browser
        self._address = address
        self._contexts: list[sync_api.BrowserContext] = []
        self._watched: list[Watched] = []

    def open(
        self,
        *,
        width: int = 1200,
        height: int = 900,
        allow: tuple[str, ...] = (),
        before: object = None,
        **options: object,
    ) -> sync_api.Page:
        """Open the page in a window of its own and wait until the model is known."""
        context = self._browser.new_context(viewport={"width": width, "height": height}, **options)
        self._contexts.append(context)
        watched = Watched(context.new_page(), self._address, allowed=list(allow))
        watched.watch()
        self._watched.append(watched)
        if before is not None:
            before(watched.page)
        watched.page.goto(self._address)
        watched.page.locator("#about dl").wait_for(state="attached")
        return watched.page

    def finish(self) -> None:
        """Close everything, and say what went wrong."""
        for context in self._contexts:
            context.close()
        complaints = [complaint for watched in self._watched for complaint in watched.complaints]
        assert not complaints


@pytest.fixture
def pages(browser: sync_api.Browser, address: str) -> Iterator[Pages]:
    """Open pages with `Pages.open`; a message on the console, a violated policy or a foreign request fails the test."""
    opened = Pages(browser, address)
    yield opened
    opened.finish()


@pytest.fixture
def page(pages: Pages, request: pytest.FixtureRequest) -> sync_api.Page:
    """The page in a window of common size, or in that of a view."""
    return opened(pages, request.param) if hasattr(request, "param") else pages.open()
