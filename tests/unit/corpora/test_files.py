"""Files are read within bounds, and documents get harmless names."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperspan.corpora import files
from hyperspan.corpora.files import document_path, head_of, read_text, stream_lines
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError


def test_text_is_read_exactly(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\ntwo\rthree\0".encode())
    assert read_text(path, Diagnostics()) == "\ufeffone\r\ntwo\rthree\0"


def test_a_text_that_is_not_utf8_is_named_by_line_and_byte(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\n\xe9")
    with pytest.raises(CorpusError, match=r"a\.txt:3: byte 0xe9 at position 10 is not UTF-8"):
        read_text(path, Diagnostics())
    diagnostics = Diagnostics("skip")
    assert read_text(path, diagnostics) is None
    assert diagnostics.counts == {"encoding": 1}


def test_a_text_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_DOCUMENT", 1000)
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 1001)
    with pytest.raises(CorpusError, match=r"a\.txt: the file has 1,001 bytes; what must be read whole may have 1,000"):
        read_text(path, Diagnostics())
    assert read_text(path, Diagnostics("skip")) is None
    path.write_bytes(b"x" * 1000)
    assert read_text(path, Diagnostics()) == "x" * 1000


def test_head_is_bounded(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x" * (files.HEAD_BYTES + 1))
    assert head_of(path) == b"x" * files.HEAD_BYTES


def test_lines_are_numbered_and_bared(tmp_path):
    path = tmp_path / "a"
    path.write_bytes("\ufeffone\r\n\n\ufefftwo\u2028still two\nlast".encode())
    assert list(stream_lines(path, Diagnostics())) == [
        (1, "one"),
        (2, ""),
        (3, "\ufefftwo\u2028still two"),
        (4, "last"),
    ]
    assert next(stream_lines(path, Diagnostics(), keep_ends=True)) == (1, "one\r\n")


def test_lines_that_are_too_long_are_reported_and_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 10)
    path = tmp_path / "a"
    path.write_bytes(b"123456789\n" + b"x" * 10 + b"\n" + b"y" * 35 + b"\nok\n" + b"z" * 11)
    with pytest.raises(CorpusError, match=r"a:2: the line has more than 10 bytes"):
        list(stream_lines(path, Diagnostics()))
    diagnostics = Diagnostics("skip")
    assert list(stream_lines(path, diagnostics)) == [(1, "123456789"), (4, "ok")]
    assert [finding.line for finding in diagnostics.items] == [2, 3, 5]


def test_a_line_that_is_not_utf8_is_passed_over(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one\n\xff\nthree\n")
    diagnostics = Diagnostics("skip")
    assert list(stream_lines(path, diagnostics)) == [(1, "one"), (3, "three")]
    assert str(diagnostics.items[0]).startswith(f"{path}:2: byte 0xff at position 0 is not UTF-8")


@pytest.mark.parametrize(
    ("doc", "expected"), [("note", "note.ann"), ("a.b", "a.b.ann"), ("ward/note 7", "ward/note 7.ann"), ("é", "é.ann")]
)
def test_a_document_gets_a_file_below_the_folder(doc, expected):
    assert document_path(Path("out"), doc, ".ann") == Path("out") / expected


@pytest.mark.parametrize(
    "doc",
    [
        *(
            "",
            "/",
            "/etc/passwd",
            "..",
            "a/../b",
            "a//b",
            "a/",
            ".hidden",
            "a\\b",
            "C:x",
            "a\nb",
            "a\0",
            "\ud800",
            "\ufeffa",
            "a\ufffe",
        ),
        "x" * 201,
        "/".join(["x" * 150] * 7),
    ],
)
def test_a_name_that_leads_elsewhere_or_nowhere_is_refused(doc):
    with pytest.raises(CorpusError, match=r"document name .* cannot be a file name: expected"):
        document_path(Path("out"), doc, ".ann")
