"""Expand mentions to the phrases they stand for, and group mentions that share a part.

"left and right kidneys" has two mentions, "left … kidneys" and "right kidneys". The first stands for the phrase *left
kidneys*; the two are a group, since the part "kidneys" of the first lies within the second. In the singular they stand
for *left kidney* and *right kidney*: the plural is there because there are two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hyperspan.errors import MissingExtraError
from hyperspan.mentions import Document, Mention, Sentence, Span, Unit, in_order
from hyperspan.text.annotators import Annotator, annotator
from hyperspan.text.pipeline import split_document

_NOUNS = ("NOUN", "PROPN")
"""The universal tags for nouns; in all other supported tagsets, tags for nouns begin with N."""


def groups_of(mentions: Iterable[Mention]) -> list[tuple[Mention, ...]]:
    """Return the groups of mentions that share a part: the conjuncts of a coordination.

    Two mentions of one type share a part if a part of one lies within a part of the other, and neither contains all
    words of the other. Mentions that are linked in this way, directly or through others, form a group.

    Examples
    --------
    >>> left, right = Mention("Anatomy", [(0, 1), (3, 4)]), Mention("Anatomy", [(2, 4)])
    >>> groups_of([left, right, Mention("Finding", [(5, 6)])]) == [(left, right)]
    True
    """
    ordered = in_order(mentions)
    group_of = list(range(len(ordered)))

    def root(place: int) -> int:
        while group_of[place] != place:
            place = group_of[place]
        return place

    for place, one in enumerate(ordered):
        for other in range(place + 1, len(ordered)):
            if ordered[other].start >= one.end:
                break
            if _share_a_part(one, ordered[other]):
                first, second = sorted((root(place), root(other)))
                group_of[second] = first
    groups: dict[int, list[Mention]] = {}
    for place, mention in enumerate(ordered):
        groups.setdefault(root(place), []).append(mention)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _share_a_part(one: Mention, other: Mention) -> bool:
    if one.type != other.type or _is_within(one, other) or _is_within(other, one):
        return False
    return any(_lies_in(part, other.parts) for part in one.parts) or any(
        _lies_in(part, one.parts) for part in other.parts
    )


def _is_within(one: Mention, other: Mention) -> bool:
    return all(_lies_in(part, other.parts) for part in one.parts)


def _lies_in(part: Span, parts: Sequence[Span]) -> bool:
    return any(start <= part[0] and part[1] <= end for start, end in parts)


@dataclass(frozen=True)
class Expander:
    """Add to each mention the phrase it stands for and the number of its group.

    Parameters
    ----------
    singular : bool
        Put a noun that several mentions of a group share into the singular, with a lemmatiser.

    Raises
    ------
    MissingExtraError
        If ``singular`` is true and no lemmatiser is installed.

    Examples
    --------
    >>> left, right = Mention("Anatomy", [(0, 1), (3, 4)]), Mention("Anatomy", [(2, 4)])
    >>> sentence = Expander().expand(Sentence("left and right kidneys".split(), [left, right]))
    >>> for mention in sentence.mentions:
    ...     print(dict(mention.attributes))
    {'expanded': 'left kidneys', 'group': 1}
    {'expanded': 'right kidneys', 'group': 1}
    """

    singular: bool = False

    @cached_property
    def _lemmatiser(self) -> Annotator:
        found = annotator("auto", tagset="universal")
        if "lemma" not in found.columns:
            raise MissingExtraError("The singular", "simplemma", "annotators")
        return found

    def check(self) -> None:
        """Load the lemmatiser now, if one is needed."""
        if self.singular:
            self._lemmatiser  # noqa: B018

    def expand(self, unit: Unit) -> Unit:
        """Return a sentence or document whose mentions have the attribute ``expanded`` and, in a group, ``group``."""
        known = self.attributes_of(unit)
        mentions = [replace(each, attributes={**each.attributes, **known[each]}) for each in unit.mentions]
        return unit.with_mentions(mentions)

    def attributes_of(self, unit: Unit) -> dict[Mention, dict[str, Any]]:
        """Return the attributes that `expand` adds to each mention."""
        groups = groups_of(unit.mentions)
        number_of = {mention: number for number, group in enumerate(groups, 1) for mention in group}
        singulars = self._singulars(unit, groups) if self.singular and groups else {}
        return {
            mention: {
                "expanded": _phrase(unit, mention, singulars if mention in number_of else {}),
                **({"group": number_of[mention]} if mention in number_of else {}),
            }
            for mention in unit.mentions
        }

    def _singulars(self, unit: Unit, groups: Iterable[Sequence[Mention]]) -> dict[Span, str]:
        """Return the nouns that mentions of a group share and whose singular differs, by their position."""
        shared: set[int] = set()
        for group in groups:
            times = Counter(position for mention in group for position in mention.words())
            shared |= {position for position, count in times.items() if count > 1}
        bare = unit.with_mentions(())
        sentences = split_document(bare) if isinstance(bare, Document) else [bare]
        found = {}
        for sentence in self._lemmatiser.annotate(sentences):
            places = sentence.offsets if isinstance(unit, Document) else None
            for number, token in enumerate(sentence.tokens):
                place = (number, number + 1) if places is None else places[number]
                if shared.issuperset(range(*place)):
                    singular = _singular(sentence, number)
                    if singular != token:
                        found[place] = singular
        return found


def _singular(sentence: Sentence, number: int) -> str:
    """Return a noun's lemma with its first letter unchanged; any other word as it is."""
    word, lemma = sentence.tokens[number], sentence.columns["lemma"][number]
    tags = sentence.columns.get("pos")
    is_noun = word.endswith("s") if tags is None else tags[number] in _NOUNS or tags[number].startswith("N")
    if not is_noun or word.lower() == lemma.lower() or word.isupper():
        return word
    return lemma[:1].upper() + lemma[1:] if word[:1].isupper() else lemma


def _phrase(unit: Unit, mention: Mention, singulars: dict[Span, str]) -> str:
    """Return the words of a mention in order, without the gaps."""
    if isinstance(unit, Sentence):
        return " ".join(singulars.get((word, word + 1), unit.tokens[word]) for word in mention.words())
    pieces = []
    for start, end in mention.parts:
        inside = sorted(place for place in singulars if start <= place[0] and place[1] <= end)
        for begin, stop in inside:
            pieces += [unit.text[start:begin], singulars[begin, stop]]
            start = stop
        pieces += [unit.text[start:end], " "]
    return " ".join("".join(pieces).split())
