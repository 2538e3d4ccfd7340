"""Links between mentions (relations, events, equivalences and notes) as plain data that formats share.

A relation is ``{"id": "R1", "type": "Of", "arguments": [{"role": "Arg1", "target": "T1"}, ...]}``, an event
``{"id": "E1", "type": "Process", "trigger": "T3", "arguments": [...]}``, an equivalence ``{"type": "Same", "targets":
["T1", "T2"]}`` and a note ``{"id": "#1", "type": "AnnotatorNotes", "target": "T1", "text": "look here"}``. Relations
and events may have ``"attributes"``. Targets are ids of mentions, relations or events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.mentions import Mention, Unit

Link: TypeAlias = Mapping[str, Any]

KINDS = ("relations", "events", "equivalences", "notes")


@dataclass(frozen=True, slots=True)
class Links:
    """The relations, events, equivalences and notes of a sentence or document.

    Attributes
    ----------
    ids : mapping of Mention to str
        The ids by which links refer to the mentions.
    relations, events, equivalences, notes : tuple of mappings
        As plain data.

    Examples
    --------
    >>> fever, high = Mention("Finding", [(3, 8)]), Mention("Degree", [(0, 2)])
    >>> links = Links({fever: "T1", high: "T2"}, equivalences=({"type": "Same", "targets": ["T1", "T2"]},))
    >>> links.kinds(), links.among([fever])[1]
    (('equivalences',), ("the equivalence 'Same' refers to a mention that was removed, so it is lost too",))
    """

    ids: Mapping[Mention, str]
    relations: tuple[Link, ...] = ()
    events: tuple[Link, ...] = ()
    equivalences: tuple[Link, ...] = ()
    notes: tuple[Link, ...] = field(default=())

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds that occur."""
        return tuple(kind for kind in KINDS if getattr(self, kind))

    def as_record(self) -> dict[str, list[dict[str, Any]]]:
        """Return the kinds that occur as plain data, in the form of JSON lines."""
        return {kind: [dict(link) for link in getattr(self, kind)] for kind in self.kinds()}

    def among(self, mentions: Iterable[Mention]) -> tuple[Links, tuple[str, ...]]:
        """Return the links that remain if only some mentions are kept, and messages about the others."""
        there = set(mentions)
        kept = {kind: list(getattr(self, kind)) for kind in KINDS}
        known = {id for mention, id in self.ids.items() if mention in there}
        known |= {link["id"] for kind in ("relations", "events") for link in kept[kind]}
        lost: list[str] = []
        is_stable = False
        while not is_stable:  # a link to something that is lost is lost too
            is_stable = True
            for kind in KINDS:
                for link in [link for link in kept[kind] if not known.issuperset(targets_of(link))]:
                    kept[kind].remove(link)
                    known.discard(link.get("id", ""))
                    name = quoted(link.get("id") or link["type"])
                    lost.append(f"the {kind[:-1]} {name} refers to a mention that was removed, so it is lost too")
                    is_stable = False
        ids = {mention: id for mention, id in self.ids.items() if mention in there}
        return replace(self, ids=ids, **{kind: tuple(kept[kind]) for kind in KINDS}), tuple(lost)


def targets_of(link: Link) -> list[str]:
    """Return the ids that a link refers to."""
    one = [link[key] for key in ("trigger", "target") if key in link]
    return [*one, *link.get("targets", ()), *(argument["target"] for argument in link.get("arguments", ()))]


def links_of(unit: Unit) -> Links | None:
    """Return the links of a unit, whatever its format; None if there are none."""
    find = getattr(unit.source, "links", None)
    found: Links | None = None if find is None else find(unit)
    return found if found is not None and found.kinds() else None


def links_among(unit: Unit, diagnostics: Diagnostics | None = None) -> Links | None:
    """Return the links between the mentions that a unit still has; the others are noted."""
    found = links_of(unit)
    if found is None:
        return None
    found, lost = found.among(unit.mentions)
    for message in lost if diagnostics is not None else ():
        assert diagnostics is not None
        diagnostics.note("dropped-reference", message, path=unit.place or None)
    return found if found.kinds() else None


def links_in(record: Mapping[str, Any], ids: Mapping[Mention, str]) -> Links | None:
    """Return the links in a record of plain data; None if some of them are not in our form.

    Examples
    --------
    >>> links_in({"relations": [{"head": 1, "child": 2}]}, {}) is None
    True
    """
    found: dict[str, tuple[Link, ...]] = {}
    for kind in KINDS:
        entries = record.get(kind)
        if entries is None:
            continue
        if not isinstance(entries, list) or not all(_is_link(entry, kind) for entry in entries):
            return None
        found[kind] = tuple(entries)
    return Links(ids, **found) if any(found.values()) else None


def unknown_targets(links: Links) -> Iterator[tuple[str, str]]:
    """Yield the kind of every link to an unknown id, and that id."""
    known = {*links.ids.values(), *(link["id"] for link in (*links.relations, *links.events))}
    for kind in KINDS:
        for link in getattr(links, kind):
            for target in targets_of(link):
                if target not in known:
                    yield kind[:-1], target


def _is_link(entry: Any, kind: str) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        return False
    if not isinstance(entry.get("attributes", {}), dict):
        return False
    if kind == "equivalences":
        return _are_texts(entry.get("targets"))
    if not isinstance(entry.get("id"), str):
        return False
    if kind == "notes":
        return isinstance(entry.get("target"), str) and isinstance(entry.get("text"), str)
    arguments = entry.get("arguments")
    return (
        isinstance(arguments, list)
        and all(isinstance(one, dict) and _are_texts([one.get("role"), one.get("target")]) for one in arguments)
        and (kind == "relations" or isinstance(entry.get("trigger"), str))
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
