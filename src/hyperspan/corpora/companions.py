"""The text that annotations in another file are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperspan.corpora.files import document_path, read_text
from hyperspan.errors import CorpusError
from hyperspan.findings import Findings, quoted
from hyperspan.mentions import NOTHING, Document

TEXT_SUFFIXES = (".txt", ".text")

_NOTE_TYPES = {
    "DISCHARGE_SUMMARY": "discharge",
    "ECHO_REPORT": "echo",
    "RADIOLOGY_REPORT": "radiology",
    "ECG_REPORT": "ecg",
}


def stem_of(name: str) -> str:
    """Return a text file's name without its suffix.

    Examples
    --------
    >>> stem_of("00098-016139-DISCHARGE_SUMMARY.txt"), stem_of("note.v2")
    ('00098-016139-DISCHARGE_SUMMARY', 'note.v2')
    """
    suffix = next((suffix for suffix in TEXT_SUFFIXES if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(suffix)]


def attributes_of(doc: str) -> Mapping[str, str]:
    """Return what the name of a clinical report tells: its note type.

    Examples
    --------
    >>> attributes_of("train/00098-016139-DISCHARGE_SUMMARY")
    {'note_type': 'discharge'}
    """
    note_type = _NOTE_TYPES.get(doc.rsplit("-", 1)[-1])
    return {"note_type": note_type} if note_type else NOTHING


def attributes_told(document: Document) -> set[str]:
    """Return the attributes of a document that its name tells, so that they need not be held elsewhere."""
    told = attributes_of(document.doc)
    return {name for name, value in document.attributes.items() if name in told and told[name] == value}


def new_text_path(document: Document, folder: Path, suffix: str, findings: Findings) -> Path | None:
    """Return where to write a document's text, its folder made, or report why it cannot be written."""
    try:
        path = document_path(folder, document.doc, suffix)
    except CorpusError as error:
        findings.report("not-held", error.message, path=document.place or None)
        return None
    if path.exists():
        findings.report("not-held", f"document {quoted(document.doc)} comes twice", path=document.place or None)
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def read_companion(name: str, annotations: Path, findings: Findings, *, line: int | None = None) -> str | None:
    """Read the text ``name`` that a file of annotations speaks of, or report why that cannot be done.

    It is looked for beside the annotations, then in the folders beside theirs (``text/`` beside ``pipe/``), as ``.txt``
    and as ``.text``. The name cannot lead anywhere else.
    """
    try:
        found = find_companion(name, annotations)
    except CorpusError as error:
        findings.report("hostile-name", error.message, path=str(annotations), line=line)
        return None
    if not found:
        findings.report(
            "no-text",
            f"there is no text {quoted(stem_of(name) + '.txt')} or '.text' beside the annotations or in a folder "
            "beside theirs",
            path=str(annotations),
            line=line,
        )
        return None
    if len({path.read_bytes() for path in found}) > 1:
        listed = " and ".join(str(path) for path in found)
        findings.report("ambiguous-text", f"there are several texts of this name: {listed}", path=str(annotations))
        return None
    return read_text(found[0], findings)


def find_companion(name: str, annotations: Path) -> list[Path]:
    """Return the files that a text may be in: one beside the annotations, or else all in folders beside theirs.

    Raises
    ------
    CorpusError
        If the name could lead elsewhere.
    """
    folder = annotations.parent
    if beside := next(_texts_in(folder, name), None):
        return [beside]
    try:
        folders = sorted(path for path in folder.resolve().parent.iterdir() if path.is_dir() and path.name[0] != ".")
    except OSError:
        return []
    return [text for other in folders if (text := next(_texts_in(other, name), None))]


def _texts_in(folder: Path, name: str) -> Iterator[Path]:
    # The name as it stands comes first; a name in "x.txt" may still mean the file "x.text".
    for path in (document_path(folder, name, ""), *(document_path(folder, stem_of(name), s) for s in TEXT_SUFFIXES)):
        try:
            if path.is_file():
                yield path
        except OSError:
            continue
