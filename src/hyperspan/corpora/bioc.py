"""Read BioC: XML, JSON and JSON lines.

Passages (or their sentences) are joined into one text. Gaps between them are filled with a line break and blanks, so
that offsets, which count characters from the beginning of the document, stay valid. The infon ``type`` becomes the
mention's type, other infons its attributes, and locations its parts. Everything else (infons of passages, relations,
identifiers) is kept and written back; relations that refer to a removed mention are removed too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from hyperspan.corpora.bioc_records import (
    DEEPEST,
    FILLED_PER_BYTE,
    LISTS,
    MOST_FILLED,
    Collection,
    Filling,
    Malformed,
    Source,
    check,
    holders,
    is_deeper,
    mention_of,
    text_of,
    without_annotations,
)
from hyperspan.corpora.bioc_writing import write_json, write_json_lines, write_xml
from hyperspan.corpora.files import read_bytes, stream_lines
from hyperspan.corpora.format import Format, Item, unique_mentions
from hyperspan.corpora.safe_xml import Node, XmlDefect, stream_children
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import MentionError
from hyperspan.mentions import Document, Mention, Unit

_LINES = (".jsonl", ".ndjson")
_LINE_RECORD = re.compile(rb'"bioctype"\s*:\s*"BioCDocument"')
_NUMBER = re.compile(r"[0-9]{1,12}")
_LINE = "\0line"
"""The key that stores the line of an annotation read from XML; no element can have this name."""


def _recognise(path: Path, head: bytes) -> bool:
    if path.name.lower().endswith(_LINES):
        return _LINE_RECORD.search(head) is not None
    if path.suffix.lower() == ".xml":
        return b"<collection" in head and not path.name.lower().endswith(".knowtator.xml")
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[") and any(
        key in head for key in (b'"documents"', b'"passages"', b'"bioctype"')
    )


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    with open(item.path, "rb") as file:
        is_xml = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"[", b"")
    if item.path.name.lower().endswith(_LINES):
        records = _records_in_lines(item.path, diagnostics)
    elif is_xml:
        records = _records_in_xml(item.path, diagnostics)
    else:
        records = _records_in_json(item.path, diagnostics)
    filling = Filling(MOST_FILLED + FILLED_PER_BYTE * item.path.stat().st_size)
    for running, (line, record, collection) in enumerate(records, start=1):
        try:
            yield _document(record, f"{item.doc}-{running:05}", collection, item, line, filling, diagnostics)
        except (Malformed, MentionError) as error:
            diagnostics.report("malformed", f"document {running}: {error}", path=str(item.path), line=line)


_Records = Iterator[tuple[int | None, Any, Collection]]


def _records_in_xml(path: Path, diagnostics: Diagnostics) -> _Records:
    collection = Collection({"infons": {}})
    try:
        with open(path, "rb") as file:
            for root, child in stream_children(file, allow_doctype=True):
                if root.tag != "collection":
                    raise XmlDefect(f"the root element is <{root.tag[:40]}>; expected <collection>", root.line)
                if child.tag == "document":
                    yield child.line, _record_of(child), collection
                elif child.tag == "infon":
                    collection.record["infons"][child.get("key", "")] = child.text or ""
                elif child is not root:
                    collection.record[child.tag] = child.text or ""
    except XmlDefect as error:
        diagnostics.report("malformed", str(error), path=str(path), line=error.line)


def _record_of(node: Node) -> dict[str, Any]:
    """Return an element as plain data, as in BioC JSON."""
    record: dict[str, Any] = dict(node.attrib)
    if node.tag == "annotation":
        record[_LINE] = node.line
    for child in node:
        assert isinstance(child, Node)
        if child.tag == "infon":
            record.setdefault("infons", {})[child.get("key", "")] = child.text or ""
        elif f"{child.tag}s" in LISTS:
            record.setdefault(f"{child.tag}s", []).append(_record_of(child))
        else:
            record[child.tag] = child.text or ""
    for key in ("offset", "length"):
        if _NUMBER.fullmatch(str(record.get(key, "")).strip()):
            record[key] = int(record[key])
    return record


def _records_in_json(path: Path, diagnostics: Diagnostics) -> _Records:
    raw = read_bytes(path, diagnostics, ". BioC XML and JSON lines are read document by document")
    if raw is None:
        return
    try:
        content = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        diagnostics.report("not-json", f"the file is not JSON: {error}", path=str(path), line=error.lineno)
        return
    # A file may hold one collection, or a list of collections or documents, bare or as the only value of an object.
    if isinstance(content, dict) and len(content) == 1 and "documents" not in content:
        content = next(iter(content.values()))
    for entry in content if isinstance(content, list) else [content]:
        if isinstance(entry, dict) and isinstance(entry.get("documents"), list):
            collection = Collection({key: value for key, value in entry.items() if key != "documents"})
            for record in entry["documents"]:
                yield None, record, collection
        else:
            yield None, entry, Collection()


def _records_in_lines(path: Path, diagnostics: Diagnostics) -> _Records:
    for number, line in stream_lines(path, diagnostics):
        if line.strip():
            try:
                yield number, orjson.loads(line), Collection()
            except orjson.JSONDecodeError as error:
                diagnostics.report("not-json", f"the line is not JSON: {error}", path=str(path), line=number)


def _document(
    record: Any,
    name: str,
    collection: Collection,
    item: Item,
    line: int | None,
    filling: Filling,
    diagnostics: Diagnostics,
) -> Document:
    before, path = diagnostics.total, item.path
    if is_deeper(record, DEEPEST):
        raise Malformed(f"values are nested more than {DEEPEST} deep")
    if item.texts_only:
        record = without_annotations(record)
    check(record, "document")
    if "passages" not in record:
        raise Malformed("'passages' is missing; expected a BioC document")
    text = text_of(record, filling)
    found: list[tuple[Mention, int | None]] = []
    for holder in holders(record):
        for annotation in holder.get("annotations") or ():
            own_line = annotation.pop(_LINE, line)
            mention = mention_of(annotation, text, path, own_line, diagnostics)
            if mention is not None:
                found.append((mention, own_line))
    mentions = tuple(sorted(unique_mentions(found, diagnostics, path=path)))
    return Document(
        str(record.get("id") or name),
        text,
        mentions,
        dict(record.get("infons") or {}),
        place=str(path) if line is None else f"{path}:{line}",
        source=Source(record, collection, text, mentions, dict(reversed(found)), is_clean=diagnostics.total == before),
    )


def _further(unit: Unit) -> str:
    """Name what no other format can store: relations, and data about passages."""
    if not isinstance(unit.source, Source):
        return ""
    record = unit.source.record
    found = {
        "relations": any(holder.get("relations") for holder in holders(record)),
        "infons of passages": any(passage.get("infons") for passage in record.get("passages") or ()),
    }
    return " or ".join(name for name, there in found.items() if there)


FORMAT = Format(
    name="bioc",
    summary="BioC XML, JSON or JSON lines: a collection of documents in passages",
    suffixes=(".xml", ".json", *_LINES),
    units=(Document,),
    recognise=_recognise,
    stream=_stream,
    write_file=write_xml,
    further=_further,
    write_by_suffix={".json": write_json, ".jsonl": write_json_lines, ".ndjson": write_json_lines},
)
