"""The text that annotations in another file are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperspan import Document
from hyperspan.corpora.sidecars import (
    Folders,
    TextFolder,
    attributes_of,
    attributes_told,
    find_sidecar,
    read_sidecar,
)
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError


def _put(path: Path, content: str = "no fever") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("name", ["a.txt", "a.text", "a"])
@pytest.mark.parametrize("file", ["pipe/a.txt", "pipe/a.text", "text/a.txt", "ALLREPORTS/a.text"])
def test_it_is_found_beside_or_in_a_folder_beside(tmp_path: Path, name: str, file: str) -> None:
    text = _put(tmp_path / file)
    annotations = _put(tmp_path / "pipe" / "a.pipe")
    assert find_sidecar(name, Folders(annotations)) == [text]
    assert read_sidecar(name, annotations, Diagnostics(), folders=Folders(annotations)) == "no fever"


def test_the_one_beside_comes_first(tmp_path: Path) -> None:
    annotations = _put(tmp_path / "pipe" / "a.pipe")
    _put(tmp_path / "text" / "a.txt", "other")
    _put(tmp_path / "pipe" / "a.text", "mine")
    assert read_sidecar("a.txt", annotations, Diagnostics(), folders=Folders(annotations)) == "mine"


def test_two_different_texts_are_not_guessed_between(tmp_path: Path) -> None:
    annotations = _put(tmp_path / "pipe" / "a.pipe")
    _put(tmp_path / "one" / "a.txt", "same")
    _put(tmp_path / "two" / "a.txt", "same")
    assert read_sidecar("a.txt", annotations, Diagnostics(), folders=Folders(annotations)) == "same"
    _put(tmp_path / "two" / "a.txt", "different")
    with pytest.raises(CorpusError, match="there are several texts of this name"):
        read_sidecar("a.txt", annotations, Diagnostics(), folders=Folders(annotations))


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "/etc/passwd",
        "x/../../secret.txt",
        "..\\secret.txt",
        "",
        "a\0.txt",
        ".",
        "C:secret",
        "n" * 5000,
    ],
)
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    _put(tmp_path / "secret.txt", "secret")
    annotations = _put(tmp_path / "corpus" / "pipe" / "a.pipe")
    with pytest.raises(CorpusError, match="cannot be a file name"):
        read_sidecar(name, annotations, Diagnostics(), line=3, folders=Folders(annotations))
    diagnostics = Diagnostics("skip")
    assert read_sidecar(name, annotations, diagnostics, line=3, folders=Folders(annotations)) is None
    assert diagnostics.counts == {"hostile-name": 1}
    assert diagnostics.items[0].line == 3


def test_a_missing_text_is_reported(tmp_path: Path) -> None:
    annotations = _put(tmp_path / "pipe" / "a.pipe")
    with pytest.raises(CorpusError, match=r"there is no text 'a.txt' or '.text' beside the annotations"):
        read_sidecar("a.txt", annotations, Diagnostics(), folders=Folders(annotations))


def test_note_types() -> None:
    assert attributes_of("x/08-ECHO_REPORT") == {"note_type": "echo"}
    assert attributes_of("08-RADIOLOGY_REPORT") == {"note_type": "radiology"}
    assert attributes_of("08-ECG_REPORT") == {"note_type": "ecg"}
    assert attributes_of("report") == {}
    assert attributes_told(Document("1-ECHO_REPORT", "", attributes={"note_type": "echo", "x": 1})) == {"note_type"}
    assert attributes_told(Document("1-ECHO_REPORT", "", attributes={"note_type": "ecg"})) == set()


@pytest.mark.parametrize(
    ("doc", "message"),
    [
        ("../a", "document name '../a' cannot be a file name"),
        (".a", "document name '.a' cannot be a file name"),
        ("b/.c/a", "document name 'b/.c/a' cannot be a file name"),
        ("a", "document 'a' comes twice"),
    ],
)
def test_documents_that_cannot_have_a_file(tmp_path: Path, doc: str, message: str) -> None:
    _put(tmp_path / "a.txt")
    diagnostics = Diagnostics("skip")
    assert TextFolder(tmp_path, ".txt", diagnostics).new_path(Document(doc, "")) is None
    assert [finding.message.startswith(message) for finding in diagnostics.items] == [True]
