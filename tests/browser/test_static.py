"""The files of the page, looked at without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hyperspan
from hyperspan.render import html_style
from hyperspan.render.picture import svg_style

STATIC = Path(hyperspan.__file__).parent / "server" / "static"
FILES = sorted(STATIC.iterdir())
STYLES = [path for path in FILES if path.suffix == ".css"]


class Reader(HTMLParser):
    """Notes elements with their attributes, and text inside scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in ("script", "style") and data.strip():
            self.scripts.append(data)


@pytest.fixture(scope="module")
def index() -> Reader:
    reader = Reader()
    reader.feed((STATIC / "index.html").read_text(encoding="utf-8"))
    return reader


def test_the_page_has_no_script_style_or_handler_of_its_own(index):
    assert [tag for tag, _ in index.elements].count("script") == 1
    assert not index.scripts
    names = {name for _, attributes in index.elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name == "style"}


def test_all_that_the_page_asks_for_is_there(index):
    wanted = [
        value
        for tag, attributes in index.elements
        for name, value in attributes.items()
        if name in ("src", "href") and tag != "a"
    ]
    assert wanted
    for path in wanted:
        assert path.startswith("static/"), "everything comes from this server"
        assert path == "static/render.css" or (STATIC / path.removeprefix("static/")).is_file()


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".js"], ids=lambda path: path.name)
def test_modules_import_what_is_there_and_read_no_markup(path):
    code = path.read_text(encoding="utf-8")
    assert code.startswith("/**"), "says what it is"
    imported = re.findall(r'from "([^"]+)"', code)
    for name in imported:
        assert (STATIC / name).is_file()
        (names,) = re.findall(rf'import ([^;]*?) from "{re.escape(name)}"', code)
        for each in re.findall(r"\b(\w+)\b", names) if "{" in names else []:
            exported = rf"export (async )?(function\*?|const|class) {each}\b"
            assert re.search(exported, (STATIC / name).read_text(encoding="utf-8")), f"{name} has no {each}"
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|localStorage", code
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_names_another_host(path):
    hosts = set(re.findall(r"https?://[^\s\"'<>)]+", path.read_text(encoding="utf-8")))
    assert hosts <= {"http://www.w3.org/2000/svg"}


def in_the_dark(style: str) -> list[tuple[str, str]]:
    """Return the properties that a style sets in the dark, with their values."""
    blocks = re.findall(r"@media[^{]*prefers-color-scheme[^{]*\{((?:[^{}]*\{[^{}]*\})*)", style)
    return [pair for block in blocks for pair in re.findall(r"([\w-]+)\s*:\s*([^;{}]+)", block)]


@pytest.mark.parametrize(
    "style",
    [*(path.read_text(encoding="utf-8") for path in STYLES), html_style(), svg_style()],
    ids=[*(path.name for path in STYLES), "html_style", "svg_style"],
)
def test_the_dark_changes_colours_alone(style):
    """So nothing moves, and a window of each width shows what there is to see."""
    assert style.count("prefers-color-scheme") == (1 if in_the_dark(style) else 0)
    shadow = ("--shadow", "none")
    invisible = ("fill", "none"), ("stroke", "none")
    for name, value in in_the_dark(style):
        assert re.fullmatch(r"#(?:[0-9a-f]{3}){1,2}", value) or (name, value) in (shadow, *invisible)
        assert name.startswith("--") or name in ("background", "border-color", "color", "fill", "stroke")


def test_scripts_do_not_ask_whether_it_is_dark():
    for path in FILES:
        if path.suffix == ".js":
            assert not re.search("matchMedia|color-scheme|colorScheme", path.read_text(encoding="utf-8"))


def test_ids_that_scripts_look_up_are_on_the_page(index):
    ids = {attributes["id"] for _, attributes in index.elements if attributes.get("id")}
    code = "".join(path.read_text(encoding="utf-8") for path in FILES if path.suffix == ".js")
    wanted = set(re.findall(r'(?<!\.)\bget\("([\w-]+)"\)', code))
    assert wanted
    assert wanted <= ids
    labelled = {attributes["for"] for tag, attributes in index.elements if tag in ("label", "output")}
    assert labelled <= ids
