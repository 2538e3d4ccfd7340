"""Read and write the pipe-delimited files of ShARe/CLEF 2013 and SemEval-2014 Task 7, with their reports.

::

    00098-016139-DISCHARGE_SUMMARY.txt||Disease_Disorder||C0221755||1141||1148||1192||1198

One annotation per line: report, type, CUI (or ``CUI-less``), and start and end of every part in characters. The report
is a ``.text`` or ``.txt`` file of the same name: beside the pipe file, in a folder next to its own, or anywhere in the
folder that is read, as in the release of ShARe/CLEF 2013. A pipe file may annotate one report or many. Its name ends in
``.pipe``, ``.pipe.txt``, or just ``.txt`` if it begins with an annotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hyperspan.corpora.files import document_path, stream_lines
from hyperspan.corpora.format import Format, Item, checked_mention, require, unique_mentions
from hyperspan.corpora.sidecars import (
    TEXT_SUFFIXES,
    Folders,
    TextFolder,
    attributes_of,
    attributes_told,
    find_sidecar,
    is_pipe_file,
    read_sidecar,
    stem_of,
)
from hyperspan.corpora.unsupported import note_unsupported, same_mentions
from hyperspan.diagnostics import Diagnostics, LostMention, quoted
from hyperspan.errors import CorpusError
from hyperspan.mentions import Document, Mention, Unit

NO_CUI = "CUI-less"

_NAMED_SUFFIXES = (".pipe", ".pipe.txt")
_SUFFIXES = (*_NAMED_SUFFIXES, ".txt")
_MOST_NEIGHBOURS = 50
_OFFSET = re.compile(r"[0-9]{1,12}")
_LATER_TASK = re.compile(r"[^|]+\|[0-9]+-[0-9]+(?:,[0-9]+-[0-9]+)*\|[^|]")


@dataclass(frozen=True, slots=True)
class _Source:
    """The lines of one report as they were read, and what was read from them."""

    lines: tuple[str, ...]
    text: str
    mentions: tuple[Mention, ...]
    numbers: Mapping[Mention, int | None]
    is_clean: bool

    def line_of(self, mention: Mention) -> int | None:
        """Return the line that a mention was read from."""
        return self.numbers.get(mention)

    def is_about(self, document: Document) -> bool:
        """Return whether the lines still match the document."""
        name = document.doc.rsplit("/", 1)[-1]
        return (
            self.is_clean
            and self.text == document.text
            and same_mentions(self.mentions, document.mentions)
            and all(stem_of(_report_of(line)) == name for line in self.lines)
        )


def _recognise(path: Path, head: bytes) -> bool:
    if not path.name.lower().endswith(_NAMED_SUFFIXES):
        return is_pipe_file(path) if head.strip() else _is_among_pipe_files(path)
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    return not first or first.count(b"|") >= 2


def _is_among_pipe_files(path: Path) -> bool:
    """Return whether an empty file is the pipe file of a report without mentions: a file beside it is a pipe file."""
    neighbours = (other for other in path.parent.iterdir() if other.suffix.lower() == ".txt" and other != path)
    return any(other.is_file() and is_pipe_file(other) for other in islice(neighbours, _MOST_NEIGHBOURS))


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    reports: dict[str, list[tuple[int, str]]] = {}
    for number, line in stream_lines(item.path, diagnostics):
        if not line.strip():
            continue
        if "||" not in line and _LATER_TASK.match(line):
            diagnostics.report(
                "other-format",
                "the line has single bars and spans like '1141-1148', as in SemEval-2015 Task 14 and ShARe/CLEF 2014, "
                "which are not read; expected 'report||type||CUI||start||end', as in SemEval-2014 Task 7",
                path=str(item.path),
                line=number,
            )
            return
        if "||" not in line and item.texts_only:
            continue
        if "||" not in line:
            diagnostics.report("malformed", _expected(line), path=str(item.path), line=number)
            continue
        reports.setdefault(_report_of(line), []).append((number, line))
    own = item.doc.removesuffix(".pipe") if item.path.suffix.lower() == ".txt" else item.doc
    if not reports:
        reports[own.rsplit("/", 1)[-1] + ".text"] = []
    is_single = len(reports) == 1 and stem_of(next(iter(reports))) == own.rsplit("/", 1)[-1]
    folders = Folders(item.path, item.root)
    for report, lines in reports.items():
        unit = _document(report, own if is_single else stem_of(report), lines, item, folders, diagnostics)
        if unit is not None:
            yield unit
    if not is_single:
        _note_texts_without_lines(reports, item, folders, diagnostics)


def _report_of(line: str) -> str:
    return line.split("||", 1)[0].strip()


def _document(
    report: str, doc: str, lines: list[tuple[int, str]], item: Item, folders: Folders, diagnostics: Diagnostics
) -> Document | None:
    before = diagnostics.total
    text = read_sidecar(report, item.path, diagnostics, line=lines[0][0] if lines else None, folders=folders)
    if text is None:
        return None
    found: list[tuple[Mention, int | None]] = []
    place = f"{item.path}:{lines[0][0]}" if lines else str(item.path)
    if item.texts_only:
        return Document(doc, text, (), attributes_of(doc), place=place)
    for number, line in lines:
        mention = _mention(line, len(text), item.path, number, diagnostics)
        if mention is not None:
            found.append((mention, number))
    mentions = tuple(sorted(unique_mentions(found, diagnostics, path=item.path)))
    return Document(
        doc,
        text,
        mentions,
        attributes_of(doc),
        place=place,
        source=_Source(
            tuple(line for _, line in lines),
            text,
            mentions,
            dict(reversed(found)),
            is_clean=diagnostics.total == before,
        ),
    )


def _expected(line: str) -> str:
    return f"the line is {quoted(line)}; expected 'report||type||CUI||start||end' with further pairs of offsets"


def _mention(line: str, length: int, path: Path, number: int, diagnostics: Diagnostics) -> Mention | None:
    _, *fields = line.strip().split("||")
    if len(fields) < 4 or len(fields) % 2 or not all(_OFFSET.fullmatch(offset) for offset in fields[2:]):
        lost = LostMention(fields[0], max(1, (len(fields) - 2) // 2))
        diagnostics.report("malformed", _expected(line), path=str(path), line=number, lost=lost)
        return None
    type, cui, *offsets = fields
    spans = [(int(start), int(end)) for start, end in zip(offsets[::2], offsets[1::2], strict=True)]
    return checked_mention(type, spans, diagnostics, length=length, path=path, line=number, attributes={"cui": cui})


def _note_texts_without_lines(reports: Iterable[str], item: Item, folders: Folders, diagnostics: Diagnostics) -> None:
    """Record a note for reports that no line names: they may have no mentions, or belong to another pipe file."""
    try:
        with_texts = {found[0].parent for report in reports if (found := find_sidecar(report, folders))}
    except CorpusError:
        return
    named = {stem_of(report) for report in reports}
    for folder in sorted(with_texts):
        for text in sorted(folder.iterdir()):
            if text.suffix.lower() in TEXT_SUFFIXES and not is_pipe_file(text) and stem_of(text.name) not in named:
                diagnostics.note(
                    "text-without-lines",
                    f"no line names the report {quoted(text.name)}, so it is not read; expected a .pipe file of its "
                    "own if it has no mentions",
                    path=str(item.path),
                )


def _write(units: Iterable[Unit], folder: Path, diagnostics: Diagnostics) -> None:
    texts = TextFolder(folder, ".text", diagnostics)
    for unit in units:
        require(unit, Document, "semeval")
        assert isinstance(unit, Document)
        path = texts.new_path(unit)
        if path is None:
            continue
        note_unsupported(unit, "semeval", diagnostics, doc=True, attributes=attributes_told(unit), holds=_is_held)
        path.write_bytes(unit.text.encode())
        lines = "".join(f"{line}\n" for line in _lines(unit, diagnostics))
        document_path(folder, unit.doc, ".pipe").write_bytes(lines.encode())


def _is_held(name: str, value: object) -> bool:
    """Whether an attribute can be read back unchanged: one CUI, as a text."""
    return name == "cui" and isinstance(value, str)


def _lines(document: Document, diagnostics: Diagnostics) -> list[str]:
    source = document.source
    name = document.doc.rsplit("/", 1)[-1]
    if isinstance(source, _Source) and source.is_about(document):
        return list(source.lines)
    lines = []
    for mention in document.mentions:
        cui = mention.attributes.get("cui", NO_CUI)
        fields = [f"{name}.text", mention.type, str(cui)]
        if any("|" in field or "\n" in field or field != field.strip() or not field for field in fields):
            diagnostics.report(
                "not-held",
                f"document {quoted(name)}, type {quoted(mention.type)} or CUI {quoted(cui)} has a bar, a line break or "
                "blanks at its edge, which the format cannot hold",
                path=document.place or None,
            )
            continue
        if "cui" not in mention.attributes:
            diagnostics.note("no-cui", f"mentions without a CUI are written as {NO_CUI}", path=document.place or None)
        lines.append("||".join([*fields, *(str(offset) for part in mention.parts for offset in part)]))
    return lines


FORMAT = Format(
    name="semeval",
    summary="SemEval-2014 Task 7 and ShARe/CLEF 2013: pipe-delimited annotations beside the reports",
    suffixes=_SUFFIXES,
    units=(Document,),
    recognise=_recognise,
    stream=_stream,
    write_folder=_write,
)
