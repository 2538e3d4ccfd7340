"""Documents are scored sentence by sentence, so that a sentence means the same for every corpus."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from hyperspan.evaluation.matching import Comparison
from hyperspan.mentions import Document, Mention, Span

Split: TypeAlias = Callable[[str], Sequence[Span]]
"""Gives the offsets of the sentences in a text, in order."""


def in_sentences(comparison: Comparison, split: Split) -> Iterator[Comparison]:
    """Yield the comparison of each sentence of a document; that of a sentence as it is.

    A mention belongs to the sentence in which it starts; those that were lost in reading, whose place nobody knows, to
    the first.

    Parameters
    ----------
    comparison : Comparison
    split : callable
        Gives the offsets of the sentences in a text, as ``hyperspan.text.split_sentences`` does.

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

    def cut(mentions: Iterable[Mention]) -> list[list[Mention]]:
        of_sentence: list[list[Mention]] = [[] for _ in starts]
        for mention in mentions:
            of_sentence[max(0, bisect_right(starts, mention.start) - 1)].append(mention)
        return of_sentence

    whole, rest = gold, replace(gold.with_mentions(()), lost=())
    for right, missed, spurious in zip(
        cut(comparison.right), cut(comparison.missed), cut(comparison.spurious), strict=True
    ):
        yield replace(
            comparison,
            gold=whole.with_mentions([*right, *missed]),
            predicted=comparison.predicted.with_mentions([*right, *spurious]),
            right=tuple(right),
            missed=tuple(missed),
            spurious=tuple(spurious),
        )
        whole = rest
