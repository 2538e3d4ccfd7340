"""The inputs of ``predict``: texts and corpora by their paths, and stdin."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import UsageError
from hyperspan.mentions import Document, Unit

_CHUNK = 1024 * 1024


def read_inputs(
    paths: Iterable[Path], format: str | None, diagnostics: Diagnostics, *, keep_gold: bool = False
) -> Iterator[Unit]:
    """Yield the units of several paths, one after another; ``-`` is stdin."""
    from hyperspan.corpora.texts import stream_texts

    for path in paths:
        if str(path) == "-":
            yield from standard_input(sys.stdin.buffer, format, diagnostics, keep_gold=keep_gold)
        else:
            yield from stream_texts(path, format=format, keep_gold=keep_gold, diagnostics=diagnostics)


def standard_input(
    file: IO[bytes], format: str | None, diagnostics: Diagnostics, *, keep_gold: bool = False
) -> Iterator[Unit]:
    """Yield the units of JSON lines as they arrive, if requested or recognised by the first; otherwise one text."""
    from hyperspan.corpora.files import LARGEST_DOCUMENT, LONGEST_LINE, decode, numbered_lines
    from hyperspan.corpora.format import Item
    from hyperspan.corpora.jsonl import is_object, is_record, stream_records

    if format not in (None, "jsonl", "text"):
        raise UsageError(
            f"stdin is read as plain text or as JSON lines, not as {format!r}; name a file, or leave --from out"
        )
    begin: deque[bytes] = deque()
    while (line := file.readline(LONGEST_LINE + 1)) and not line.strip():
        begin.append(line)
    begin.append(line)
    if format != "text" and (format == "jsonl" or is_record(line) or is_object(line)):

        def read_line(limit: int) -> bytes:
            return begin.popleft() if begin else file.readline(limit)

        item = Item(Path("stdin"), Path(), texts_only=not keep_gold)
        yield from stream_records(numbered_lines(read_line, item.path, diagnostics), item, diagnostics)
        return
    begin.append(file.read(_CHUNK))
    while begin[-1] and sum(map(len, begin)) <= LARGEST_DOCUMENT:
        begin.append(file.read(_CHUNK))
    if begin[-1]:
        raise UsageError(f"stdin has more than {LARGEST_DOCUMENT:,} bytes of text; send JSON lines, or name a file")
    text = decode(b"".join(begin), diagnostics, path=Path("<stdin>"))
    if text is not None:
        yield Document("stdin", text)
