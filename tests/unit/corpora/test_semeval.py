"""Pipe-delimited annotations of ShARe/CLEF 2013 and SemEval-2014 Task 7."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fuzzing import assert_reader_survives
from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError

NAME = "00017-000042-ECHO_REPORT"
TEXT = "Left atrium is\r\nmildly dilated.\nNo effusion seen."
LINES = f"{NAME}.txt||Disease_Disorder||C0344720||0||11||23||30\n{NAME}.txt||Disease_Disorder||CUI-less||35||43\n"


def _put(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    return path


def _sample(folder: Path, lines: str = LINES, *, pipe: str = f"{NAME}.pipe", text: str = f"{NAME}.text") -> Path:
    _put(folder / text, TEXT)
    return _put(folder / pipe, lines)


def test_parts_cuis_and_note_type(tmp_path: Path) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in")).units
    assert document.doc == NAME
    assert document.text == TEXT
    assert [document.text_of(mention) for mention in document.mentions] == ["Left atrium … dilated", "effusion"]
    assert [dict(mention.attributes) for mention in document.mentions] == [{"cui": "C0344720"}, {"cui": "CUI-less"}]
    assert document.attributes == {"note_type": "echo"}
    assert document.place.endswith(".pipe:1")


@pytest.mark.parametrize(
    ("pipe", "text"),
    [
        (f"train/echo/{NAME}.pipe", f"train/echo/{NAME}.text"),
        (f"pipe/{NAME}.pipe", f"text/{NAME}.txt"),
        (f"CLEFPIPEDELIMITED/{NAME}.pipe.txt", f"ALLREPORTS/{NAME}.txt"),
        (f"{NAME}.pipe.txt", f"{NAME}.txt"),
    ],
)
def test_layouts_of_distributions(tmp_path: Path, pipe: str, text: str) -> None:
    _sample(tmp_path / "in", pipe=pipe, text=text)
    (document,) = corpora.read(tmp_path / "in").units
    assert document.doc == pipe.split(".")[0]
    assert len(document.mentions) == 2
    assert document.attributes == {"note_type": "echo"}


def test_one_file_for_many_reports(tmp_path: Path) -> None:
    _put(tmp_path / "text" / "a.txt", "fever")
    _put(tmp_path / "text" / "b.text", "cough, fever")
    _put(tmp_path / "text" / "c.txt", "well")
    path = _put(tmp_path / "pipe" / "all.pipe", "b.txt||D||C1||0||5\na.txt||D||C2||0||5\nb.txt||D||C2||7||12\n")
    corpus = corpora.read(path)
    assert [(unit.doc, len(unit.mentions)) for unit in corpus] == [("b", 2), ("a", 1)]
    assert corpus.diagnostics.note_counts == {"text-without-lines": 1}
    assert "no line names the report 'c.txt'" in corpus.diagnostics.notes["text-without-lines"].message


def test_a_report_without_mentions_has_an_empty_file(tmp_path: Path) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in", "")).units
    assert document.mentions == ()
    assert document.text == TEXT


def test_writing_and_reading_again(tmp_path: Path) -> None:
    corpus = corpora.read(_sample(tmp_path / "in" / "ward").parent.parent)
    corpora.write(corpus, tmp_path / "out", format="semeval")
    assert (tmp_path / "out" / "ward" / f"{NAME}.pipe").read_text() == LINES
    assert (tmp_path / "out" / "ward" / f"{NAME}.text").read_bytes() == TEXT.encode()
    again = corpora.read(tmp_path / "out")
    assert again == corpus


def test_changed_mentions_are_written(tmp_path: Path) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in")).units
    changed = document.with_mentions([Mention("Finding", [(0, 4), (23, 30)], attributes={"cui": "C9"})])
    diagnostics = Diagnostics("error")
    corpora.write([changed], tmp_path / "out", format="semeval", diagnostics=diagnostics)
    assert (tmp_path / "out" / f"{NAME}.pipe").read_text() == f"{NAME}.text||Finding||C9||0||4||23||30\n"
    assert not diagnostics.notes


def test_mentions_without_a_cui_are_noted(tmp_path: Path) -> None:
    diagnostics = Diagnostics("error")
    document = Document("n7", "no fever", [Mention("F", [(3, 8)], 0.5, {"polarity": "-"})], {"section": "x"})
    corpora.write([document], tmp_path / "out", format="semeval", diagnostics=diagnostics)
    assert (tmp_path / "out" / "n7.pipe").read_text() == "n7.text||F||CUI-less||3||8\n"
    assert diagnostics.note_counts == {
        "no-cui": 1,
        "attributes-not-held": 1,
        "mention-attributes-not-held": 1,
        "prob-not-held": 1,
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (f"{NAME}.txt||D||C1||0\n", f".pipe:1: the line is '{NAME}.txt||D||C1||0'; expected 'report||type||CUI||"),
        (f"{NAME}.txt||D||C1||0||4||5\n", "expected 'report||type||CUI||start||end' with further pairs of offsets"),
        (f"{NAME}.txt||D||C1\n", "expected 'report||type||CUI||start||end'"),
        (f"{NAME}.txt||D||C1||0||x\n", "expected 'report||type||CUI||start||end'"),
        (f"{NAME}.txt||D||C1||٠||٣\n", "expected 'report||type||CUI||start||end'"),
        (f"{NAME}.txt||D||C1||-1||4\n", "expected 'report||type||CUI||start||end'"),
        (f"\n{NAME}.txt||D||C1||4||0\n", ".pipe:2: part '4 0' ends before it starts"),
        (f"{NAME}.txt||D||C1||0||4||2||6\n", "part '2 6' overlaps another part of the same mention"),
        (f"{NAME}.txt||D||C1||0||4000\n", "part '0 4000' ends beyond the end, which is at 49"),
        (f"{NAME}.txt||||C1||0||4\n", "the mention has no type"),
        (
            LINES + LINES.replace("CUI-less", "C5").splitlines()[1],
            ".pipe:3: the 'Disease_Disorder' mention [(35, 43)] was",
        ),
        ("other.txt||D||C1||0||4\n", ".pipe:1: there is no text 'other.txt' or '.text'"),
        ("../../etc/passwd||D||C1||0||4\n", ".pipe:1: document name '../../etc/passwd' cannot be a file name"),
        (LINES + "nonsense\n", ".pipe:3: the line is 'nonsense'; expected 'report||type||CUI||start||end'"),
    ],
)
def test_defects_are_named_with_their_place(tmp_path: Path, lines: str, message: str) -> None:
    path = _sample(tmp_path / "in", lines)
    with pytest.raises(CorpusError) as caught:
        corpora.read(path)
    assert message in str(caught.value)
    assert corpora.read(path, on_error="skip").diagnostics.total == 1


def test_the_later_tasks_format_is_named(tmp_path: Path) -> None:
    path = _sample(tmp_path / "in", f"{NAME}.txt|0-11,23-30|C0344720|no|NULL|patient|NULL\n")
    assert corpora.recognise(path).name == "semeval"
    with pytest.raises(CorpusError, match="as in SemEval-2015 Task 14 and ShARe/CLEF 2014, which are not read"):
        corpora.read(path)
    assert len(corpora.read(path, on_error="skip")) == 0


def test_a_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = _sample(tmp_path / "in")
    (tmp_path / "in" / f"{NAME}.text").write_bytes(b"caf\xe9 " * 20)
    with pytest.raises(CorpusError, match=r"\.text:1: byte 0xe9 at position 3 is not UTF-8"):
        corpora.read(path)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document("../x", "no"), "document name '../x' cannot be a file name"),
        (Document("n7", "no", [Mention("A||B", [(0, 1)])]), "type 'A||B' or CUI 'CUI-less' has a bar"),
        (Document("n7", "no", [Mention("A", [(0, 1)], attributes={"cui": "\n"})]), "CUI '\\n' has a bar, a line break"),
    ],
)
def test_what_cannot_be_held_is_reported(tmp_path: Path, document: Document, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        corpora.write([document], tmp_path / "out", format="semeval")
    assert message in str(caught.value)
    diagnostics = Diagnostics("skip")
    corpora.write([document, Document("kept", "")], tmp_path / "out", format="semeval", diagnostics=diagnostics)
    assert diagnostics.counts == {"not-held": 1}
    assert "kept" in [unit.doc for unit in corpora.read(tmp_path / "out")]


def test_documents_that_come_twice_are_reported(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="document 'n7' comes twice"):
        corpora.write([Document("n7", "one"), Document("n7", "two")], tmp_path / "out", format="semeval")


def test_a_renamed_document_gets_its_new_name_in_every_line(tmp_path: Path) -> None:
    (document,) = corpora.read(_sample(tmp_path / "in")).units
    corpora.write([replace(document, doc="new")], tmp_path / "out", format="semeval")
    assert (tmp_path / "out" / "new.pipe").read_text().startswith("new.text||Disease_Disorder||C0344720||0||11")


def test_sentences_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the format 'semeval' holds texts with character offsets"):
        corpora.write([Sentence(["no"])], tmp_path / "out", format="semeval")


def test_damaged_files(tmp_path: Path) -> None:
    files = {f"pipe/{NAME}.pipe": LINES.encode(), f"text/{NAME}.text": TEXT.encode()}
    assert_reader_survives("semeval", files, f"pipe/{NAME}.pipe", tmp_path, 150)
