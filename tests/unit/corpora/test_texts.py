"""Texts to find mentions in: plain ones, and those of corpora, whatever their annotations are like."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperspan import Document, Mention, Sentence, corpora
from hyperspan.corpora.texts import stream_texts
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError, FormatError


def put(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def read(path: Path, **options) -> list[tuple[str, str, int]]:
    return [
        (unit.doc, unit.text if isinstance(unit, Document) else " ".join(unit.tokens), len(unit.mentions))
        for unit in stream_texts(path, **options)
    ]


def test_a_folder_of_plain_texts_is_a_document_a_file(tmp_path):
    put(tmp_path, b_txt="Fever.", a_text="Cough.\r\n", ward__c_txt="Pain.", x_md="no note", _hidden="")
    assert read(tmp_path) == [("a", "Cough.\r\n", 0), ("b", "Fever.", 0), ("ward/c", "Pain.", 0)]


def test_a_folder_without_texts_says_what_is_expected(tmp_path):
    put(tmp_path, x_md="no note")
    with pytest.raises(FormatError, match=r"expected one of bigbio, .*, or plain texts, in files \.txt or \.text"):
        read(tmp_path)
    with pytest.raises(FormatError, match=r"there is no plain text here; expected plain texts, in files \.txt"):
        read(tmp_path, format="text")


def test_texts_without_annotations_in_a_folder_of_brat(tmp_path):
    put(tmp_path, a_txt="Fever.", a_ann="T1\tF 0 5\tFever\n", b_txt="Cough.")
    assert read(tmp_path) == [("a", "Fever.", 0), ("b", "Cough.", 0)]
    assert read(tmp_path, keep_gold=True) == [("a", "Fever.", 1), ("b", "Cough.", 0)]
    assert read(tmp_path, format="brat") == [("a", "Fever.", 0)]
    assert len(corpora.read(tmp_path)) == 1  # what nobody annotated is nothing to learn from


def test_a_text_with_annotations_beside_it(tmp_path):
    put(tmp_path, a_txt="Fever.", a_ann="T1\tF 0 5\tFever\n")
    assert read(tmp_path / "a.txt") == [("a", "Fever.", 0)]
    assert read(tmp_path / "a.txt", keep_gold=True) == [("a", "Fever.", 1)]


def test_texts_beside_another_format_are_told(tmp_path):
    put(tmp_path, a_txt="Fever.", b_jsonl='{"tokens": ["no"], "doc": "b"}\n')
    diagnostics = Diagnostics()
    assert read(tmp_path, diagnostics=diagnostics) == [("b", "no", 0)]
    message = "1 plain texts beside the jsonl files are not read; read them with --from text"
    assert diagnostics.notes["texts-not-read"].message == message
    assert read(tmp_path, format="text") == [("a", "Fever.", 0)]


def test_any_file_is_a_text_if_it_is_said_to_be(tmp_path):
    put(tmp_path, a_md="0 fever\n")
    assert read(tmp_path / "a.md", format="text") == [("a", "0 fever\n", 0)]


DEFECTIVE = {
    "brat": {"a.txt": "no fever", "a.ann": "T1\tF 0 5;3 8\tno fever\n"},
    "jsonl": {"a.jsonl": '{"doc": "a", "text": "no fever", "mentions": [{"type": 3}], "relations": 4, "ward": 7}\n'},
    "bioc": {
        "a.json": '{"documents": [{"id": "a", "passages": [{"offset": 0, "text": "no fever", "annotations": '
        '[{"infons": {"type": "F"}, "locations": [{"offset": 90, "length": 2}]}]}], "relations": []}]}'
    },
    "bigbio": {
        "a.jsonl": '{"document_id": "a", "passages": [{"text": ["no fever"], "offsets": [[0, 8]]}], "entities": 7, '
        '"relations": [1]}\n'
    },
    "cupt": {"a.cupt": "# global.columns = ID FORM PARSEME:MWE\n# sent_id = a\n1\tno\tx:y\n2\tfever\t*\n\n"},
    "inline": {"a.inline": "no fever\nx,y F\n\n"},
    "semeval": {"a.text": "no fever", "a.pipe": "a.text||F||C1||9||3\nnothing | at | all\n"},
    "knowtator": {
        "a.txt": "no fever",
        "a.txt.knowtator.xml": '<annotations textSource="a.txt"><annotation><mention id="1"/>'
        '<span start="x" end="2"/></annotation></annotations>',
    },
}


@pytest.mark.parametrize("format", DEFECTIVE)
def test_what_is_wrong_with_annotations_is_not_looked_at(format, tmp_path):
    for name, content in DEFECTIVE[format].items():
        (tmp_path / name).write_text(content)
    (unit,) = stream_texts(tmp_path, format=format)
    assert unit.mentions == ()
    assert (unit.text if isinstance(unit, Document) else " ".join(unit.tokens)) == "no fever"
    with pytest.raises(CorpusError):
        list(stream_texts(tmp_path, format=format, keep_gold=True))


def test_what_is_wrong_with_a_text_is_a_defect_still(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    with pytest.raises(CorpusError, match="is not UTF-8"):
        read(tmp_path)
    (tmp_path / "a.jsonl").write_text("{")
    with pytest.raises(CorpusError, match="the line is not JSON"):
        read(tmp_path / "a.jsonl")


@pytest.mark.parametrize("format", ["bioc", "cupt", "jsonl"])
def test_nothing_of_the_gold_is_written_again(format, tmp_path):
    gold = Mention("Gold", [(0, 1)])
    unit = Sentence(["no", "fever"], [gold], "a") if format == "cupt" else Document("a", "no fever", [gold])
    path = tmp_path / ("in.xml" if format == "bioc" else f"in.{format}")
    corpora.write([unit], path, format=format)
    found = [unit.with_mentions([Mention("Found", [(1, 2)])]) for unit in stream_texts(path)]
    corpora.write(found, tmp_path / f"out{path.suffix}", format=format)
    assert "Gold" not in (tmp_path / f"out{path.suffix}").read_text()
    (again,) = corpora.read(tmp_path / f"out{path.suffix}")
    assert again.mentions == (Mention("Found", [(1, 2)]),)
