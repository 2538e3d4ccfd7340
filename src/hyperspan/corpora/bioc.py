"""BioC, as XML, as JSON and as JSON lines, with the ``bioc`` library's data model.

Passages (or their sentences) are put together to one text: what lies between them is filled with a line break and
blanks, so that offsets, which count characters from the beginning of the document, hold. The infon ``type`` is a
mention's type, the others its attributes; several locations are its parts. Whatever else there is (infons of passages,
relations, identifiers) is kept and written back; relations that refer to a mention that was taken out go with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from hyperspan.corpora.files import LARGEST_DOCUMENT, stream_lines
from hyperspan.corpora.format import Format, Item, checked_mention, require, unique_mentions
from hyperspan.corpora.safe_xml import Node, XmlDefect, not_xml, only_xml, stream_children
from hyperspan.corpora.unsupported import EVERYTHING, AllBut, note_unsupported, same_mentions
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import MentionError
from hyperspan.mentions import Document, Mention, Unit

WIDEST_GAP = 1_000_000
"""Characters that may be missing between two passages."""

_LINES = (".jsonl", ".ndjson")
_LINE_RECORD = re.compile(rb'"bioctype"\s*:\s*"BioCDocument"')
_NUMBER = re.compile(r"[0-9]{1,12}")
_DEEPEST = 20
_LINE = "\0line"
"""The key under which an annotation read from XML knows its line; no element can have such a name."""

_LISTS = ("passages", "sentences", "annotations", "relations", "locations", "nodes")

_FIELDS = {*_LISTS, "text", "id", "refid", "role", "offset", "length", "infons"}
_FIELDS |= {"bioctype", "source", "date", "key", "version"}


class _Malformed(Exception):
    """A document that cannot be used; its text says why."""


@dataclass(frozen=True, slots=True)
class _Collection:
    """What a collection says of itself."""

    record: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Source:
    """A document as it stood, as the plain data of BioC JSON, with its collection and the text put together."""

    record: dict[str, Any]
    collection: _Collection
    text: str
    mentions: tuple[Mention, ...]
    lines: Mapping[Mention, int | None]
    is_clean: bool

    def line_of(self, mention: Mention) -> int | None:
        """Return the line on which a mention stands."""
        return self.lines.get(mention)


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
    for running, (line, record, collection) in enumerate(records, start=1):
        try:
            yield _document(record, f"{item.doc}-{running:05}", collection, item.path, line, diagnostics)
        except (_Malformed, MentionError) as error:
            diagnostics.report("malformed", f"document {running}: {error}", path=str(item.path), line=line)


_Records = Iterator[tuple[int | None, Any, _Collection]]


def _records_in_xml(path: Path, diagnostics: Diagnostics) -> _Records:
    collection = _Collection({"infons": {}})
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
    """Return an element as the plain data that BioC JSON has for it."""
    record: dict[str, Any] = dict(node.attrib)
    if node.tag == "annotation":
        record[_LINE] = node.line
    for child in node:
        assert isinstance(child, Node)
        if child.tag == "infon":
            record.setdefault("infons", {})[child.get("key", "")] = child.text or ""
        elif f"{child.tag}s" in _LISTS:
            record.setdefault(f"{child.tag}s", []).append(_record_of(child))
        else:
            record[child.tag] = child.text or ""
    for key in ("offset", "length"):
        if _NUMBER.fullmatch(str(record.get(key, "")).strip()):
            record[key] = int(record[key])
    return record


def _records_in_json(path: Path, diagnostics: Diagnostics) -> _Records:
    size = path.stat().st_size
    if size > LARGEST_DOCUMENT:
        diagnostics.report(
            "too-large",
            f"the file has {size:,} bytes; BioC JSON, which must be read whole, may have {LARGEST_DOCUMENT:,}. "
            "XML and JSON lines are read document by document",
            path=str(path),
        )
        return
    try:
        content = orjson.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        diagnostics.report("not-json", f"the file is not JSON: {error}", path=str(path), line=error.lineno)
        return
    # Besides one collection there are lists of collections or documents, bare or as the only value of an object.
    if isinstance(content, dict) and len(content) == 1 and "documents" not in content:
        content = next(iter(content.values()))
    for entry in content if isinstance(content, list) else [content]:
        if isinstance(entry, dict) and isinstance(entry.get("documents"), list):
            collection = _Collection({key: value for key, value in entry.items() if key != "documents"})
            for record in entry["documents"]:
                yield None, record, collection
        else:
            yield None, entry, _Collection()


def _records_in_lines(path: Path, diagnostics: Diagnostics) -> _Records:
    for number, line in stream_lines(path, diagnostics):
        if line.strip():
            try:
                yield number, orjson.loads(line), _Collection()
            except orjson.JSONDecodeError as error:
                diagnostics.report("not-json", f"the line is not JSON: {error}", path=str(path), line=number)


def _document(
    record: Any, name: str, collection: _Collection, path: Path, line: int | None, diagnostics: Diagnostics
) -> Document:
    before = diagnostics.total
    if _is_deeper(record, _DEEPEST):
        raise _Malformed(f"values are nested more than {_DEEPEST} deep")
    _check(record, "document")
    if "passages" not in record:
        raise _Malformed("there is no 'passages'; expected a BioC document")
    text = _text_of(record)
    found: list[tuple[Mention, int | None]] = []
    for holder in _holders(record):
        for annotation in holder.get("annotations") or ():
            own_line = annotation.pop(_LINE, line)
            mention = _mention(annotation, text, path, own_line, diagnostics)
            if mention is not None:
                found.append((mention, own_line))
    mentions = tuple(sorted(unique_mentions(found, diagnostics, path=path)))
    return Document(
        str(record.get("id") or name),
        text,
        mentions,
        dict(record.get("infons") or {}),
        place=str(path) if line is None else f"{path}:{line}",
        source=_Source(record, collection, text, mentions, dict(reversed(found)), is_clean=diagnostics.total == before),
    )


def _is_deeper(value: Any, depth: int) -> bool:
    """Whether a value has lists and objects nested beyond a depth."""
    level = [value]
    for _ in range(depth):
        nested = [entry for entry in level if isinstance(entry, dict | list)]
        if not nested:
            return False
        level = [inner for entry in nested for inner in (entry.values() if isinstance(entry, dict) else entry)]
    return any(isinstance(entry, dict | list) for entry in level)


def _check(record: Any, what: str) -> None:
    """See that everything that is to be a list, an object, a text or a number is one."""
    if not isinstance(record, dict):
        raise _Malformed(f"the {what} is {quoted(record)}; expected an object")
    if not isinstance(record.get("infons") or {}, dict):
        raise _Malformed(f"'infons' of a {what} is {quoted(record['infons'])}; expected an object")
    if not isinstance(record.get("text") or "", str):
        raise _Malformed(f"'text' of a {what} is {quoted(record['text'])}; expected a text")
    if not isinstance(record.get("id") or "", str | int):
        raise _Malformed(f"'id' of a {what} is {quoted(record['id'])}; expected a text")
    if what in ("passage", "sentence", "location"):
        for key in ("offset", "length") if what == "location" else ("offset",):
            if type(record.get(key)) is not int or record[key] < 0:
                raise _Malformed(f"{key!r} of a {what} is {quoted(record.get(key))}; expected a number from 0")
    for key in _LISTS:
        entries = record.get(key)
        if entries is not None and not isinstance(entries, list):
            raise _Malformed(f"{key!r} of a {what} is {quoted(entries)}; expected a list")
        if key != "locations":  # those of one annotation only spoil that annotation
            for entry in entries or ():
                _check(entry, key[:-1])


def _holders(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield whatever may have annotations and relations: the passages, their sentences, and the document."""
    for passage in record.get("passages") or ():
        yield passage
        yield from passage.get("sentences") or ()
    yield record


def _text_of(record: dict[str, Any]) -> str:
    pieces: list[str] = []
    length = 0
    for offset, text, filler in sorted(_pieces(record), key=lambda piece: piece[0]):
        gap = offset - length
        if gap < 0:
            raise _Malformed(f"a passage or sentence begins at {offset}, before the end of the one before it, {length}")
        if gap > WIDEST_GAP:
            raise _Malformed(
                f"a passage or sentence begins at {offset}, more than {WIDEST_GAP:,} characters after {length}"
            )
        if gap:
            pieces.append((filler if length else " ") + " " * (gap - 1))
        pieces.append(text)
        length = offset + len(text)
    return "".join(pieces)


def _pieces(record: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    for passage in record.get("passages") or ():
        if passage.get("text"):
            yield passage["offset"], passage["text"], "\n"
            continue
        filler = "\n"
        for sentence in passage.get("sentences") or ():
            if sentence.get("text"):
                yield sentence["offset"], sentence["text"], filler
                filler = " "


def _mention(
    annotation: dict[str, Any], text: str, path: Path | None, line: int | None, diagnostics: Diagnostics
) -> Mention | None:
    name = f"annotation {quoted(annotation.get('id'))}"
    where = None if path is None else str(path)
    infons = dict(annotation.get("infons") or {})
    type = infons.pop("type", "")
    try:
        for location in annotation.get("locations") or ():
            _check(location, "location")
        if not isinstance(type, str) or not type:
            raise _Malformed(f"the infon 'type' is {quoted(type)}; expected a text that is not empty")
    except _Malformed as error:
        diagnostics.report("malformed", f"{name}: {error}", path=where, line=line)
        return None
    spans = [(one["offset"], one["offset"] + one["length"]) for one in annotation.get("locations") or ()]
    prob = _prob(infons.get("prob"))
    if prob is not None:
        del infons["prob"]
    mention = checked_mention(
        type, spans, diagnostics, length=len(text), path=path, line=line, prob=prob, attributes=infons
    )
    written = annotation.get("text")
    if mention is not None and written and len(spans) == 1:
        start, end = spans[0]
        if "".join(written.split()) != "".join(text[start:end].split()):
            diagnostics.report(
                "other-text",
                f"{name}: {start} to {end} is {quoted(text[start:end])}, but its text is {quoted(written)}; "
                "expected them to agree (offsets count characters from the beginning of the document)",
                path=where,
                line=line,
            )
            return None
    return mention


def _prob(value: object) -> float | None:
    try:
        prob = float(value) if isinstance(value, str | float) else -1.0
    except ValueError:
        return None
    return prob if 0.0 <= prob <= 1.0 else None


def _further(unit: Unit) -> str:
    """Name what no other format has a place for: relations, and what is known of passages."""
    if not isinstance(unit.source, _Source):
        return ""
    record = unit.source.record
    found = {
        "relations": any(holder.get("relations") for holder in _holders(record)),
        "infons of passages": any(passage.get("infons") for passage in record.get("passages") or ()),
    }
    return " or ".join(name for name, there in found.items() if there)


def _record_to_write(document: Document, diagnostics: Diagnostics) -> dict[str, Any]:
    source = document.source
    if not isinstance(source, _Source) or source.text != document.text:
        passage = {
            "offset": 0,
            "infons": {},
            "text": document.text,
            "sentences": [],
            "annotations": [],
            "relations": [],
        }
        record = {"id": document.doc, "infons": {}, "passages": [passage], "annotations": [], "relations": []}
        _add(record, document.mentions, document)
    elif source.is_clean and same_mentions(source.mentions, document.mentions):
        record = source.record
    else:
        record = deepcopy(source.record)
        _add(record, _keep_unchanged(record, document, diagnostics), document)
    return {
        "bioctype": "BioCDocument",
        **record,
        "id": record["id"] if str(record.get("id")) == document.doc else document.doc,
        "infons": dict(document.attributes),
    }


def _keep_unchanged(record: dict[str, Any], document: Document, diagnostics: Diagnostics) -> list[Mention]:
    """Take out the annotations that are not in the document any more; return the mentions that are not there yet."""
    wanted = {mention: mention for mention in document.mentions}
    removed: set[str] = set()
    for holder in _holders(record):
        kept = []
        for annotation in holder.get("annotations") or ():
            read = _mention(annotation, document.text, None, None, Diagnostics("skip"))
            mention = None if read is None else wanted.get(read)
            if mention is not None and read is not None and same_mentions([mention], [read]):
                kept.append(annotation)
                del wanted[mention]
            else:
                removed.add(str(annotation.get("id")))
        if holder.get("annotations"):
            holder["annotations"] = kept
    left = {str(one.get("id")) for holder in _holders(record) for one in holder.get("annotations") or ()}
    _drop_relations(record, removed - left, diagnostics)
    return list(wanted)


def _drop_relations(record: dict[str, Any], gone: set[str], diagnostics: Diagnostics) -> None:
    """Drop relations that refer to what is gone, and those that refer to them."""
    while gone:
        dropped: set[str] = set()
        for holder in _holders(record):
            kept = []
            for relation in holder.get("relations") or ():
                if any(str(node.get("refid")) in gone for node in relation.get("nodes") or ()):
                    dropped.add(str(relation.get("id")))
                    diagnostics.note(
                        "relation-dropped", f"relation {quoted(relation.get('id'))} lost one of its mentions"
                    )
                else:
                    kept.append(relation)
            if holder.get("relations"):
                holder["relations"] = kept
        gone = dropped


def _add(record: dict[str, Any], mentions: Iterable[Mention], document: Document) -> None:
    """Add mentions to the passages that they are in, or to the document."""
    taken = {str(one.get("id")) for holder in _holders(record) for one in holder.get("annotations") or ()}
    number = 0
    for mention in mentions:
        number += 1
        while f"M{number}" in taken:
            number += 1
        infons = {**mention.attributes, "type": mention.type}
        if mention.prob is not None:
            infons["prob"] = repr(mention.prob)
        annotation = {
            "id": f"M{number}",
            "infons": infons,
            "text": " ".join(document.text[start:end] for start, end in mention.parts),
            "locations": [{"offset": start, "length": end - start} for start, end in mention.parts],
        }
        holder = next((one for one in record["passages"] or () if _contains(one, mention)), record)
        holder["annotations"] = [*(holder.get("annotations") or ()), annotation]


def _contains(passage: dict[str, Any], mention: Mention) -> bool:
    pieces = [(offset, offset + len(text)) for offset, text, _ in _pieces({"passages": [passage]})]
    return bool(pieces) and pieces[0][0] <= mention.start and mention.end <= pieces[-1][1]


def _to_write(
    units: Iterable[Unit], diagnostics: Diagnostics
) -> Iterator[tuple[Document, dict[str, Any], dict[str, Any]]]:
    """Yield documents with their records and the record of the collection that the first one came from."""
    collection: dict[str, Any] | None = None
    for unit in units:
        require(unit, Document, "bioc")
        assert isinstance(unit, Document)
        if collection is None:
            collection = unit.source.collection.record if isinstance(unit.source, _Source) else {}
        held = AllBut("type", "prob")
        note_unsupported(unit, "bioc", diagnostics, doc=True, attributes=EVERYTHING, mention_attributes=held, prob=True)
        yield unit, _record_to_write(unit, diagnostics), collection


def _report_not_held(document: Document, why: str, diagnostics: Diagnostics) -> None:
    diagnostics.report("not-held", f"document {quoted(document.doc)} {why}", path=document.place or None)


def _write_xml(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    # Imported here: the library takes longer to load than everything else that is needed to recognise a format.
    from bioc import BioCCollection, biocxml
    from bioc.biocjson import fromJSON

    writer = biocxml.BioCXMLDocumentWriter(file, encoding="UTF-8")
    is_begun = False
    try:
        for document, record, collection in _to_write(units, diagnostics):
            complete = _as_text(record, diagnostics)
            if (bad := _first_not_xml(complete)) is not None:
                _report_not_held(document, f"has the character {bad!r}, which XML cannot hold", diagnostics)
                continue
            if not is_begun:
                is_begun = True
                writer.write_collection_info(_described(BioCCollection(), collection, diagnostics))
            writer.write_document(fromJSON(complete, "BioCDocument"))
        if not is_begun:
            writer.write_collection_info(_described(BioCCollection(), {}, diagnostics))
    finally:
        writer.close()
    file.write(b"\n")


def _described(collection: Any, record: dict[str, Any], diagnostics: Diagnostics) -> Any:
    """Fill in what a collection says of itself."""
    complete = _as_text(record, diagnostics)
    for key in ("source", "date", "key"):
        setattr(collection, key, only_xml(str(complete.get(key, ""))))
    collection.infons = {only_xml(key): only_xml(value) for key, value in complete["infons"].items()}
    return collection


def _as_text(record: dict[str, Any], diagnostics: Diagnostics) -> dict[str, Any]:
    """Return a record with every field that the library wants, and texts for identifiers and infons."""
    complete: dict[str, Any] = {"text": "", "id": "", "refid": "", "role": "", "offset": 0, "length": 0, "infons": {}}
    complete |= {key: [] for key in _LISTS}
    complete |= {key: value for key, value in record.items() if value is not None}
    if lost := set(complete) - _FIELDS:
        diagnostics.note("field-not-held", f"BioC XML holds no field {sorted(lost)[0]!r}")
    for key in _LISTS:
        complete[key] = [_as_text(entry, diagnostics) for entry in complete[key]]
    for key in ("id", "refid", "role"):
        complete[key] = str(complete[key])
    for key, value in complete["infons"].items():
        if not isinstance(value, str):
            diagnostics.note("infon-as-text", f"infon {key!r} is {quoted(value)}, which XML holds only as a text")
    complete["infons"] = {str(key): "" if value is None else str(value) for key, value in complete["infons"].items()}
    return complete


def _first_not_xml(value: object) -> str | None:
    if isinstance(value, str):
        return not_xml(value)
    if isinstance(value, Mapping):
        return next((bad for pair in value.items() for one in pair if (bad := _first_not_xml(one))), None)
    if isinstance(value, list):
        return next((bad for one in value if (bad := _first_not_xml(one))), None)
    return None


def _write_json(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    is_begun = False
    for line, collection in _json_lines(units, diagnostics):
        if is_begun:
            file.write(b",\n")
        else:
            is_begun = True
            _begin_json(file, collection)
        file.write(line)
    if not is_begun:
        _begin_json(file, {})
    file.write(b"\n]}\n")


def _begin_json(file: IO[bytes], collection: dict[str, Any]) -> None:
    whole = {"bioctype": "BioCCollection", "source": "", "date": "", "key": "", "version": "1.0", "infons": {}}
    file.write(orjson.dumps(whole | collection).removesuffix(b"}") + b',"documents":[\n')


def _write_json_lines(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    for line, _ in _json_lines(units, diagnostics):
        file.write(line + b"\n")


def _json_lines(units: Iterable[Unit], diagnostics: Diagnostics) -> Iterator[tuple[bytes, dict[str, Any]]]:
    for document, record, collection in _to_write(units, diagnostics):
        try:
            yield orjson.dumps(record), collection
        except (orjson.JSONEncodeError, TypeError) as error:
            _report_not_held(document, f"cannot be written as JSON: {error}", diagnostics)


FORMAT = Format(
    name="bioc",
    summary="BioC XML, JSON or JSON lines: a collection of documents in passages",
    suffixes=(".xml", ".json", *_LINES),
    units=(Document,),
    recognise=_recognise,
    stream=_stream,
    write_file=_write_xml,
    further=_further,
    write_by_suffix={".json": _write_json, ".jsonl": _write_json_lines, ".ndjson": _write_json_lines},
)
