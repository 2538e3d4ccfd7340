"""What brat asks of a tagger: it sends a text, and adds what it is told to its annotations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from hyperspan.mentions import Sentence, Span, to_characters

_LINE = re.compile(r"[^\r\n]+")
_NO_TYPE = re.compile(r"\s+")


def tagger_answer(text: str, sentences: Iterable[Sentence]) -> dict[str, dict[str, Any]]:
    """Return the mentions of a text as brat wants them from a tagger.

    A part that goes over the end of a line becomes several, because brat's parts end there.

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
    """Cut a part at the ends of lines, and white space off both ends of each piece."""
    pieces = []
    for match in _LINE.finditer(text, *part):
        piece = match[0].strip()
        if piece:
            start = match.start() + match[0].index(piece)
            pieces.append((start, start + len(piece)))
    return pieces
