"""Files are read within bounds and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hyperspan.corpora import files
from hyperspan.corpora.files import document_path, head_of, read_text, stream_lines, writing, writing_folder
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError, UsageError


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
    with pytest.raises(CorpusError, match=r"a\.txt: the file has 1,001 bytes; a document may have 1,000"):
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


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "deep" / "out.txt"
    with writing(path) as file:
        file.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"
    assert os.listdir(path.parent) == ["out.txt"]


def test_a_failure_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), writing(path) as file:
        file.writelines([b"half", 7])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_file_cannot_be_written_over_a_folder_or_below_a_file(tmp_path):
    with pytest.raises(UsageError, match="is a folder; expected the name of a file to write"), writing(tmp_path):
        pass
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match=r"cannot write .*out"), writing(tmp_path / "file" / "out"):
        pass


def test_a_written_file_has_the_usual_permissions(tmp_path):
    with writing(tmp_path / "ours"):
        pass
    (tmp_path / "theirs").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


def test_a_folder_appears_only_when_it_is_complete(tmp_path):
    path = tmp_path / "deep" / "out"
    with writing_folder(path) as folder:
        (folder / "a").write_bytes(b"whole")
        assert not path.exists()
    assert (path / "a").read_bytes() == b"whole"
    assert os.listdir(path.parent) == ["out"]


def test_a_folder_that_is_not_empty_is_replaced_only_on_demand(tmp_path):
    path = tmp_path / "out"
    path.mkdir()
    with writing_folder(path) as folder:
        (folder / "a").touch()
    advice = "is not empty; choose another, or replace it with --overwrite"
    with pytest.raises(UsageError, match=advice), writing_folder(path):
        pass
    with pytest.raises(FileNotFoundError), writing_folder(path, overwrite=True) as folder:
        (folder / "b" / "c").touch()
    assert os.listdir(path) == ["a"]
    with writing_folder(path, overwrite=True) as folder:
        (folder / "b").touch()
    assert os.listdir(path) == ["b"]
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with writing_folder(tmp_path / "link", overwrite=True) as folder:
        (folder / "a").touch()
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "real") == ["a"]
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_a_folder_cannot_be_written_over_a_file(tmp_path):
    (tmp_path / "out").touch()
    advice = "is a file; expected the name of a folder to write"
    with pytest.raises(UsageError, match=advice), writing_folder(tmp_path / "out"):
        pass
    with pytest.raises(UsageError, match="cannot write"), writing_folder(tmp_path / "out" / "below"):
        pass


@pytest.mark.parametrize(
    ("doc", "expected"), [("note", "note.ann"), ("a.b", "a.b.ann"), ("ward/note 7", "ward/note 7.ann"), ("é", "é.ann")]
)
def test_a_document_gets_a_file_below_the_folder(doc, expected):
    assert document_path(Path("out"), doc, ".ann") == Path("out") / expected


@pytest.mark.parametrize(
    "doc",
    [
        *("", "/", "/etc/passwd", "..", "a/../b", "a//b", "a/", ".hidden", "a\\b", "C:x", "a\nb", "a\0", "\ud800"),
        "x" * 201,
        "/".join(["x" * 150] * 7),
    ],
)
def test_a_name_that_leads_elsewhere_or_nowhere_is_refused(doc):
    with pytest.raises(CorpusError, match=r"document name .* cannot be a file name: expected"):
        document_path(Path("out"), doc, ".ann")
