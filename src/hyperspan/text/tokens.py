"""Split a text into tokens: words, punctuation and de-identification marks, with their offsets.

A word is a run of letters, digits and underscores together with the combining marks and joiners that belong to them (so
that no script is cut inside a letter). Everything else that is not white space is punctuation: a bracket, quote, comma
or semicolon is a token by itself, and other signs form a token together (``>=``, ``...``, an emoji of several
characters).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from hyperspan.mentions import Span
from hyperspan.text.marks import MARK

JOINERS = "\u00ad\u200c\u200d\u2060"
"""Signs that belong to the word they are in, besides combining marks."""

SINGLE_SIGNS = "()[]{},;\"'`\u00ab\u00bb\u2018\u2019\u201c\u201d"
"""Punctuation that never joins other signs in one token."""

Tokens: TypeAlias = tuple[tuple[str, ...], tuple[Span, ...]]
"""Tokens, and their offsets in the text."""


def tokenize(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Return the spans of the tokens of a text.

    Every character that is not white space lies in exactly one token, and only marks contain white space. The time is
    linear in the length of any text.

    Parameters
    ----------
    text : str
        Any text. Nothing is changed or normalised.
    start, end : int
        The part to tokenize. Offsets still count from the beginning of the text.

    Examples
    --------
    >>> text = "BP (sys) >=140 per [**Doctor Last Name 7**]."
    >>> [text[start:end] for start, end in tokenize(text)]
    ['BP', '(', 'sys', ')', '>=', '140', 'per', '[**Doctor Last Name 7**]', '.']
    """
    found = _expression().finditer(text, start, len(text) if end is None else end)
    return [match.span() for match in found]


def tokenize_parts(
    texts: Sequence[str], spans: Sequence[Sequence[Span]], *, compiled: bool = False
) -> list[list[Tokens]]:
    """Return the tokens of each part of each text, as `tokenize` finds them, with their offsets.

    With ``compiled``, a compiled kernel finds the same tokens several times as fast. Use it where compiled code is
    loaded anyway, as in prediction: loading it for this alone takes longer than it saves on a few megabytes.

    Examples
    --------
    >>> tokenize_parts(["No fever. Rest."], [[(0, 9), (10, 15)]])
    [[(('No', 'fever', '.'), ((0, 2), (3, 8), (8, 9))), (('Rest', '.'), ((10, 14), (14, 15)))]]
    """
    if compiled:
        from hyperspan.text.token_kernel import cut_tokens

        return cut_tokens(texts, spans)
    return [
        [_tokens_at(text, tokenize(text, start, end)) for start, end in of_text]
        for text, of_text in zip(texts, spans, strict=True)
    ]


def _tokens_at(text: str, places: list[Span]) -> Tokens:
    return tuple([text[start:end] for start, end in places]), tuple(places)


@cache
def _expression() -> re.Pattern[str]:
    in_word = rf"[\w{_combining_marks()}{JOINERS}]"
    single = re.escape(SINGLE_SIGNS)
    return re.compile(rf"{MARK}|\w{in_word}*|[{single}]|[^\w\s{single}]+")


def _combining_marks() -> str:
    """Return the ranges of all combining marks, for use inside a character class."""
    ranges: list[list[int]] = []
    # Combining marks are in the first two planes and in the block of variation selectors.
    for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
