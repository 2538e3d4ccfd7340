"""Find and write the texts that annotations in another file refer to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from hyperspan.corpora.files import document_path, head_of, read_text
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import CorpusError
from hyperspan.mentions import NOTHING, Document

TEXT_SUFFIXES = (".txt", ".text")

_DEEPEST = 3
"""How many levels below the folder that the user named a text is searched."""

_PIPE_LINE = re.compile(rb"(?:\xef\xbb\xbf)?\s*[^|\n]+\|\|[^|\n]*\|\|[^|\n]*(?:\|\|[0-9]+\|\|[0-9]+)+\s*(?:\n|$)")

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
    """Return the attributes that the name of a clinical report implies: its note type.

    Examples
    --------
    >>> attributes_of("train/00098-016139-DISCHARGE_SUMMARY")
    {'note_type': 'discharge'}
    """
    note_type = _NOTE_TYPES.get(doc.rsplit("-", 1)[-1])
    return {"note_type": note_type} if note_type else NOTHING


def attributes_told(document: Document) -> set[str]:
    """Return the attributes that a document's name implies, so that they need not be stored elsewhere."""
    told = attributes_of(document.doc)
    return {name for name, value in document.attributes.items() if name in told and told[name] == value}


class TextFolder:
    """A folder to write documents into, each with a text file of its own.

    Parameters
    ----------
    folder : path
        Where to write.
    suffix : str
        The suffix of the text files.
    diagnostics : Diagnostics
        Collects the documents that cannot be written.
    """

    def __init__(self, folder: Path, suffix: str, diagnostics: Diagnostics) -> None:
        self.folder = folder
        self.suffix = suffix
        self.diagnostics = diagnostics

    def new_path(self, document: Document) -> Path | None:
        """Return the path for a document's text, creating its folder, or report why it cannot be written."""
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
    """The file names in the folders near a file of annotations; each folder is listed only once.

    Parameters
    ----------
    annotations : path
    within : path, optional
        The folder that the user named; a text may be anywhere in it.
    """

    def __init__(self, annotations: Path, within: Path | None = None) -> None:
        self.own = annotations.parent
        self.within = within
        self._names: dict[Path, frozenset[str]] = {}

    @cached_property
    def beside(self) -> list[Path]:
        """The folders next to the folder of the file, sorted by name."""
        return _folders_in(self.own.resolve().parent)

    @cached_property
    def below(self) -> list[Path]:
        """The folders inside the one that the user named, up to a limited depth."""
        return [] if self.within is None else list(_folders_below(self.within, _DEEPEST))

    def find(self, folder: Path, candidates: Sequence[Path]) -> Path | None:
        """Return the first candidate path at which a folder has a text."""
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._names[folder] = frozenset()
        there = self._names[folder]
        for candidate in candidates:
            if candidate.parts[0] in there:
                try:
                    if (folder / candidate).is_file() and not is_pipe_file(folder / candidate):
                        return folder / candidate
                except OSError:
                    continue
        return None


def is_pipe_file(path: Path) -> bool:
    """Return whether a file begins with a pipe-delimited annotation, and so is not a text, whatever its name.

    In the release of ShARe/CLEF 2013, both the gold annotations and the reports are in files ``NAME.txt``.
    """
    return _PIPE_LINE.match(head_of(path)) is not None


def read_sidecar(
    name: str,
    annotations: Path,
    diagnostics: Diagnostics,
    *,
    line: int | None = None,
    folders: Folders,
) -> str | None:
    """Read the text ``name`` that a file of annotations refers to, or report why that is not possible.

    It is searched beside the annotations, then in the folders next to theirs (``text/`` next to ``pipe/``), then
    anywhere in the folder that the user named, as ``.txt`` and as ``.text``. The name cannot lead elsewhere.
    """
    try:
        found = find_sidecar(name, folders)
    except CorpusError as error:
        diagnostics.report("hostile-name", error.message, path=str(annotations), line=line)
        return None
    if not found:
        elsewhere = "" if folders.within is None else f", or elsewhere in {folders.within}"
        diagnostics.report(
            "no-text",
            f"there is no text {quoted(stem_of(name) + '.txt')} or '.text' beside the annotations, in a folder beside "
            f"theirs{elsewhere}; name a folder that holds both",
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
    """Return the files that may hold a text: the one beside the annotations, or all in folders next to theirs or below.

    Raises
    ------
    CorpusError
        If the name could lead elsewhere.
    """
    # The exact name comes first; the name "x.txt" may still refer to the file "x.text".
    here = Path()
    candidates = [document_path(here, name, ""), *(document_path(here, stem_of(name), s) for s in TEXT_SUFFIXES)]
    if beside := folders.find(folders.own, candidates):
        return [beside]
    near = [text for other in folders.beside if (text := folders.find(other, candidates))]
    return near or [text for other in folders.below if (text := folders.find(other, candidates))]


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")
    except OSError:
        return []


def _folders_below(folder: Path, depth: int) -> Iterator[Path]:
    for path in _folders_in(folder):
        if not path.is_symlink():
            yield path
            if depth > 1:
                yield from _folders_below(path, depth - 1)
