"""Knowtator and eHOST XML beside the texts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuzzing import assert_reader_survives
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError

TEXT = "Left atrium is\r\nmildly dilated.\nNo effusion seen."
XML = """<?xml version="1.0" encoding="UTF-8"?>
<annotations textSource="a-ECHO_REPORT.txt">
    <annotation>
        <mention id="EHOST_Instance_5" />
        <annotator id="eHOST_2010">reader 1</annotator>
        <span start="23" end="30" />
        <span start="0" end="11" />
        <spannedText>dilated ... Left atrium</spannedText>
        <creationDate>Mon Jan 05 10:00:00 2015</creationDate>
    </annotation>
    <classMention id="EHOST_Instance_5">
        <hasSlotMention id="EHOST_Instance_6" />
        <hasSlotMention id="EHOST_Instance_7" />
        <mentionClass id="Disease_Disorder">dilated ... Left atrium</mentionClass>
    </classMention>
    <stringSlotMention id="EHOST_Instance_6">
        <mentionSlot id="associatedCode" />
        <stringSlotMentionValue value="C0344720" />
    </stringSlotMention>
    <stringSlotMention id="EHOST_Instance_7">
        <mentionSlot id="severity" />
        <stringSlotMentionValue value="mild" />
        <stringSlotMentionValue value="new" />
    </stringSlotMention>
    <annotation>
        <mention id="EHOST_Instance_9" />
        <annotator id="eHOST_2010">reader 1</annotator>
        <span start="35" end="43" />
        <spannedText>effusion</spannedText>
    </annotation>
    <classMention id="EHOST_Instance_9">
        <mentionClass id="Disease_Disorder">effusion</mentionClass>
    </classMention>
    <eHOST_Adjudication_Status version="1.0"><Adjudication_Others/></eHOST_Adjudication_Status>
</annotations>
"""
PRIMARY = "a-ECHO_REPORT.txt.knowtator.xml"


def _put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _sample(folder: Path, xml: str | bytes = XML, *, name: str = PRIMARY, text: str = "a-ECHO_REPORT.txt") -> Path:
    _put(folder / text, TEXT)
    return _put(folder / name, xml)


def _written(tmp_path: Path, document: Document, diagnostics: Diagnostics | None = None) -> str:
    corpora.write([document], tmp_path / "out", format="knowtator", overwrite=True, diagnostics=diagnostics)
    return (tmp_path / "out" / f"{document.doc}.txt.knowtator.xml").read_bytes().decode()


def test_spans_types_and_slots(tmp_path: Path) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in")).units
    assert document.doc == "a-ECHO_REPORT"
    assert document.attributes == {"note_type": "echo"}
    first, second = document.mentions
    assert first == Mention("Disease_Disorder", [(0, 11), (23, 30)])
    assert first.attributes == {"cui": "C0344720", "severity": ["mild", "new"]}
    assert document.text_of(second) == "effusion"
    assert second.attributes == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (f"saved/{PRIMARY}", "corpus/a-ECHO_REPORT.txt"),
        (f"ann/{PRIMARY}", "ALLREPORTS/a-ECHO_REPORT.text"),
        ("a-ECHO_REPORT.knowtator.xml", "a-ECHO_REPORT.txt"),
        ("a-ECHO_REPORT.xml", "a-ECHO_REPORT.txt"),
    ],
)
def test_layouts(tmp_path: Path, name: str, text: str) -> None:
    _sample(tmp_path / "in", name=name, text=text)
    (document,) = corpora.read(tmp_path / "in").units
    assert document.doc.endswith("a-ECHO_REPORT")
    assert len(document.mentions) == 2


@pytest.mark.parametrize("content", [XML, XML.replace("\n", "\r\n"), XML.replace("\n", ""), XML.rstrip()])
def test_an_untouched_file_is_written_byte_for_byte(tmp_path: Path, content: str) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in", content)).units
    assert _written(tmp_path, document) == content
    assert (tmp_path / "out" / "a-ECHO_REPORT.txt").read_bytes() == TEXT.encode()


def test_only_what_changed_is_written_anew(tmp_path: Path) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in")).units
    new = Mention("Sign", [(0, 4), (16, 22)], attributes={"cui": "C9", "note": 'a "quoted" <b> & \n'})
    written = _written(tmp_path, document.with_mentions([document.mentions[0], new]))
    assert "Mon Jan 05 10:00:00 2015" in written
    assert "eHOST_Adjudication_Status" in written
    assert '"EHOST_Instance_9"' not in written
    assert 'id="EHOST_Instance_10"' in written
    (again,) = corpora.read(tmp_path / "out").units
    assert again.mentions == (new, document.mentions[0])
    assert again.mentions[0].attributes == new.attributes
    assert again.mentions[1].attributes == document.mentions[0].attributes


def test_changed_attributes_are_a_change(tmp_path: Path) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in")).units
    first, second = document.mentions
    changed = document.with_mentions([replace(first, attributes={"cui": "C1"}), second])
    _written(tmp_path, changed)
    (again,) = corpora.read(tmp_path / "out").units
    assert [dict(mention.attributes) for mention in again.mentions] == [{"cui": "C1"}, {}]


def test_documents_from_elsewhere(tmp_path: Path) -> None:
    document = Document("n7", TEXT, [Mention("Sign", [(0, 4), (16, 22)], attributes={"cui": "C9"})])
    assert _written(tmp_path, document) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<annotations textSource="n7.txt">\n  <annotation>'
        '<mention id="EHOST_Instance_1" />\n<annotator id="hyperspan">hyperspan</annotator>\n'
        '<span start="0" end="4" />\n<span start="16" end="22" />\n<spannedText>Left ... mildly</spannedText>\n'
        '</annotation>\n  <classMention id="EHOST_Instance_1"><mentionClass id="Sign">Left ... mildly</mentionClass>\n'
        '<hasSlotMention id="EHOST_Instance_2" />\n</classMention>\n  <stringSlotMention id="EHOST_Instance_2">'
        '<mentionSlot id="associatedCode" />\n<stringSlotMentionValue value="C9" />\n</stringSlotMention>\n'
        "</annotations>\n"
    )


def test_what_is_lost_is_noted(tmp_path: Path) -> None:
    diagnostics = Diagnostics("error")
    mention = Mention("Sign", [(0, 4)], 0.5, {"count": 3})
    _written(tmp_path, Document("n7", TEXT, [mention], {"section": "x"}), diagnostics)
    assert diagnostics.note_counts == {"attributes-not-held": 1, "mention-attributes-not-held": 1, "prob-not-held": 1}
    (again,) = corpora.read(tmp_path / "out").units
    assert again.mentions[0].attributes == {}


def _changed(old: str, new: str) -> str:
    assert old in XML
    return XML.replace(old, new)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_changed("</annotations>", ""), f"{PRIMARY}:36: the file is not XML: no element found"),
        ("<collection/>", f"{PRIMARY}:1: the root element is <collection>; expected <annotations textSource=...>"),
        (
            _changed('start="35"', 'start="36"'),
            f"{PRIMARY}:25: the span (36, 43) has the text 'ffusion', but spannedText",
        ),
        (_changed('end="43"', 'end="430"'), f"{PRIMARY}:25: part '35 430' ends beyond the end, which is at 49"),
        (_changed('end="43"', 'end="35"'), "part '35 35' is empty"),
        (_changed('start="35"', ""), "a span has start '' and end '43'; expected two numbers"),
        (_changed('start="35"', 'start="٣"'), "a span has start '٣' and end '43'; expected two numbers"),
        (_changed('<span start="35" end="43" />', ""), f"{PRIMARY}:25: the mention has no parts"),
        (_changed('<classMention id="EHOST_Instance_9">', "<classMention>"), f"{PRIMARY}:25: the mention has no type"),
        (_changed("a-ECHO_REPORT.txt", "../../etc/passwd"), "document name '../../etc/passwd' cannot be a file name"),
        (_changed("a-ECHO_REPORT.txt", "b.txt"), "there is no text 'b.txt' or '.text' beside the annotations"),
        (
            _changed("<annotations ", '<!DOCTYPE a [<!ENTITY e "x">]><annotations '),
            f"{PRIMARY}:2: the file has a document",
        ),
        (_changed("<annotations ", '<!DOCTYPE a SYSTEM "x"><annotations '), "the file has a document type"),
        (_changed("UTF-8", "Shift_JIS"), "the encoding is 'Shift_JIS'; expected UTF-8"),
        (XML.encode().replace(b"reader 1", b"reader \xff"), f"{PRIMARY}:5: the file is not XML"),
        (b"", f"{PRIMARY}:1: the file is not XML: no element found"),
    ],
)
def test_defects_are_named_with_their_place(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = _sample(tmp_path / "in", content)
    with pytest.raises(CorpusError) as caught:
        corpora.read(path)
    assert message in str(caught.value)
    assert corpora.read(path, on_error="skip").diagnostics.total == 1


def test_two_annotations_of_the_same_words_are_a_duplicate(tmp_path: Path) -> None:
    start = XML.index('    <annotation>\n        <mention id="EHOST_Instance_9"')
    end = XML.index('    <classMention id="EHOST_Instance_9')
    path = _sample(tmp_path / "in", XML[:end] + XML[start:end] + XML[end:])
    with pytest.raises(CorpusError, match="was given before, on line 25"):
        corpora.read(path)
    corpus = corpora.read(path, on_error="skip")
    assert corpus.n_mentions == 2
    written = _written(tmp_path, corpus.units[0])
    assert written.count("<annotation>") == 2


def test_a_latin1_file_is_decoded(tmp_path: Path) -> None:
    content = _changed("UTF-8", "ISO-8859-1").replace("reader 1", "caf\xe9").encode("latin-1")
    assert corpora.read(_sample(tmp_path / "in", content)).n_mentions == 2


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document("../x", "no"), "document name '../x' cannot be a file name"),
        (Document("x.txt", "no"), "document name 'x.txt' ends like a text file"),
        (Document("n7", "no", [Mention("A\x00", [(0, 1)])]), "has the character '\\x00', which XML cannot hold"),
    ],
)
def test_what_cannot_be_held_is_reported(tmp_path: Path, document: Document, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        corpora.write([document], tmp_path / "out", format="knowtator")
    assert message in str(caught.value)
    diagnostics = Diagnostics("skip")
    corpora.write([document, Document("kept", "")], tmp_path / "out", format="knowtator", diagnostics=diagnostics)
    assert diagnostics.counts == {"not-held": 1}
    assert "kept" in [unit.doc for unit in corpora.read(tmp_path / "out")]


def test_sentences_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the format 'knowtator' holds texts with character offsets"):
        corpora.write([Sentence(["no"])], tmp_path / "out", format="knowtator")


def test_damaged_files(tmp_path: Path) -> None:
    files = {PRIMARY: XML.encode(), "a-ECHO_REPORT.txt": TEXT.encode()}
    assert_reader_survives("knowtator", files, PRIMARY, tmp_path, 150)
