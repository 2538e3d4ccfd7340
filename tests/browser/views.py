"""Windows in which the page must work: wide on white, narrow on black.

Darkness changes colours alone, as `test_static` holds, so the two other pairs would show nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDE, NARROW = 1400, 420

BOTH = [(WIDE, "light"), (NARROW, "dark")]


def named(view: tuple[int, str]) -> str:
    return f"{view[0]}-{view[1]}"


in_both_views = pytest.mark.parametrize("view", BOTH, ids=named)
page_in_both_views = pytest.mark.parametrize("page", BOTH, ids=named, indirect=True)
"""For tests that take the page as it is opened for them."""


def opened(pages, view: tuple[int, str], **options: object) -> Page:
    """Open the page in a window."""
    width, scheme = view
    return pages.open(width=width, height=900, color_scheme=scheme, has_touch=width == NARROW, **options)


IN_SIGHT = """(element) => {
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && element.checkVisibility();
}"""
"""Whether all of an element is in the window."""
