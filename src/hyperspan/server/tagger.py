"""The tagger interface of brat, which sends a text and adds the returned mentions to its annotations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from hyperspan.mentions import Sentence, Span, to_characters

_LINE = re.compile(r"[^\r\n]+")
_NO_TYPE = re.compile(r"\s+")


def tagger_answer(text: str, sentences: Iterable[Sentence]) -> dict[str, dict[str, Any]]:
    """Return the mentions of a text in the form that brat expects from a tagger.

    A part that crosses a line end is split, because brat's parts must not.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> sentence = Sentence(["high", "fever"], [Mention("Finding", [(0, 2)])], offsets=[(0, 4), (5, 10)])
    >>> tagger_answer("high\\nfever", [sentence])
    {'T1': {'type': 'Finding', 'offsets': [[0, 4], [5, 10]], 'texts': ['high', 'fever']}}
    """
    answer: dict[str, dict[str, Any]] = {}
    for sentence in sentences:
        for mention in sentence.mentions:
            parts = [
                line for part in to_characters(mention, sentence.offsets or ()).parts for line in _lines(text, part)
            ]
            answer[f"T{len(answer) + 1}"] = {
                "type": _NO_TYPE.sub("_", mention.type),
                "offsets": [list(part) for part in parts],
                "texts": [text[start:end] for start, end in parts],
            }
    return answer


def _lines(text: str, part: Span) -> list[Span]:
    """Split a part at line ends, and trim white space from each piece."""
    pieces = []
    for match in _LINE.finditer(text, *part):
        piece = match[0].strip()
        if piece:
            start = match.start() + match[0].index(piece)
            pieces.append((start, start + len(piece)))
    return pieces
