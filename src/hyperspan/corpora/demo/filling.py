"""Generate sentences from constructions, with their tokens, offsets and mentions.

Examples
--------
>>> from random import Random
>>> from hyperspan.corpora.demo.grammar import parse
>>> template = parse("[blood:F1,F2] [in his [mouth:A1]:F1] and [on his [tongue:A2]:F2]")
>>> sentence = fill(template, Random(0), {})
>>> for mention in sentence.mentions:
...     print(mention.type, mention.parts, mention.attributes["cui"])
Finding ((0, 4),) C92407741
Finding ((0, 1), (5, 8)) C92991707
Anatomy ((3, 4),) C99348958
Anatomy ((7, 8),) C93852351
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import NamedTuple
from zlib import crc32

from hyperspan.corpora.demo.grammar import TYPES, Choice, Entry, Marks, Node, Number, Slot, Template, Words
from hyperspan.mentions import Mention, Span

TOKEN = re.compile(r"\[\*\*.*?\*\*\]|\w+|[^\w\s]+")
"""The pattern of a token: a de-identification mark, a run of word characters, or a run of anything else but space."""

_MISSPELLED = 0.02
_VARIANT = 0.3
_WITHOUT_CONCEPT = 11
"""One in this many concepts has no code."""

_EMPTY_WORDS = frozenset(("a", "at", "from", "her", "his", "in", "of", "on", "the", "when", "with", "your"))
"""Words that do not change a concept."""


class Filled(NamedTuple):
    """A sentence generated from a template, with mentions as word offsets."""

    text: str
    tokens: list[str]
    offsets: list[Span]
    mentions: list[Mention]

    def after(self, bullet: str) -> Filled:
        """Return the sentence with a bullet before it."""
        head = without_mentions(bullet)
        moved = ((start + len(bullet), end + len(bullet)) for start, end in self.offsets)
        return Filled(
            bullet + self.text,
            [*head.tokens, *self.tokens],
            [*head.offsets, *moved],
            [mention.shift(len(head.tokens)) for mention in self.mentions],
        )


@cache
def without_mentions(text: str) -> Filled:
    """Return words without mentions, such as a heading, as a sentence."""
    found = [(token[0], token.span()) for token in TOKEN.finditer(text)]
    return Filled(text, [token for token, _ in found], [span for _, span in found], [])


def fill(template: Template, rng: Random, lists: Mapping[str, Sequence[Entry]], *, capital: bool = False) -> Filled:
    """Generate a sentence from a template, with an initial capital if wanted.

    Only ``rng.random()`` is used: Python guarantees its sequence, so a seed gives the same text everywhere.
    """
    writer = _Writer(rng, lists)
    writer.write(template.nodes, (), capital)
    return writer.finish()


class _Writer:
    """Collects the text of one sentence, and which stretches of it belong to which mentions."""

    __slots__ = ("concepts", "lists", "pieces", "position", "rng", "stretches", "used")

    def __init__(self, rng: Random, lists: Mapping[str, Sequence[Entry]]) -> None:
        self.rng = rng
        self.lists = lists
        self.pieces: list[str] = []
        self.position = 0
        self.stretches: list[tuple[int, int, Marks]] = []
        self.concepts: dict[str, list[str]] = {}
        self.used: set[str] = set()

    def write(self, nodes: Sequence[Node], marks: Marks, capital: bool) -> None:
        for node in nodes:
            if type(node) is Words:
                self.add(node.text, node.marks or marks, node.concept, capital)
            elif type(node) is Slot:
                self.enter(node, capital)
            elif type(node) is Choice:
                self.write(node.options[int(self.rng.random() * len(node.options))], marks, capital)
            else:
                assert type(node) is Number
                text = _number(node, node.low + int(self.rng.random() * node.steps))
                self.add(text, node.marks or marks, (), False)
            capital = False

    def add(self, text: str, marks: Marks, concept: Sequence[str], capital: bool) -> None:
        if capital:
            text = text[:1].upper() + text[1:]
        end = self.position + len(text)
        if marks:
            self.stretches.append((self.position, end, marks))
            for mark in marks:
                self.concepts.setdefault(mark, []).extend(concept)
        self.pieces.append(text)
        self.position = end

    def enter(self, slot: Slot, capital: bool) -> None:
        random = self.rng.random
        entries = self.lists[slot.name]
        for _ in range(8 if len(entries) > 1 else 1):
            entry = entries[int(random() * len(entries))]
            if entry.concept not in self.used:
                break
        self.used.add(entry.concept)
        form = entry.forms[0]
        if len(entry.forms) > 1 and random() < _VARIANT:
            form = entry.forms[1 + int(random() * (len(entry.forms) - 1))]
        if len(form) == 1 and type(form[0]) is Words:
            text = form[0].text
            if slot.marks and random() < _MISSPELLED:
                text = _misspelled(text, random())
            self.add(text, slot.marks, (entry.concept,), capital or slot.capital)
        else:
            self.write(form, slot.marks, capital or slot.capital)

    def finish(self) -> Filled:
        text = "".join(self.pieces)
        tokens: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for found in TOKEN.finditer(text):
            tokens.append(found[0])
            start, end = found.span()
            starts.append(start)
            ends.append(end)
        spans: dict[str, list[Span]] = {}
        for start, end, marks in self.stretches:
            first, last = bisect_left(starts, start), bisect_left(starts, end)
            assert not first or ends[first - 1] <= start, f"a mark begins inside a word: {text!r}"
            assert not last or ends[last - 1] <= end, f"a mark ends inside a word: {text!r}"
            if first < last:
                for mark in marks:
                    spans.setdefault(mark, []).append((first, last))
        mentions = [
            Mention.of(TYPES[mark[0]], parts, attributes={"cui": concept_code(mark[0], self.concepts[mark])})
            for mark, parts in spans.items()
        ]
        return Filled(text, tokens, list(zip(starts, ends, strict=True)), mentions)


def _number(node: Number, value: int) -> str:
    if not node.decimals:
        return str(value).zfill(node.width)
    whole, rest = divmod(value, 10**node.decimals)
    return f"{whole}.{str(rest).zfill(node.decimals)}"


def _misspelled(text: str, where: float) -> str:
    """Swap two letters inside a long word, if there is one."""
    places = [
        found.start() + inner
        for found in re.finditer(r"[A-Za-z]{6,}", text)
        for inner in range(1, len(found[0]) - 2)
        if found[0][inner] != found[0][inner + 1]
    ]
    if not places:
        return text
    at = places[int(where * len(places))]
    return f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"


def concept_code(letter: str, words: Sequence[str]) -> str:
    """Return the invented code of a concept, which does not depend on word order or spelling.

    Codes are ``C9`` and seven digits: one digit more than real codes. Some findings have none: ``CUI-less``.

    Examples
    --------
    >>> concept_code("F", ["tongue", "laceration"]) == concept_code("F", ["laceration", "tongue"])
    True
    """
    code = crc32(f"{letter} {' '.join(sorted(set(words) - _EMPTY_WORDS))}".encode())
    if letter == "F" and code % _WITHOUT_CONCEPT == 0:
        return "CUI-less"
    return f"C9{code // _WITHOUT_CONCEPT % 10_000_000:07d}"
