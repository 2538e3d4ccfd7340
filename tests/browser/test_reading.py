"""A text is read: mentions, threshold, readings, hypergraph, keyboard."""

from __future__ import annotations

import re

import pytest

from browser.driving import TONGUE, Page, expect, find, labels, set_threshold, wait


def probs(page: Page) -> list[float]:
    return sorted(float(label.split()[-1]) for label in labels(page))


def test_pasted_text_is_read_at_once(page):
    page.evaluate("(text) => { window.pasted = text; }", TONGUE)
    page.locator("#text").focus()
    page.evaluate(
        "() => { const transfer = new DataTransfer(); transfer.setData('text/plain', window.pasted);"
        " const event = new ClipboardEvent('paste', {clipboardData: transfer, bubbles: true, cancelable: true});"
        " document.activeElement.dispatchEvent(event); document.execCommand('insertText', false, window.pasted); }"
    )
    wait(page)
    expect(page.locator(".plain")).to_have_text(TONGUE)
    assert any("Anatomy" in label for label in labels(page))


def test_words_stand_as_in_the_text_and_mentions_under_them(page):
    find(page, TONGUE)
    shown = page.locator("#sentences .words").evaluate(
        "(words) => [...words.childNodes].map((node) => node.nodeType === 3 ? node.data"
        " : [...node.querySelectorAll('.token')].map((token) => token.textContent).join('')).join('')"
    )
    assert shown == TONGUE
    mouth = page.locator("#sentences .word", has_text="mouth").locator("button.label").first
    expect(mouth).to_have_accessible_name(re.compile(r"^Anatomy 0\.\d\d: mouth$"))
    expect(page.locator("#status")).to_have_text(re.compile(r"^\d+ mentions in 1 sentence\.$"))


def test_examples_are_one_click_away(page):
    names = page.locator("#examples button")
    assert names.count() >= 5
    for number in range(names.count()):
        names.nth(number).click()
        wait(page)
        assert page.locator("#text").input_value().strip()


def test_an_empty_text_is_answered_with_a_sentence(page):
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_have_text(re.compile("There is no text yet"))
    page.get_by_role("button", name="Close this message").click()
    expect(page.locator("#failure")).to_be_hidden()


def test_the_threshold_acts_without_the_server(page):
    find(page, TONGUE)
    requests: list[str] = []
    page.on("request", lambda request: "/api/" in request.url and requests.append(request.url))
    set_threshold(page, 0.02)
    expect(page.locator("#threshold-value")).to_have_text("0.02")
    many = probs(page)
    middle = many[len(many) // 2]
    set_threshold(page, middle + 0.01)
    expect(page.locator("button.label")).to_have_count(sum(prob > middle + 0.005 for prob in many))
    few = probs(page)
    assert few
    assert min(few) > middle
    assert len(few) < len(many)
    assert page.locator("#count").inner_text().startswith(f"{len(few)} mention")
    set_threshold(page, 0.99)
    page.get_by_role("button", name="Back to the model’s own threshold").click()
    expect(page.locator("#threshold-reset")).to_have_class(re.compile("unseen"))
    assert not requests


def test_probability_is_the_weight_of_the_bar(page):
    find(page, TONGUE)
    set_threshold(page, 0.02)
    drawn = page.locator(".bar.first:has(button)").evaluate_all(
        "(bars) => bars.map((bar) => [Number(bar.querySelector('button').innerText.split(' ').at(-1)),"
        " parseFloat(getComputedStyle(bar, '::before').height)])"
    )
    drawn.sort()
    assert drawn[0][1] < drawn[-1][1]
    assert [height for _, height in drawn] == sorted(height for _, height in drawn)


def test_readings_are_switched_and_changes_marked(page):
    find(page, TONGUE)
    set_threshold(page, 0.02)
    before = int(page.locator("#count").inner_text().split()[0])
    page.locator("label[for=decode-enough]").click()
    expect(page.locator("#changes")).to_be_visible()
    expect(page.locator("#changes")).to_have_text(
        re.compile(r"^Compared with “Most probable”: \d+ new \(\+\), \d+ gone \(−\)\.$")
    )
    expect(page.locator("#threshold")).to_be_disabled()
    new, gone = map(int, re.findall(r"(\d+) (?:new|gone)", page.locator("#changes").inner_text()))
    for more in page.locator(".more").all():
        more.click()
    shown = labels(page)
    assert sum(label.startswith("− ") for label in shown) == gone > 0
    assert sum(label.startswith("+ ") for label in shown) == new
    assert len(shown) - gone == before - gone + new
    page.locator("label[for=decode-all]").click()
    expect(page.locator("#decode-said")).to_have_text(re.compile("^Every mention"))
    page.locator("label[for=decode-probable]").click()
    expect(page.locator("#threshold")).to_be_enabled()
    expect(page.locator("#changes")).to_have_text(re.compile("Compared with “Everything”"))


def test_a_reading_that_was_fetched_is_not_fetched_again(page):
    find(page, TONGUE)
    page.locator("label[for=decode-all]").click()
    expect(page.locator("#changes")).to_be_visible()
    requests: list[str] = []
    page.on("request", lambda request: "/api/" in request.url and requests.append(request.url))
    page.locator("label[for=decode-probable]").click()
    expect(page.locator("#changes")).to_have_text(re.compile("“Everything”"))
    page.locator("label[for=decode-all]").click()
    expect(page.locator("#changes")).to_have_text(re.compile("“Most probable”"))
    assert not requests


def test_a_sentence_opens_into_its_hypergraph(page):
    find(page, TONGUE)
    button = page.get_by_role("button", name="Hypergraph of sentence 1")
    expect(button).to_have_attribute("aria-expanded", "false")
    button.click()
    picture = page.locator(".figure svg")
    expect(picture).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    assert {"A", "E", "T", "X", "B₀", "O₁", "mouth"} <= set(picture.locator("text").all_text_contents())
    assert picture.locator("style").count() == 0
    strong, faint = picture.locator("path.hs-line:not([stroke-dasharray])"), picture.locator("path[stroke-dasharray]")
    assert strong.count() > 0
    assert faint.count() > 0
    assert page.evaluate("getComputedStyle(document.querySelector('.figure svg .hs-frame')).stroke") != "none"
    figure = page.locator(".figure")
    assert figure.evaluate("(box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === 'auto'")
    other = page.locator(".hypergraph .chip[aria-pressed=false]").first
    name = other.locator("bdi").inner_text()
    other.click()
    pressed = page.locator(".hypergraph .chip[aria-pressed=true]")
    expect(pressed.locator("bdi")).to_have_text(name)
    expect(pressed).to_be_focused()
    button.click()
    expect(page.locator(".hypergraph")).to_have_count(0)


def test_a_mention_lights_its_path_in_the_hypergraph(page):
    find(page, TONGUE)
    set_threshold(page, 0.02)
    page.get_by_role("button", name="Hypergraph of sentence 1").click()
    pressed = page.locator(".hypergraph .chip[aria-pressed=true] bdi")
    expect(pressed).to_be_visible()
    of_type = page.locator("button.label", has_text=pressed.inner_text())
    of_type.first.hover()
    expect(page.locator(".figure svg")).to_have_class(re.compile("has-path"))
    assert page.locator(".figure .lit-link").count() >= 2
    page.locator("h1").hover()
    expect(page.locator(".figure .lit-link")).to_have_count(0)


def test_hover_lights_one_mention_everywhere(page):
    find(page, TONGUE)
    mouth = page.locator("#sentences .word", has_text="mouth").locator("button.label").first
    mouth.hover()
    assert page.locator(".token.lit").all_inner_texts() == ["mouth"]
    expect(page.locator("#tip")).to_have_text(re.compile("Anatomy, probability .*: mouth"))
    page.locator("h1").hover()
    expect(page.locator(".lit")).to_have_count(0)
    expect(page.locator("#tip")).to_be_hidden()
    mouth.click()
    page.locator("h1").hover()
    expect(mouth).to_have_attribute("aria-pressed", "true")
    assert page.locator(".token.lit").all_inner_texts() == ["mouth"]


def test_everything_by_keyboard(page):
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the mentions")).to_be_focused()
    page.locator("#text").focus()
    page.keyboard.insert_text(TONGUE + "\nNo fever was seen in his left arm or leg.")
    page.keyboard.press("Control+Enter")
    wait(page)
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        if page.evaluate("document.activeElement.matches('button.label')"):
            break
    assert {"find", "open", "threshold", "chip"} <= set(reached)
    first = page.evaluate("document.activeElement.ariaLabel")
    assert page.locator("#tip").inner_text().endswith(first.partition(": ")[2])
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.ariaLabel")
    assert second != first
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.ariaLabel") == first
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('.words').ariaLabel") == "Mentions of sentence 2"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.ariaPressed") == "true"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.ariaPressed") != "true"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.closest('.words').ariaLabel") == "Mentions of sentence 1"
    page.locator("#decode-probable").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#changes")).to_be_visible()
    assert page.locator("#decode-enough").is_checked()


def test_screen_readers_hear_the_sentence_and_each_mention(page):
    find(page, TONGUE)
    tree = page.locator("#sentences").aria_snapshot()
    assert TONGUE in tree
    assert re.search(r'button "Anatomy 0\.\d\d: mouth"', tree)
    assert 'group "Mentions of sentence 1"' in tree
    assert "mouth\n" not in tree.replace(": mouth", "").split("group", 1)[1], "words are heard once, not word by word"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_light_and_dark(pages, scheme):
    page = pages.open(color_scheme=scheme)
    find(page, TONGUE)
    low = page.evaluate(
        """() => {
          const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
          const part = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
          const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
          const ground = (element) => {
            for (; element; element = element.parentElement) {
              const colour = rgb(getComputedStyle(element).backgroundColor);
              if (colour.length === 3 || colour[3] === 1) return colour;
            }
            return [255, 255, 255];
          };
          const low = [];
          for (const element of document.querySelectorAll("body *")) {
            const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
            if (!own || !element.checkVisibility({visibilityProperty: true}) || element.matches(":disabled")) continue;
            const one = light(rgb(getComputedStyle(element).color)), other = light(ground(element));
            const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
            if (ratio < 4.5) low.push(`${element.className || element.tagName}: ${ratio.toFixed(2)}`);
          }
          return low;
        }"""
    )
    assert not low
    paper = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(21, 24, 28)")
