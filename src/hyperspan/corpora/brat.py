"""brat standoff: ``x.ann`` with the annotations beside ``x.txt`` with the text.

``T1<tab>Finding 10 16;23 27<tab>lesion skin`` is a mention: half-open offsets in Unicode characters (a carriage return
counts), fragments in any order. Attributes (``A``, ``M``) and normalisations (``N``) of a mention become its
attributes, a note ``prob=0.81`` its probability. Relations, events, equivalences, notes and lines we do not know are
kept, and written back as they were.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from hyperspan.corpora.brat_configuration import Configuration
from hyperspan.corpora.files import document_path, read_text
from hyperspan.corpora.format import Format, Item, checked_mention, require, unique_mentions
from hyperspan.corpora.unsupported import EVERYTHING, note_unsupported
from hyperspan.diagnostics import Diagnostic, Diagnostics, quoted
from hyperspan.errors import CorpusError
from hyperspan.mentions import NOTHING, Document, Mention, Span, Unit

_MENTION = re.compile(r"(\S+) ([0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*) *")
_ARGUMENT = re.compile(r"[^\s:]+:([^\s:]+)")
_NORMALISATION = re.compile(r"\S+ (\S+) ([^\s:]+):(\S+)")
_PROB = re.compile(r"prob=([0-9](?:\.[0-9]{1,30})?(?:e-[0-9]{1,3})?)")
_WORD = re.compile(r"\S+")
_NUMBERED_ID = re.compile(r"([A-Z#])([0-9]{1,15})")
_LINE_BREAK = re.compile(r"[\r\n]")
_ANY_LINE_BREAK = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""What some reader takes for the end of a line."""

_Value: TypeAlias = str | bool | float
_Statement: TypeAlias = tuple[str, _Value]
"""What a line says of a mention: an attribute and its value, or the probability."""

_PROB_NAME = ""
"""The name under which a line states the probability; no attribute has an empty name."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a document was read from: its two files, exactly as they stand, and the line of each mention."""

    text: str
    annotations: str
    lines: Mapping[Mention, int] = field(default_factory=dict, compare=False, repr=False)

    def line_of(self, mention: Mention) -> int | None:
        """Return the line on which a mention stands."""
        return self.lines.get(mention)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of annotations, with its line end, and what could be understood of it."""

    number: int
    raw: str
    id: str = ""
    targets: tuple[str, ...] = ()
    """The ids it refers to."""
    mention: Mention | None = None
    statement: _Statement | None = None
    """What it says of its one target."""
    is_cut: bool = False
    """Whether its text stops at the first line break of the text it stands for."""


class _Malformed(Exception):
    """A line that is not what its first character promises; its text says why."""


def oddities(unit: Unit) -> Iterator[Diagnostic]:
    """Yield what is odd about a document that was read, but no reason to refuse it.

    ``cut-text``: the recorded text of a mention stops at the first line break, while its offsets go on. Either may be
    what the annotator meant; the offsets are what we read.

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
    for line in _parse(unit.source, Diagnostics("skip"), None):
        if line.is_cut and line.mention in there:
            covered = unit.text_of(line.mention)
            recorded = line.raw.split("\t", 2)[2].strip()
            yield Diagnostic(
                "cut-text",
                f"{line.id} covers {quoted(covered)}, but records only its first line {quoted(recorded)}",
                unit.place or unit.doc,
                line.number,
            )


def _further(unit: Unit) -> str:
    """Name the lines that are not about one mention alone: relations, events, equivalences and notes."""
    if not isinstance(unit.source, Source):
        return ""
    kinds = {"R": "relations", "E": "events", "*": "equivalences", "#": "notes"}
    starts = {raw[:1] for raw in _raw_lines(unit.source.annotations)}
    if "#" in starts:
        lines = _parse(unit.source, Diagnostics("skip"), None)
        starts = {line.id[0] for line in lines if line.id and line.statement is None}
    return " or ".join(name for start, name in kinds.items() if start in starts)


def _recognise(path: Path, head: bytes) -> bool:
    return True


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Document]:
    text_path = item.path.with_suffix(".txt")
    if not text_path.is_file():
        diagnostics.report(
            "missing-text",
            f"there is no {text_path.name!r} beside it; expected the text that the annotations stand for",
            path=str(item.path),
        )
        return
    text = read_text(text_path, diagnostics)
    annotations = read_text(item.path, diagnostics)
    if text is None or annotations is None:
        return
    yield document_of(item.doc, text, annotations, diagnostics, item.path)


def document_of(
    doc: str, text: str, annotations: str, diagnostics: Diagnostics | None = None, path: Path | None = None
) -> Document:
    """Return the document that a text and its annotations make.

    Parameters
    ----------
    doc : str
        The document's id.
    text, annotations : str
        What the two files hold.
    diagnostics : Diagnostics, optional
        Takes what is wrong; raises at the first defect if not given.
    path : path, optional
        Where the annotations stand, for messages.

    Examples
    --------
    >>> document_of("note", "no fever", "T1\\tFinding 3 8\\tfever\\n").mentions
    (Mention(type='Finding', parts=((3, 8),), prob=None),)
    """
    diagnostics = diagnostics or Diagnostics()
    found = _mentions(_parse(Source(text, annotations), diagnostics, path))
    mentions = unique_mentions(found, diagnostics, path=path)
    source = Source(text, annotations, dict(reversed(found)))
    return Document(doc, text, tuple(mentions), place="" if path is None else str(path), source=source)


def _mentions(lines: Iterable[_Line]) -> list[tuple[Mention, int]]:
    """Return every mention with what is said of it, and its line."""
    statements: defaultdict[str, list[_Statement]] = defaultdict(list)
    for line in lines:
        if line.statement is not None:
            statements[line.targets[0]].append(line.statement)
    return [(_complete(line.mention, statements.get(line.id, ())), line.number) for line in lines if line.mention]


def _complete(mention: Mention, statements: Iterable[_Statement]) -> Mention:
    """Return the mention with its attributes and probability; several values of one attribute become a tuple."""
    values: dict[str, dict[_Value, None]] = {}
    for name, value in statements:
        values.setdefault(name, {})[value] = None
    if not values:
        return mention
    prob = next((value for value in values.pop(_PROB_NAME, ()) if isinstance(value, float)), None)
    attributes: dict[str, Any] = {
        name: tuple(several) if name == "normalisations" or len(several) > 1 else next(iter(several))
        for name, several in values.items()
    }
    return replace(mention, prob=prob, attributes=attributes or NOTHING)


# -- lines -----------------------------------------------------------------------------------------------------------


def _parse(source: Source, diagnostics: Diagnostics, path: Path | None) -> list[_Line]:
    """Return every line, understood or not; what is wrong with them is reported."""
    lines: list[_Line] = []
    defined: dict[str, int] = {}
    with_prob: set[str] = set()
    for number, raw in enumerate(_raw_lines(source.annotations), start=1):
        line = _parse_line(number, raw, source.text, diagnostics, path)
        if line.id in defined:
            _report(
                diagnostics,
                "duplicate-id",
                f"the id {line.id!r} was used before, on line {defined[line.id]}",
                line,
                path,
            )
            line = replace(line, mention=None, statement=None)
        elif line.id and line.id != "*":
            defined[line.id] = number
        if line.statement is not None and line.statement[0] == _PROB_NAME:
            if line.targets[0] in with_prob:
                line = replace(line, statement=None)
            with_prob.update(line.targets)
        lines.append(line)
    for line in lines:
        for target in line.targets:
            if target not in defined:
                _report(
                    diagnostics,
                    "unknown-reference",
                    f"the line refers to {quoted(target)}, which is no id of this file",
                    line,
                    path,
                )
    return lines


def _report(diagnostics: Diagnostics, kind: str, message: str, line: _Line, path: Path | None) -> None:
    diagnostics.report(kind, message, path=None if path is None else str(path), line=line.number)


def _raw_lines(annotations: str) -> Iterator[str]:
    """Yield lines with their ends: LF or CRLF, or CR where there is no LF at all."""
    mark = "\n" if "\n" in annotations else "\r"
    start = 0
    while start < len(annotations):
        end = annotations.find(mark, start) + 1 or len(annotations)
        yield annotations[start:end]
        start = end


def _parse_line(number: int, raw: str, text: str, diagnostics: Diagnostics, path: Path | None) -> _Line:
    body = raw.rstrip("\r\n")
    if number == 1:
        body = body.removeprefix("\ufeff")
    columns = body.split("\t", 2)
    line = _Line(number, raw, columns[0])
    if not body.strip() or (len(columns) == 1 and body.startswith("#")):
        return replace(line, id="")
    try:
        if len(columns) == 1 or not _WORD.fullmatch(line.id):
            raise _Malformed(f"the line {quoted(body)} is no annotation; expected an id, a tab and what it stands for")
        if line.id[0] == "T":
            return _parse_mention(line, columns, text, diagnostics, path)
        parse = _PARSERS.get(line.id[0])
        return line if parse is None else parse(line, columns)
    except _Malformed as error:
        _report(diagnostics, "malformed", str(error), line, path)
        return line if _WORD.fullmatch(line.id) else replace(line, id="")


def _parse_mention(line: _Line, columns: list[str], text: str, diagnostics: Diagnostics, path: Path | None) -> _Line:
    match = _MENTION.fullmatch(columns[1])
    if len(columns) < 3 or match is None:
        raise _Malformed(
            f"{quoted(columns[1])} is no type with offsets and a text; "
            "expected 'T1<tab>type start end;start end<tab>text', offsets being plain digits"
        )
    spans = [_span(fragment) for fragment in match[2].split(";")]
    mention = checked_mention(match[1], spans, diagnostics, length=len(text), path=path, line=line.number)
    if mention is None:
        return line
    covered = " ".join(text[start:end] for start, end in spans)
    recorded = _squeezed(columns[2])
    if recorded != _squeezed(covered):
        if not recorded or recorded != _squeezed(_LINE_BREAK.split(covered, maxsplit=1)[0]):
            message = f"the text at the offsets is {quoted(covered)}, but {line.id} records {quoted(columns[2])}"
            _report(diagnostics, "text-mismatch", message, line, path)
            return line
        line = replace(line, is_cut=True)
    return replace(line, mention=mention)


def _span(fragment: str) -> Span:
    start, _, end = fragment.partition(" ")
    return int(start), int(end)


def _squeezed(text: str) -> str:
    """Return the text without white space, in which tools differ."""
    return "".join(text.split())


def _parse_relation(line: _Line, columns: list[str]) -> _Line:
    return replace(line, targets=_arguments(columns[1].split()[1:], columns[1], 2, "'type Arg1:T1 Arg2:T2'"))


def _parse_event(line: _Line, columns: list[str]) -> _Line:
    return replace(line, targets=_arguments(columns[1].split(), columns[1], 1, "'type:T1 role:T2'"))


def _arguments(words: list[str], seen: str, at_least: int, expected: str) -> tuple[str, ...]:
    matches = [_ARGUMENT.fullmatch(word) for word in words]
    targets = tuple(match[1] for match in matches if match is not None)
    if len(targets) < max(len(words), at_least):
        raise _Malformed(f"the arguments in {quoted(seen)} are not understood; expected {expected}")
    return targets


def _parse_equivalence(line: _Line, columns: list[str]) -> _Line:
    words = columns[1].split()
    if line.id != "*" or len(words) < 2:
        raise _Malformed(f"{quoted(columns[1])} is no equivalence; expected '*<tab>type T1 T2'")
    return replace(line, targets=tuple(words[1:]))


def _parse_attribute(line: _Line, columns: list[str]) -> _Line:
    words = columns[1].strip().split(maxsplit=2)
    if len(words) < 2:
        raise _Malformed(f"{quoted(columns[1])} is no attribute; expected 'name T1' or 'name T1 value'")
    return replace(line, targets=(words[1],), statement=(words[0], words[2] if len(words) == 3 else True))


def _parse_normalisation(line: _Line, columns: list[str]) -> _Line:
    match = _NORMALISATION.fullmatch(columns[1].strip())
    if match is None:
        raise _Malformed(f"{quoted(columns[1])} is no normalisation; expected 'Reference T1 UMLS:C0019080'")
    target, database, entry = match.groups()
    statement = ("cui", entry) if _holds_cuis(database) else ("normalisations", f"{database}:{entry}")
    return replace(line, targets=(target,), statement=statement)


def _holds_cuis(database: str) -> bool:
    return "umls" in database.lower() or "cui" in database.lower()


def _parse_note(line: _Line, columns: list[str]) -> _Line:
    words = columns[1].split()
    if len(words) != 2:
        raise _Malformed(f"{quoted(columns[1])} is no note; expected '#1<tab>AnnotatorNotes T1<tab>text'")
    prob = _PROB.fullmatch(columns[2].strip()) if len(columns) == 3 else None
    stated = prob is not None and float(prob[1]) <= 1.0
    return replace(line, targets=(words[1],), statement=(_PROB_NAME, float(prob[1])) if prob and stated else None)


_PARSERS: Mapping[str, Callable[[_Line, list[str]], _Line]] = {
    "R": _parse_relation,
    "E": _parse_event,
    "*": _parse_equivalence,
    "A": _parse_attribute,
    "M": _parse_attribute,
    "N": _parse_normalisation,
    "#": _parse_note,
}


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
    """Return the annotations of a document: the lines it was read from, less what is gone, then what is new."""
    name = f"{document.doc}.ann"
    note_unsupported(document, "brat", diagnostics, doc=True, mention_attributes=EVERYTHING, prob=True)
    lines = _lines_of(document, diagnostics, name)
    new = _NewLines(document.text, lines)
    gone = _update(document, lines, new, diagnostics, name)
    dropped = _with_dependants(gone, lines)
    for line in dropped.values():
        if line.id[0] in "RE*":
            message = f"the line {quoted(line.raw.rstrip())} refers to a mention that was removed, so it is lost too"
            diagnostics.report("dropped-reference", message, path=name, line=line.number)
    return new.after("".join(line.raw for line in lines if line.number not in dropped))


def _lines_of(document: Document, diagnostics: Diagnostics, name: str) -> list[_Line]:
    """Return the lines a document was read from, if they still belong to its text."""
    source = document.source
    if not isinstance(source, Source):
        return []
    lines = _parse(source, Diagnostics("skip"), None)
    if source.text == document.text:
        return lines
    n_lost = sum(bool(line.targets) and line.statement is None for line in lines)
    if n_lost:
        message = f"the text was changed after reading, so {n_lost} relations, events, equivalences or notes are lost"
        diagnostics.report("changed-text", message, path=name)
    return []


def _update(
    document: Document, lines: Sequence[_Line], new: _NewLines, diagnostics: Diagnostics, name: str
) -> list[_Line]:
    """Add lines for what the old ones do not say, and return those that are not true any more."""
    said: defaultdict[str, set[_Statement]] = defaultdict(set)
    for line in lines:
        if line.statement is not None:
            said[line.targets[0]].add(line.statement)
    ids = {line.mention: line.id for line in reversed(lines) if line.mention is not None}
    untrue: defaultdict[str, set[_Statement]] = defaultdict(set)
    for mention in document.mentions:
        if mention not in ids and not _WORD.fullmatch(mention.type):
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


def _with_dependants(gone: Iterable[_Line], lines: Iterable[_Line]) -> dict[int, _Line]:
    """Return lines that are gone, and those that refer to them, and so on, by number in order."""
    users: defaultdict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        for target in line.targets:
            users[target].append(line)
    waiting = list(gone)
    found: dict[int, _Line] = {}
    while waiting:
        line = waiting.pop()
        if line.number not in found:
            found[line.number] = line
            waiting += users[line.id]
    return dict(sorted(found.items()))


def _statements(mention: Mention, known: set[_Statement], diagnostics: Diagnostics, path: str) -> Iterator[_Statement]:
    """Yield what there is to say of a mention; what cannot be said is reported."""
    for name, value in mention.attributes.items():
        values = value if isinstance(value, tuple | list) else (value,)
        for single in values or (value,):
            statement = (name, single if isinstance(single, str | bool) else _as_text(single))
            if statement in known or _is_writable(statement):
                yield statement
            else:
                message = f"attribute {quoted(name)} has the value {quoted(single)}; brat holds single words and True"
                diagnostics.report("unwritable", message, path=path)
    if mention.prob is not None:
        if 0.0 <= mention.prob <= 1.0:
            yield _PROB_NAME, float(mention.prob)
        else:
            diagnostics.report("unwritable", f"prob is {mention.prob!r}; expected a number from 0 to 1", path=path)


def _as_text(value: object) -> str:
    return str(value) if isinstance(value, int | float) else ""


def _is_writable(statement: _Statement) -> bool:
    name, value = statement
    if not isinstance(name, str) or not _WORD.fullmatch(name):
        return False
    return value is True or (isinstance(value, str) and _WORD.fullmatch(value) is not None)


class _NewLines:
    """Lines that are added to those of a document, under ids that are free."""

    def __init__(self, text: str, lines: Sequence[_Line]) -> None:
        first = lines[0].raw if lines else ""
        self._end = first[len(first.rstrip("\r\n")) :] or "\n"
        self._text = text
        self._lines: list[str] = []
        self._last: defaultdict[str, int] = defaultdict(int)
        for line in lines:
            for id in (line.id, *line.targets):
                if match := _NUMBERED_ID.fullmatch(id):
                    self._last[match[1]] = max(self._last[match[1]], int(match[2]))

    def add_mention(self, mention: Mention) -> str:
        id = self._free_id("T")
        offsets = ";".join(f"{start} {end}" for start, end in mention.parts)
        covered = " ".join(self._text[start:end] for start, end in mention.parts)
        self._lines.append(f"{id}\t{mention.type} {offsets}\t{_ANY_LINE_BREAK.sub(' ', covered)}")
        return id

    def add_statement(self, target: str, statement: _Statement) -> None:
        name, value = statement
        if name == _PROB_NAME:
            self._lines.append(f"{self._free_id('#')}\tAnnotatorNotes {target}\tprob={value!r}")
        elif value is True:
            self._lines.append(f"{self._free_id('A')}\t{name} {target}")
        elif reference := _reference(name, str(value)):
            self._lines.append(f"{self._free_id('N')}\tReference {target} {reference}")
        else:
            self._lines.append(f"{self._free_id('A')}\t{name} {target} {value}")

    def after(self, kept: str) -> str:
        """Return the lines that were kept, then the new ones, with the same line ends."""
        if not self._lines:
            return kept
        if kept and not kept.endswith(("\n", "\r")):
            kept += self._end
        return kept + "".join(line + self._end for line in self._lines)

    def _free_id(self, kind: str) -> str:
        self._last[kind] += 1
        return f"{kind}{self._last[kind]}"


def _reference(name: str, value: str) -> str:
    """Return how a normalisation names an entry, or nothing for what is no normalisation."""
    if name == "cui":
        return f"UMLS:{value}"
    database, colon, entry = value.partition(":")
    is_normalisation = name == "normalisations" and database and colon and entry and not _holds_cuis(database)
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
)
