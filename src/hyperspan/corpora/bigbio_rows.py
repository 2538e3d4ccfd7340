"""BigBIO rows as plain data: their joined text, mentions and links, and rows to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperspan.corpora.brat_lines import holds_cuis
from hyperspan.corpora.format import checked_mention, require
from hyperspan.corpora.links import Links, links_among, targets_of
from hyperspan.corpora.unsupported import note_unsupported, same_mentions
from hyperspan.diagnostics import Diagnostics, LostMention, quoted
from hyperspan.errors import CorpusError
from hyperspan.mentions import NOTHING, Document, Mention, Unit

HELD = ("relations", "events", "equivalences")
"""The kinds of links that rows can hold."""

MOST_BETWEEN = 1_000_000
"""The maximum number of blanks between two passages of a document."""

_ANNOTATIONS = ("entities", "events", "coreferences", "relations")


class Malformed(CorpusError):
    """An invalid row; the message says why."""


@dataclass(frozen=True, slots=True)
class Source:
    """A row as it was read, and what was read from it."""

    row: Mapping[str, Any]
    text: str
    mentions: tuple[Mention, ...]
    linked: Links
    is_clean: bool
    lines: Mapping[Mention, int | None] = field(default_factory=dict, compare=False, repr=False)

    def links(self, unit: Unit) -> Links:
        """Return the relations, events and equivalences."""
        return self.linked


def without_annotations(row: Any) -> Any:
    """Return a row with only its passages."""
    if not isinstance(row, Mapping):
        return row
    return {key: [] if key in _ANNOTATIONS else value for key, value in row.items()}


def text_of(row: Mapping[str, Any]) -> str:
    """Join the passages of a row into one text, each at its offset.

    Examples
    --------
    >>> title, body = {"text": ["A title."], "offsets": [[0, 8]]}, {"text": ["No fever."], "offsets": [[9, 18]]}
    >>> text_of({"passages": [title, body]})
    'A title. No fever.'
    """
    pieces: list[str] = []
    length = 0
    for number, passage in enumerate(_list(row, "passages"), start=1):
        texts, offsets = _texts(passage), _spans(passage, f"passage {number}")
        if len(texts) != len(offsets):
            raise Malformed(f"passage {number} has {len(texts)} texts, but {len(offsets)} offsets")
        for text, (start, end) in zip(texts, offsets, strict=True):
            if end - start != len(text):
                raise Malformed(f"passage {number} has {len(text)} characters, but the offsets {start} to {end}")
            if start < length:
                raise Malformed(f"passage {number} begins at {start}, before the previous one ends at {length}")
            if start - length > MOST_BETWEEN:
                raise Malformed(f"passage {number} begins at {start}, more than {MOST_BETWEEN:,} after {length}")
            pieces += [" " * (start - length), text]
            length = end
    return "".join(pieces)


def mentions_in(
    row: Mapping[str, Any], text: str, path: Path | None, line: int | None, diagnostics: Diagnostics
) -> tuple[list[tuple[Mention, int | None]], Links]:
    """Return the mentions of a row, including the triggers of events, and the links between them."""
    found: list[tuple[Mention, int | None]] = []
    ids: dict[Mention, str] = {}
    same: dict[str, str] = {}

    def add(entry: Mapping[str, Any], type: Any, id: str, what: str) -> None:
        mention = _mention(entry, type, text, what, path, line, diagnostics)
        if mention is None:
            return
        if entry is not trigger or mention not in ids:  # an entity may be the trigger of several events
            found.append((mention, line))
        same[id] = ids.setdefault(mention, id)

    trigger: Any = None

    for entry in _list(row, "entities"):
        add(entry, entry.get("type"), str(entry.get("id")), f"entity {quoted(entry.get('id'))}")
    events = []
    for entry in _list(row, "events"):
        id = str(entry.get("id"))
        trigger = entry.get("trigger") or {}
        if not isinstance(trigger, Mapping) or not trigger.get("offsets"):
            message = f"event {quoted(id)} has no trigger with offsets, and is not read"
            diagnostics.note("no-trigger", message, path=None if path is None else str(path), line=line)
            continue
        add(trigger, entry.get("type"), f"{id}-trigger", f"the trigger of event {quoted(id)}")
        arguments = [
            {"role": str(one.get("role")), "target": str(one.get("ref_id"))} for one in _list(entry, "arguments")
        ]
        trigger_id = f"{id}-trigger"
        events.append({"id": id, "type": str(entry.get("type")), "trigger": trigger_id, "arguments": arguments})
    relations = [_relation(entry) for entry in _list(row, "relations")]
    equivalences = [
        {"type": "Coref", "targets": [str(id) for id in entry.get("entity_ids") or ()]}
        for entry in _list(row, "coreferences")
    ]
    links = Links(ids, *(tuple(_redirected(link, same) for link in kind) for kind in (relations, events, equivalences)))
    return found, links


def _relation(entry: Mapping[str, Any]) -> dict[str, Any]:
    arguments = [
        {"role": role, "target": str(entry.get(key))} for role, key in (("Arg1", "arg1_id"), ("Arg2", "arg2_id"))
    ]
    relation = {"id": str(entry.get("id")), "type": str(entry.get("type")), "arguments": arguments}
    return relation | ({"attributes": known} if (known := _normalised(entry)) else {})


def _redirected(link: dict[str, Any], same: Mapping[str, str]) -> dict[str, Any]:
    """Return a link whose targets are the first ids of their mentions: a mention may occur twice."""
    made = dict(link)
    if "trigger" in made:
        made["trigger"] = same.get(made["trigger"], made["trigger"])
    if "targets" in made:
        made["targets"] = list(dict.fromkeys(same.get(target, target) for target in made["targets"]))
    if "arguments" in made:
        made["arguments"] = [{**one, "target": same.get(one["target"], one["target"])} for one in made["arguments"]]
    return made


def _mention(
    entry: Mapping[str, Any],
    type: Any,
    text: str,
    what: str,
    path: Path | None,
    line: int | None,
    diagnostics: Diagnostics,
) -> Mention | None:
    place = None if path is None else str(path)
    try:
        spans, texts = _spans(entry, what), _texts(entry)
        if not isinstance(type, str):
            raise Malformed(f"{what} has the type {quoted(type)}; expected a text")
    except Malformed as error:
        lost = LostMention(type if isinstance(type, str) else "", 1)
        diagnostics.report("malformed", str(error), path=place, line=line, lost=lost)
        return None
    mention = checked_mention(
        type, spans, diagnostics, length=len(text), path=path, line=line, attributes=_normalised(entry) or NOTHING
    )
    if mention is None:
        return None
    seen = "".join("".join(text[start:end].split()) for start, end in spans)
    if texts and seen != "".join("".join(texts).split()):
        covered = " … ".join(text[start:end] for start, end in spans[:3])
        message = f"the text at the offsets of {what} is {quoted(covered)}, but it records {quoted(texts)}"
        lost = LostMention.at(type, mention.parts, len(text))
        diagnostics.report("text-mismatch", message, path=place, line=line, lost=lost)
        return None
    return mention


def _normalised(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return normalisations as attributes, as for brat: UMLS ones as ``cui``, others under their database."""
    values: dict[str, list[str]] = {}
    for one in _list(entry, "normalized"):
        database, id = str(one.get("db_name")), str(one.get("db_id"))
        name, value = ("cui", id) if holds_cuis(database) else ("normalisations", f"{database}:{id}")
        if value not in values.setdefault(name, []):
            values[name].append(value)
    return {
        name: tuple(several) if name == "normalisations" or len(several) > 1 else several[0]
        for name, several in values.items()
    }


def _list(holder: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = holder.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise Malformed(f"{key!r} is {quoted(value)}; expected a list of objects")
    return value


def _texts(entry: Mapping[str, Any]) -> list[str]:
    value = entry.get("text")
    value = [value] if isinstance(value, str) else value or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Malformed(f"'text' is {quoted(value)}; expected a list of texts")
    return value


def _spans(entry: Mapping[str, Any], what: str) -> list[tuple[int, int]]:
    value = entry.get("offsets")
    if not isinstance(value, list) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and all(type(one) is int for one in pair) for pair in value
    ):
        raise Malformed(f"{what} has the offsets {quoted(value)}; expected a list of pairs of integers")
    return [(start, end) for start, end in value]


# Writing


def rows_to_write(units: Iterable[Unit], diagnostics: Diagnostics) -> Iterator[dict[str, Any]]:
    """Yield the rows of documents; a note records whatever they cannot hold."""
    for unit in units:
        require(unit, Document, "bigbio")
        assert isinstance(unit, Document)
        note_unsupported(unit, "bigbio", diagnostics, doc=True, holds=_is_held)
        yield row_of(unit, diagnostics)


def row_of(document: Document, diagnostics: Diagnostics | None = None) -> dict[str, Any]:
    """Return a document as a BigBIO row: exactly as it was read, if it has not been changed.

    Examples
    --------
    >>> document = Document("a", "No fever.", [Mention("Finding", [(3, 8)], attributes={"cui": "C0015967"})])
    >>> row_of(document)["entities"][0]["normalized"]
    [{'db_name': 'UMLS', 'db_id': 'C0015967'}]
    """
    source = document.source if isinstance(document.source, Source) else None
    if source is not None and (source.text != document.text):
        source = None
    if source is not None and source.is_clean and same_mentions(source.mentions, document.mentions):
        return dict(source.row)
    links = links_among(document, diagnostics) or Links({})
    names = _names(document, links)
    linked = (*links.relations, *links.equivalences)
    referred = {target for link in linked for target in targets_of(link)}
    referred |= {one["target"] for event in links.events for one in event["arguments"]}
    triggers = {event["trigger"] for event in links.events} - referred
    by_name = {links.ids.get(mention, name): mention for mention, name in names.items()}
    row: dict[str, Any] = dict(source.row) if source is not None else {"id": document.doc, "document_id": document.doc}
    if source is None:
        whole = {"id": f"{document.doc}-passage", "type": "document", "text": [document.text]}
        row["passages"] = [whole | {"offsets": [[0, len(document.text)]]}]
    row["entities"] = [
        {"id": names[mention], "type": mention.type, **_placed(mention, document), "normalized": _databases(mention)}
        for mention in document.mentions
        if names[mention] not in triggers
    ]
    row["events"] = [
        {
            "id": event["id"],
            "type": event["type"],
            "trigger": _placed(by_name[event["trigger"]], document),
            "arguments": [{"role": one["role"], "ref_id": one["target"]} for one in event["arguments"]],
        }
        for event in links.events
    ]
    row["coreferences"] = [
        {"id": f"{document.doc}-coreference-{number}", "entity_ids": list(link["targets"])}
        for number, link in enumerate(links.equivalences, start=1)
    ]
    row["relations"] = list(_relations(links, document, diagnostics))
    return row


def _names(document: Document, links: Links) -> dict[Mention, str]:
    """Return an id for every mention: the one that links use, or a new one."""
    taken = set(links.ids.values())
    names = {}
    number = 0
    for mention in document.mentions:
        name = links.ids.get(mention)
        while name is None:
            number += 1
            made = f"{document.doc}-entity-{number}"
            name = None if made in taken else made
        names[mention] = name
    return names


def _relations(links: Links, document: Document, diagnostics: Diagnostics | None) -> Iterator[dict[str, Any]]:
    for link in links.relations:
        targets = [one["target"] for one in link["arguments"]]
        if len(targets) != 2:
            if diagnostics is not None:
                message = f"relation {quoted(link['id'])} has {len(targets)} arguments; rows of BigBIO have two"
                diagnostics.note("relations-not-held", message, path=document.place or None)
            continue
        known = Mention("x", [(0, 1)], attributes=link.get("attributes", NOTHING))
        first, second = targets
        yield {
            "id": link["id"],
            "type": link["type"],
            "arg1_id": first,
            "arg2_id": second,
            "normalized": _databases(known),
        }


def _placed(mention: Mention, document: Document) -> dict[str, Any]:
    return {
        "text": [document.text[start:end] for start, end in mention.parts],
        "offsets": [[start, end] for start, end in mention.parts],
    }


def _databases(mention: Mention) -> list[dict[str, str]]:
    found = []
    for name, value in mention.attributes.items():
        for one in value if isinstance(value, tuple | list) else (value,):
            if name == "cui" and isinstance(one, str):
                found.append({"db_name": "UMLS", "db_id": one})
            elif name == "normalisations" and isinstance(one, str) and ":" in one:
                database, _, id = one.partition(":")
                found.append({"db_name": database, "db_id": id})
    return found


def _is_held(name: str, value: object) -> bool:
    """Whether an attribute can be written and read back unchanged."""
    several = value if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(one, str) for one in several) or len(set(map(str, several))) != len(several):
        return False
    if name == "cui":
        return isinstance(value, str) or (isinstance(value, tuple) and len(value) > 1)
    names = [str(one).partition(":") for one in several]
    return (
        name == "normalisations"
        and isinstance(value, tuple)
        and bool(value)
        and all(database and colon and not holds_cuis(database) for database, colon, _ in names)
    )
