"""A mention is pressed: its reasons in words, what its number means, and what else may be there."""

from __future__ import annotations

import re

import pytest

from browser.driving import TONGUE, Page, expect, find, set_threshold
from browser.names import EVIL_TYPES
from browser.views import IN_SIGHT, in_both_views, opened, page_in_both_views


def press(page: Page, word: str) -> None:
    page.locator("#sentences .word", has_text=word).locator("button.label").first.click()
    expect(page.locator(".panel .reasons li").first).to_be_visible()


@in_both_views
def test_reasons_in_words_with_bars(pages, view):
    page = opened(pages, view)
    find(page, TONGUE)
    press(page, "mouth")
    panel = page.locator(".panel")
    expect(panel).to_have_attribute("aria-label", "Anatomy ‘mouth’")
    expect(panel.locator(".why > p").first).to_have_text(
        re.compile(r"^Its probability is 0\.\d\d\. About \d+ of 100 mentions with this probability should be right\. ")
    )
    rows = panel.locator(".reasons li")
    assert 4 <= rows.count() <= 12
    for row in rows.all():
        assert re.search(r"at ‘\S+’ the .*(word|section|note)", row.inner_text())
        assert "]=" not in row.inner_text()
        assert "]=" in row.get_attribute("title") or "=" in row.get_attribute("title")
    widths = rows.evaluate_all(
        "(rows) => rows.map((row) => [Math.abs(Number(row.querySelector('.amount').innerText.replace('−', '-'))),"
        " parseFloat(getComputedStyle(row.querySelector('.meter'), '::before').width)])"
    )
    assert [width for _, width in widths] == sorted((width for _, width in widths), reverse=True)
    for_it = panel.locator(".meter.for").count()
    assert for_it + panel.locator(".meter.against").count() == rows.count()
    assert for_it == sum(row.inner_text().startswith("+") for row in rows.all())
    bias = panel.locator(".bias")
    expect(bias.locator("p")).to_be_hidden()
    bias.locator("summary").click()
    expect(bias.locator("p")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    low = panel.locator(".actions button").first
    low.scroll_into_view_if_needed()
    assert low.evaluate(IN_SIGHT)


@page_in_both_views
def test_alternatives_lead_to_their_own_reasons(page):
    find(page, TONGUE)
    set_threshold(page, 0.02)
    page.locator("button.label", has_text="Finding").first.click()
    other = page.locator(".alternatives button").first
    expect(other.locator(".note")).to_have_text(re.compile(r"^0\.\d\d$"))
    text, type = other.locator(".words-of").inner_text(), other.locator("bdi").first.inner_text()
    other.click()
    expect(page.locator(".panel")).to_have_attribute("aria-label", f"{type} ‘{text}’")
    expect(page.locator(".panel .reasons li").first).to_be_visible()


@page_in_both_views
def test_by_keyboard_it_opens_with_enter_and_closes_with_escape(page):
    find(page, TONGUE)
    label = page.locator("#sentences .word", has_text="mouth").locator("button.label").first
    label.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".panel .reasons li").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_have_count(0)
    expect(label).to_be_focused()
    label.click()
    expect(page.locator(".panel")).to_have_count(1)
    label.click()
    expect(page.locator(".panel")).to_have_count(0)
    label.click()
    page.get_by_role("button", name="Close (Escape)").click()
    expect(page.locator(".panel")).to_have_count(0)


@page_in_both_views
def test_one_panel_at_a_time_and_none_for_what_is_gone(page):
    find(page, f"{TONGUE}\n{TONGUE}")
    for number in (0, 1):
        page.locator(".sentence").nth(number).locator("button.label").first.click()
        expect(page.locator(".panel")).to_have_count(1)
    find(page, TONGUE)
    expect(page.locator(".panel")).to_have_count(0)


@in_both_views
def test_what_cannot_be_explained_is_said_in_the_panel(pages, view):
    page = opened(pages, view, allow=("422",))
    find(page, " ".join(["fever in his mouth and"] * 60) + " tongue.")
    set_threshold(page, 0.1)
    page.locator("button.label").first.click()
    expect(page.locator(".panel .problem")).to_contain_text("words; expected at most 200")
    expect(page.locator(".panel").get_by_role("button", name="Accept")).to_be_visible()


def test_markup_in_reasons_is_shown_not_run(page):
    page.locator("#model").select_option(index=1)
    find(page, "<b> fever </b> and pain <img src=x onerror=boom()>")
    set_threshold(page, 0.02)
    page.locator("button.label").first.click()
    expect(page.locator(".panel .reasons li").first).to_be_visible()
    expect(page.locator(".panel h2")).to_contain_text("boom()")
    assert page.locator(".panel option").all_inner_texts()[1] == EVIL_TYPES[0]
    assert page.locator(".panel img").count() == 0


@pytest.mark.parametrize("name", ["api.js", "why.js"])
def test_modules_of_the_panel_are_served(page, name):
    assert page.request.get(page.url.split("#")[0] + f"static/{name}").ok
