"""The pictures of the documentation are what we draw today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawn(script):
    return {name: svg.encode() for name, svg in script.pictures().items()}


def test_pictures_are_up_to_date(drawn):
    kept = {path.name: path.read_bytes() for path in (DOCS / "pictures").glob("*.svg")}
    assert kept.keys() == drawn.keys(), "make docs"
    for name, picture in drawn.items():
        assert kept[name] == picture, f"{name} is not what is drawn today: make docs"


def test_pictures_are_whole_and_have_a_title(drawn):
    for name, picture in drawn.items():
        title = ElementTree.fromstring(picture).find("{http://www.w3.org/2000/svg}title")
        assert title is not None, name
        assert title.text, name


def test_every_picture_is_shown_on_a_page(drawn):
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert [name for name in drawn if f"(pictures/{name})" not in pages] == []


def test_writing_replaces_what_is_old(script, drawn, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    (tmp_path / "no-longer-drawn.svg").touch()
    (tmp_path / "tags.svg").write_text("old")
    script.main()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == drawn
