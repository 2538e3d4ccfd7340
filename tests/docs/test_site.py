"""The documentation as a site: every page is in it, nothing comes from another host, and search works from a folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("material", reason="MkDocs Material is not installed (make docs installs it)")
pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed (make docs installs it)")

ROOT = Path(__file__).parents[2]

QUESTIONS = (
    "howto/own-tags",
    "howto/high-precision",
    "howto/significance",
    "howto/feature-templates",
    "howto/own-format",
    "howto/own-scorer",
    "neural",
    "spacy",
    "scale",
    "select",
    "agreement",
)
"""The pages that answer the usual questions."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(ROOT / "mkdocs.yml"), "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_it(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= {path.relative_to(site) for path in site.rglob("*.html")}
    assert (site / "contributing.html").exists()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_one_click_from_the_start(site, question):
    assert f'href="{question}.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert (site / f"{question}.html").exists()


def test_nothing_is_loaded_from_another_host(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe|source)[^>]+src=[\"']?(?:https?:)?//", text), page
        assert not re.search(r"<link[^>]+rel=[\"']?(?:stylesheet|preconnect)[^>]+href=[\"']?(?:https?:)?//", text), page


def test_the_interface_of_public_modules_is_described(site):
    text = (site / "api" / "recognizer.html").read_text(encoding="utf-8")
    for name in ("Recognizer.fit", "Recognizer.predict", "Recognizer.threshold_"):
        assert f'id="hyperspan.recognizer.{name}"' in text


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (420, "dark")])
def test_search_works_from_a_folder(site, width, scheme):
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium")
    problems: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: request.url.startswith("http") and problems.append(request.url))
        page.goto((site / "index.html").as_uri())
        if width < 1000:
            page.locator(".md-header__button[for=__search]").click()
        page.locator("iframe[hidden]").wait_for(state="attached", timeout=30_000)  # the search runs in it
        page.locator("[data-md-component=search-query]").press_sequentially("threshold", delay=20)
        page.locator(".md-search-result__item").first.wait_for(timeout=30_000)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.evaluate("document.body.getAttribute('data-md-color-scheme')") == (
            "slate" if scheme == "dark" else "default"
        )
        browser.close()
    assert not problems
