"""Read and write JSON lines: one sentence (``"tokens"``) or document (``"text"``) per line.

``{"doc": id, "tokens": [...], "mentions": [{"type": t, "spans": [[start, end], ...]}]}`` with token spans, or
``"text"`` instead of ``"tokens"`` with character spans. Optional: ``"attributes"``, ``"pos"``, ``"columns"`` (further
values per token), ``"offsets"`` (characters of each token), and per mention ``"attributes"``, ``"prob"``,
``"expanded"`` (the phrase it stands for) and ``"group"`` (a number shared by mentions that share a part);
``"relations"``, ``"events"``, ``"equivalences"`` and ``"notes"`` as in `hyperspan.corpora.links`, which refer to the
``"id"`` of mentions. Unknown keys are kept and written back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from hyperspan.corpora.files import stream_lines
from hyperspan.corpora.format import Format, Item, checked_mention, unique_mentions
from hyperspan.corpora.links import KINDS, Links, links_among, links_in, unknown_targets
from hyperspan.diagnostics import Diagnostic, Diagnostics, LostMention, quoted
from hyperspan.errors import CorpusError, MentionError
from hyperspan.mentions import NOTHING, Document, Mention, Sentence, Unit

_OF_DOCUMENTS = frozenset({"doc", "text", "mentions", "attributes"})
_OF_SENTENCES = frozenset({"doc", "tokens", "mentions", "attributes", "pos", "columns", "offsets"})
_OF_MENTIONS = frozenset({"type", "spans", "prob", "attributes"})
_BESIDE = {"expanded": str, "group": int}
"""Attributes of mentions that have keys of their own, beside type and spans."""
_OF_OTHERS = frozenset(
    [
        "annotation",
        "annotations",
        "denotations",
        "entities",
        "entity",
        "ents",
        "label",
        "labels",
        "ner",
        "ner_tags",
        "spans",
        "tags",
    ]
)
"""Keys under which other programs store mentions."""

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Source:
    """The unknown keys of a line and of its mentions."""

    extra: Mapping[str, Any]
    of_mentions: Mapping[Mention, Mapping[str, Any]]
    linked: Links | None = None

    def links(self, unit: Unit) -> Links | None:
        """Return the relations, events, equivalences and notes."""
        return self.linked


class _Malformed(Exception):
    """A line that is JSON but not a valid record; the message says why."""


def _recognise(path: Path, head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"")


def is_record(line: bytes) -> bool:
    """Return whether a line looks like a record: a JSON object with ``"tokens"`` or ``"text"``.

    Examples
    --------
    >>> is_record(b'{"tokens": ["No", "fever"]}'), is_record(b'{"a": 1}'), is_record(b"No fever.")
    (True, False, False)
    """
    return not {"tokens", "text"}.isdisjoint(_object(line))


def is_object(line: bytes) -> bool:
    """Return whether a line is a JSON object that is not empty, which nobody means as a text.

    Examples
    --------
    >>> is_object(b'{"sentence": "No fever."}'), is_object(b"{}"), is_object(b"No fever.")
    (True, False, False)
    """
    return bool(_object(line))


def _object(line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    return stream_records(stream_lines(item.path, diagnostics), item, diagnostics)


def stream_records(lines: Iterable[tuple[int, str]], item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    """Yield the units of numbered lines; empty lines are skipped."""
    for number, line in lines:
        if not line.strip():
            continue
        try:
            unit = _unit(orjson.loads(line), item, number, diagnostics)
        except orjson.JSONDecodeError as error:
            diagnostics.report("not-json", f"the line is not JSON: {error}", path=str(item.path), line=number)
        except (_Malformed, MentionError) as error:
            diagnostics.report("malformed", str(error), path=str(item.path), line=number)
        else:
            yield unit


def _unit(record: Any, item: Item, number: int, diagnostics: Diagnostics) -> Unit:
    if not isinstance(record, dict):
        raise _Malformed(f"the line holds {quoted(record)}; expected an object with 'tokens' or 'text'")
    if (record.get("tokens") is None) == (record.get("text") is None):
        seen = "both 'tokens' and 'text'" if record.get("tokens") is not None else "neither 'tokens' nor 'text'"
        others = _listed(_without(record, _OF_DOCUMENTS | _OF_SENTENCES))
        raise _Malformed(f"the object has {seen}{f', but {others}' if others else ''}; expected one of them")
    doc = _typed(record, "doc", str, None)
    if doc is None:
        doc = f"{item.doc}-{number:05}"
    attributes = _typed(record, "attributes", dict, NOTHING)
    place = f"{item.path}:{number}"
    if record.get("text") is not None:
        text = _typed(record, "text", str, "")
        mentions, source = _mentions(record, len(text), _OF_DOCUMENTS, item, number, diagnostics)
        return Document(doc, text, mentions, attributes, place=place, source=source)
    tokens = tuple(_typed(record, "tokens", list, []))
    columns = _typed(record, "columns", dict, {})
    if record.get("pos") is not None:
        columns = {"pos": record["pos"], **columns}
    for name, values in columns.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise _Malformed(f"column {quoted(name)} is {quoted(values)}; expected a list of texts")
    offsets = _typed(record, "offsets", list, None)
    mentions, source = _mentions(record, len(tokens), _OF_SENTENCES, item, number, diagnostics)
    return Sentence(
        tokens,
        mentions,
        doc,
        attributes,
        columns or NOTHING,
        None if offsets is None else tuple(map(_span, offsets)),
        place=place,
        source=source,
    )


def _mentions(
    record: dict[str, Any], length: int, ours: frozenset[str], item: Item, number: int, diagnostics: Diagnostics
) -> tuple[tuple[Mention, ...], Source | None]:
    """Return the mentions of a line, its links, and its unknown keys."""
    if item.texts_only:
        extra = _without(record, ours | {"mentions", *KINDS})
        return (), Source(extra, {}) if extra else None
    path = item.path
    mentions = []
    of_mentions: dict[Mention, Mapping[str, Any]] = {}
    for entry in _typed(record, "mentions", list, []):
        try:
            mention = _mention(entry, length, path, number, diagnostics)
        except _Malformed as error:
            type = entry.get("type") if isinstance(entry, dict) else None
            lost = LostMention(type if isinstance(type, str) else "", 1)
            diagnostics.report("malformed", str(error), path=str(path), line=number, lost=lost)
            continue
        if mention is not None:
            mentions.append((mention, number))
            if extra := {
                key: value for key, value in _without(entry, _OF_MENTIONS).items() if not _is_beside(key, value)
            }:
                of_mentions.setdefault(mention, extra)
    extra = _without(record, ours)
    ids = {mention: keys["id"] for mention, keys in of_mentions.items() if isinstance(keys.get("id"), str)}
    links = links_in(extra, ids)
    if links is not None:
        extra = {key: value for key, value in extra.items() if key not in KINDS}
        for kind, target in unknown_targets(links):
            message = (
                f"a link ({kind}) refers to {quoted(target)}, which is not the id of a mention, relation or event here"
            )
            diagnostics.report("unknown-reference", message, path=str(path), line=number)
    source = Source(extra, of_mentions, links) if extra or of_mentions or links is not None else None
    return tuple(unique_mentions(mentions, diagnostics, path=path)), source


def _mention(entry: Any, length: int, path: Path, number: int, diagnostics: Diagnostics) -> Mention | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise _Malformed(f"mention {quoted(entry)} is not an object with a 'type' and 'spans'")
    return checked_mention(
        entry["type"],
        [_span(span) for span in _typed(entry, "spans", list, [])],
        diagnostics,
        length=length,
        path=path,
        line=number,
        prob=_prob(entry.get("prob")),
        attributes=_attributes(entry),
    )


def _attributes(entry: dict[str, Any]) -> Mapping[str, Any]:
    attributes: Mapping[str, Any] = _typed(entry, "attributes", dict, NOTHING)
    beside = {name: entry[name] for name in _BESIDE if _is_beside(name, entry.get(name))}
    return {**attributes, **beside} if beside else attributes


def _is_beside(name: str, value: object) -> bool:
    return type(value) is _BESIDE.get(name)


def _without(record: dict[str, Any], ours: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ours}


def _typed(record: dict[str, Any], key: str, kind: type, default: Any) -> Any:
    value = record.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise _Malformed(f"{key!r} is {quoted(value)}; expected {'text' if kind is str else f'a JSON {kind.__name__}'}")
    return value


def _span(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(offset) is int for offset in value):
        raise _Malformed(f"span {quoted(value)} is not a pair of integers")
    return value[0], value[1]


def _prob(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise _Malformed(f"'prob' is {quoted(value)}; expected a number from 0 to 1")
    return float(value)


def _listed(keys: Iterable[str]) -> str:
    """Name a few keys."""
    names = [quoted(key) for key in keys]
    return ", ".join(names[:_MOST_NAMED]) + (
        f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    )


def _oddities(unit: Unit) -> Iterator[Diagnostic]:
    """Report keys under which other programs store mentions, on a line without mentions."""
    extra = unit.source.extra if isinstance(unit.source, Source) else {}
    if unit.mentions or not (elsewhere := [key for key in extra if key.lower() in _OF_OTHERS]):
        return
    path, _, line = unit.place.rpartition(":")
    yield Diagnostic(
        "unknown-key",
        f"the object has no mentions, but the key {_listed(elsewhere)}, which is not read; expected mentions as "
        '"mentions": [{"type": "T", "spans": [[0, 1]]}]',
        path,
        int(line),
    )


def _further(unit: Unit) -> str:
    """Name the unknown keys."""
    if not isinstance(unit.source, Source):
        return ""
    keys = dict.fromkeys((*unit.source.extra, *(key for extra in unit.source.of_mentions.values() for key in extra)))
    if unit.source.linked is not None:
        keys.pop("id", None)  # links refer to it
    return " or ".join(f"key {quoted(key)}" for key in list(keys)[:3])


def record_of(unit: Unit, diagnostics: Diagnostics | None = None) -> dict[str, Any]:
    """Return a sentence or document as the plain data of its line; links to removed mentions are dropped and noted."""
    record: dict[str, Any] = {"doc": unit.doc}
    if isinstance(unit, Document):
        record["text"] = unit.text
    else:
        record["tokens"] = unit.tokens
        if "pos" in unit.columns:
            record["pos"] = unit.columns["pos"]
        if further := {name: values for name, values in unit.columns.items() if name != "pos"}:
            record["columns"] = further
        if unit.offsets is not None:
            record["offsets"] = unit.offsets
    source = unit.source if isinstance(unit.source, Source) else Source({}, {})
    links = links_among(unit, diagnostics) if unit.source is not None else None
    ids = {} if links is None else {mention: {"id": id} for mention, id in links.ids.items()}
    record["mentions"] = [
        _mention_record(mention, {**ids.get(mention, {}), **source.of_mentions.get(mention, {})})
        for mention in unit.mentions
    ]
    if unit.attributes:
        record["attributes"] = dict(unit.attributes)
    if links is not None:
        record |= links.as_record()
    record.update((key, value) for key, value in source.extra.items() if key not in record)
    return record


def _mention_record(mention: Mention, extra: Mapping[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = {"type": mention.type, "spans": mention.parts}
    if mention.prob is not None:
        record["prob"] = mention.prob
    attributes = dict(mention.attributes)
    beside = {name: attributes.pop(name) for name in _BESIDE if _is_beside(name, attributes.get(name))}
    if attributes:
        record["attributes"] = attributes
    record.update(beside)
    record.update(extra)
    return record


def _write(units: Iterable[Unit], file: IO[bytes], diagnostics: Diagnostics) -> None:
    for unit in units:
        try:
            line = orjson.dumps(record_of(unit, diagnostics), option=orjson.OPT_APPEND_NEWLINE)
        except (orjson.JSONEncodeError, TypeError) as error:
            raise CorpusError(f"document {quoted(unit.doc)} cannot be written as JSON: {error}") from None
        file.write(line)


FORMAT = Format(
    name="jsonl",
    summary="JSON lines: one sentence (tokens) or document (text) a line",
    suffixes=(".jsonl", ".ndjson"),
    units=(Sentence, Document),
    recognise=_recognise,
    stream=_stream,
    write_file=_write,
    oddities=_oddities,
    further=_further,
    holds_links=KINDS,
)
