"""Score documents sentence by sentence, so that scores by sentence mean the same for every corpus."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from hyperspan.diagnostics import LostMention
from hyperspan.evaluation.matching import Comparison
from hyperspan.mentions import Document, Mention, Span

Split: TypeAlias = Callable[[str], Sequence[Span]]
"""Returns the offsets of the sentences in a text, in order."""

_Mention = TypeVar("_Mention", Mention, LostMention)


def in_sentences(comparison: Comparison, split: Split) -> Iterator[Comparison]:
    """Split the comparison of a document into one for each sentence; that of a sentence stays as it is.

    A mention belongs to the sentence in which it starts. A mention that the reader skipped, and whose position is
    unknown, belongs to the first.

    Parameters
    ----------
    comparison : Comparison
    split : callable
        Returns the offsets of the sentences in a text, as ``hyperspan.text.split_sentences`` does.

    Examples
    --------
    >>> from hyperspan.evaluation.matching import compare
    >>> from hyperspan.text import split_sentences, tokenize
    >>> mentions = [Mention("Finding", [(3, 8)]), Mention("Finding", [(10, 14), (24, 28)])]
    >>> gold = Document("a", "No fever. Arms and legs weak.", mentions)
    >>> pieces = list(in_sentences(compare(gold, gold, tokenize=tokenize), split_sentences))
    >>> [(len(piece.right), piece.gold.is_discontiguous) for piece in pieces]
    [(1, False), (1, True)]
    """
    gold = comparison.gold
    if not isinstance(gold, Document):
        yield comparison
        return
    starts = [start for start, _ in split(gold.text)] or [0]

    def cut(mentions: Iterable[_Mention]) -> list[list[_Mention]]:
        of_sentence: list[list[_Mention]] = [[] for _ in starts]
        for mention in mentions:
            of_sentence[max(0, bisect_right(starts, mention.start or 0) - 1)].append(mention)
        return of_sentence

    for right, missed, spurious, lost in zip(
        cut(comparison.right), cut(comparison.missed), cut(comparison.spurious), cut(gold.lost), strict=True
    ):
        yield replace(
            comparison,
            gold=replace(gold, mentions=(*right, *missed), lost=tuple(lost)),
            predicted=comparison.predicted.with_mentions([*right, *spurious]),
            right=tuple(right),
            missed=tuple(missed),
            spurious=tuple(spurious),
        )
