"""BioC documents as plain data: validation, their joined text, and their mentions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperspan.corpora.format import checked_mention
from hyperspan.diagnostics import Diagnostics, LostMention, quoted
from hyperspan.mentions import Mention

MOST_FILLED = 1_000_000
"""The maximum number of characters in all gaps between the passages of one document."""

FILLED_PER_BYTE = 16
"""The maximum number of characters in all gaps of a file, per byte: memory stays in proportion to the input."""

DEEPEST = 20
"""How deeply values may be nested."""

LISTS = ("passages", "sentences", "annotations", "relations", "locations", "nodes")


class Malformed(Exception):
    """An invalid document; the message says why."""


@dataclass(slots=True)
class Filling:
    """How many more characters the gaps between passages may have in the rest of a file."""

    left: int


@dataclass(frozen=True, slots=True)
class Collection:
    """The metadata of a collection."""

    record: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """A document as it was read, as plain data of BioC JSON, with its collection and joined text."""

    record: dict[str, Any]
    collection: Collection
    text: str
    mentions: tuple[Mention, ...]
    lines: Mapping[Mention, int | None]
    is_clean: bool

    def line_of(self, mention: Mention) -> int | None:
        """Return the line that a mention was read from."""
        return self.lines.get(mention)


def without_annotations(record: Any) -> Any:
    """Return a document, passage or sentence without annotations and relations, at any depth.

    Examples
    --------
    >>> without_annotations({"id": "a", "relations": [], "passages": [{"text": "no", "annotations": [1]}]})
    {'id': 'a', 'passages': [{'text': 'no'}]}
    """
    if isinstance(record, list):
        return [without_annotations(one) for one in record]
    if not isinstance(record, dict):
        return record
    return {
        key: without_annotations(value) if key in ("passages", "sentences") else value
        for key, value in record.items()
        if key not in ("annotations", "relations")
    }


def is_deeper(value: Any, depth: int) -> bool:
    """Return whether lists and objects in a value are nested beyond a depth."""
    level = [value]
    for _ in range(depth):
        nested = [entry for entry in level if isinstance(entry, dict | list)]
        if not nested:
            return False
        level = [inner for entry in nested for inner in (entry.values() if isinstance(entry, dict) else entry)]
    return any(isinstance(entry, dict | list) for entry in level)


def check(record: Any, what: str) -> None:
    """Check that every list, object, text and number has the right type."""
    if not isinstance(record, dict):
        raise Malformed(f"the {what} is {quoted(record)}; expected an object")
    if not isinstance(record.get("infons") or {}, dict):
        raise Malformed(f"'infons' of a {what} is {quoted(record['infons'])}; expected an object")
    if not isinstance(record.get("text") or "", str):
        raise Malformed(f"'text' of a {what} is {quoted(record['text'])}; expected a text")
    if not isinstance(record.get("id") or "", str | int):
        raise Malformed(f"'id' of a {what} is {quoted(record['id'])}; expected a text")
    if what in ("passage", "sentence", "location"):
        for key in ("offset", "length") if what == "location" else ("offset",):
            if type(record.get(key)) is not int or record[key] < 0:
                raise Malformed(f"{key!r} of a {what} is {quoted(record.get(key))}; expected a number from 0")
    for key in LISTS:
        entries = record.get(key)
        if entries is not None and not isinstance(entries, list):
            raise Malformed(f"{key!r} of a {what} is {quoted(entries)}; expected a list")
        if key != "locations":  # a bad location only invalidates its annotation
            for entry in entries or ():
                check(entry, key[:-1])


def holders(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield everything that can have annotations and relations: passages, their sentences, and the document."""
    for passage in record.get("passages") or ():
        yield passage
        yield from passage.get("sentences") or ()
    yield record


def text_of(record: dict[str, Any], filling: Filling) -> str:
    """Join the text of a document, within the limit on gaps."""
    joined: list[str] = []
    length = n_filled = 0
    for offset, text, filler in sorted(pieces(record), key=lambda piece: piece[0]):
        gap = offset - length
        if gap < 0:
            raise Malformed(f"a passage or sentence begins at {offset}, before the end of the one before it, {length}")
        n_filled += gap
        if n_filled > min(MOST_FILLED, filling.left):
            whose = "a document" if n_filled > MOST_FILLED else "all documents of a file of this size"
            raise Malformed(
                f"a passage or sentence begins at {offset}, {gap:,} characters after the one before it; the gaps in "
                f"{whose} may have {min(MOST_FILLED, filling.left):,} in all"
            )
        if gap:
            joined.append((filler if length else " ") + " " * (gap - 1))
        joined.append(text)
        length = offset + len(text)
    filling.left -= n_filled
    return "".join(joined)


def pieces(record: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Yield the offset and text of every passage or sentence, and what fills a gap before it."""
    for passage in record.get("passages") or ():
        if passage.get("text"):
            yield passage["offset"], passage["text"], "\n"
            continue
        filler = "\n"
        for sentence in passage.get("sentences") or ():
            if sentence.get("text"):
                yield sentence["offset"], sentence["text"], filler
                filler = " "


def mention_of(
    annotation: dict[str, Any], text: str, path: Path | None, line: int | None, diagnostics: Diagnostics
) -> Mention | None:
    """Convert an annotation to a mention, or report what is wrong with it."""
    name = f"annotation {quoted(annotation.get('id'))}"
    where = None if path is None else str(path)
    infons = dict(annotation.get("infons") or {})
    type = infons.pop("type", "")
    try:
        for location in annotation.get("locations") or ():
            check(location, "location")
        if not isinstance(type, str) or not type:
            raise Malformed(f"the infon 'type' is {quoted(type)}; expected a text that is not empty")
    except Malformed as error:
        lost = LostMention(type if isinstance(type, str) else "", 1)
        diagnostics.report("malformed", f"{name}: {error}", path=where, line=line, lost=lost)
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
                lost=LostMention.at(type, spans, len(text)),
            )
            return None
    return mention


def _prob(value: object) -> float | None:
    try:
        prob = float(value) if isinstance(value, str | float) else -1.0
    except ValueError:
        return None
    return prob if 0.0 <= prob <= 1.0 else None
