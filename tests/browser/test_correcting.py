"""The model's mistakes become training data: accept, reject, change the type, draw words, all by keyboard too."""

from __future__ import annotations

import io
import json
import re
import zipfile

from browser.driving import TONGUE, Page, expect, find, give_files, labels, set_threshold, wait
from browser.test_files import ANN, TEXT, saved
from browser.views import in_both_views, page_in_both_views
from hyperspan.corpora.reading import read


def label_of(page: Page, word: str, type: str = ""):
    return page.locator("#sentences .word", has_text=word).locator("button.label", has_text=type).first


def press(page: Page, name: str) -> None:
    page.locator(".panel").get_by_role("button", name=name, exact=False).first.click()


def mentions(page: Page) -> list[dict]:
    _, content = saved(page, "jsonl")
    return [mention for line in content.decode().splitlines() for mention in json.loads(line)["mentions"]]


def words_of(mention: dict, text: str = TONGUE) -> str:
    return " … ".join(text[start:end] for start, end in mention["spans"])


@page_in_both_views
def test_accepted_and_rejected_mentions_are_marked_and_saved(page):
    find(page, TONGUE)
    n_found = len(mentions(page))
    label_of(page, "mouth", "Anatomy").click()
    press(page, "Accept")
    expect(label_of(page, "mouth", "Anatomy")).to_have_text(re.compile(r"^★ Anatomy 0\.\d\d · gold$"))
    label_of(page, "tongue", "Anatomy").click()
    press(page, "Reject")
    expect(label_of(page, "tongue", "Anatomy")).to_have_text(re.compile(r"^⊘ Anatomy 0\.\d\d · rejected$"))
    expect(page.locator("#corrected")).to_have_text("You accepted 1 ★ and rejected 1 ⊘.")
    kept = mentions(page)
    assert len(kept) == n_found - 1
    mouth = next(mention for mention in kept if words_of(mention) == "mouth")
    assert "prob" not in mouth, "gold has no probability"
    assert all("prob" in mention for mention in kept if mention is not mouth)
    page.locator("#export-what").select_option("gold")
    assert [words_of(mention) for mention in mentions(page)] == ["mouth"]
    press(page, "Reject")
    expect(page.locator("#corrected")).to_have_text("You accepted 1 ★ and rejected 0 ⊘.")


@page_in_both_views
def test_the_type_is_changed(page):
    find(page, TONGUE)
    label_of(page, "mouth", "Anatomy").click()
    page.locator(".panel select").select_option("Drug")
    expect(label_of(page, "mouth", "Drug")).to_contain_text("★ Drug")
    expect(page.locator(".panel")).to_have_attribute("aria-label", "Drug ‘mouth’")
    gold = {(mention["type"], words_of(mention)) for mention in mentions(page) if "prob" not in mention}
    assert gold == {("Drug", "mouth")}
    assert ("Anatomy", "mouth") not in {(mention["type"], words_of(mention)) for mention in mentions(page)}


def ends(page: Page, selector: str, first: str, last: str) -> list[tuple[float, float]]:
    """Bring words into the window, and return where the first and the last one are."""
    words = [page.locator(selector, has_text=re.compile(f"^{word}$")).first for word in (first, last)]
    words[0].evaluate("(word) => word.scrollIntoView({ block: 'center' })")
    boxes = [word.bounding_box() for word in words]
    return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]


def drag(page: Page, selector: str, first: str, last: str) -> None:
    start, end = ends(page, selector, first, last)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end)
    page.mouse.up()


def drag_finger(page: Page, selector: str, first: str, last: str) -> None:
    (x, y), (last_x, last_y) = ends(page, selector, first, last)
    device = page.context.new_cdp_session(page)
    for kind, share in (("touchStart", 0.0), ("touchMove", 0.3), ("touchMove", 0.7), ("touchMove", 1.0)):
        place = {"x": x + share * (last_x - x), "y": y + share * (last_y - y)}
        device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [place]})
    device.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@page_in_both_views
def test_words_are_dragged_over_to_make_a_mention_of_two_parts(page):
    find(page, TONGUE)
    page.locator("#correct").click()
    expect(page.locator("#correct-said")).to_be_visible()
    drag(page, "#sentences .token", "on", "tongue")
    expect(page.locator(".panel")).to_have_attribute("aria-label", "New mention")
    pressed = page.locator(".switch-word[aria-pressed=true]")
    assert pressed.all_inner_texts() == ["on", "his", "tongue"]
    drag(page, "#sentences .token", "blood", "blood")
    assert pressed.all_inner_texts() == ["blood", "on", "his", "tongue"]
    page.locator(".panel select").select_option("Finding")
    press(page, "Add")
    gold = [mention for mention in mentions(page) if "prob" not in mention]
    assert [(mention["type"], words_of(mention)) for mention in gold] == [("Finding", "blood … on his tongue")]
    expect(page.locator(".is-gold button.label")).to_have_accessible_name(
        re.compile(r"^★ Finding.* · gold, 2 parts: blood")
    )


@in_both_views
def test_a_finger_is_as_good_as_a_mouse(pages, view):
    page = pages.open(width=view[0], height=900, color_scheme=view[1], has_touch=True)
    find(page, TONGUE)
    page.locator("#correct").tap()
    drag_finger(page, "#sentences .token", "on", "tongue")
    expect(page.locator(".panel")).to_have_attribute("aria-label", "New mention")
    pressed = page.locator(".switch-word[aria-pressed=true]")
    assert pressed.all_inner_texts() == ["on", "his", "tongue"]
    page.locator(".switch-word", has_text=re.compile("^on$")).tap()
    assert pressed.all_inner_texts() == ["his", "tongue"]
    page.locator(".panel").get_by_role("button", name="Add").tap()
    assert [words_of(mention) for mention in mentions(page) if "prob" not in mention] == ["his tongue"]


@page_in_both_views
def test_words_are_added_and_removed_in_the_panel(page):
    find(page, TONGUE)
    label_of(page, "mouth", "Anatomy").click()
    press(page, "Change words")
    switch = page.locator(".switch-word")
    switch.nth(TONGUE.split().index("his")).click()
    expect(page.locator(".editor [role=status]")).to_have_text("‘his mouth’")
    drag(page, ".switch-word", "his", "mouth")
    expect(page.locator(".editor [role=status]")).to_have_text("Choose at least one word.")
    expect(page.locator(".panel").get_by_role("button", name="Save")).to_be_disabled()
    drag(page, ".switch-word", "in", "mouth")
    press(page, "Save")
    gold = [words_of(mention) for mention in mentions(page) if "prob" not in mention]
    assert gold == ["in his mouth"]
    assert any(label.startswith("⊘ Anatomy") for label in labels(page)), "the old one is rejected"


@page_in_both_views
def test_everything_by_keyboard(page):
    find(page, TONGUE)
    label_of(page, "mouth", "Anatomy").focus()
    page.keyboard.press("a")
    expect(label_of(page, "mouth", "Anatomy")).to_contain_text("★")
    expect(label_of(page, "mouth", "Anatomy")).to_be_focused()
    page.keyboard.press("r")
    expect(label_of(page, "mouth", "Anatomy")).to_contain_text("⊘")
    page.keyboard.press("e")
    expect(page.locator(".switch-word:focus")).to_have_text("mouth")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator(".editor [role=status]")).to_have_text("‘his mouth’")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.locator(".editor [role=status]")).to_have_text("‘his’")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("Changed: Anatomy ‘his mouth’.")
    page.keyboard.press("Escape")
    page.locator("button.label").first.focus()
    page.keyboard.press("n")
    expect(page.locator(".panel")).to_have_attribute("aria-label", "New mention")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+ArrowRight")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    gold = {words_of(mention) for mention in mentions(page) if "prob" not in mention}
    assert gold == {"his mouth", "The patient"}


@page_in_both_views
def test_a_mention_of_ones_own_is_taken_back_without_a_trace(page):
    find(page, TONGUE)
    page.get_by_role("button", name="Add a mention to sentence 1").click()
    page.locator(".switch-word", has_text="reactive").click()
    page.locator(".panel select").select_option("Procedure")
    press(page, "Add")
    expect(page.locator("#corrected")).to_have_text("You accepted 1 ★ and rejected 0 ⊘.")
    press(page, "Reject")
    expect(page.locator("#corrected")).to_be_hidden()
    expect(page.locator(".panel")).to_have_count(0)


@page_in_both_views
def test_gold_of_a_file_is_corrected(page, tmp_path):
    give_files(page, {"note.ann": ANN, "note.txt": TEXT})
    wait(page)
    set_threshold(page, 0.3)
    first = page.locator(".sentence").first
    gold = first.locator(".column").nth(1)
    gold.locator("button.label", has_text="Finding").click()
    press(page, "Reject")
    expect(page.locator("#scores")).to_contain_text("of 3 gold mentions")
    page.get_by_role("button", name="Add a mention to sentence 3").click()
    page.locator(".switch-word", has_text="No").click()
    press(page, "Add")
    expect(page.locator("#scores")).to_contain_text("of 4 gold mentions")
    page.locator("#export-what").select_option("gold")
    _, content = saved(page, "brat")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    (document,) = read(tmp_path)
    texts = {TEXT[start:end] for mention in document.mentions for start, end in mention.parts}
    assert texts == {"mouth", "Aspirin", "fever", "No"}
    assert all(mention.prob is None for mention in document.mentions)


@page_in_both_views
def test_corrections_outlive_the_threshold_another_reading_and_a_reload(page):
    find(page, TONGUE)
    label_of(page, "mouth", "Anatomy").focus()
    page.keyboard.press("a")
    set_threshold(page, 0.99)
    assert [label[:9] for label in labels(page)] == ["★ Anatomy"]
    page.locator("label[for=decode-enough]").click()
    expect(page.locator("#changes")).to_be_visible()
    assert any(label.startswith("★ Anatomy") for label in labels(page))
    page.reload()
    wait(page)
    assert any(label.startswith("★ Anatomy") for label in labels(page))
    assert page.locator("#decode-enough").is_checked()
    page.locator("#find").click()
    wait(page)
    assert any(label.startswith("★ Anatomy") for label in labels(page)), "the same text has the same corrections"
