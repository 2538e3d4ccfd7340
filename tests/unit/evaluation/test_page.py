"""The page about scores says what is so."""

from __future__ import annotations

import doctest
from pathlib import Path

from hyperspan.evaluation import KINDS, OVERLAPS, evaluate

PAGE = Path(__file__).parents[3] / "docs" / "scores.md"


def test_the_examples_on_the_page_run():
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0


def test_every_name_is_explained():
    text = PAGE.read_text(encoding="utf-8")
    for name in (*evaluate([], []).as_dict(), *OVERLAPS, *KINDS, "p_bootstrap", "p_randomisation", "interval"):
        assert f"`{name}`" in text, name
