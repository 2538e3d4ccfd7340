"""PARSEME's ``.cupt``: CoNLL-U with multiword expressions in the column PARSEME:MWE.

Tokens are the word lines. Lines of multiword tokens (``3-4``) and empty nodes (``5.1``), comments and all other columns
are kept. An unchanged sentence is written back byte for byte; one with other mentions changes only in the last column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hyperspan.corpora.files import stream_lines
from hyperspan.corpora.format import Format, Item, checked_mention, require, unique_mentions
from hyperspan.corpora.unsupported import note_unsupported
from hyperspan.diagnostics import Diagnostics, LostMention, quoted
from hyperspan.mentions import NOTHING, Mention, Sentence, Unit

_MWE = "PARSEME:MWE"
_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC", _MWE)
_OURS = {"pos": "UPOS", "xpos": "XPOS", "lemma": "LEMMA"}
_HEADER = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
_SENTENCE_ID = re.compile(r"#\s*(source_sent_id|sent_id)\s*=\s*(.*)")
_WORD = re.compile(r"[0-9]{1,9}")
_OTHER_LINE = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9}|\.[0-9]{1,9})")
_CODE = re.compile(r"([0-9]{1,9})(?::([^:;\s]+))?")


class _Malformed(Exception):
    """An invalid sentence: the line, and the reason."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class _Block:
    """A sentence as it is in the file: its lines with their ends, and the names of its columns."""

    number: int
    lines: tuple[str, ...]
    columns: tuple[str, ...]
    is_first: bool
    mentions: tuple[Mention, ...] = field(default=())
    tokens: tuple[str, ...] = field(default=())
    values: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: NOTHING)
    is_clean: bool = True


def _recognise(path: Path, head: bytes) -> bool:
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return not first or first.startswith(b"#") or first[:1].isdigit()


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    for running, block in enumerate(_blocks(item.path, diagnostics), start=1):
        try:
            yield _sentence(block, f"{item.doc}-{running:05}", item, diagnostics)
        except _Malformed as error:
            diagnostics.report("malformed", str(error), path=str(item.path), line=error.line)


def _blocks(path: Path, diagnostics: Diagnostics) -> Iterator[_Block]:
    """Yield the file as consecutive blocks: comments and word lines, with the blank lines after them.

    Comments without word lines join the next sentence, or the last one at the end of the file.
    """
    columns: tuple[str, ...] = _COLUMNS
    held: _Block | None = None
    lines: list[str] = []
    start, has_words, is_over = 1, False, False
    for number, line in stream_lines(path, diagnostics, keep_ends=True):
        is_blank = not line.strip()
        if is_over and not is_blank:
            if held is not None:
                yield held
            held = _Block(start, tuple(lines), columns, is_first=held is None and start == 1)
            lines, start, has_words, is_over = [], number, False, False
        if match := _HEADER.match(line):
            columns = _columns_of(match[1], path, number, diagnostics)
        lines.append(line)
        has_words = has_words or not (is_blank or line.startswith("#"))
        is_over = has_words and is_blank
    if has_words:
        if held is not None:
            yield held
        yield _Block(start, tuple(lines), columns, is_first=held is None and start == 1)
    elif held is not None:
        yield _Block(held.number, (*held.lines, *lines), held.columns, held.is_first)


def _columns_of(written: str, path: Path, number: int, diagnostics: Diagnostics) -> tuple[str, ...]:
    columns = tuple(written.split())
    if {"ID", "FORM", _MWE} <= set(columns) and len(set(columns)) == len(columns):
        return columns
    diagnostics.report(
        "malformed",
        f"the columns are {quoted(written.strip())}; expected ID, FORM and {_MWE} among them, and none twice",
        path=str(path),
        line=number,
    )
    return _COLUMNS


def _sentence(block: _Block, name: str, item: Item, diagnostics: Diagnostics) -> Sentence:
    before, path = diagnostics.total, item.path
    rows: list[list[str]] = []
    codes: list[tuple[int, str]] = []
    form, identity, mwe = (block.columns.index(column) for column in ("FORM", "ID", _MWE))
    for number, row in _rows(block):
        if len(row) != len(block.columns):
            raise _Malformed(number, f"the line has {len(row)} columns; expected {len(block.columns)}")
        if _OTHER_LINE.fullmatch(row[identity]):
            if row[mwe] not in ("*", "_") and not item.texts_only:
                raise _Malformed(number, f"{_MWE} is {quoted(row[mwe])} on a line that is not a word; expected '*'")
            continue
        if not _WORD.fullmatch(row[identity]) or int(row[identity]) != len(rows) + 1:
            raise _Malformed(number, f"the ID is {quoted(row[identity])}; expected {len(rows) + 1}")
        if not row[form]:
            raise _Malformed(number, "the FORM is empty; expected a word")
        rows.append(row)
        codes.append((number, row[mwe]))
    tokens = tuple(row[form] for row in rows)
    mentions = () if item.texts_only else tuple(_mentions(codes, path, diagnostics))
    values = _values(block.columns, rows)
    return Sentence(
        tokens,
        mentions,
        _name(block.lines) or name,
        columns=values,
        place=f"{path}:{block.number}",
        source=_Block(
            block.number,
            block.lines,
            block.columns,
            block.is_first,
            tuple(sorted(mentions)),
            tokens,
            values,
            is_clean=diagnostics.total == before and not item.texts_only,
        ),
    )


def _rows(block: _Block) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(block.lines, start=block.number):
        if line.strip() and not line.startswith("#"):
            yield number, line.rstrip("\r\n").split("\t")


def _values(columns: Sequence[str], rows: list[list[str]]) -> Mapping[str, tuple[str, ...]]:
    values = {}
    for ours, theirs in _OURS.items():
        if theirs in columns:
            at = columns.index(theirs)
            column = tuple(row[at] for row in rows)
            if any(value != "_" for value in column):
                values[ours] = column
    return values or NOTHING


def _name(lines: Iterable[str]) -> str:
    """Return the sentence's name: ``sent_id``, or the part of ``source_sent_id`` that is not dots.

    Examples
    --------
    >>> _name(["# source_sent_id = . . 2739"]), _name(["# text = no"])
    ('2739', '')
    """
    found = {match[1]: match[2].strip() for line in lines if (match := _SENTENCE_ID.match(line))}
    source = " ".join(word for word in found.get("source_sent_id", "").split() if word != ".")
    return found.get("sent_id") or source


def _mentions(codes: list[tuple[int, str]], path: Path, diagnostics: Diagnostics) -> list[Mention]:
    words: dict[int, list[int]] = {}
    types: dict[int, tuple[int, str]] = {}
    for position, (number, written) in enumerate(codes):
        for code in written.split(";") if written not in ("*", "_") else ():
            match = _CODE.fullmatch(code)
            if match is None:
                raise _Malformed(number, f"{_MWE} is {quoted(written)}; expected '*', or codes like '1:VID;2'")
            key = int(match[1])
            if position in words.setdefault(key, []):
                raise _Malformed(number, f"{_MWE} is {quoted(written)}, with expression {key} twice; expected it once")
            words[key].append(position)
            if match[2] and types.setdefault(key, (number, match[2]))[1] != match[2]:
                raise _Malformed(
                    number, f"expression {key} has category {quoted(match[2])}, but {quoted(types[key][1])} before"
                )
    mentions: list[tuple[Mention, int | None]] = []
    for key, positions in words.items():
        number = codes[positions[0]][0]
        spans = [(position, position + 1) for position in positions]
        if key not in types:
            diagnostics.report(
                "no-type",
                f"expression {key} has no category; expected it at its first word, like '{key}:VID'",
                path=str(path),
                line=number,
                lost=LostMention.at("", spans, len(codes)),
            )
            continue
        mention = checked_mention(types[key][1], spans, diagnostics, length=len(codes), path=path, line=number)
        if mention is not None:
            mentions.append((mention, number))
    return unique_mentions(mentions, diagnostics, path=path)


def _further(unit: Unit) -> str:
    """Name what is kept but not read: other columns, multiword tokens, empty nodes and comments."""
    block = unit.source
    if not isinstance(block, _Block):
        return ""
    ours = {"ID", "FORM", _MWE, *_OURS.values()}
    others = [at for at, name in enumerate(block.columns) if name not in ours]
    found: dict[str, None] = {}
    for line in block.lines:
        if line.startswith("#"):
            if not _HEADER.match(line) and not _SENTENCE_ID.match(line):
                found["comments"] = None
        elif line.strip():
            row = line.rstrip("\r\n").split("\t")
            if _OTHER_LINE.fullmatch(row[block.columns.index("ID")]):
                found["multiword tokens or empty nodes"] = None
            found |= {f"column {block.columns[at]}": None for at in others if row[at] != "_"}
    return " or ".join(list(found)[:3])


def _write(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    columns: tuple[str, ...] = ()
    missing = ""
    for unit in units:
        require(unit, Sentence, "cupt")
        assert isinstance(unit, Sentence)
        block = _block_of(unit)
        if not _is_writable(unit, diagnostics):
            continue
        if not columns:
            columns = _COLUMNS if block is None else block.columns
            if block is None or not (block.is_first or any(map(_HEADER.match, block.lines))):
                missing = f"# global.columns = {' '.join(columns)}\n"
            lines = _lines(unit, block, columns, diagnostics)
        else:
            lines = [line for line in _lines(unit, block, columns, diagnostics) if not _HEADER.match(line)]
        file.write((missing + "".join(lines)).encode())
        missing = _missing_end(lines[-1])


def _missing_end(line: str) -> str:
    """Return the line ends to add to the last line of a sentence before another sentence can follow."""
    if line.strip():
        return "\n" if line.endswith("\n") else "\n\n"
    return "" if line.endswith("\n") else "\n"


def _block_of(sentence: Sentence) -> _Block | None:
    """Return the lines that a sentence was read from, if its tokens and columns have not changed."""
    block = sentence.source
    if isinstance(block, _Block) and block.tokens == sentence.tokens and dict(block.values) == dict(sentence.columns):
        return block
    return None


def _lines(sentence: Sentence, block: _Block | None, columns: tuple[str, ...], diagnostics: Diagnostics) -> list[str]:
    held = {ours for ours, theirs in _OURS.items() if theirs in columns}
    note_unsupported(sentence, "cupt", diagnostics, doc=True, columns=held)
    if block is None:
        return _new_lines(sentence, columns, held, diagnostics)
    is_untouched = block.is_clean and block.mentions == sentence.mentions
    if is_untouched and block.columns == columns:
        return list(block.lines)
    codes = iter(_codes(sentence, diagnostics))
    lines = []
    for line in block.lines:
        if not line.strip() or line.startswith("#"):
            lines.append(line)
            continue
        content = line.rstrip("\r\n")
        row = dict(zip(block.columns, content.split("\t"), strict=True))
        if _WORD.fullmatch(row["ID"]):
            code = next(codes)
            row[_MWE] = row[_MWE] if is_untouched else code
        lines.append("\t".join(row.get(column, "_") for column in columns) + line[len(content) :])
    return lines


def _new_lines(sentence: Sentence, columns: tuple[str, ...], held: set[str], diagnostics: Diagnostics) -> list[str]:
    lines = []
    if sentence.doc and (sentence.doc != sentence.doc.strip() or re.search(r"[\r\n]", sentence.doc)):
        diagnostics.note("doc-not-held", f"document name {quoted(sentence.doc)} has blanks at its edge or a line break")
    elif sentence.doc:
        lines.append(f"# sent_id = {sentence.doc}\n")
    values = {_OURS[name]: column for name, column in sentence.columns.items() if name in held}
    for position, (token, code) in enumerate(zip(sentence.tokens, _codes(sentence, diagnostics), strict=True)):
        row = {name: column[position] for name, column in values.items()}
        for name, value in row.items():
            if not value or re.search(r"[\t\r\n]", value):
                diagnostics.note(
                    "value-not-held", f"value {quoted(value)} of column {name} is empty or breaks the line"
                )
                row[name] = "_"
        row |= {"ID": str(position + 1), "FORM": token, _MWE: code}
        lines.append("\t".join(row.get(column, "_") for column in columns) + "\n")
    return [*lines, "\n"]


def _codes(sentence: Sentence, diagnostics: Diagnostics) -> list[str]:
    """Return the last column: expressions are numbered by their first words, which carry the category."""
    codes: list[list[str]] = [[] for _ in sentence.tokens]
    held = [mention for mention in sentence.mentions if _is_type_writable(mention, sentence, diagnostics)]
    for key, mention in enumerate(held, start=1):
        for word in mention.words():
            codes[word].append(f"{key}:{mention.type}" if word == mention.start else str(key))
    return [";".join(code) or "*" for code in codes]


def _is_writable(sentence: Sentence, diagnostics: Diagnostics) -> bool:
    if not sentence.tokens:
        message = f"a sentence of document {quoted(sentence.doc)} has no tokens, which the format cannot hold"
    elif (broken := next((token for token in sentence.tokens if re.search(r"[\t\r\n]", token)), None)) is not None:
        message = f"token {quoted(broken)} has a tab or line break, which the format cannot hold"
    else:
        return True
    diagnostics.report("not-held", message, path=sentence.place or None)
    return False


def _is_type_writable(mention: Mention, sentence: Sentence, diagnostics: Diagnostics) -> bool:
    if _CODE.fullmatch(f"1:{mention.type}"):
        return True
    diagnostics.report(
        "not-held",
        f"type {quoted(mention.type)} has a colon, semicolon or white space, which the format cannot hold",
        path=sentence.place or None,
    )
    return False


FORMAT = Format(
    name="cupt",
    summary="PARSEME: CoNLL-U with multiword expressions in the last column",
    suffixes=(".cupt",),
    units=(Sentence,),
    recognise=_recognise,
    stream=_stream,
    write_file=_write,
    further=_further,
)
