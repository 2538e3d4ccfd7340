"""Convert mentions between character offsets and word offsets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from hyperspan.errors import AlignmentError
from hyperspan.mentions.mention import Mention, Span, unchecked_mention


def to_tokens(mention: Mention, offsets: Sequence[Span], *, widen: bool = False) -> Mention:
    """Turn a mention's character offsets into token offsets.

    White space at the edges of a part is ignored. Parts with no token between them are joined.

    Parameters
    ----------
    mention : Mention
        A mention with character offsets.
    offsets : sequence of (start, end)
        Where each token starts and ends in the text: in order, never overlapping.
    widen : bool
        Move a boundary that lies inside a token outward to the token's edge instead of raising an error.

    Raises
    ------
    AlignmentError
        If a part covers no token, or begins or ends inside one and ``widen`` is false.

    Examples
    --------
    >>> to_tokens(Mention("Finding", [(0, 5), (9, 15)]), [(0, 5), (6, 8), (9, 15)]).parts
    ((0, 1), (2, 3))
    """
    spans = []
    for start, end in mention.parts:
        first = bisect_right(offsets, start, key=_end_of)
        last = bisect_left(offsets, end, key=_start_of)
        if first >= last:
            raise AlignmentError(f"part ({start}, {end}) of a {mention.type!r} mention covers no token")
        if not widen:
            for boundary, (token_start, token_end) in ((start, offsets[first]), (end, offsets[last - 1])):
                if token_start < boundary < token_end:
                    raise AlignmentError(
                        f"part ({start}, {end}) of a {mention.type!r} mention has a boundary inside the token "
                        f"({token_start}, {token_end}); expected it at the token's edge"
                    )
        spans.append((first, last))
    return Mention.of(mention.type, spans, prob=mention.prob, attributes=mention.attributes)


def to_characters(mention: Mention, offsets: Sequence[Span]) -> Mention:
    """Turn a mention's token offsets into character offsets.

    Examples
    --------
    >>> to_characters(Mention("Finding", [(0, 1), (2, 3)]), [(0, 5), (6, 8), (9, 15)]).parts
    ((0, 5), (9, 15))
    """
    if len(mention.parts) == 1:
        start, end = mention.parts[0]
        parts: tuple[Span, ...] = ((offsets[start][0], offsets[end - 1][1]),)
    else:
        parts = tuple([(offsets[start][0], offsets[end - 1][1]) for start, end in mention.parts])
    if mention.attributes:
        return Mention(mention.type, parts, mention.prob, mention.attributes)
    return unchecked_mention(mention.type, parts, mention.prob)


def _start_of(span: Span) -> int:
    return span[0]


def _end_of(span: Span) -> int:
    return span[1]
