"""The documentation as a site: all pages are in it, fit a phone, load nothing from other hosts, and can be searched."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chromium import launch

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


def build(config: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run MkDocs as `make docs` does: without -q, under which strict mode sees no warnings."""
    command = [sys.executable, "-m", "mkdocs", "build", "-f", str(config), "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_a_broken_link_fails(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](gone.md)")
    validation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("validation:")[2].partition("nav:")[0]
    (tmp_path / "mkdocs.yml").write_text(f"site_name: broken\nstrict: true\nvalidation:{validation}")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 1
    assert "gone.md" in done.stderr


def test_every_page_is_in_it(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert pages <= {path.relative_to(site) for path in site.rglob("*.html")}
    assert (site / "contributing.html").exists()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_one_click_from_the_start(site, question):
    assert f'href="{question}.html"' in (site / "index.html").read_text(encoding="utf-8")
    assert (site / f"{question}.html").exists()


def test_a_page_shows_the_file_that_it_is_about(site):
    text = re.sub(r"<[^>]+>", "", (site / "howto" / "own-scorer.html").read_text(encoding="utf-8"))
    assert "class Memory:" in text
    assert "<!-- source" not in text


def test_code_in_a_table_has_no_backslash_before_a_bar(site):
    assert '<code class="option">--format svg|html|text</code>' in (site / "drawing.html").read_text(encoding="utf-8")


def test_short_code_with_an_option_stays_on_one_line(site):
    text = (site / "scale.html").read_text(encoding="utf-8")
    assert '<th><code class="option">--workers</code></th>' in text
    assert "<code>hyperspan predict notes.model notes/ -o note_nlp.csv</code>" in text


def test_nothing_is_loaded_from_another_host(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe|source)[^>]+src=[\"']?(?:https?:)?//", text), page
        assert not re.search(r"<link[^>]+rel=[\"']?(?:stylesheet|preconnect)[^>]+href=[\"']?(?:https?:)?//", text), page


def test_the_interface_of_public_modules_is_described(site):
    text = (site / "api" / "recognizer.html").read_text(encoding="utf-8")
    for name in ("Recognizer.fit", "Recognizer.predict", "Recognizer.threshold_"):
        assert f'id="hyperspan.recognizer.{name}"' in text


@pytest.mark.parametrize(
    ("parameter", "kind", "default"), [("batch_size", "int", "16"), ("local_files_only", "bool", "False")]
)
def test_parameters_described_together_have_their_own_defaults(site, parameter, kind, default):
    text = (site / "api" / "recognizer.html").read_text(encoding="utf-8")
    (row,) = re.findall(rf"<code>{parameter}</code>\s*</td>(.*?)</tr>", text, re.DOTALL)
    cells = re.findall(r"<td>\s*<code>(.*?)</code>\s*</td>", row, re.DOTALL)
    assert [re.sub(r"<[^>]+>", "", cell) for cell in cells] == [kind, default]


def test_every_public_name_is_described(site):
    listed = re.findall(
        r"\[`(hyperspan[\w.]*)`\]\((\w+)\.md\)", (ROOT / "docs/api/index.md").read_text(encoding="utf-8")
    )
    assert len(listed) == len(list((ROOT / "docs/api").glob("*.md"))) - 1
    missing = []
    for module, page in listed:
        text = (site / "api" / f"{page}.html").read_text(encoding="utf-8")
        # A function that is called like a module beside it is described under the module in which it is defined.
        missing += [
            f"{module}.{name}"
            for name in public_names(module)
            if not re.search(rf'id="{re.escape(module)}(\.[a-z_]+)*\.{name}"', text)
        ]
    assert missing == []


def public_names(module: str) -> list[str]:
    """Return what a module lists in `__all__`, without importing it."""
    path = ROOT / "src" / Path(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(node.value))
    return []


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (420, "dark")])
def test_search_works_from_a_folder(site, width, scheme):
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    problems: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = launch(playwright)
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


STICKING_OUT = """[...document.querySelectorAll(".md-content :is(table, pre, img)")].filter(element => {
    if (element.getBoundingClientRect().right <= screen.width) return false;
    for (let around = element.parentElement; !around.matches(".md-content"); around = around.parentElement)
        if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false;
    return getComputedStyle(element).overflowX == "visible";
}).map(element => element.outerHTML.slice(0, 80))"""
"""What is wider than the screen, and is in nothing that scrolls sideways."""


def test_pages_fit_a_phone_and_what_is_wide_scrolls(site):
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    problems: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True).new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: request.url.startswith("http") and problems.append(request.url))
        for path in sorted(site.rglob("*.html")):
            if path.name == "404.html":
                continue  # its links begin at the root of a server
            page.goto(path.as_uri())
            name = path.relative_to(site)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            assert page.evaluate(STICKING_OUT) == [], name
        page.goto((site / "results.html").as_uri())
        scrollers = page.locator(".md-typeset__scrollwrap")
        scrollers.first.wait_for()
        assert scrollers.evaluate_all("all => all.some(each => each.scrollWidth > each.clientWidth)")
        browser.close()
    assert not problems
