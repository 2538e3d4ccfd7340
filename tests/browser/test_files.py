"""Files in and out: brat pairs with gold, downloads, defects."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

from browser.driving import TONGUE, Page, drop_files, expect, find, give_files, labels, set_threshold, wait
from hyperspan.corpora.reading import read

TEXT = (
    "😀 The patient had blood in his mouth and on his tongue.\r\n"
    "Aspirin 81 mg daily was given for pain.\r\nNo fever.\r\n"
)


def annotation(number: int, type: str, *pieces: str) -> str:
    spans = ";".join(f"{TEXT.index(piece)} {TEXT.index(piece) + len(piece)}" for piece in pieces)
    return f"T{number}\t{type} {spans}\t{' '.join(pieces)}\n"


ANN = (
    annotation(1, "Anatomy", "mouth")
    + annotation(2, "Finding", "blood", "on his tongue")
    + annotation(3, "Drug", "Aspirin")
    + annotation(4, "Symptom", "fever")
)


def saved(page: Page, format: str) -> tuple[str, bytes]:
    with page.expect_download() as download:
        page.locator(f"[data-format={format}]").click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_dropped_text_is_read(page):
    drop_files(page, {"note 7.txt": TONGUE})
    wait(page)
    expect(page.locator("#doc")).to_have_text("note 7")
    expect(page.locator(".two")).to_have_count(0)


def test_a_brat_pair_is_held_against_what_was_found(page):
    drop_files(page, {"note.ann": ANN, "note.txt": TEXT})
    wait(page)
    set_threshold(page, 0.3)
    first = page.locator(".sentence").first
    assert first.locator("h3").all_text_contents() == ["Found", "Gold"]
    gold = first.locator(".column").nth(1)
    assert gold.locator("button.label").all_inner_texts() == ["○ Finding · missed", "✓ Anatomy"] or any(
        label.startswith("✓ Finding") for label in gold.locator("button.label").all_inner_texts()
    )
    split = gold.locator("button.label", has_text="Finding")
    expect(split).to_have_accessible_name(re.compile(r"^\S Finding.*, 2 parts: blood … on his tongue$"))
    assert any(label.startswith("✓ Anatomy") for label in labels(page, ".sentence:first-child .column:first-child"))
    expect(page.locator("#scores")).to_have_text(
        re.compile(r"^\d+ of 4 gold mentions found: precision [\d.]+, recall [\d.]+, F1 [\d.]+\.$")
    )
    expect(page.locator("#types")).to_contain_text("Symptom")
    fever = page.locator(".sentence").nth(2).locator(".column").nth(1).locator("button.label")
    assert fever.inner_text().startswith("○ Symptom · missed")
    assert page.locator(".is-missed.bar").count() > 0


def test_scores_follow_the_threshold_and_right_sentences_can_be_hidden(page):
    give_files(page, {"note.ann": ANN, "note.txt": TEXT})
    wait(page)
    set_threshold(page, 0.99)
    expect(page.locator("#scores")).to_have_text(re.compile(r"recall (0\.0|25\.0|50\.0)"))
    low = page.locator("#scores").inner_text()
    set_threshold(page, 0.02)
    expect(page.locator("#scores")).not_to_have_text(low)
    found = page.locator("button.label", has_text="✗")
    assert found.count() > 0
    page.get_by_label("only sentences with errors").check()
    for sentence in page.locator(".sentence:visible").all():
        assert sentence.locator(".is-wrong, .is-missed").count() > 0


def test_hover_lights_the_twin_in_the_gold_column(page):
    give_files(page, {"note.ann": ANN, "note.txt": TEXT})
    wait(page)
    first = page.locator(".sentence").first
    first.locator(".column").nth(1).locator("button.label", has_text="Anatomy").hover()
    assert first.locator(".column").nth(1).locator(".token.lit").all_inner_texts() == ["mouth"]
    assert first.locator(".column").nth(0).locator(".token.lit").all_inner_texts() == ["mouth"]


def test_annotations_alone_belong_to_the_text_that_is_shown(page):
    drop_files(page, {"note.txt": TEXT})
    wait(page)
    expect(page.locator(".two")).to_have_count(0)
    drop_files(page, {"note.ann": ANN})
    expect(page.locator(".two").first).to_be_visible()
    expect(page.locator("#scores")).to_contain_text("of 4 gold mentions")


def test_typing_puts_gold_aside(page):
    give_files(page, {"note.ann": ANN, "note.txt": TEXT})
    wait(page)
    find(page, TONGUE)
    expect(page.locator(".two")).to_have_count(0)
    expect(page.locator("#scores")).to_be_hidden()
    expect(page.locator("#doc")).to_be_hidden()


def test_defects_of_annotations_are_listed(page):
    give_files(page, {"note.ann": ANN + "T9\tFinding 5 3\tx\n", "note.txt": TEXT})
    wait(page)
    expect(page.locator("#findings-count")).to_have_text("1 problem in the annotations: not part of the gold")
    page.locator("#findings-count").click()
    expect(page.locator("#findings-list li")).to_contain_text("line 5: part '5 3' ends before it starts")


def test_files_that_cannot_be_used_are_answered_with_a_sentence(page):
    message = page.locator("#failure-text")
    give_files(page, {"note.ann": ANN})
    expect(message).to_have_text("note.ann has annotations but no text. Drop it together with its .txt file.")
    give_files(page, {"a.txt": "one", "b.txt": "two", "c.ann": ANN})
    expect(message).to_have_text("c.ann has annotations but no text. Drop it together with its .txt file.")
    give_files(page, {"latin.txt": "fièvre".encode("latin-1")})
    expect(message).to_have_text("latin.txt is not UTF-8 text. Save it as UTF-8 and drop it again.")
    give_files(page, {"empty.txt": " \n"})
    expect(message).to_have_text("empty.txt is empty.")


def test_what_is_shown_is_saved_as_brat_that_we_read_back(page, tmp_path):
    give_files(page, {"note 7.txt": TEXT})
    wait(page)
    set_threshold(page, 0.1)
    n_shown = int(page.locator("#count").inner_text().split()[0])
    name, content = saved(page, "brat")
    assert name.endswith(".zip")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        assert sorted(Path(name).suffix for name in names) == [".ann", ".conf", ".txt"]
        archive.extractall(tmp_path)
    (document,) = read(tmp_path)
    assert document.text == TEXT
    assert len(document.mentions) == n_shown > 0
    assert any(TEXT[start:end] == "mouth" for mention in document.mentions for start, end in mention.parts)
    expect(page.locator("#status")).to_have_text(re.compile(r"^Saved .*\.zip\.$"))


def test_what_is_shown_is_saved_as_json_lines(page):
    find(page, TONGUE)
    set_threshold(page, 0.5)
    n_shown = int(page.locator("#count").inner_text().split()[0])
    name, content = saved(page, "jsonl")
    assert name.endswith(".jsonl")
    records = [json.loads(line) for line in content.decode().splitlines()]
    mentions = [mention for record in records for mention in record["mentions"]]
    assert len(mentions) == n_shown > 0
    assert all(mention["prob"] >= 0.5 for mention in mentions)


def test_what_is_shown_is_saved_as_a_picture(page):
    find(page, TONGUE)
    name, content = saved(page, "svg")
    assert name.endswith(".svg")
    root = ElementTree.fromstring(content)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "mouth" in texts
    assert any(text and text.startswith("Anatomy 0.") for text in texts)


def test_what_is_shown_is_saved_as_a_page_that_stands_alone(page, pages, tmp_path):
    find(page, TONGUE)
    n_shown = int(page.locator("#count").inner_text().split()[0])
    name, content = saved(page, "html")
    assert name.endswith(".html")
    html = content.decode()
    assert "<script" not in html
    assert not re.search(r"(src|href)=", html)
    alone = page.context.new_page()
    alone.set_content(html)
    assert alone.locator(".hs-spoken li").count() == n_shown > 0
    assert "mouth" in alone.locator(".hs-words").inner_text()
    alone.close()
