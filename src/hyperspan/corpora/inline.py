"""Read and write inline mentions: tokens on one line, mentions on the next, then a blank line (Dai et al. 2020).

::

    Muscle pain and stiffness in both legs .
    0,1 ADR|0,0,3,3 ADR

A mention is ``start,end`` for every part, as *inclusive* token indices, a blank and the type; mentions are separated by
``|``. The second line is empty if there are none. The format cannot hold document names, columns or attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from hyperspan.corpora.files import HEAD_BYTES, stream_lines
from hyperspan.corpora.format import Format, Item, checked_mention, require, unique_mentions
from hyperspan.corpora.unsupported import note_unsupported
from hyperspan.diagnostics import Diagnostics, LostMention, quoted
from hyperspan.mentions import Mention, Sentence, Unit

_MENTION = re.compile(r"([0-9]{1,9},[0-9]{1,9}(?:,[0-9]{1,9},[0-9]{1,9})*) (\S.*)", re.DOTALL)


def _recognise(path: Path, head: bytes) -> bool:
    if path.name.lower().endswith(".inline"):
        return True
    return not _has_sidecar(path) and _looks_inline(head)


def _has_sidecar(path: Path) -> bool:
    """Return whether a text file has annotations beside it, or contains annotations itself."""
    if path.name.lower().endswith(".pipe.txt"):
        return True
    beside = [path.with_suffix(suffix) for suffix in (".ann", ".a1", ".pipe", ".pipe.txt", ".knowtator.xml")]
    return any(other.exists() for other in (*beside, path.with_name(f"{path.name}.knowtator.xml")))


def _looks_inline(head: bytes) -> bool:
    """Return whether the head consists of complete sentences with their mentions, and has at least one mention.

    Examples
    --------
    >>> _looks_inline(b"no fever\\n1,1 Finding\\n\\n"), _looks_inline(b"no fever\\nor cough\\n\\n")
    (True, False)
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    if len(head) >= HEAD_BYTES:
        lines.pop()  # cut in the middle
    while lines and not lines[-1].strip():
        lines.pop()
    n_mentions = 0
    for first in range(0, len(lines), 3):
        tokens, *rest = lines[first : first + 3]
        written = rest[0].strip() if rest else ""
        if not tokens.strip() or (len(rest) > 1 and rest[1].strip()):
            return False
        for mention in written.split("|") if written else ():
            match = _MENTION.fullmatch(mention.strip())
            if match is None or max(map(int, match[1].split(","))) >= len(tokens.split()):
                return False
            n_mentions += 1
    return n_mentions > 0


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    lines = stream_lines(item.path, diagnostics)
    n_sentences = 0
    for number, line in lines:
        if not line.strip():
            continue
        mention_number, written = next(lines, (number + 1, ""))
        blank_number, blank = next(lines, (number + 2, "")) if mention_number == number + 1 else (0, "")
        n_sentences += 1
        if blank_number != number + 2 or blank.strip():
            seen = f"line {number + 2} is {quoted(blank)}" if blank else "a line is missing"
            diagnostics.report(
                "malformed",
                f"{seen}; expected a line of tokens, a line of mentions and a blank line",
                path=str(item.path),
                line=number,
            )
            _skip_to_blank(lines, blank)
            continue
        tokens = line.split()
        yield Sentence(
            tuple(tokens),
            () if item.texts_only else _mentions(written.strip(), len(tokens), item.path, mention_number, diagnostics),
            f"{item.doc}-{n_sentences:05}",
            place=f"{item.path}:{number}",
        )


def _skip_to_blank(lines: Iterator[tuple[int, str]], line: str) -> None:
    while line.strip():
        _, line = next(lines, (0, ""))


def _mentions(written: str, length: int, path: Path, number: int, diagnostics: Diagnostics) -> tuple[Mention, ...]:
    mentions: list[tuple[Mention, int | None]] = []
    for entry in written.split("|") if written else ():
        match = _MENTION.fullmatch(entry.strip())
        indices = list(map(int, match[1].split(","))) if match else []
        if match is None:
            diagnostics.report(
                "malformed",
                f"mention {quoted(entry)} is not like '0,2 ADR': start,end for every part, a blank and the type",
                path=str(path),
                line=number,
                lost=LostMention(entry.strip().rpartition(" ")[2], 1),
            )
            continue
        spans = [(start, end + 1) for start, end in zip(indices[::2], indices[1::2], strict=True)]
        mention = checked_mention(match[2].strip(), spans, diagnostics, length=length, path=path, line=number)
        if mention is not None:
            mentions.append((mention, number))
    return tuple(unique_mentions(mentions, diagnostics, path=path))


def _write(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    is_first = True
    for unit in units:
        require(unit, Sentence, "inline")
        assert isinstance(unit, Sentence)
        if _is_writable(unit, is_first, diagnostics):
            is_first = False
            note_unsupported(unit, "inline", diagnostics)
            mentions = [_written(mention) for mention in unit.mentions if _is_type_writable(mention, unit, diagnostics)]
            file.write(f"{' '.join(unit.tokens)}\n{'|'.join(mentions)}\n\n".encode())


def _written(mention: Mention) -> str:
    return ",".join(f"{start},{end - 1}" for start, end in mention.parts) + f" {mention.type}"


def _is_writable(sentence: Sentence, is_first: bool, diagnostics: Diagnostics) -> bool:
    if not sentence.tokens:
        message = f"a sentence of document {quoted(sentence.doc)} has no tokens, which the format cannot hold"
    elif (broken := next((token for token in sentence.tokens if token.split() != [token]), None)) is not None:
        message = f"token {quoted(broken)} has white space, which the format cannot hold"
    elif is_first and sentence.tokens[0].startswith("\ufeff"):
        message = f"token {quoted(sentence.tokens[0])} would put a byte order mark at the beginning of the file"
    else:
        return True
    diagnostics.report("not-held", message, path=sentence.place or None)
    return False


def _is_type_writable(mention: Mention, sentence: Sentence, diagnostics: Diagnostics) -> bool:
    if "|" not in mention.type and mention.type == mention.type.strip() and not re.search(r"[\r\n]", mention.type):
        return True
    diagnostics.report(
        "not-held",
        f"type {quoted(mention.type)} has '|', a line break or blanks at its edge, which the format cannot hold",
        path=sentence.place or None,
    )
    return False


FORMAT = Format(
    name="inline",
    summary="Tokens on one line, their mentions (inclusive token indices) on the next, then a blank line",
    suffixes=(".inline", ".txt"),
    units=(Sentence,),
    recognise=_recognise,
    stream=_stream,
    write_file=_write,
)
