"""Several documents: a list with counts and scores, keys, an order by doubt; a window that remembers; links."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from browser.driving import TONGUE, drop_files, expect, find, give_files, labels, set_threshold, wait
from browser.test_files import ANN, TEXT
from browser.views import page_in_both_views

FILES = {
    "note 2.txt": "Nothing here at all, and nothing there.",
    "note 10.txt": TONGUE,
    "note 1.txt": TEXT,
    "note 1.ann": ANN,
}


def names(page) -> list[str]:
    return page.locator("#documents-list .name").all_inner_texts()


@page_in_both_views
def test_several_files_are_a_list_with_counts_and_scores(page):
    drop_files(page, FILES)
    wait(page)
    expect(page.locator("#documents")).to_be_visible()
    assert names(page) == ["note 1", "note 2", "note 10"]
    expect(page.locator("#doc")).to_have_text("note 1")
    expect(page.locator("#scores")).to_contain_text("of 4 gold mentions")
    expect(page.locator("#documents-list .document").nth(2).locator(".number").first).not_to_have_text("…")
    rows = [row.locator(".number").all_inner_texts() for row in page.locator("#documents-list .document").all()]
    assert rows[0][0] == page.locator("#count").inner_text().split()[0]
    assert page.locator("#scores").inner_text().endswith(f"F1 {rows[0][1]}.")
    assert [row[1] for row in rows[1:]] == ["", ""]
    assert all(float(row[2]) >= 0 for row in rows)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@page_in_both_views
def test_the_list_is_gone_through_by_keyboard(page):
    give_files(page, FILES)
    wait(page)
    page.locator("#documents-list [aria-current]").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#doc")).to_have_text("note 2")
    page.keyboard.press("End")
    expect(page.locator("#doc")).to_have_text("note 10")
    expect(page.locator("#documents-list [aria-current]")).to_be_focused()
    wait(page)
    assert page.locator("#text").input_value() == TONGUE
    assert any("Anatomy" in label for label in labels(page))
    page.keyboard.press("Home")
    expect(page.locator("#doc")).to_have_text("note 1")


@page_in_both_views
def test_the_most_doubtful_comes_first_if_asked_for(page):
    give_files(page, FILES)
    wait(page)
    expect(page.locator("#documents-list .document").nth(2).locator(".number").nth(2)).not_to_have_text("")
    page.locator("#documents-order").select_option("uncertainty")
    doubts = [float(row) for row in page.locator("#documents-list .number:last-child").all_inner_texts()]
    assert doubts == sorted(doubts, reverse=True)
    assert len(set(doubts)) > 1
    page.locator("#documents-order").select_option("f1")
    assert names(page)[0] == "note 1", "the only one with gold"


@page_in_both_views
def test_another_reading_is_fetched_for_each_document_when_it_is_shown(page):
    give_files(page, FILES)
    wait(page)
    page.locator("label[for=decode-enough]").click()
    expect(page.locator("#changes")).to_be_visible()
    page.locator("#documents-list .document", has_text="note 10").click()
    expect(page.locator("#doc")).to_have_text("note 10")
    wait(page)
    assert any("Anatomy" in label for label in labels(page))


@page_in_both_views
def test_a_reload_changes_nothing(page):
    give_files(page, FILES)
    wait(page)
    page.locator("#documents-list .document", has_text="note 10").click()
    wait(page)
    set_threshold(page, 0.55)
    shown, count = labels(page), page.locator("#count").inner_text()
    page.reload()
    wait(page)
    expect(page.locator("#doc")).to_have_text("note 10")
    expect(page.locator("#threshold-value")).to_have_text("0.55")
    assert names(page) == ["note 1", "note 2", "note 10"]
    assert (labels(page), page.locator("#count").inner_text()) == (shown, count)
    page.locator("#documents-list .document", has_text="note 1").first.click()
    expect(page.locator("#scores")).to_contain_text("of 4 gold mentions")


@page_in_both_views
def test_what_is_shown_can_be_linked(pages, page):
    find(page, TONGUE)
    set_threshold(page, 0.42)
    expect(page).to_have_url(re.compile("threshold=0.42.*text="))
    link = page.url
    other = pages.open()
    other.goto(link)
    wait(other)
    expect(other.locator("#threshold-value")).to_have_text("0.42")
    assert other.locator("#text").input_value() == TONGUE
    assert labels(other) == labels(page)


@page_in_both_views
def test_a_link_is_followed_in_the_same_window(page):
    find(page, TONGUE)
    page.evaluate("(hash) => { location.hash = hash; }", f"text={quote('No fever in his mouth.')}")
    expect(page.locator(".plain")).to_have_text("No fever in his mouth.")
    wait(page)


@pytest.mark.parametrize(
    "kept", ["{", '{"documents": [{"text": 5}]}', '{"documents": {}}', '{"documents": [], "current": 9}']
)
def test_what_cannot_be_used_of_a_memory_is_forgotten(page, kept):
    page.evaluate("(kept) => sessionStorage.setItem('hyperspan', kept)", kept)
    page.reload()
    page.locator("#about dl").wait_for(state="attached")
    expect(page.locator("#results")).to_be_hidden()
    find(page, TONGUE)


@pytest.mark.parametrize("hash", ["threshold=7", "threshold=x", "decode=nonsense", "model=nobody"])
def test_what_makes_no_sense_in_a_link_is_passed_over(page, hash):
    page.goto(f"{page.url}#{hash}")
    page.reload()
    page.locator("#about dl").wait_for(state="attached")
    find(page, TONGUE)
    expect(page.locator("#threshold-value")).to_have_text("0.30")


def test_long_texts_and_gold_stay_out_of_links(page):
    find(page, TONGUE)
    expect(page).to_have_url(re.compile("text="))
    find(page, f"{TONGUE} " * 40)
    expect(page).not_to_have_url(re.compile("text="))
    give_files(page, {"note.txt": TEXT, "note.ann": ANN})
    wait(page)
    page.wait_for_timeout(500)
    assert "text=" not in page.url
