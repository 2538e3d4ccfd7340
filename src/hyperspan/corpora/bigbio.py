"""BigBIO rows: the knowledge-base schema of the BigScience biomedical datasets, as JSON, JSON lines or Parquet.

A row is a document: passages with their offsets, entities with lists of offsets and texts, events, relations and
coreferences. Offsets count characters of the joined passages; anything between two passages is blank. The trigger of an
event becomes a mention of the event's type, as in brat; coreferences become equivalences. This module reads rows and
does not load datasets: use `document_of_row` for a row that is a dictionary, and `row_of` for the way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from hyperspan.corpora.bigbio_parquet import MAGIC, column_names, read_parquet, write_parquet
from hyperspan.corpora.bigbio_rows import (
    HELD,
    Malformed,
    Source,
    mentions_in,
    row_of,
    rows_to_write,
    text_of,
    without_annotations,
)
from hyperspan.corpora.files import read_bytes, stream_lines
from hyperspan.corpora.format import Format, Item, unique_mentions
from hyperspan.corpora.links import unknown_targets
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import MentionError
from hyperspan.mentions import Document, Unit

__all__ = ["FORMAT", "document_of_row", "row_of"]

_LINES = (".jsonl", ".ndjson")
_KEYS = (b'"document_id"', b'"passages"')


def _recognise(path: Path, head: bytes) -> bool:
    if head.startswith(MAGIC):
        names = column_names(path)
        return names is None or {"document_id", "passages"} <= set(names)
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") and all(key in head for key in _KEYS)


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    for number, (line, row) in enumerate(_rows(item.path, diagnostics), start=1):
        row = without_annotations(row) if item.texts_only else row
        try:
            yield document_of_row(row, diagnostics, path=item.path, line=line, name=f"{item.doc}-{number:05}")
        except (Malformed, MentionError) as error:
            diagnostics.report("malformed", f"row {number}: {error}", path=str(item.path), line=line)


def _rows(path: Path, diagnostics: Diagnostics) -> Iterator[tuple[int | None, Any]]:
    with open(path, "rb") as file:
        is_parquet = file.read(len(MAGIC)) == MAGIC
    if is_parquet:
        yield from ((None, row) for row in read_parquet(path))
        return
    if path.name.lower().endswith(_LINES):
        for number, line in stream_lines(path, diagnostics):
            if line.strip():
                try:
                    yield number, orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    diagnostics.report("not-json", f"the line is not JSON: {error}", path=str(path), line=number)
        return
    raw = read_bytes(path, diagnostics, ". BigBIO rows in JSON lines are read one by one")
    if raw is None:
        return
    try:
        content = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        diagnostics.report("not-json", f"the file is not JSON: {error}", path=str(path), line=error.lineno)
        return
    # A file may hold a list of rows, a single row, or an object with the rows of each split.
    if isinstance(content, dict) and "passages" not in content:
        content = [row for rows in content.values() for row in (rows if isinstance(rows, list) else [rows])]
    yield from ((None, row) for row in (content if isinstance(content, list) else [content]))


def document_of_row(
    row: Mapping[str, Any],
    diagnostics: Diagnostics | None = None,
    *,
    path: Path | None = None,
    line: int | None = None,
    name: str = "",
) -> Document:
    """Convert a row to a document.

    Parameters
    ----------
    row : mapping
        A row from ``datasets``, or read from JSON.
    diagnostics : Diagnostics, optional
        Collects the problems with entities. If not given, the first one raises an error.
    path, line
        Where the row is, for messages.
    name : str
        The name of a row without an id.

    Examples
    --------
    >>> row = {
    ...     "id": "1",
    ...     "document_id": "note-7",
    ...     "passages": [{"id": "p", "type": "note", "text": ["Blood on his tongue."], "offsets": [[0, 20]]}],
    ...     "entities": [{"id": "e", "type": "Finding", "text": ["Blood", "tongue"], "offsets": [[0, 5], [13, 19]]}],
    ... }
    >>> document_of_row(row).mentions
    (Mention(type='Finding', parts=((0, 5), (13, 19)), prob=None),)
    """
    diagnostics = diagnostics or Diagnostics()
    before = diagnostics.total
    if not isinstance(row, Mapping) or "passages" not in row:
        raise Malformed(f"{quoted(row)} is not a BigBIO row; expected an object with 'passages'")
    text = text_of(row)
    found, links = mentions_in(row, text, path, line, diagnostics)
    mentions = tuple(sorted(unique_mentions(found, diagnostics, path=path)))
    for kind, target in unknown_targets(links):
        message = (
            f"a link ({kind}) refers to {quoted(target)}, which is not the id of an entity, event or relation here"
        )
        diagnostics.note("unknown-reference", message, path=None if path is None else str(path), line=line)
    place = "" if path is None else str(path) if line is None else f"{path}:{line}"
    doc = str(row.get("document_id") or row.get("id") or name)
    is_clean = diagnostics.total == before
    return Document(doc, text, mentions, place=place, source=Source(row, text, mentions, links, is_clean))


def _write_lines(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    for row in rows_to_write(units, diagnostics):
        file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def _write_list(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    file.write(b"[")
    for number, row in enumerate(rows_to_write(units, diagnostics)):
        file.write((b",\n" if number else b"\n") + orjson.dumps(row))
    file.write(b"\n]\n")


def _write_parquet(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    write_parquet(rows_to_write(units, diagnostics), file)


FORMAT = Format(
    name="bigbio",
    summary="BigBIO rows (knowledge-base schema): JSON, JSON lines or Parquet",
    suffixes=(".json", *_LINES, ".parquet"),
    units=(Document,),
    recognise=_recognise,
    stream=_stream,
    write_file=_write_list,
    holds_links=HELD,
    write_by_suffix={".jsonl": _write_lines, ".ndjson": _write_lines, ".parquet": _write_parquet},
)
