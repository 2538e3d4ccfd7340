"""Read untrusted XML as a stream, within limits.

No entity is ever defined or expanded, no external file or address is accessed, and nesting, tokens and elements are
limited in size. Built on expat, because it reports a document type before it takes effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from hyperspan.diagnostics import quoted

DEEPEST_ELEMENT = 32
"""How deeply elements may be nested; no supported format needs more than seven levels."""

LARGEST_ELEMENT = 256 * 1024 * 1024
"""The maximum number of bytes in one child of the root element."""

LARGEST_TOKEN = 16 * 1024 * 1024
"""The maximum number of bytes in one tag with its attributes, or of one comment."""

_CHUNK = 64 * 1024
_ENCODINGS = ("utf-8", "utf-16", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class XmlDefect(Exception):
    """XML that is broken or not allowed: the reason and the line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Node(Element):
    """An element with the line on which it starts."""

    line: int = 0


def stream_children(file: IO[bytes], *, allow_doctype: bool = False) -> Iterator[tuple[Node, Node]]:
    """Yield ``(root, child)`` for every child of the root element as soon as it is complete.

    Children are not kept in the root, so memory does not grow with their number. The root of a file without children is
    yielded once, as its own child.

    Parameters
    ----------
    file : binary file
        In UTF-8, UTF-16, ASCII, Latin-1 or Windows-1252, according to its declaration.
    allow_doctype : bool
        Accept a document type that only names an external definition, which is never read. A document type with
        definitions of its own is always an error.

    Raises
    ------
    XmlDefect
        If the file is not XML, or has something that is not allowed.

    Examples
    --------
    >>> import io
    >>> [child.tag for _, child in stream_children(io.BytesIO(b"<a><b/><c>text</c></a>"))]
    ['b', 'c']
    >>> next(stream_children(io.BytesIO(b"<!DOCTYPE a [<!ENTITY e 'x'>]><a><b/></a>")))
    Traceback (most recent call last):
    ...
    hyperspan.corpora.safe_xml.XmlDefect: the file has a document type (<!DOCTYPE 'a'>), which ...
    """
    reader = _Reader(allow_doctype)
    n_fed = 0
    while True:
        chunk = file.read(_CHUNK)
        reader.feed(chunk, n_fed)
        n_fed += len(chunk)
        yield from reader.take()
        if not chunk:
            return


class _Reader:
    def __init__(self, allow_doctype: bool) -> None:
        self.allow_doctype = allow_doctype
        self.builder = TreeBuilder(element_factory=Node)
        self.stack: list[Node] = []
        self.root: Node | None = None
        self.done: list[Node] = []
        self.child_start = 0
        self.n_children = 0
        self.is_closed = False
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.XmlDeclHandler = self._on_declaration
        parser.StartDoctypeDeclHandler = self._on_doctype
        parser.EntityDeclHandler = self._on_entity
        parser.SkippedEntityHandler = self._on_skipped_entity
        parser.StartElementHandler = self._on_start
        parser.EndElementHandler = self._on_end
        parser.CharacterDataHandler = self.builder.data
        self.parser = parser

    def feed(self, chunk: bytes, n_fed: int) -> None:
        try:
            self.parser.Parse(chunk, not chunk)
        except expat.ExpatError as error:
            raise XmlDefect(f"the file is not XML: {expat.ErrorString(error.code)}", error.lineno) from None
        except (ValueError, LookupError) as error:
            raise XmlDefect(f"the file cannot be decoded: {error}", self._line) from None
        if n_fed - self.parser.CurrentByteIndex > LARGEST_TOKEN:
            raise XmlDefect(f"a tag or comment has more than {LARGEST_TOKEN:,} bytes", self._line)
        if self.stack and self.parser.CurrentByteIndex - self.child_start > LARGEST_ELEMENT:
            raise XmlDefect(f"an element has more than {LARGEST_ELEMENT:,} bytes", self._line)

    def take(self) -> Iterator[tuple[Node, Node]]:
        done, self.done = self.done, []
        for child in done:
            assert self.root is not None
            yield self.root, child

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber

    def _refuse(self, message: str) -> None:
        raise XmlDefect(message, self._line)

    def _on_declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            self._refuse(f"the encoding is {quoted(encoding)}; expected UTF-8 (convert it, for example with iconv)")

    def _on_doctype(self, name: str, system: str | None, public: str | None, has_internal_subset: bool) -> None:
        if has_internal_subset or not self.allow_doctype:
            self._refuse(
                f"the file has a document type (<!DOCTYPE {quoted(name)}>), which could define entities and is "
                "refused; remove it"
            )

    def _on_entity(self, name: str, *rest: object) -> None:
        self._refuse(f"the file defines the entity {quoted(name)}; entities are refused")

    def _on_skipped_entity(self, name: str, is_parameter: bool) -> None:
        self._refuse(f"the entity {quoted(name)} is not defined in the file; write the character itself")

    def _on_start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.stack) >= DEEPEST_ELEMENT:
            self._refuse(f"elements are nested more than {DEEPEST_ELEMENT} deep")
        if len(self.stack) == 1:
            self.child_start = self.parser.CurrentByteIndex
        node = self.builder.start(tag, attributes)
        assert isinstance(node, Node)
        node.line = self._line
        if not self.stack:
            self.root = node
        self.stack.append(node)

    def _on_end(self, tag: str) -> None:
        self.builder.end(tag)
        node = self.stack.pop()
        if len(self.stack) == 1:
            self.n_children += 1
            self.done.append(node)
            del self.stack[0][:]
        elif not self.stack and not self.n_children:
            self.done.append(node)


def not_xml(text: str) -> str | None:
    """Return the first character of a text that XML cannot hold, or None.

    Examples
    --------
    >>> not_xml("fever\\r\\n"), not_xml("fever\\x0b")
    (None, '\\x0b')
    """
    match = _NOT_XML.search(text)
    return None if match is None else match[0]


def only_xml(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NOT_XML.sub("", text)
