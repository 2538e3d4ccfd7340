"""Parse the lines of brat's annotations."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from hyperspan.corpora.format import checked_mention
from hyperspan.corpora.links import Links
from hyperspan.diagnostics import Diagnostics, LostMention, quoted
from hyperspan.mentions import NOTHING, Mention, Span, Unit

_MENTION = re.compile(r"(\S+) ([0-9]{1,18} [0-9]{1,18}(?:;[0-9]{1,18} [0-9]{1,18})*) *")
_ARGUMENT = re.compile(r"[^\s:]+:([^\s:]+)")
_NORMALISATION = re.compile(r"\S+ (\S+) ([^\s:]+):(\S+)")
_PROB = re.compile(r"prob=([0-9](?:\.[0-9]{1,30})?(?:e-[0-9]{1,3})?)")
_NOTE = re.compile(r"(annotators|expanded|group)=(.+)")
_NUMBER = re.compile(r"[0-9]{1,18}")
_LISTS = ("normalisations", " annotators")
_BLANK = re.compile(r"\s")
_LINE_BREAK = re.compile(r"[\r\n]")

_MOST_SHOWN = 100
"""The maximum number of characters and parts of a mention that are prepared for a message."""

_Value: TypeAlias = str | bool | float
Statement: TypeAlias = tuple[str, _Value]
"""What a line states about a mention: an attribute and its value, or the probability."""

WORD = re.compile(r"\S+")

PROB = ""
"""The name of the statement that holds the probability; no attribute has an empty name."""

NOTED = ("annotators", "expanded", "group")
"""Attributes that are written as notes, ``expanded=left kidneys``: brat's own attributes hold single words."""

NOTE = " "
"""The prefix of the name of a statement made in a note; no attribute name contains a blank."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a document was read from: the exact contents of its two files, and the line of each mention."""

    text: str
    annotations: str
    lines: Mapping[Mention, int] = field(default_factory=dict, compare=False, repr=False)

    def line_of(self, mention: Mention) -> int | None:
        """Return the line that a mention was read from."""
        return self.lines.get(mention)

    def links(self, unit: Unit) -> Links:
        """Return the relations, events, equivalences and notes."""
        return links_of_lines(parse(self, Diagnostics("skip"), None))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of annotations with its line end, parsed as far as possible."""

    number: int
    raw: str
    id: str = ""
    targets: tuple[str, ...] = ()
    """The ids it refers to."""
    mention: Mention | None = None
    statement: Statement | None = None
    """What it states about its target."""
    is_cut: bool = False
    """Whether its recorded text stops at the first line break of the covered text."""


class _Malformed(Exception):
    """A line that does not match its first character; the message says why."""


def mentions_of(lines: Iterable[Line]) -> list[tuple[Mention, int]]:
    """Return every mention with its attributes and probability, and its line."""
    statements: defaultdict[str, list[Statement]] = defaultdict(list)
    for line in lines:
        if line.statement is not None:
            statements[line.targets[0]].append(line.statement)
    return [(_complete(line.mention, statements.get(line.id, ())), line.number) for line in lines if line.mention]


def _complete(mention: Mention, statements: Iterable[Statement]) -> Mention:
    """Return the mention with its attributes and probability; several values of one attribute become a tuple."""
    values: dict[str, dict[_Value, None]] = {}
    for name, value in statements:
        values.setdefault(name, {})[value] = None
    if not values:
        return mention
    prob = next((value for value in values.pop(PROB, ()) if isinstance(value, float)), None)
    attributes: dict[str, Any] = {
        name.removeprefix(NOTE): tuple(several) if name in _LISTS or len(several) > 1 else next(iter(several))
        for name, several in values.items()
    }
    if isinstance(group := attributes.get("group"), str) and _NUMBER.fullmatch(group) and f"{NOTE}group" in values:
        attributes["group"] = int(group)
    return replace(mention, prob=prob, attributes=attributes or NOTHING)


def parse(source: Source, diagnostics: Diagnostics, path: Path | None) -> list[Line]:
    """Parse every line; lines that are not understood are kept, and problems are reported."""
    lines: list[Line] = []
    defined: dict[str, int] = {}
    with_prob: set[str] = set()
    text = CoveredText(source.text)
    for number, raw in enumerate(raw_lines(source.annotations), start=1):
        line = _parse_line(number, raw, text, diagnostics, path)
        if line.id in defined:
            mention = line.mention
            report(
                diagnostics,
                "duplicate-id",
                f"the id {line.id!r} was used before, on line {defined[line.id]}",
                line,
                path,
                None if mention is None else LostMention.at(mention.type, mention.parts, text.length),
            )
            line = replace(line, mention=None, statement=None)
        elif line.id and line.id != "*":
            defined[line.id] = number
        if line.statement is not None and line.statement[0] == PROB:
            if line.targets[0] in with_prob:
                line = replace(line, statement=None)
            with_prob.update(line.targets)
        lines.append(line)
    for line in lines:
        for target in line.targets:
            if target not in defined:
                report(
                    diagnostics,
                    "unknown-reference",
                    f"the line refers to {quoted(target)}, which is not an id in this file",
                    line,
                    path,
                )
    return lines


def report(
    diagnostics: Diagnostics, kind: str, message: str, line: Line, path: Path | None, lost: LostMention | None = None
) -> None:
    diagnostics.report(kind, message, path=None if path is None else str(path), line=line.number, lost=lost)


def raw_lines(annotations: str) -> Iterator[str]:
    """Yield lines with their ends: LF or CRLF, or CR where there is no LF at all."""
    mark = "\n" if "\n" in annotations else "\r"
    start = 0
    while start < len(annotations):
        end = annotations.find(mark, start) + 1 or len(annotations)
        yield annotations[start:end]
        start = end


def _parse_line(number: int, raw: str, text: CoveredText, diagnostics: Diagnostics, path: Path | None) -> Line:
    body = raw.rstrip("\r\n")
    if number == 1:
        body = body.removeprefix("\ufeff")
    columns = body.split("\t", 2)
    line = Line(number, raw, columns[0])
    if not body.strip() or (len(columns) == 1 and body.startswith("#")):
        return replace(line, id="")
    try:
        if len(columns) == 1 or not WORD.fullmatch(line.id):
            raise _Malformed(f"the line {quoted(body)} is not an annotation; expected an id, a tab and its content")
        if line.id[0] == "T":
            return _parse_mention(line, columns, text, diagnostics, path)
        parse = _PARSERS.get(line.id[0])
        return line if parse is None else parse(line, columns)
    except _Malformed as error:
        is_mention = len(columns) > 1 and line.id[:1] == "T"
        lost = LostMention(columns[1].partition(" ")[0], 1) if is_mention else None
        report(diagnostics, "malformed", str(error), line, path, lost)
        return line if WORD.fullmatch(line.id) else replace(line, id="")


def _parse_mention(
    line: Line, columns: list[str], text: CoveredText, diagnostics: Diagnostics, path: Path | None
) -> Line:
    match = _MENTION.fullmatch(columns[1])
    if len(columns) < 3 or match is None:
        raise _Malformed(
            f"{quoted(columns[1])} is not a type with offsets and a text; "
            "expected 'T1<tab>type start end;start end<tab>text', offsets being plain digits"
        )
    spans = [_span(fragment) for fragment in match[2].split(";")]
    mention = checked_mention(match[1], spans, diagnostics, length=text.length, path=path, line=line.number)
    if mention is None:
        return line
    recorded = _squeezed(columns[2])
    if not text.reads(spans, recorded):
        if not recorded or not text.reads(text.first_line(spans), recorded):
            seen = quoted(text.beginning(spans))
            message = f"the text at the offsets is {seen}, but {line.id} records {quoted(columns[2])}"
            report(diagnostics, "text-mismatch", message, line, path, LostMention.at(match[1], spans, text.length))
            return line
        line = replace(line, is_cut=True)
    return replace(line, mention=mention)


def _span(fragment: str) -> Span:
    start, _, end = fragment.partition(" ")
    return int(start), int(end)


def _squeezed(text: str) -> str:
    """Return the text without white space, which tools treat differently."""
    return "".join(text.split())


class CoveredText:
    """A text to compare with the recorded texts of many lines.

    Mentions may overlap, so what they cover together can be far longer than the text. The time of a comparison depends
    on the length of the recorded text, not on the length of the covered text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.length = len(text)

    @cached_property
    def _squeezed(self) -> str:
        return _squeezed(self.text)

    @cached_property
    def _blanks(self) -> array[int]:
        return array("q", (match.start() for match in _BLANK.finditer(self.text)))

    @cached_property
    def _breaks(self) -> array[int]:
        return array("q", (match.start() for match in _LINE_BREAK.finditer(self.text)))

    def reads(self, spans: Sequence[Span], recorded: str) -> bool:
        """Return whether spans cover the recorded text, ignoring white space in both."""
        inner = [
            (start - bisect_left(self._blanks, start), end - bisect_left(self._blanks, end)) for start, end in spans
        ]
        if sum(end - start for start, end in inner) != len(recorded):
            return False
        return "".join(self._squeezed[start:end] for start, end in inner) == recorded

    def first_line(self, spans: Sequence[Span]) -> list[Span]:
        """Return the spans up to the first line break that they cover."""
        kept: list[Span] = []
        for start, end in spans:
            place = bisect_left(self._breaks, start)
            if place < len(self._breaks) and self._breaks[place] < end:
                return [*kept, (start, self._breaks[place])]
            kept.append((start, end))
        return kept

    def beginning(self, spans: Sequence[Span]) -> str:
        """Return the beginning of what spans cover, for a message."""
        return " ".join(self.text[start : min(end, start + _MOST_SHOWN)] for start, end in spans[:_MOST_SHOWN])


def _parse_relation(line: Line, columns: list[str]) -> Line:
    return replace(line, targets=_arguments(columns[1].split()[1:], columns[1], 2, "'type Arg1:T1 Arg2:T2'"))


def _parse_event(line: Line, columns: list[str]) -> Line:
    return replace(line, targets=_arguments(columns[1].split(), columns[1], 1, "'type:T1 role:T2'"))


def _arguments(words: list[str], seen: str, at_least: int, expected: str) -> tuple[str, ...]:
    matches = [_ARGUMENT.fullmatch(word) for word in words]
    targets = tuple(match[1] for match in matches if match is not None)
    if len(targets) < max(len(words), at_least):
        raise _Malformed(f"the arguments in {quoted(seen)} are not understood; expected {expected}")
    return targets


def _parse_equivalence(line: Line, columns: list[str]) -> Line:
    words = columns[1].split()
    if line.id != "*" or len(words) < 2:
        raise _Malformed(f"{quoted(columns[1])} is not an equivalence; expected '*<tab>type T1 T2'")
    return replace(line, targets=tuple(words[1:]))


def _parse_attribute(line: Line, columns: list[str]) -> Line:
    words = columns[1].strip().split(maxsplit=2)
    if len(words) < 2:
        raise _Malformed(f"{quoted(columns[1])} is not an attribute; expected 'name T1' or 'name T1 value'")
    return replace(line, targets=(words[1],), statement=(words[0], words[2] if len(words) == 3 else True))


def _parse_normalisation(line: Line, columns: list[str]) -> Line:
    match = _NORMALISATION.fullmatch(columns[1].strip())
    if match is None:
        raise _Malformed(f"{quoted(columns[1])} is not a normalisation; expected 'Reference T1 UMLS:C0019080'")
    target, database, entry = match.groups()
    statement = ("cui", entry) if holds_cuis(database) else ("normalisations", f"{database}:{entry}")
    return replace(line, targets=(target,), statement=statement)


def holds_cuis(database: str) -> bool:
    return "umls" in database.lower() or "cui" in database.lower()


def _parse_note(line: Line, columns: list[str]) -> Line:
    words = columns[1].split()
    if len(words) != 2:
        raise _Malformed(f"{quoted(columns[1])} is not a note; expected '#1<tab>AnnotatorNotes T1<tab>text'")
    return replace(line, targets=(words[1],), statement=_noted(columns[2].strip()) if len(columns) == 3 else None)


def _noted(text: str) -> Statement | None:
    """Return what a note states about a mention, if it is in a known form."""
    if prob := _PROB.fullmatch(text):
        return (PROB, float(prob[1])) if float(prob[1]) <= 1.0 else None
    return (f"{NOTE}{note[1]}", note[2]) if (note := _NOTE.fullmatch(text)) else None


_PARSERS: Mapping[str, Callable[[Line, list[str]], Line]] = {
    "R": _parse_relation,
    "E": _parse_event,
    "*": _parse_equivalence,
    "A": _parse_attribute,
    "M": _parse_attribute,
    "N": _parse_normalisation,
    "#": _parse_note,
}


def links_of_lines(lines: Sequence[Line]) -> Links:
    """Return the links in lines; ids of duplicate mentions are replaced by the id of the first."""
    ids: dict[Mention, str] = {}
    first: dict[str, str] = {}
    for line in lines:
        if line.mention is not None:
            first[line.id] = ids.setdefault(line.mention, line.id)
    said: defaultdict[str, dict[str, list[Any]]] = defaultdict(dict)
    for line in lines:
        if line.statement is not None and line.statement[0] != PROB and line.targets[0] not in first:
            said[line.targets[0]].setdefault(line.statement[0], []).append(line.statement[1])
    found: dict[str, list[dict[str, Any]]] = {"R": [], "E": [], "*": [], "#": []}
    for line in lines:
        if line.id[:1] in found and line.targets and line.statement is None:
            found[line.id[0]].append(_link(line, first, said))
    return Links(ids, *(tuple(found[kind]) for kind in "RE*#"))


def _link(line: Line, first: Mapping[str, str], said: Mapping[str, Mapping[str, list[Any]]]) -> dict[str, Any]:
    columns = line.raw.rstrip("\r\n").split("\t")
    type, *words = columns[1].split()
    targets = [first.get(target, target) for target in line.targets]
    if line.id == "*":
        return {"type": type, "targets": targets}
    if line.id[0] == "#":
        return {"id": line.id, "type": type, "target": targets[0], "text": "\t".join(columns[2:])}
    link: dict[str, Any] = {"id": line.id}
    if line.id[0] == "E":
        link |= {"type": type.partition(":")[0], "trigger": targets.pop(0)}
    else:
        link["type"] = type
    roles = [word.partition(":")[0] for word in words]
    link["arguments"] = [{"role": role, "target": target} for role, target in zip(roles, targets, strict=True)]
    if attributes := said.get(line.id):
        link["attributes"] = {
            name: values[0] if len(values) == 1 and name != "normalisations" else values
            for name, values in attributes.items()
        }
    return link
