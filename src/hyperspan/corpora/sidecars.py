"""The text that annotations in another file are about."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from hyperspan.corpora.files import document_path, read_text
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import CorpusError
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


class TextFolder:
    """A folder to write documents into, each with a text file of its own.

    Parameters
    ----------
    folder : path
        Where to write.
    suffix : str
        That of the text files.
    diagnostics : Diagnostics
        Takes documents that cannot be written.
    """

    def __init__(self, folder: Path, suffix: str, diagnostics: Diagnostics) -> None:
        self.folder = folder
        self.suffix = suffix
        self.diagnostics = diagnostics

    def new_path(self, document: Document) -> Path | None:
        """Return where to write a document's text, its folder made, or report why it cannot be written."""
        try:
            path = document_path(self.folder, document.doc, self.suffix)
        except CorpusError as error:
            self._report(document, error.message)
            return None
        if path.exists():
            self._report(document, f"document {quoted(document.doc)} comes twice")
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _report(self, document: Document, message: str) -> None:
        self.diagnostics.report("not-held", message, path=document.place or None)


class Folders:
    """The names in the folders beside a file's own, each folder listed once however many texts are looked for."""

    def __init__(self, annotations: Path) -> None:
        self.own = annotations.parent
        self._names: dict[Path, frozenset[str]] = {}

    @cached_property
    def beside(self) -> list[Path]:
        """The folders beside that of the file, in order of their names."""
        try:
            entries = list(self.own.resolve().parent.iterdir())
        except OSError:
            return []
        return sorted(path for path in entries if path.is_dir() and path.name[0] != ".")

    def find(self, folder: Path, candidates: Sequence[Path]) -> Path | None:
        """Return the first of some relative paths at which there is a file in a folder."""
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._names[folder] = frozenset()
        there = self._names[folder]
        for candidate in candidates:
            if candidate.parts[0] in there:
                try:
                    if (folder / candidate).is_file():
                        return folder / candidate
                except OSError:
                    continue
        return None


def read_sidecar(
    name: str,
    annotations: Path,
    diagnostics: Diagnostics,
    *,
    line: int | None = None,
    folders: Folders | None = None,
) -> str | None:
    """Read the text ``name`` that a file of annotations speaks of, or report why that cannot be done.

    It is looked for beside the annotations, then in the folders beside theirs (``text/`` beside ``pipe/``), as ``.txt``
    and as ``.text``. The name cannot lead anywhere else.
    """
    try:
        found = find_sidecar(name, folders or Folders(annotations))
    except CorpusError as error:
        diagnostics.report("hostile-name", error.message, path=str(annotations), line=line)
        return None
    if not found:
        diagnostics.report(
            "no-text",
            f"there is no text {quoted(stem_of(name) + '.txt')} or '.text' beside the annotations or in a folder "
            "beside theirs",
            path=str(annotations),
            line=line,
        )
        return None
    if len({path.read_bytes() for path in found}) > 1:
        listed = " and ".join(str(path) for path in found)
        diagnostics.report("ambiguous-text", f"there are several texts of this name: {listed}", path=str(annotations))
        return None
    return read_text(found[0], diagnostics)


def find_sidecar(name: str, folders: Folders) -> list[Path]:
    """Return the files that a text may be in: one beside the annotations, or else all in folders beside theirs.

    Raises
    ------
    CorpusError
        If the name could lead elsewhere.
    """
    # The name as it stands comes first; a name in "x.txt" may still mean the file "x.text".
    here = Path()
    candidates = [document_path(here, name, ""), *(document_path(here, stem_of(name), s) for s in TEXT_SUFFIXES)]
    if beside := folders.find(folders.own, candidates):
        return [beside]
    return [text for other in folders.beside if (text := folders.find(other, candidates))]
