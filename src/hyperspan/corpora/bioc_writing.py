"""Write BioC: XML, JSON and JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

import orjson

from hyperspan.corpora.bioc_records import LISTS, Source, holders, mention_of, pieces
from hyperspan.corpora.format import require
from hyperspan.corpora.safe_xml import not_xml, only_xml
from hyperspan.corpora.unsupported import EVERYTHING, AllBut, note_unsupported, same_mentions
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.mentions import Document, Mention, Unit

_FIELDS = {*LISTS, "text", "id", "refid", "role", "offset", "length", "infons"}
_FIELDS |= {"bioctype", "source", "date", "key", "version"}


def _record_to_write(document: Document, diagnostics: Diagnostics) -> dict[str, Any]:
    source = document.source
    if not isinstance(source, Source) or source.text != document.text:
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
    """Remove annotations that are no longer in the document; return the mentions that still have to be added."""
    wanted = {mention: mention for mention in document.mentions}
    removed: set[str] = set()
    for holder in holders(record):
        kept = []
        for annotation in holder.get("annotations") or ():
            read = mention_of(annotation, document.text, None, None, Diagnostics("skip"))
            mention = None if read is None else wanted.get(read)
            if mention is not None and read is not None and same_mentions([mention], [read]):
                kept.append(annotation)
                del wanted[mention]
            else:
                removed.add(str(annotation.get("id")))
        if holder.get("annotations"):
            holder["annotations"] = kept
    left = {str(one.get("id")) for holder in holders(record) for one in holder.get("annotations") or ()}
    _drop_relations(record, removed - left, diagnostics)
    return list(wanted)


def _drop_relations(record: dict[str, Any], gone: set[str], diagnostics: Diagnostics) -> None:
    """Drop relations that refer to removed annotations, and relations that refer to those."""
    while gone:
        dropped: set[str] = set()
        for holder in holders(record):
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
    """Add mentions to the passages that contain them, or to the document."""
    taken = {str(one.get("id")) for holder in holders(record) for one in holder.get("annotations") or ()}
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
    places = [(offset, offset + len(text)) for offset, text, _ in pieces({"passages": [passage]})]
    return bool(places) and places[0][0] <= mention.start and mention.end <= places[-1][1]


def _to_write(
    units: Iterable[Unit], diagnostics: Diagnostics
) -> Iterator[tuple[Document, dict[str, Any], dict[str, Any]]]:
    """Yield documents with their records, and the record of the first document's collection."""
    collection: dict[str, Any] | None = None
    for unit in units:
        require(unit, Document, "bioc")
        assert isinstance(unit, Document)
        if collection is None:
            collection = unit.source.collection.record if isinstance(unit.source, Source) else {}
        held = AllBut("type", "prob")
        note_unsupported(unit, "bioc", diagnostics, doc=True, attributes=EVERYTHING, mention_attributes=held, prob=True)
        yield unit, _record_to_write(unit, diagnostics), collection


def _report_not_held(document: Document, why: str, diagnostics: Diagnostics) -> None:
    diagnostics.report("not-held", f"document {quoted(document.doc)} {why}", path=document.place or None)


def write_xml(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    """Write a collection as XML, one document per line."""
    is_begun = False
    for document, record, collection in _to_write(units, diagnostics):
        complete = _as_text(record, diagnostics)
        if (bad := _first_not_xml(complete)) is not None:
            _report_not_held(document, f"has the character {bad!r}, which XML cannot hold", diagnostics)
            continue
        if not is_begun:
            is_begun = True
            _begin_xml(file, _as_text(collection, diagnostics))
        file.write(_element("document", complete).encode() + b"\n")
    if not is_begun:
        _begin_xml(file, _as_text({}, diagnostics))
    file.write(b"</collection>\n")


def _begin_xml(file: IO[bytes], collection: dict[str, Any]) -> None:
    """Write the metadata of a collection."""
    texts = "".join(f"{_text(key, only_xml(str(collection.get(key, ''))))}\n" for key in ("source", "date", "key"))
    infons = {only_xml(key): only_xml(value) for key, value in collection["infons"].items()}
    begin = "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n<collection>"
    file.write((begin + texts + "".join(f"{infon}\n" for infon in _infons(infons))).encode())


_ATTRIBUTES = {
    "annotation": ("id",),
    "relation": ("id",),
    "location": ("offset", "length"),
    "node": ("refid", "role"),
}
"""The fields written as XML attributes; all others are children."""

_HOLDS_OFFSET = ("passage", "sentence")


def _element(tag: str, record: Mapping[str, Any]) -> str:
    """Write a record as an element, with its children in the order of the BioC definition."""
    attributes = "".join(f" {name}={quoteattr(str(record[name]))}" for name in _ATTRIBUTES.get(tag, ()))
    inner = [_text("id", record["id"])] if tag == "document" else []
    inner += _infons(record["infons"])
    if tag in _HOLDS_OFFSET:
        inner.append(_text("offset", str(record["offset"])))
    inner += [_element("location", location) for location in record["locations"]]
    if record["text"] or tag == "annotation":
        inner.append(_text("text", record["text"]))
    for key in ("passages", "sentences", "annotations", "relations", "nodes"):
        inner += [_element(key[:-1], entry) for entry in record[key]]
    return f"<{tag}{attributes}>{''.join(inner)}</{tag}>" if inner else f"<{tag}{attributes}/>"


def _infons(infons: Mapping[str, str]) -> list[str]:
    return [f"<infon key={quoteattr(key)}>{_escaped(value)}</infon>" for key, value in infons.items()]


def _text(tag: str, text: str) -> str:
    return f"<{tag}>{_escaped(text)}</{tag}>"


def _escaped(text: str) -> str:
    """Escape a text, including carriage returns, which XML would read back as line feeds."""
    return escape(text, {"\r": "&#13;"})


def _as_text(record: dict[str, Any], diagnostics: Diagnostics) -> dict[str, Any]:
    """Return a record with every field of BioC, and with identifiers and infons as texts."""
    complete: dict[str, Any] = {"text": "", "id": "", "refid": "", "role": "", "offset": 0, "length": 0, "infons": {}}
    complete |= {key: [] for key in LISTS}
    complete |= {key: value for key, value in record.items() if value is not None}
    if lost := set(complete) - _FIELDS:
        diagnostics.note("field-not-held", f"BioC XML holds no field {sorted(lost)[0]!r}")
    for key in LISTS:
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


def write_json(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    """Write a collection as one JSON document."""
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


def write_json_lines(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    """Write documents as JSON lines, which cannot hold the metadata of the collection."""
    for line, _ in _json_lines(units, diagnostics):
        file.write(line + b"\n")


def _json_lines(units: Iterable[Unit], diagnostics: Diagnostics) -> Iterator[tuple[bytes, dict[str, Any]]]:
    for document, record, collection in _to_write(units, diagnostics):
        try:
            yield orjson.dumps(record), collection
        except (orjson.JSONEncodeError, TypeError) as error:
            _report_not_held(document, f"cannot be written as JSON: {error}", diagnostics)
