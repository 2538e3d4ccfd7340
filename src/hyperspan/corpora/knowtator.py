"""Read and write Knowtator and eHOST XML, as in ShARe/CLEF 2013: ``note.txt.knowtator.xml`` annotates ``note.txt``.

An ``<annotation>`` has spans and points to a ``<classMention>``, which has the type and points to slots. The values of
a slot become an attribute, those of ``associatedCode`` the attribute ``cui``. The text may be beside the annotations,
in a folder next to theirs, or anywhere in the folder that is read. An unchanged document is written back byte for byte;
in a changed one, only the changes differ.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import SubElement, tostring

from hyperspan.corpora.files import read_bytes
from hyperspan.corpora.format import Format, Item, checked_mention, require, unique_mentions
from hyperspan.corpora.safe_xml import Node, XmlDefect, not_xml, only_xml, stream_children
from hyperspan.corpora.sidecars import (
    TEXT_SUFFIXES,
    Folders,
    TextFolder,
    attributes_of,
    attributes_told,
    read_sidecar,
    stem_of,
)
from hyperspan.corpora.unsupported import note_unsupported, same_mentions
from hyperspan.diagnostics import Diagnostics, LostMention, quoted
from hyperspan.mentions import NOTHING, Document, Mention, Unit

_SUFFIX = ".knowtator.xml"
_CUI_SLOTS = ("associatedCode", "associateCode", "cui", "CUI")
_SLOTS = ("stringSlotMention", "integerSlotMention", "floatSlotMention", "booleanSlotMention")
_OFFSET = re.compile(r"[0-9]{1,12}")
_INSTANCE = re.compile(r"EHOST_Instance_([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class _Source:
    """The file as it was read, the text it annotates and what was read from it."""

    raw: bytes
    text: str
    mentions: tuple[Mention, ...]
    lines: Mapping[Mention, int | None]
    is_clean: bool

    def line_of(self, mention: Mention) -> int | None:
        """Return the line that a mention was read from."""
        return self.lines.get(mention)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An annotation, its mention, and the elements that belong only to it."""

    mention: Mention
    nodes: tuple[Node, ...]


def _recognise(path: Path, head: bytes) -> bool:
    return path.name.lower().endswith(_SUFFIX) or (b"<annotations" in head and b"textSource" in head)


def _stream(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    before = diagnostics.total
    raw = read_bytes(item.path, diagnostics)
    if raw is None:
        return
    try:
        root, children = _tree(raw)
    except XmlDefect as error:
        diagnostics.report("malformed", str(error), path=str(item.path), line=error.line)
        return
    path = item.path.relative_to(item.root).as_posix()
    suffix = _SUFFIX if path.lower().endswith(_SUFFIX) else ".xml"
    doc = stem_of(path[: -len(suffix)] if path.lower().endswith(suffix) else path)
    name = root.get("textSource") or f"{doc.rsplit('/', 1)[-1]}.txt"
    text = read_sidecar(name, item.path, diagnostics, folders=Folders(item.path, item.root))
    if text is None:
        return
    if item.texts_only:
        yield Document(doc, text, (), attributes_of(doc), place=str(item.path))
        return
    entries = list(_entries(children, text, item.path, diagnostics))
    found: list[tuple[Mention, int | None]] = [(entry.mention, entry.nodes[0].line) for entry in entries]
    mentions = tuple(sorted(unique_mentions(found, diagnostics, path=item.path)))
    source = _Source(raw, text, mentions, dict(reversed(found)), is_clean=diagnostics.total == before)
    yield Document(doc, text, mentions, attributes_of(doc), place=str(item.path), source=source)


def _tree(raw: bytes) -> tuple[Node, list[Node]]:
    root, children = None, []
    for root, child in stream_children(io.BytesIO(raw)):
        if child is not root:
            children.append(child)
    if root is None or root.tag != "annotations":
        seen = "nothing" if root is None else f"<{root.tag[:40]}>"
        raise XmlDefect(f"the root element is {seen}; expected <annotations textSource=...>", root.line if root else 1)
    return root, children


def _entries(children: list[Node], text: str, path: Path | None, diagnostics: Diagnostics) -> Iterator[_Entry]:
    classes = {child.get("id"): child for child in children if child.tag == "classMention"}
    slots = {child.get("id"): child for child in children if child.tag in _SLOTS}
    for child in children:
        if child.tag != "annotation":
            continue
        pointer = child.find("mention")
        class_mention = None if pointer is None else classes.get(pointer.get("id"))
        type, attributes, used = "", NOTHING, [child]
        if class_mention is not None:
            mention_class = class_mention.find("mentionClass")
            type = "" if mention_class is None else mention_class.get("id") or ""
            own = [slots[key] for link in class_mention.findall("hasSlotMention") if (key := link.get("id")) in slots]
            attributes = _attributes(own)
            used += [class_mention, *own]
        mention = _mention(child, type, attributes, text, path, diagnostics)
        if mention is not None:
            yield _Entry(mention, tuple(used))


def _attributes(slots: Iterable[Node]) -> Mapping[str, Any]:
    found: dict[str, list[str]] = {}
    for slot in slots:
        name = slot.find("mentionSlot")
        if name is not None and (key := name.get("id")):
            values = [value for child in slot.iter(f"{slot.tag}Value") if (value := child.get("value")) is not None]
            found.setdefault("cui" if key in _CUI_SLOTS else key, []).extend(values)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items() if values} or NOTHING


def _mention(
    node: Node, type: str, attributes: Mapping[str, Any], text: str, path: Path | None, diagnostics: Diagnostics
) -> Mention | None:
    spans = []
    for span in node.findall("span"):
        start, end = span.get("start") or "", span.get("end") or ""
        if not _OFFSET.fullmatch(start) or not _OFFSET.fullmatch(end):
            diagnostics.report(
                "malformed",
                f"a span has start {quoted(start)} and end {quoted(end)}; expected two numbers",
                path=None if path is None else str(path),
                line=node.line,
                lost=LostMention(type, len(node.findall("span"))),
            )
            return None
        spans.append((int(start), int(end)))
    mention = checked_mention(
        type, spans, diagnostics, length=len(text), path=path, line=node.line, attributes=attributes
    )
    written = node.findtext("spannedText")
    if mention is not None and written and len(spans) == 1:
        seen = text[mention.start : mention.end]
        if _letters(written) != _letters(seen):
            diagnostics.report(
                "other-text",
                f"the span {spans[0]} has the text {quoted(seen)}, but spannedText is {quoted(written)}; "
                "expected them to agree",
                path=None if path is None else str(path),
                line=node.line,
                lost=LostMention.at(type, spans, len(text)),
            )
            return None
    return mention


def _letters(text: str) -> str:
    """Return a text without white space and without characters that XML cannot hold."""
    return "".join(only_xml(text).split())


def _write(units: Iterable[Unit], folder: Path, diagnostics: Diagnostics) -> None:
    texts = TextFolder(folder, ".txt", diagnostics)
    for unit in units:
        require(unit, Document, "knowtator")
        assert isinstance(unit, Document)
        if unit.doc.lower().endswith(TEXT_SUFFIXES):
            diagnostics.report(
                "not-held", f"document name {quoted(unit.doc)} ends like a text file", path=unit.place or None
            )
            continue
        path = texts.new_path(unit)
        if path is None:
            continue
        note_unsupported(unit, "knowtator", diagnostics, doc=True, attributes=attributes_told(unit), holds=_is_held)
        path.write_bytes(unit.text.encode())
        path.with_name(path.name + _SUFFIX).write_bytes(_file(unit, path.name, diagnostics))


def _is_held(name: str, value: object) -> bool:
    """Whether an attribute can be read back unchanged: one or several texts, under a name without another meaning."""
    if not name or not_xml(name) or (name in _CUI_SLOTS and name != "cui"):
        return False
    values = value if isinstance(value, list) and len(value) > 1 else [value]
    return all(isinstance(one, str) and not not_xml(one) for one in values)


def _file(document: Document, text_name: str, diagnostics: Diagnostics) -> bytes:
    source = document.source
    if isinstance(source, _Source) and source.text == document.text:
        if source.is_clean and same_mentions(source.mentions, document.mentions):
            return source.raw
        root, children = _tree(source.raw)
        last_instance = _last_instance(children)
        new = _keep_unchanged(children, document)
    else:
        root, children, new = Node("annotations", {"textSource": text_name}), [], list(document.mentions)
        last_instance = 0
    root[:] = children
    for mention in new:
        if bad := not_xml(mention.type):
            diagnostics.report(
                "not-held",
                f"type {quoted(mention.type)} has the character {bad!r}, which XML cannot hold",
                path=document.place or None,
            )
        else:
            last_instance = _append(root, mention, document, last_instance)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode").encode() + b"\n"


def _last_instance(children: list[Node]) -> int:
    taken = (_INSTANCE.fullmatch(child.get("id") or "") for child in children)
    return max((int(match[1]) for match in taken if match), default=0)


def _keep_unchanged(children: list[Node], document: Document) -> list[Mention]:
    """Remove annotations that are no longer in the document; return the mentions that still have to be added."""
    wanted = {mention: mention for mention in document.mentions}
    keep: set[int] = set()
    for entry in _entries(children, document.text, None, Diagnostics("skip")):
        mention = wanted.get(entry.mention)
        if mention is not None and same_mentions([mention], [entry.mention]):
            keep.update(map(id, entry.nodes))
            del wanted[mention]
    ours = ("annotation", "classMention", *_SLOTS)
    children[:] = [child for child in children if child.tag not in ours or id(child) in keep]
    return list(wanted)


def _append(root: Node, mention: Mention, document: Document, last_instance: int) -> int:
    """Append the elements of a mention, numbered after the last instance; return the new last one."""

    def element(parent: Node, tag: str, **attributes: str) -> Node:
        if parent is root:
            root.text = root.text or "\n  "
            if len(root):
                root[-1].tail = "\n  "
        node = SubElement(parent, tag, attributes)
        node.tail = "\n"
        return node  # type: ignore[return-value]

    instance = last_instance + 1
    name = f"EHOST_Instance_{instance}"
    words = only_xml(" ... ".join(document.text[start:end] for start, end in mention.parts))
    annotation = element(root, "annotation")
    element(annotation, "mention", id=name)
    element(annotation, "annotator", id="hyperspan").text = "hyperspan"
    for start, end in mention.parts:
        element(annotation, "span", start=str(start), end=str(end))
    element(annotation, "spannedText").text = words
    class_mention = element(root, "classMention", id=name)
    element(class_mention, "mentionClass", id=mention.type).text = words
    for attribute, value in mention.attributes.items():
        if _is_held(attribute, value):
            instance += 1
            element(class_mention, "hasSlotMention", id=f"EHOST_Instance_{instance}")
            slot = element(root, "stringSlotMention", id=f"EHOST_Instance_{instance}")
            element(slot, "mentionSlot", id="associatedCode" if attribute == "cui" else attribute)
            for one in value if isinstance(value, list) else [value]:
                element(slot, "stringSlotMentionValue", value=one)
    return instance


FORMAT = Format(
    name="knowtator",
    summary="Knowtator and eHOST XML (ShARe/CLEF 2013) beside the texts",
    suffixes=(_SUFFIX, ".xml"),
    units=(Document,),
    recognise=_recognise,
    stream=_stream,
    write_folder=_write,
)
