"""Classify the lines of a report: blank, rule, heading, list item, table row or prose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal["blank", "rule", "heading", "item", "row", "prose"]

LONGEST_HEADING = 60
"""The maximum number of characters in a heading, without the text that follows it on its line."""

MOST_HEADING_WORDS = 8
"""The maximum number of words in a heading."""

_RULE = re.compile(r"[\W_]{3,}")
_ITEM = re.compile(
    r"(?:[-+*\u2022\u2023\u2043\u204c\u204d\u2219\u25a0-\u25cf\u25e6\u2713\u2714\u27a2\u00b7\u2013\u2014]+|>{1,2})\s+\S"
    r"|[\u2022\u25cf\u25aa]\S|o(?:\t|\s{2,})\S"
    r"|\(?\d{1,3}(?:\.\d{1,2}){0,3}[.)](?:\s+\S|[A-Za-z])"
    r"|\(?(?:[A-Za-z]|[ivx]{2,5}|[IVX]{2,5})[.)]\s+\S"
    r"|#+\s*\d{0,2}\s*\S"
)
_COLUMN_GAP = re.compile(r"\S(?:\t+| {3,})(?=\S)")
_CELL_MARK = re.compile(r"\S\s*\|\s*\S")
_TITLE = re.compile(r"[^\W_][^:.!?;]*")
_LEAD = re.compile(r"(?:[#*_=\s]|\(?\d{1,2}(?:\.\d{1,2})*[.)]\s|[IVX]{1,5}\.\s)*")
_ORNAMENTS = "#*_=-"
_INNER_SIGN = re.compile(r"[.!?;,]")
_KEY_WORD = re.compile(r"[^\W_]+|&")
_ENDS_SENTENCE = re.compile(
    r"[.!?\u203c\u203d\u2047-\u2049\u061f\u06d4\u0964\u0965\u3002\ufe52\ufe57\uff01\uff0e\uff1f\uff61][\"'\u00bb\u2019\u201d)\]}\s]*\Z"
)
_LONGEST_LOOK = 400


class Line(NamedTuple):
    """One line: where its text starts and ends without surrounding white space, and its kind."""

    start: int
    end: int
    indent: int
    kind: Kind


def split_lines(text: str, known_headings: Mapping[str, str] | None = None) -> list[Line]:
    """Split a text into lines and classify each of them.

    Parameters
    ----------
    text : str
        Any text, with any line ends that Python recognises.
    known_headings : mapping, optional
        Titles, normalised by `heading_key`, that are headings whenever they are alone on a line.

    Examples
    --------
    >>> text = '''HISTORY:
    ... - no fever
    ...
    ... WBC   9.1   4.5-11
    ... He was well.'''
    >>> [line.kind for line in split_lines(text)]
    ['heading', 'item', 'blank', 'row', 'prose']
    """
    known = known_headings or {}
    lines: list[Line] = []
    position = 0
    after_blank = True
    for raw in text.splitlines(keepends=True):
        content = raw.strip()
        indent = raw.index(content[0]) if content else 0
        kind = _kind(content, after_blank=after_blank, known=known)
        lines.append(Line(position + indent, position + indent + len(content), indent, kind))
        position += len(raw)
        after_blank = kind in ("blank", "rule", "heading")
    return lines


def _kind(content: str, *, after_blank: bool, known: Mapping[str, str]) -> Kind:
    if not content:
        return "blank"
    head = content[:_LONGEST_LOOK]
    if _RULE.fullmatch(content):
        return "rule"
    if is_heading(content, after_blank=after_blank, known=known):
        return "heading"
    if _ITEM.match(head):
        return "item"
    if ("|" in head and _CELL_MARK.search(head)) or (
        ("\t" in head or "   " in head) and len(_COLUMN_GAP.findall(head)) >= 2
    ):
        return "row"
    return "prose"


def is_heading(content: str, *, after_blank: bool, known: Mapping[str, str]) -> bool:
    """Return whether a line, stripped of white space, is a heading and nothing else.

    A short line is a heading if it is a known title, ends in a colon, or is in capitals after a blank line.
    """
    # Most other lines end in a character that no title contains.
    if len(content) > LONGEST_HEADING + 10 or content[-1:] in ".!?;":
        return False
    title = title_of(content)
    if not title or len(title) > LONGEST_HEADING or len(title.split()) > MOST_HEADING_WORDS:
        return False
    if heading_key(title) in known:
        return True
    if content.rstrip("*_#= ").endswith(":"):
        return after_blank or not title[0].islower()
    if not after_blank or title.upper() != title or title.lower() == title or _INNER_SIGN.search(content):
        return False
    letters = sum(map(str.isalpha, title))
    return letters >= 4 and 2 * letters > len(title)


def title_of(content: str) -> str:
    """Return a heading without its numbering, decoration and colon; empty if the line cannot be a heading.

    Examples
    --------
    >>> title_of("2. **Past Medical History:**"), title_of("He was well. Then:")
    ('Past Medical History', '')
    """
    lead = _LEAD.match(content)
    title = _without_tail(content[lead.end() if lead else 0 :]).removesuffix(":").rstrip()
    return title if _TITLE.fullmatch(title) else ""


def _without_tail(title: str) -> str:
    while (shorter := title.rstrip().rstrip(_ORNAMENTS)) != title:
        title = shorter
    return title


def heading_key(title: str) -> str:
    """Return a title in lower case with single blanks, so that different spellings compare equal.

    Examples
    --------
    >>> heading_key("Past  Medical-History"), heading_key("Labs & Studies")
    ('past medical history', 'labs and studies')
    """
    return " ".join(_KEY_WORD.findall(title.lower())).replace("&", "and")


def ends_sentence(text: str) -> bool:
    """Return whether a text ends like a sentence."""
    return _ENDS_SENTENCE.search(text[-20:]) is not None
