"""XML from strangers: nothing is expanded, nothing is fetched, everything has a limit."""

from __future__ import annotations

import io

import pytest

from hyperspan.corpora import safe_xml
from hyperspan.corpora.safe_xml import XmlDefect, not_xml, only_xml, stream_children


def _children(content: bytes, *, allow_doctype: bool = False) -> list[tuple[str, str | None, int]]:
    file = io.BytesIO(content)
    return [(child.tag, child.text, child.line) for _, child in stream_children(file, allow_doctype=allow_doctype)]


def test_children_come_with_their_lines() -> None:
    assert _children(b"<a>\n<b>one</b>\n<c/></a>") == [("b", "one", 2), ("c", None, 3)]


def test_a_root_without_children_is_its_own() -> None:
    assert _children(b"<a>text</a>") == [("a", "text", 1)]


def test_children_are_yielded_before_the_file_ends_and_not_kept() -> None:
    class Endless(io.RawIOBase):
        n_read = 0

        def read(self, size: int = -1) -> bytes:
            self.n_read += 1
            return b"<a>" if self.n_read == 1 else b"<b>text</b>" * 100

    for n_seen, (root, child) in enumerate(stream_children(Endless())):  # type: ignore[arg-type]
        assert child.tag == "b"
        assert len(root) <= 1
        if n_seen == 10_000:
            break


LAUGHS = b"""<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;"><!ENTITY n "&m;&m;&m;&m;">]><a><b>&n;</b></a>"""
EXTERNAL = b"""<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a><b>&e;</b></a>"""
PARAMETER = b"""<!DOCTYPE a [<!ENTITY % p SYSTEM "http://example.org/x.dtd"> %p;]><a><b/></a>"""
NAMED_ONLY = b"""<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a><b>text</b></a>"""


@pytest.mark.parametrize("content", [LAUGHS, EXTERNAL, PARAMETER])
@pytest.mark.parametrize("allow_doctype", [False, True])
def test_entities_are_refused(content: bytes, allow_doctype: bool) -> None:
    with pytest.raises(XmlDefect, match=r"the file has a document type .* could define entities and is refused"):
        _children(content, allow_doctype=allow_doctype)


def test_a_document_type_that_only_names_a_definition_may_be_allowed() -> None:
    assert _children(NAMED_ONLY, allow_doctype=True) == [("b", "text", 1)]
    with pytest.raises(XmlDefect, match="the file has a document type"):
        _children(NAMED_ONLY)


def test_an_entity_of_an_unread_definition_is_not_passed_over() -> None:
    with pytest.raises(XmlDefect, match="the entity 'nbsp' is not defined in the file"):
        _children(NAMED_ONLY.replace(b"text", b"te&nbsp;xt"), allow_doctype=True)


def test_an_undefined_entity() -> None:
    with pytest.raises(XmlDefect, match="the file is not XML: undefined entity"):
        _children(b"<a><b>&nbsp;</b></a>")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(XmlDefect, match="elements are nested more than 32 deep"):
        _children(b"<a>" * 100_000)


def test_huge_tokens_and_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_xml, "LARGEST_TOKEN", 100_000)
    monkeypatch.setattr(safe_xml, "LARGEST_ELEMENT", 500_000)
    with pytest.raises(XmlDefect, match="a tag or comment has more than 100,000 bytes"):
        _children(b'<a b="' + b"x" * 1_000_000 + b'"><c/></a>')
    with pytest.raises(XmlDefect, match="an element has more than 500,000 bytes"):
        _children(b"<a><b>" + b"x\n" * 500_000 + b"</b></a>")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_declared_encodings_are_decoded(encoding: str) -> None:
    content = f'<?xml version="1.0" encoding="{encoding}"?><a><b>caf\xe9</b></a>'.encode(encoding)
    assert _children(content) == [("b", "caf\xe9", 1)]


@pytest.mark.parametrize("encoding", ["shift_jis", "utf-7", "no-such-thing", "cp500"])
def test_other_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(XmlDefect, match=f"the encoding is '{encoding}'; expected UTF-8"):
        _children(f'<?xml version="1.0" encoding="{encoding}"?><a><b/></a>'.encode())


def test_bytes_that_are_not_what_they_claim() -> None:
    with pytest.raises(XmlDefect, match="not well-formed") as caught:
        _children(b"<a>\n<b>caf\xe9 au lait</b></a>")
    assert caught.value.line == 2


@pytest.mark.parametrize("content", [b"", b"text", b"<a>", b"<a><b></a>", b"<a/><a/>", b"\0", b"<a b=1/>"])
def test_what_is_not_xml(content: bytes) -> None:
    with pytest.raises(XmlDefect, match="the file is not XML"):
        _children(content)


def test_characters_that_xml_cannot_hold() -> None:
    assert not_xml("a\x00") == "\x00"
    assert not_xml("\ufffe") == "\ufffe"
    assert not_xml("\t\r\n \U0001f600\ue000") is None
    assert only_xml("a\x00b\x0bc") == "abc"
