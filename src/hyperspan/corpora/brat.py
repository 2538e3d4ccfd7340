"""Read and write brat standoff: annotations in ``x.ann`` beside the text in ``x.txt``.

``T1<tab>Finding 10 16;23 27<tab>lesion skin`` is a mention: half-open offsets in Unicode characters (carriage returns
count), fragments in any order. Attributes (``A``, ``M``) and normalisations (``N``) of a mention become its attributes,
and a note ``prob=0.81`` its probability. Notes also hold what brat's attributes cannot: the phrase that a mention
stands for (``expanded=left kidneys``), its ``group``, and the ``annotators`` who marked it. Relations, events,
equivalences, notes and unknown lines are kept and written back unchanged.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from hyperspan.corpora.brat_configuration import Configuration
from hyperspan.corpora.brat_lines import (
    NOTE,
    NOTED,
    PROB,
    WORD,
    CoveredText,
    Line,
    Source,
    Statement,
    holds_cuis,
    mentions_of,
    parse,
)
from hyperspan.corpora.brat_links import ids_of, lines_of_links, unknown_lines
from hyperspan.corpora.files import document_path, read_text
from hyperspan.corpora.format import Format, Item, require, unique_mentions
from hyperspan.corpora.links import KINDS, Links, links_among
from hyperspan.corpora.unsupported import note_unsupported
from hyperspan.diagnostics import Diagnostic, Diagnostics, quoted
from hyperspan.errors import CorpusError
from hyperspan.mentions import Document, Mention, Unit

_NUMBERED_ID = re.compile(r"([A-Z#])([0-9]{1,15})")
_ANY_LINE_BREAK = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""Characters that some programs read as the end of a line."""


def oddities(unit: Unit) -> Iterator[Diagnostic]:
    """Yield oddities of a document that are not reason enough to reject it.

    ``cut-text``: the recorded text of a mention stops at the first line break, but its offsets continue. The annotator
    may have meant either; the reader uses the offsets.

    Examples
    --------
    >>> text = "no fever\\nno cough"
    >>> document = Document("note", text, [Mention("Finding", [(3, 17)])],
    ...                     source=Source(text, "T1\\tFinding 3 17\\tfever\\n"))
    >>> print(*oddities(document))
    note:1: T1 covers 'fever\\nno cough', but records only its first line 'fever' [cut-text]
    """
    if not isinstance(unit, Document) or not isinstance(unit.source, Source):
        return
    there = set(unit.mentions)
    text = CoveredText(unit.text)
    for line in parse(unit.source, Diagnostics("skip"), None):
        if line.is_cut and line.mention in there:
            covered = text.beginning(line.mention.parts)
            recorded = line.raw.split("\t", 2)[2].strip()
            yield Diagnostic(
                "cut-text",
                f"{line.id} covers {quoted(covered)}, but records only its first line {quoted(recorded)}",
                unit.place or unit.doc,
                line.number,
            )


def _further(unit: Unit) -> str:
    """Name a line of unknown kind."""
    if not isinstance(unit.source, Source):
        return ""
    return unknown_lines(parse(unit.source, Diagnostics("skip"), None))


def _recognise(path: Path, head: bytes) -> bool:
    return True


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Document]:
    text_path = item.path.with_suffix(".txt")
    if not text_path.is_file():
        diagnostics.report(
            "missing-text",
            f"there is no {text_path.name!r} beside it; expected the text of the annotations",
            path=str(item.path),
        )
        return
    text = read_text(text_path, diagnostics)
    if item.texts_only:
        if text is not None:
            yield Document(item.doc, text, place=str(text_path))
        return
    annotations = read_text(item.path, diagnostics)
    if text is None or annotations is None:
        return
    yield document_of(item.doc, text, annotations, diagnostics, item.path)


def document_of(
    doc: str, text: str, annotations: str, diagnostics: Diagnostics | None = None, path: Path | None = None
) -> Document:
    """Make a document from a text and its annotations.

    Parameters
    ----------
    doc : str
        The document's id.
    text, annotations : str
        The contents of the two files.
    diagnostics : Diagnostics, optional
        Collects problems. If not given, the first one raises an error.
    path : path, optional
        The file of the annotations, for messages.

    Examples
    --------
    >>> document_of("note", "no fever", "T1\\tFinding 3 8\\tfever\\n").mentions
    (Mention(type='Finding', parts=((3, 8),), prob=None),)
    """
    diagnostics = diagnostics or Diagnostics()
    found = mentions_of(parse(Source(text, annotations), diagnostics, path))
    mentions = unique_mentions(found, diagnostics, path=path)
    source = Source(text, annotations, dict(reversed(found)))
    return Document(doc, text, tuple(mentions), place="" if path is None else str(path), source=source)


# -- writing ---------------------------------------------------------------------------------------------------------


def _write(units: Iterable[Unit], folder: Path, diagnostics: Diagnostics) -> None:
    configuration = Configuration()
    for unit in units:
        require(unit, Document, "brat")
        assert isinstance(unit, Document)
        _write_document(unit, folder, diagnostics)
        configuration.add(unit)
    configuration.write(folder)


def _write_document(document: Document, folder: Path, diagnostics: Diagnostics) -> None:
    try:
        paths = [document_path(folder, document.doc, suffix) for suffix in (".txt", ".ann")]
    except CorpusError as error:
        diagnostics.report("unwritable", str(error))
        return
    try:
        contents = [text.encode("utf-8") for text in (document.text, annotations_of(document, diagnostics))]
    except UnicodeEncodeError as error:
        diagnostics.report("unwritable", f"document {quoted(document.doc)} cannot be written as UTF-8: {error.reason}")
        return
    if any(path.exists() for path in paths):
        diagnostics.report("duplicate-document", f"there are several documents named {quoted(document.doc)}")
        return
    try:
        for path, content in zip(paths, contents, strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise CorpusError(f"document {quoted(document.doc)} cannot be written: {error.strerror}") from None


def annotations_of(document: Document, diagnostics: Diagnostics) -> str:
    """Return the annotations of a document: the lines it was read from, without what was removed, then new lines."""
    name = f"{document.doc}.ann"
    note_unsupported(document, "brat", diagnostics, doc=True, holds=_is_held, prob=True)
    lines = _lines_of(document, diagnostics, name)
    links = None if isinstance(document.source, Source) else links_among(document, diagnostics)
    new = _NewLines(document.text, lines, links)
    gone = _update(document, lines, new, diagnostics, name)
    if links is not None:
        new.add_links(links)
    dropped = _with_dependants(gone, lines)
    for line in dropped.values():
        if line.id[0] in "RE*":
            message = f"the line {quoted(line.raw.rstrip())} refers to a mention that was removed, so it is lost too"
            diagnostics.report("dropped-reference", message, path=name, line=line.number)
    return new.after("".join(line.raw for line in lines if line.number not in dropped))


def _lines_of(document: Document, diagnostics: Diagnostics, name: str) -> list[Line]:
    """Return the lines that a document was read from, if its text has not changed."""
    source = document.source
    if not isinstance(source, Source):
        return []
    lines = parse(source, Diagnostics("skip"), None)
    if source.text == document.text:
        return lines
    n_lost = sum(bool(line.targets) and line.statement is None for line in lines)
    if n_lost:
        message = f"the text was changed after reading, so {n_lost} relations, events, equivalences or notes are lost"
        diagnostics.report("changed-text", message, path=name)
    return []


def _update(
    document: Document, lines: Sequence[Line], new: _NewLines, diagnostics: Diagnostics, name: str
) -> list[Line]:
    """Add lines for what is new, and return the old lines that are no longer true."""
    said: defaultdict[str, set[Statement]] = defaultdict(set)
    for line in lines:
        if line.statement is not None:
            said[line.targets[0]].add(line.statement)
    ids = {line.mention: line.id for line in reversed(lines) if line.mention is not None}
    untrue: defaultdict[str, set[Statement]] = defaultdict(set)
    for mention in document.mentions:
        if mention not in ids and not WORD.fullmatch(mention.type):
            message = f"the type {quoted(mention.type)} has white space; brat's types are single words"
            diagnostics.report("unwritable", message, path=name)
            continue
        id = ids.get(mention) or new.add_mention(mention)
        statements = dict.fromkeys(_statements(mention, said[id], diagnostics, name))
        for statement in statements:
            if statement not in said[id]:
                new.add_statement(id, statement)
        untrue[id] = said[id] - statements.keys()
    there = {None, *document.mentions}
    return [
        line
        for line in lines
        if line.mention not in there or (line.statement is not None and line.statement in untrue[line.targets[0]])
    ]


def _with_dependants(gone: Iterable[Line], lines: Iterable[Line]) -> dict[int, Line]:
    """Return removed lines and all lines that refer to them, directly or indirectly, sorted by number."""
    users: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        for target in line.targets:
            users[target].append(line)
    waiting = list(gone)
    found: dict[int, Line] = {}
    while waiting:
        line = waiting.pop()
        if line.number not in found:
            found[line.number] = line
            waiting += users[line.id]
    return dict(sorted(found.items()))


def _statements(mention: Mention, known: set[Statement], diagnostics: Diagnostics, path: str) -> Iterator[Statement]:
    """Yield the statements about a mention; report those that cannot be written."""
    for name, value in mention.attributes.items():
        values = value if isinstance(value, tuple | list) else (value,)
        for single in values or (value,):
            statement = (name, single if isinstance(single, str | bool) else _as_text(single))
            is_note = name in NOTED and statement not in known
            if is_note:
                statement = (f"{NOTE}{name}", statement[1])
            if statement in known or (_is_notable(statement[1]) if is_note else _is_writable(statement)):
                yield statement
            else:
                message = f"attribute {quoted(name)} has the value {quoted(single)}; brat holds single words and True"
                diagnostics.report("unwritable", message, path=path)
    if mention.prob is not None:
        if 0.0 <= mention.prob <= 1.0:
            yield PROB, float(mention.prob)
        else:
            diagnostics.report("unwritable", f"prob is {mention.prob!r}; expected a number from 0 to 1", path=path)


def _is_held(name: str, value: object) -> bool:
    """Whether an attribute can be read back unchanged; values that cannot be written at all are reported elsewhere."""
    if name == "group":
        return type(value) is int and value >= 0
    if isinstance(value, tuple | list):
        is_list = len(value) > 1 or name in ("annotators", "normalisations")
        return (
            is_list and len(set(map(repr, value))) == len(value) and all(isinstance(one, str | bool) for one in value)
        )
    return isinstance(value, str | bool) and name not in ("annotators", "normalisations")


def _as_text(value: object) -> str:
    return str(value) if isinstance(value, int | float) else ""


def _is_notable(value: object) -> bool:
    return isinstance(value, str) and value == value.strip() != "" and not _ANY_LINE_BREAK.search(value)


def _is_writable(statement: Statement) -> bool:
    name, value = statement
    if not isinstance(name, str) or not WORD.fullmatch(name):
        return False
    return value is True or (isinstance(value, str) and WORD.fullmatch(value) is not None)


class _NewLines:
    """New lines for a document, under unused ids."""

    def __init__(self, text: str, lines: Sequence[Line], links: Links | None) -> None:
        first = lines[0].raw if lines else ""
        self._end = first[len(first.rstrip("\r\n")) :] or "\n"
        self._text = text
        self._lines: list[str] = []
        self._last: defaultdict[str, int] = defaultdict(int)
        for line in lines:
            for id in (line.id, *line.targets):
                self._reserve(id)
        self._wanted: Mapping[Mention, str] = {} if links is None else links.ids
        self._ids: dict[str, str] = {}
        self._used: set[str] = set()
        for id in () if links is None else chain(links.ids.values(), ids_of(links)):
            self._reserve(id)

    def _reserve(self, id: str) -> None:
        if match := _NUMBERED_ID.fullmatch(id):
            self._last[match[1]] = max(self._last[match[1]], int(match[2]))

    def add_mention(self, mention: Mention) -> str:
        id = self._ids[self._wanted.get(mention, "")] = self._id_like("T", self._wanted.get(mention, ""))
        offsets = ";".join(f"{start} {end}" for start, end in mention.parts)
        covered = " ".join(self._text[start:end] for start, end in mention.parts)
        self._lines.append(f"{id}\t{mention.type} {offsets}\t{_ANY_LINE_BREAK.sub(' ', covered)}")
        return id

    def add_statement(self, target: str, statement: Statement) -> None:
        name, value = statement
        if name == PROB:
            self._lines.append(f"{self._free_id('#')}\tAnnotatorNotes {target}\tprob={value!r}")
        elif name.startswith(NOTE):
            self._lines.append(f"{self._free_id('#')}\tAnnotatorNotes {target}\t{name[1:]}={value}")
        elif value is True:
            self._lines.append(f"{self._free_id('A')}\t{name} {target}")
        elif reference := _reference(name, str(value)):
            self._lines.append(f"{self._free_id('N')}\tReference {target} {reference}")
        else:
            self._lines.append(f"{self._free_id('A')}\t{name} {target} {value}")

    def add_links(self, links: Links) -> None:
        for line in lines_of_links(links, self._ids, self._id_like, self.add_statement):
            self._lines.append(line)

    def after(self, kept: str) -> str:
        """Return the kept lines followed by the new ones, with the same line ends."""
        if not self._lines:
            return kept
        if kept and not kept.endswith(("\n", "\r")):
            kept += self._end
        return kept + "".join(line + self._end for line in self._lines)

    def _id_like(self, kind: str, wanted: str) -> str:
        """Return the wanted id if it is valid in brat and unused, otherwise another one."""
        is_fit = wanted[:1] == kind and _NUMBERED_ID.fullmatch(wanted) is not None and wanted not in self._used
        self._used.add(wanted)
        return wanted if is_fit else self._free_id(kind)

    def _free_id(self, kind: str) -> str:
        self._last[kind] += 1
        return f"{kind}{self._last[kind]}"


def _reference(name: str, value: str) -> str:
    """Return the reference of a normalisation, or an empty text if the attribute is not one."""
    if name == "cui":
        return f"UMLS:{value}"
    database, colon, entry = value.partition(":")
    is_normalisation = name == "normalisations" and database and colon and entry and not holds_cuis(database)
    return value if is_normalisation else ""


FORMAT = Format(
    name="brat",
    summary="brat standoff: a folder with an .ann and a .txt for each document",
    suffixes=(".ann",),
    units=(Document,),
    recognise=_recognise,
    stream=_stream,
    write_folder=_write,
    oddities=oddities,
    further=_further,
    holds_links=KINDS,
)
