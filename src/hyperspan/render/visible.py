"""Make text safe to display: replace control characters and characters that XML cannot hold."""

from __future__ import annotations

import unicodedata
from html import escape

from rich.cells import cell_len

_JOINERS = "\u200c\u200d"
_UNKNOWN = "\ufffd"
_LONGEST_NAME = 200


def visible(text: str, *, keep_joiners: bool = False, ascii_only: bool = False) -> str:
    """Replace every invisible character, and those that control a terminal or the order of text, by a visible sign.

    Parameters
    ----------
    text : str
    keep_joiners : bool
        Keep the two zero-width joiners, which Persian, Hindi and emoji need; terminals disagree about their width.
    ascii_only : bool
        Write everything beyond ASCII as an escape.

    Examples
    --------
    >>> print(visible("a\\x1b[31mb\\tc\\u202ed"))
    a␛[31mb␉c�d
    >>> print(visible("5\\xa0µg", ascii_only=True))
    5\\xa0\\xb5g
    """
    if ascii_only:
        if text.isascii() and text.isprintable():
            return text
        return "".join(
            character
            if character.isascii() and character.isprintable()
            else character.encode("unicode_escape", "surrogatepass").decode("ascii")
            for character in text
        )
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or (keep_joiners and character in _JOINERS) else _sign(character)
        for character in text
    )


def xml_text(text: str) -> str:
    """Escape a text for XML and HTML, in an element or between quotes.

    Examples
    --------
    >>> print(xml_text('<b>"x" & \\x00</b>'))
    &lt;b&gt;&quot;x&quot; &amp; ␀&lt;/b&gt;
    """
    return escape(visible(text, keep_joiners=True))


def visible_word(token: str, *, keep_joiners: bool = False, ascii_only: bool = False) -> str:
    """Return a word made `visible`, with a dotted circle before one that has no width of its own."""
    shown = visible(token, keep_joiners=keep_joiners, ascii_only=ascii_only)
    return shown if cell_len(shown) else f"◌{shown}"


def cut(text: str, longest: int = _LONGEST_NAME) -> str:
    """Truncate a very long text."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "␣" if unicodedata.category(character) == "Zs" else _UNKNOWN
