"""Corpus statistics, as in the data table of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperspan.errors import AlignmentError
from hyperspan.mentions import Document, Mention, Span, Unit, to_tokens


@dataclass(slots=True)
class Statistics:
    """Counts over sentences (or documents, each counting as one), added one at a time.

    Parts are counted as annotated; overlaps and gaps are measured in words.
    """

    sentences: int = 0
    tokens: int = 0
    mentions: int = 0
    by_parts: Counter[str] = field(default_factory=Counter)
    overlaps: int = 0
    overlaps_of_different_types: int = 0
    discontiguous_sentences: int = 0
    types: Counter[str] = field(default_factory=Counter)
    gaps: Counter[int] = field(default_factory=Counter)

    def add(self, unit: Unit, tokenize: Callable[[str], Sequence[Span]]) -> None:
        """Count one sentence or document."""
        self.sentences += 1
        self.discontiguous_sentences += unit.is_discontiguous
        self.mentions += len(unit.mentions)
        for mention in unit.mentions:
            n_parts = len(mention.parts)
            self.by_parts[str(n_parts) if n_parts < 4 else "4+"] += 1
            self.types[mention.type] += 1
        if isinstance(unit, Document):
            offsets = tokenize(unit.text)
            self.tokens += len(offsets)
            in_words = list(_in_words(unit.mentions, offsets))
        else:
            self.tokens += len(unit.tokens)
            in_words = list(unit.mentions)
        for mention in in_words:
            if mention.is_discontiguous:
                self.gaps[mention.gap] += 1
        for one, other in overlapping_pairs(in_words):
            self.overlaps += 1
            self.overlaps_of_different_types += one.type != other.type

    def as_dict(self) -> dict[str, Any]:
        """Return the counts under the keys that ``stats --json`` prints."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "mentions": self.mentions,
            "by_parts": {parts: self.by_parts[parts] for parts in ("1", "2", "3", "4+")},
            "overlaps": {"all": self.overlaps, "different_types": self.overlaps_of_different_types},
            "discontiguous_sentences": self.discontiguous_sentences,
            "types": dict(sorted(self.types.items(), key=lambda entry: (-entry[1], entry[0]))),
            "gap": {
                "median": quantile(self.gaps, 0.5),
                "p95": quantile(self.gaps, 0.95),
                "max": max(self.gaps, default=0),
            },
        }


def statistics(units: Iterable[Unit], tokenize: Callable[[str], Sequence[Span]]) -> Statistics:
    """Count a corpus. ``tokenize`` gives the offsets of the words in a document's text."""
    counts = Statistics()
    for unit in units:
        counts.add(unit, tokenize)
    return counts


def overlapping_pairs(mentions: Iterable[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Yield every pair of mentions that share a word, the one that starts earlier first."""
    open_mentions: list[Mention] = []
    for mention in sorted(mentions):
        open_mentions = [earlier for earlier in open_mentions if earlier.end > mention.start]
        for earlier in open_mentions:
            if earlier.overlaps(mention):
                yield earlier, mention
        open_mentions.append(mention)


def quantile(counts: Counter[int], share: float) -> int:
    """Return the smallest value that more than this share of the values does not exceed; 0 if there are none.

    In sorted order, this is the value with this share of the others before it. There is no interpolation between
    values.

    Examples
    --------
    >>> quantile(Counter([1, 2, 3, 9]), 0.5)
    3
    """
    before = int(share * counts.total())
    reached = 0
    for value in sorted(counts):
        reached += counts[value]
        if reached > before:
            return value
    return 0


def _in_words(mentions: Iterable[Mention], offsets: Sequence[Span]) -> Iterator[Mention]:
    for mention in mentions:
        try:
            yield to_tokens(mention, offsets, widen=True)
        except AlignmentError:  # only white space: it has no words
            continue
