"""What a page must bear: markup in every place, mixed directions, small windows, long texts, failing servers."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from browser.driving import TONGUE, call, expect, find, give_files, labels, next_frame, set_threshold, wait
from browser.names import EVIL, EVIL_TYPES
from hyperspan.corpora import demo


def use_evil_model(page):
    page.locator("#model").select_option(index=1)
    expect(page.locator("#about summary")).to_have_text(f"Model {EVIL}")


def test_markup_in_text_is_shown_not_run(page):
    text = f"No fever {EVIL} <script>boom()</script> </textarea><svg onload=boom()> & \"pain\" in 'arm'."
    find(page, text)
    expect(page.locator(".plain").first).to_contain_text("<img src=x onerror=boom()>")
    page.get_by_role("button", name="Hypergraph of sentence 1").click()
    expect(page.locator(".figure svg")).to_be_visible()
    assert page.locator("#sentences img, #sentences script").count() == 0


def test_markup_in_types_and_names_of_models_is_shown_not_run(page):
    use_evil_model(page)
    page.locator("#about summary").click()
    expect(page.locator("#about")).to_contain_text(EVIL_TYPES[0])
    find(page, "no fever with aspirin today")
    set_threshold(page, 0.02)
    expect(page.locator("#types li bdi").nth(1)).to_have_text(EVIL_TYPES[0])
    assert any(EVIL_TYPES[0][:20] in label for label in labels(page))
    assert "\u202e" not in page.locator("body").inner_text()
    page.get_by_role("button", name="Hypergraph of sentence 1").click()
    expect(page.locator(".figure svg")).to_be_visible()
    page.locator("button.label").first.click()
    expect(page.locator(".panel .reasons li").first).to_be_visible()
    page.locator("button.label").first.hover()
    for format in ("svg", "html"):
        with page.expect_download():
            page.locator(f"[data-format={format}]").click()


def test_markup_in_names_of_documents_and_annotations_is_shown_not_run(page):
    ann = f"T1\t{EVIL.replace(' ', '_')} 3 8\tfever\nT2\t<script>boom()</script>\n"
    give_files(page, {f"{EVIL}.txt": "No fever today.", f"{EVIL}.ann": ann})
    wait(page)
    expect(page.locator("#doc")).to_have_text(EVIL)
    page.locator("#findings-count").click()
    expect(page.locator("#findings-list")).to_contain_text("'<script>boom()</script>' is not a type")
    with page.expect_download() as download:
        page.locator("[data-format=brat]").click()
    assert not set(download.value.suggested_filename) & set("<>\"'&/\\")


def test_markup_in_refusals_is_shown_not_run(pages):
    page = pages.open(allow=("422",))
    page.route(
        "**/api/predict",
        lambda route: route.fulfill(status=422, json={"error": f"no: {EVIL}", "details": [f"see {EVIL}\u202e"]}),
    )
    page.locator("#text").fill("fever")
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_have_text(f"no: {EVIL}")
    expect(page.locator("#failure-details li")).to_have_text(f"see {EVIL}\ufffd")


@pytest.mark.parametrize(
    "picture",
    [
        '<svg xmlns="http://www.w3.org/2000/svg" onload="boom()"/>',
        '<svg xmlns="http://www.w3.org/2000/svg"><script>boom()</script></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><p xmlns="http://www.w3.org/1999/xhtml"/></foreignObject></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"><a href="javascript:boom()"><text>x</text></a></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"><image href="http://other.invalid/x.png"/></svg>',
        '<svg xmlns="http://www.w3.org/2000/svg"><style>@import "http://other.invalid";<!-- --></style></svg>',
        '<html xmlns="http://www.w3.org/1999/xhtml"><p/></html>',
        "<svg><unclosed>",
    ],
)
def test_pictures_with_more_than_a_picture_needs_are_refused(pages, picture):
    page = pages.open(allow=("Content Security Policy", "policy: "))  # said while it is looked at; nothing is run
    told = call(
        page,
        "hypergraph.js",
        "(() => { try { document.body.append(it.adopted(given)); return ''; }"
        " catch (error) { return error.message; } })()",
        picture,
    )
    assert re.search("is not shown|cannot be read", told)


def test_control_characters_are_signs(page):
    shown = call(
        page,
        "text.js",
        "given.map(it.visible)",
        ["a\x00b\x1b[1m\x7f", "x\u202ey\u2066z", "5\xa0mg", "نمی\u200cشود", "👩\u200d⚕"],
    )
    assert shown == ["a␀b␛[1m␡", "x\ufffdy\ufffdz", "5␣mg", "نمی\u200cشود", "👩\u200d⚕"]


def test_offsets_are_code_points(page):
    text = "😀 fever 𝒳 and 👩‍⚕️ pain"
    spans = [(0, 1), (2, 7), (8, 9), (0, len(text)), (len(text) - 4, len(text))]
    sliced = call(
        page,
        "text.js",
        "(() => { const points = new it.CodePoints(given[0]);"
        " return [points.length, ...given[1].map(([start, end]) => points.slice(start, end))]; })()",
        [text, spans],
    )
    assert sliced == [len(text), *(text[start:end] for start, end in spans)]
    find(page, text)
    expect(page.locator(".plain").first).to_have_text(text)


def test_right_to_left_text_runs_right_to_left(page):
    find(page, "היו לו כאבים in the left arm ודם בפה.")
    set_threshold(page, 0.02)
    words = page.locator("#sentences .words").first
    expect(words).to_have_attribute("dir", "rtl")
    left = {
        word: page.locator("#sentences .word", has_text=re.compile(f"^{word}")).first.bounding_box()["x"]
        for word in ("היו", "כאבים", "left", "arm", "ודם")
    }
    assert left["ודם"] < left["left"] < left["arm"] < left["כאבים"] < left["היו"]


LABELS_THAT_COLLIDE = """(words) => {
  const boxes = [...words.querySelectorAll(".label bdi")].map((label) => label.getBoundingClientRect());
  const out = words.closest(".sentence").getBoundingClientRect();
  const hits = [];
  boxes.forEach((one, index) => {
    if (one.left < out.left - 1 || one.right > out.right + 1) hits.push(["out", one.left, one.right]);
    for (const other of boxes.slice(index + 1)) {
      const isBeside = one.right <= other.left || other.right <= one.left;
      const isBelow = one.bottom <= other.top + 3 || other.bottom <= one.top + 3;
      if (!isBeside && !isBelow) hits.push(["hit", one.left, other.left]);
    }
  });
  return hits;
}"""


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize(
    "text",
    [
        TONGUE,
        "Mitral valve: leaflets and chordae severely thickened, with moderate regurgitation and blood in his stomach.",
        "היו לו כאבים in the left arm ודם בפה, וגם חום with fever and pain in his mouth היום.",
        "fever with דם in his mouth and חום גבוה on his tongue, arm and leg.",
    ],
)
def test_nothing_is_hidden_by_something_else(pages, width, text):
    page = pages.open(width=width)
    find(page, text)
    set_threshold(page, 0.02)
    expect(page.locator("button.label").nth(3)).to_be_visible()
    assert page.locator("#sentences .words").first.evaluate(LABELS_THAT_COLLIDE) == []
    page.set_viewport_size({"width": width - 70, "height": 900})
    next_frame(page)
    assert page.locator("#sentences .words").first.evaluate(LABELS_THAT_COLLIDE) == []


def test_a_mention_goes_on_behind_the_end_of_the_line(pages):
    page = pages.open(width=360)
    find(page, TONGUE)
    set_threshold(page, 0.02)
    expect(page.locator("#threshold-value")).to_have_text("0.02")
    expect(page.locator(".from-before").first).to_have_text(re.compile("^…(Finding|Anatomy)$"))
    lines = page.locator("#sentences .words").evaluate(
        "(words) => { const lines = {};"
        " for (const cell of words.querySelectorAll('[data-mention]'))"
        " (lines[cell.dataset.mention] ??= new Set()).add(Math.round(cell.parentElement.getBoundingClientRect().top));"
        " return Math.max(...Object.values(lines).map((tops) => tops.size)); }"
    )
    assert lines > 1
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(page.locator(".from-before")).to_have_count(0)


def test_a_reading_that_is_no_longer_wanted_does_not_come(page):
    find(page, TONGUE)
    held: list[object] = []
    page.route("**/api/predict", lambda route: held.append(route))
    page.locator("label[for=decode-all]").click()
    expect(page.locator("#stop")).to_be_visible()
    page.locator("label[for=decode-enough]").click()
    page.locator("label[for=decode-probable]").click()
    expect(page.locator("#stop")).to_be_hidden()
    assert page.locator("#decode-probable").is_checked()
    expect(page.locator("#decode-said")).to_have_text(re.compile("^Every mention at least as probable"))
    expect(page.locator("#threshold")).to_be_enabled()
    expect(page.locator("#changes")).to_be_hidden()
    assert len(held) == 2
    page.unroute("**/api/predict")


WIDER_THAN_THE_WINDOW = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest("svg") && element.getBoundingClientRect().right > width)
    .map((element) => `${element.tagName} ${element.id} ${element.className}`);
}"""


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_small_window_scrolls_in_one_direction_only(pages, width):
    page = pages.open(width=width, height=740, has_touch=True)
    assert page.evaluate(WIDER_THAN_THE_WINDOW) == []
    give_files(page, {f"{'a' * 120}.txt": f"{TONGUE}\n{'x' * 400} fever\nblood/{'y' * 300}/pain."})
    wait(page)
    set_threshold(page, 0.02)
    page.get_by_role("button", name="Hypergraph of sentence 1").click()
    expect(page.locator(".figure svg")).to_be_visible()
    page.locator("#about summary").click()
    assert page.evaluate(WIDER_THAN_THE_WINDOW) == []
    page.keyboard.press("Escape")
    page.locator("button.label").first.tap()
    expect(page.locator(".panel .reasons li").first).to_be_visible()
    assert page.evaluate(WIDER_THAN_THE_WINDOW) == []


def test_a_sentence_of_five_hundred_words(page):
    words = TONGUE[:-1].replace(",", "").split()
    text = " ".join(words[number % len(words)] for number in range(500)) + "."
    find(page, text)
    assert page.locator("#sentences .word").count() == 501
    set_threshold(page, 0.05)
    expect(page.locator("#threshold-value")).to_have_text("0.05")
    assert len(labels(page)) > 20
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_document_of_a_hundred_pages_is_read_while_it_comes(page):
    reports = demo.stream(400, split="train", seed=5)
    pieces: list[str] = []
    while sum(map(len, pieces)) < 100 * 1_800:
        pieces.append(next(reports).text)
    page.evaluate(
        "() => { window.seen = [];"
        " new MutationObserver(() => window.seen.push([document.querySelectorAll('.sentence').length,"
        " !document.getElementById('stop').hidden]))"
        ".observe(document.getElementById('sentences'), {childList: true}); }"
    )
    give_files(page, {"long.txt": "\n".join(pieces)})
    expect(page.locator("#results")).to_be_visible()
    expect(page.locator("#stop")).to_be_hidden(timeout=60_000)
    wait(page)
    seen = page.evaluate("window.seen")
    n_sentences = page.locator(".sentence").count()
    assert n_sentences > 1_500
    assert seen[0][0] < n_sentences / 2, "the first sentences are there before the last"
    assert seen[0][1], "while the rest is still on its way"
    n_drawn = page.locator(".drawn").count()
    assert n_drawn < n_sentences / 4, "only what is near the window is drawn"
    set_threshold(page, 0.5)
    before = page.locator("#count").inner_text()
    set_threshold(page, 0.9)
    expect(page.locator("#count")).not_to_have_text(before)
    last = page.locator(".sentence").last
    last.scroll_into_view_if_needed()
    expect(last).to_have_class(re.compile("drawn"))


def test_reading_can_be_stopped(pages):
    page = pages.open()
    reports = demo.stream(60, split="train", seed=6)
    page.evaluate(
        "() => new MutationObserver((_, observer) => {"
        " observer.disconnect(); document.getElementById('stop').click(); })"
        ".observe(document.getElementById('sentences'), {childList: true})"
    )
    give_files(page, {"long.txt": "\n".join(report.text for report in reports)})
    expect(page.locator("#status")).to_have_text(re.compile(r"^Stopped after [\d,]+ sentences?\.$"))
    expect(page.locator("#stop")).to_be_hidden()
    find(page, TONGUE)
    expect(page.locator(".sentence")).to_have_count(1)


def test_what_the_server_refuses_is_said(pages):
    page = pages.open(allow=("413",))
    page.route("**/api/predict", lambda route: route.continue_(post_data="x" * 2_100_000))
    page.locator("#text").fill("fever")
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_contain_text("2,000,000 bytes")
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/api/predict")
    find(page, TONGUE)
    expect(page.locator("#failure")).to_be_hidden()


def test_a_server_that_is_gone_is_said(pages):
    page = pages.open(allow=("Failed to load resource", "net::"))
    page.context.set_offline(True)
    page.locator("#text").fill("fever")
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_have_text(
        "The server does not respond. Is “hyperspan serve” still running?"
    )
    page.context.set_offline(False)
    find(page, TONGUE)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"model": "demo"}\n', "The response ended before the last sentence. Find mentions again."),
        ('{"model": "demo"}\n{"error": "it took too long", "details": []}\n', "it took too long"),
        ("<html>\n", "The server sent a line that is not valid JSON. Find mentions again."),
    ],
)
def test_an_answer_that_breaks_off_is_said(page, body, told):
    page.route("**/api/predict", lambda route: route.fulfill(status=200, body=body))
    page.locator("#text").fill("fever")
    page.locator("#find").click()
    expect(page.locator("#failure-text")).to_have_text(told)


def mention(*spans: tuple[int, int], type: str = "A") -> dict:
    return {"type": type, "spans": spans, "text": "", "prob": 0.5}


def test_lanes_hold_each_mention_whole_and_never_two_in_one_place(page):
    spans = list(combinations(range(7), 2))
    mentions = [mention(span) for span in spans]
    mentions += [mention(one, other) for one, other in combinations(spans, 2) if one[1] < other[0]]
    mentions += [mention((2, 4), type="B")]
    lanes = call(
        page,
        "lanes.js",
        "it.layLanes(given.map((mention) => ({ mention })), ({ mention }) => [it.startOf(mention), it.endOf(mention)])"
        ".map((lane) => lane.map((item) => item.mention))",
        mentions,
    )
    placed = [str(mention) for lane in lanes for mention in lane]
    assert sorted(placed) == sorted(
        str({**mention, "spans": [list(span) for span in mention["spans"]]}) for mention in mentions
    )
    for lane in lanes:
        for one, other in combinations(lane, 2):
            assert one["spans"][-1][1] <= other["spans"][0][0] or other["spans"][-1][1] <= one["spans"][0][0]
    longest = max(lanes[0], key=lambda mention: mention["spans"][-1][1] - mention["spans"][0][0])
    assert longest["spans"][0][0] == 0
    assert longest["spans"][-1][1] == 6


def test_lanes_are_those_of_other_drawings(page):
    from hyperspan import Mention
    from hyperspan.render import lay_lanes

    mentions = [
        ((0, 2),),
        ((0, 1), (3, 4)),
        ((4, 5),),
        ((5, 9),),
        ((1, 2), (8, 9)),
        ((7, 8),),
        ((2, 3), (4, 6), (7, 8)),
    ]
    ours = call(
        page,
        "lanes.js",
        "it.layLanes(given.map((mention) => ({ mention })), ({ mention }) => [it.startOf(mention), it.endOf(mention)])"
        ".map((lane) => lane.map((item) => item.mention.spans))",
        [mention(*spans) for spans in mentions],
    )
    theirs = [
        [[list(part) for part in mention.parts] for mention in lane]
        for lane in lay_lanes(Mention("A", spans) for spans in mentions)
    ]
    assert ours == theirs


def test_the_path_of_a_mention_goes_through_the_hypergraph(page):
    data = {"blocks": [{"type": "Drug", "n_parts": None}, {"type": "A thing", "n_parts": None}]}
    assert call(page, "hypergraph.js", "it.pathOf(given, '2-3+4-6 A thing')", data) == [
        "1:T:2 1:B0:2",
        "1:B0:2 1:O1:3",
        "1:O1:3 1:B1:4",
        "1:B1:4 1:B1:5",
        "1:B1:5 1:X:B1:5",
    ]
    assert call(page, "hypergraph.js", "it.pathOf(given, '0-1 Other')", data) == []
