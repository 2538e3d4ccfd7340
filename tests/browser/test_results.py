"""What is shown belongs to the text, a failure is no result, and many mentions stay readable."""

from __future__ import annotations

import io
import json
import re
import zipfile

from browser.driving import TONGUE, Page, call, drop_files, expect, find, give_files, labels, set_threshold, wait
from browser.test_files import ANN, TEXT, saved
from browser.views import IN_SIGHT, NARROW, in_both_views, opened, page_in_both_views
from hyperspan.corpora.reading import read
from hyperspan.render.colours import TypeColours

LOST = ("Failed to load resource", "net::", "413", "422")


@page_in_both_views
def test_files_hold_what_was_predicted_not_what_was_typed_since(page, tmp_path):
    find(page, TONGUE)
    page.locator("#text").fill("Now " + TONGUE)
    expect(page.locator("#stale")).to_be_visible()
    expect(page.locator("#stale")).to_contain_text("The text has changed")
    assert page.locator("#sentences").evaluate("(list) => getComputedStyle(list).filter") == "grayscale(1)"
    _, content = saved(page, "brat")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    (document,) = read(tmp_path)
    assert document.text == TONGUE
    assert any(TONGUE[start:end] == "mouth" for mention in document.mentions for start, end in mention.parts)
    page.get_by_role("button", name="Find again").click()
    wait(page)
    expect(page.locator("#stale")).to_be_hidden()
    expect(page.locator(".plain")).to_have_text("Now " + TONGUE)


@page_in_both_views
def test_a_text_that_is_typed_back_is_not_stale(page):
    find(page, TONGUE)
    page.locator("#text").fill("other")
    page.locator("#text").fill(TONGUE)
    expect(page.locator("#stale")).to_be_hidden()


@in_both_views
def test_a_failure_keeps_what_was_found_and_offers_to_try_again(pages, view):
    page = opened(pages, view, allow=LOST)
    find(page, TONGUE)
    before, shown = page.locator("#count").inner_text(), labels(page)
    page.locator("#text").fill("No fever in his mouth. " * 40)
    page.context.set_offline(True)
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_contain_text("The server does not respond")
    assert page.locator("#failure").evaluate(IN_SIGHT), "where the reader looks"
    assert page.locator("#count").inner_text() == before
    assert labels(page) == shown
    page.locator(".sentence").last.scroll_into_view_if_needed()
    assert page.locator("#failure").evaluate(IN_SIGHT)
    page.context.set_offline(False)
    page.get_by_role("button", name="Retry").click()
    wait(page)
    expect(page.locator("#count")).to_contain_text("in 40 sentences.")
    expect(page.locator("#failure")).to_be_hidden()


@in_both_views
def test_a_refusal_of_the_first_text_is_no_result(pages, view):
    page = opened(pages, view, allow=LOST)
    page.route("**/api/predict", lambda route: route.fulfill(status=413, json={"error": "too large", "details": []}))
    page.locator("#text").fill(TONGUE)
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_have_text("too large")
    expect(page.locator("#results")).to_be_hidden()
    assert "0 mentions" not in page.locator("body").inner_text()
    page.unroute("**/api/predict")
    page.get_by_role("button", name="Retry").click()
    wait(page)


@page_in_both_views
def test_an_answer_that_breaks_off_keeps_what_came(page):
    find(page, TONGUE)
    line = {"tokens": ["No", "fever"], "offsets": [[0, 2], [3, 8]], "start": 0, "end": 8, "direction": "ltr"}
    line |= {"mentions": [], "candidates": [], "truncated": False}
    body = '{"model": "demo"}\n' + json.dumps(line) + '\n{"error": "it took too long", "details": []}\n'
    page.route("**/api/predict", lambda route: route.fulfill(status=200, body=body))
    page.locator("#text").fill("No fever. And more.")
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_have_text("it took too long")
    expect(page.locator("#count")).to_have_text("0 mentions in 1 sentence.")
    page.unroute("**/api/predict")
    page.get_by_role("button", name="Retry").click()
    expect(page.locator("#count")).to_contain_text("in 2 sentences.")


@page_in_both_views
def test_many_faint_mentions_are_folded(page):
    words = TONGUE[:-1].replace(",", "").split()
    find(page, " ".join(words[number % len(words)] for number in range(60)) + ".")
    set_threshold(page, 0.02)
    n_mentions = int(page.locator("#count").inner_text().split()[0].replace(",", ""))
    more = page.locator(".more")
    expect(more).to_have_text(re.compile(r"^\+\d+ less probable$"))
    n_folded = int(more.inner_text().split()[0])
    assert len(labels(page)) + n_folded == n_mentions
    lanes = page.locator(".words .word").evaluate_all(
        "(words) => Math.max(...words.map((word) => word.querySelectorAll('.lane[data-mention]').length))"
    )
    assert lanes <= 6
    lowest_shown = min(float(label.split()[-1]) for label in labels(page))
    folded_height = page.evaluate("document.documentElement.scrollHeight")
    more.click()
    expect(page.locator("button.label")).to_have_count(n_mentions)
    assert page.evaluate("document.documentElement.scrollHeight") > folded_height
    assert lowest_shown >= min(float(label.split()[-1]) for label in labels(page))
    page.get_by_role("button", name="Only the most probable").click()
    expect(page.locator("button.label")).to_have_count(n_mentions - n_folded)


def test_what_is_folded_is_less_probable_than_what_is_drawn_over_the_same_words(page):
    marked = [
        {"mention": {"type": "A", "spans": [[0, 2]], "prob": prob}, "mark": mark, "note": ""}
        for prob, mark in ((0.1, ""), (0.9, ""), (0.2, ""), (0.05, "gold"), (0.8, ""))
    ]
    marked.append({"mention": {"type": "A", "spans": [[3, 4]], "prob": 0.02}, "mark": "", "note": ""})
    drawn = call(page, "capping.js", "it.capped(given, 4, 3).drawn.map(({ mention }) => mention.prob)", marked)
    assert drawn == [0.9, 0.05, 0.8, 0.02]


@page_in_both_views
def test_a_long_text_at_the_lowest_threshold_is_no_tower(page):
    page.get_by_role("button", name="a whole note").click()
    wait(page)
    set_threshold(page, 0.02)
    assert page.evaluate("document.documentElement.scrollHeight") < 6_000


@page_in_both_views
def test_the_tuned_threshold_is_marked_on_the_slider(page):
    find(page, TONGUE)
    place = "(element) => { const box = element.getBoundingClientRect(); return (box.left + box.right) / 2; }"
    mark = page.locator("#threshold-tuned").evaluate(place)
    slider = page.locator("#threshold").bounding_box()
    share = (0.3 - 0.02) / (0.99 - 0.02)
    assert abs(mark - (slider["x"] + 8 + share * (slider["width"] - 16))) < 2
    set_threshold(page, 0.7)
    assert page.locator("#threshold-tuned").evaluate(place) == mark


def answer(page: Page, **fields: object) -> None:
    """Let the server find the same in every text."""
    line = {"tokens": ["No", "fever"], "offsets": [[0, 2], [3, 8]], "start": 0, "end": 8, "direction": "ltr"}
    line |= {"mentions": [], "truncated": False, **fields}
    body = '{"model": "demo"}\n' + json.dumps(line) + '\n{"done": true, "sentences": 1, "truncated": false}\n'
    page.route("**/api/predict", lambda route: route.fulfill(status=200, body=body))


@page_in_both_views
def test_the_bound_is_named_below_and_only_where_it_matters(page):
    candidates = [
        {"type": "Finding", "spans": [[word, word + 1]], "characters": None, "text": text, "prob": prob}
        for word, text, prob in ((1, "fever", 0.9), (0, "No", 0.4))
    ]
    answer(page, candidates=candidates, truncated=True)
    find(page, "No fever")
    message = "Only the 2 mentions with the highest probability are kept: a limit was reached."
    expect(page.locator(".below")).to_have_text(message)
    below, words = page.locator(".below").bounding_box(), page.locator("#sentences .words").bounding_box()
    assert below["y"] >= words["y"] + words["height"] - 1
    set_threshold(page, 0.5)
    expect(page.locator(".below")).to_have_count(0)


@page_in_both_views
def test_a_sentence_that_is_too_long_is_marked_and_the_rest_is_shown(page):
    find(page, f"{TONGUE}\n\n{'fever ' * 2_100}\n\n{TONGUE}")
    expect(page.locator(".sentence")).to_have_count(3)
    expect(page.locator(".is-skipped")).to_have_count(1)
    expect(page.locator(".is-skipped .problem")).to_have_text(
        "Not read: sentence 2 has 2,100 words; expected at most 2,000."
    )
    expect(page.locator("#skipped")).to_have_text("1 sentence skipped as too long; marked below.")
    expect(page.locator(".sentence").first.locator("button.label").first).to_be_visible()
    _, content = saved(page, "jsonl")
    assert "Anatomy" in content.decode()


@page_in_both_views
def test_gold_that_could_not_be_read_is_said_before_the_scores(page):
    give_files(page, {"note.ann": ANN + "T9\tFinding 5 3\tx\n", "note.txt": TEXT})
    wait(page)
    expect(page.locator("#scores")).to_contain_text(
        "of 4 gold mentions found (without the one that could not be read):"
    )
    assert page.evaluate(
        "!!(document.getElementById('findings').compareDocumentPosition(document.getElementById('scores')) & 4)"
    ), "the findings stand first"


@page_in_both_views
def test_the_legend_hides_types(page):
    find(page, TONGUE)
    set_threshold(page, 0.1)
    count = page.locator("#count").inner_text()
    chip = page.locator("#types button", has_text="Anatomy")
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.focus()
    page.keyboard.press("Enter")
    assert labels(page)
    assert not any("Anatomy" in label for label in labels(page))
    expect(page.locator("#types button", has_text="Anatomy")).to_be_focused()
    assert page.locator("#count").inner_text() == count
    page.keyboard.press("Enter")
    assert any("Anatomy" in label for label in labels(page))


@page_in_both_views
def test_readings_have_names_that_people_know(page):
    find(page, TONGUE)
    names = page.locator(".switch label").all_inner_texts()
    assert names == ["Most probable", "Best explanation", "Everything"]
    titles = page.locator(".switch label").evaluate_all("(labels) => labels.map((label) => label.title)")
    assert titles == [f"On the command line: --decode {name}" for name in ("probable", "enough", "all")]


@page_in_both_views
def test_examples_are_those_that_the_model_understands(page):
    expect(page.locator("#examples")).to_be_visible()
    page.locator("#model").select_option(index=1)
    expect(page.locator("#examples")).to_be_hidden()
    page.locator("#model").select_option(index=0)
    expect(page.get_by_role("button", name="infarctions")).to_be_visible()


def test_colours_are_those_of_other_drawings(page):
    types = ["Finding", "Drug", "ADR", "Scope", "Größe", "病気", "Anatomy", "A", "B", "C", "D"]
    ours = call(
        page, "colours.js", "(() => { const c = new it.TypeColours(); return given.map((t) => c.index(t)); })()", types
    )
    colours = TypeColours()
    assert ours == [colours.index(type) for type in types]


@page_in_both_views
def test_a_link_leads_to_what_programs_can_ask(page):
    page.get_by_role("link", name="API").click()
    expect(page.locator("h1")).to_have_text("hyperspan")
    text = page.locator("main").inner_text()
    assert "POST /api/predict" in text
    assert "`" not in text
    assert page.locator("code", has_text="Accept: application/x-ndjson").count() == 1


@page_in_both_views
def test_the_model_is_told_in_the_window_and_escape_closes_it(page):
    page.locator("#about summary").click()
    told = page.locator("#about dl")
    expect(told).to_be_visible()
    assert told.evaluate(IN_SIGHT)
    expect(told).to_contain_text("0.30, not tuned")
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    expect(page.locator("#about summary")).to_be_focused()
    page.locator("#about summary").click()
    page.locator("h1").click()
    expect(told).to_be_hidden()


@in_both_views
def test_controls_stay_in_sight(pages, view):
    page = opened(pages, view)
    find(page, "\n".join([TONGUE] * 30))
    page.locator(".sentence").last.scroll_into_view_if_needed()
    for control in ("#threshold", "label[for=decode-all]", "#correct"):
        assert page.locator(control).evaluate(IN_SIGHT)
    if view[0] == NARROW:
        assert page.locator(".controls").bounding_box()["height"] < 120
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_dropped_pair_whose_names_differ_belongs_together(page):
    drop_files(page, {"gold.ann": ANN, "note.txt": TEXT})
    wait(page)
    expect(page.locator("#scores")).to_contain_text("of 4 gold mentions")
