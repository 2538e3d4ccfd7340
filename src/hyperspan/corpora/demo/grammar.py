r"""The small language in which the constructions of the embedded corpus are written.

A construction is one line, which may contain:

============== =======================================================================================================
``words``      themselves
``<organ>``    an entry of the word list ``organ``, never the same twice in a sentence; ``<Organ>`` writes it with a
               capital
``(a|b|)``     one of the alternatives, which may be empty and may hold anything again
``{2..14}``    a number between the two, both included; ``{0.4..2.1}`` with as many decimals as its lower bound,
               ``{01..12}`` padded with zeros
``[a b:F1,F2]`` words that belong to the mentions F1 and F2. The letter is the type (F Finding, A Anatomy, D Drug,
               P Procedure), the digit tells mentions of one type apart. A mention is all the words that carry its mark,
               so it is discontiguous when they are not adjacent. Groups may nest.
``\(``         a bracket, bar or backslash that means itself
============== =======================================================================================================

A line may begin with a weight (``3x``) and the only split that may use it (``test>``)::

    [blood:F1,F2] [in his [<cavity>:A1]:F1] and [on his [<surface>:A2]:F2].
    2x test> [<sign>:F1] was (noted|found) in the <side> [<limb>:A1,F1].

`hyperspan.corpora.demo.filling` generates sentences from them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import accumulate
from random import Random
from typing import NamedTuple, TypeAlias

from hyperspan.errors import CorpusError

TYPES = {"A": "Anatomy", "D": "Drug", "F": "Finding", "P": "Procedure"}
"""The types, by the letter that marks them."""

SPLITS = ("train", "dev", "test")
"""The splits, each of which may have constructions of its own."""

_SPECIAL = "[](){}<>|\\"
_PREFIX = re.compile(r"(?:(\d+)x +)?(?:(\w+)> +)?")
_MARKS = re.compile(r":([^\[\](){}<>|\\: ]*)\]")
_MARK = re.compile(r"([A-Z])(\d)")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)")
_SLOT = re.compile(r"[A-Za-z]\w*")

Marks: TypeAlias = tuple[str, ...]


class Words(NamedTuple):
    """Fixed words and the mentions they belong to."""

    text: str
    marks: Marks
    concept: tuple[str, ...]


class Slot(NamedTuple):
    """A place for an entry of a word list."""

    name: str
    capital: bool
    marks: Marks


class Number(NamedTuple):
    """A place for a number: ``steps`` values from ``low``, with ``decimals`` after the point, ``width`` digits wide."""

    low: int
    steps: int
    decimals: int
    width: int
    marks: Marks


class Choice(NamedTuple):
    """One of several sequences."""

    options: tuple[tuple[Node, ...], ...]


Node: TypeAlias = Words | Slot | Number | Choice


class Template(NamedTuple):
    """A parsed construction."""

    nodes: tuple[Node, ...]
    weight: int = 1
    only: str = ""


class Entry(NamedTuple):
    """An entry of a word list: the ways to write it, the usual one first, and the concept they stand for."""

    forms: tuple[tuple[Node, ...], ...]
    concept: str


def parse(line: str, *, where: str = "template", number: int | None = None) -> Template:
    """Parse one construction.

    Parameters
    ----------
    line : str
        The construction, in the language that this module's docstring explains.
    where, number
        The block and line that contain it, for messages.

    Raises
    ------
    CorpusError
        If the line is malformed; the message says at which column.

    Examples
    --------
    >>> parse("2x test> no [<sign>:F1]").weight
    2
    >>> parse("no [<sign>:X1]")
    Traceback (most recent call last):
    ...
    hyperspan.errors.CorpusError: template: column 11: mark 'X1' is unknown; expected a type (A, D, F, P) and ...
    """
    prefix = _PREFIX.match(line)
    assert prefix is not None
    weight, only = int(prefix[1] or 1), prefix[2] or ""
    if not weight:
        raise CorpusError("the construction has the weight 0; expected 1x or more", path=where, line=number)
    if only and only not in SPLITS:
        raise CorpusError(f"there is no split {only!r}; expected {', '.join(SPLITS)}", path=where, line=number)
    return Template(_Parser(line, prefix.end(), where, number).parse(), weight, only)


class _Parser:
    """A recursive descent parser for one line."""

    def __init__(self, line: str, start: int, where: str, number: int | None) -> None:
        self.line = line
        self.at = start
        self.where = where
        self.number = number

    def parse(self) -> tuple[Node, ...]:
        nodes = self.sequence("", -1)
        if not nodes:
            raise self.error("there is nothing; expected words")
        return nodes

    def error(self, what: str, at: int | None = None) -> CorpusError:
        column = (self.at if at is None else at) + 1
        return CorpusError(f"column {column}: {what}", path=self.where, line=self.number)

    def sequence(self, stop: str, opened: int) -> tuple[Node, ...]:
        """Parse up to one of the characters in ``stop``, without consuming it."""
        nodes: list[Node] = []
        text: list[str] = []
        while True:
            here = self.line[self.at : self.at + 1]
            if not here and stop:
                raise self.error(f"{self.line[opened]!r} is never closed; expected {stop[-1]!r}", opened)
            ends = not here or (here in stop and (here != ":" or _MARKS.match(self.line, self.at) is not None))
            if not ends and here not in _SPECIAL:
                text.append(here)
                self.at += 1
                continue
            if here == "\\":
                text.append(self.escaped())
                continue
            if text:
                nodes.append(_words("".join(text)))
                text = []
            if ends:
                return tuple(nodes)
            nodes.extend(self.bracketed(here))

    def escaped(self) -> str:
        character = self.line[self.at + 1 : self.at + 2]
        if not character or character not in _SPECIAL:
            raise self.error(f"there is a backslash before {character!r}; expected one of {_SPECIAL}")
        self.at += 2
        return character

    def bracketed(self, opening: str) -> tuple[Node, ...]:
        if opening == "[":
            return self.group()
        if opening == "(":
            return (self.choice(),)
        if opening == "<":
            return (self.slot(),)
        if opening == "{":
            return (self.range(),)
        raise self.error(f"{opening!r} closes or parts nothing; write \\{opening} if it means itself")

    def group(self) -> tuple[Node, ...]:
        opened = self.at
        self.at += 1
        nodes = self.sequence("]:]", opened)
        marks = _MARKS.match(self.line, self.at)
        if marks is None:
            raise self.error("the group has no marks; expected [words:F1] or [words:F1,A1]", opened)
        if not nodes:
            raise self.error("the group has no words; expected [words:F1]", opened)
        names = marks[1].split(",")
        for name in names:
            mark = _MARK.fullmatch(name)
            if mark is None or mark[1] not in TYPES:
                known = ", ".join(TYPES)
                raise self.error(f"mark {name!r} is unknown; expected a type ({known}) and a figure, as in F1")
        self.at = marks.end()
        return tuple(_marked(node, tuple(names)) for node in nodes)

    def choice(self) -> Choice:
        opened = self.at
        options: list[tuple[Node, ...]] = []
        while not options or self.line[self.at] == "|":
            self.at += 1
            options.append(self.sequence("|)", opened))
        self.at += 1
        if len(options) == 1:
            raise self.error("there is only one alternative; expected (one|another), or \\( for a bracket", opened)
        return Choice(tuple(options))

    def enclosed(self, closing: str) -> str:
        end = self.line.find(closing, self.at)
        if end < 0:
            raise self.error(f"{self.line[self.at]!r} is never closed; expected {closing!r}")
        inside = self.line[self.at + 1 : end]
        self.at = end + 1
        return inside

    def slot(self) -> Slot:
        opened = self.at
        name = self.enclosed(">")
        if _SLOT.fullmatch(name) is None:
            raise self.error(f"slot {name!r} is not a name; expected the name of a word list, as in <organ>", opened)
        return Slot(name[0].lower() + name[1:], name[0].isupper(), ())

    def range(self) -> Number:
        opened = self.at
        inside = self.enclosed("}")
        bounds = _NUMBER.fullmatch(inside)
        if bounds is None:
            raise self.error(f"{inside!r} is not a range; expected {{2..14}} or {{0.4..2.1}}", opened)
        low, high = bounds.groups()
        decimals = len(low.partition(".")[2])
        first, last = round(float(low) * 10**decimals), round(float(high) * 10**decimals)
        if last < first:
            raise self.error(f"the range {inside!r} ends before it starts", opened)
        width = len(low) if low.startswith("0") and not decimals else 0
        return Number(first, last - first + 1, decimals, width, ())


def _words(text: str) -> Words:
    return Words(text, (), tuple(re.findall(r"\w+", text.lower())))


def _marked(node: Node, marks: Marks) -> Node:
    if isinstance(node, Choice):
        return Choice(tuple(tuple(_marked(child, marks) for child in option) for option in node.options))
    return node._replace(marks=(*node.marks, *marks))


def slots_of(nodes: Sequence[Node]) -> list[str]:
    """Return the names of the word lists that nodes draw from."""
    names = []
    for node in nodes:
        if isinstance(node, Slot):
            names.append(node.name)
        elif isinstance(node, Choice):
            names.extend(name for option in node.options for name in slots_of(option))
    return names


def parse_entry(text: str, *, where: str = "entry") -> Entry:
    """Parse an entry of a word list: ``laceration = lac`` is one concept, written in two ways.

    Square brackets are literal here, so that de-identification marks can be entries.

    Examples
    --------
    >>> parse_entry("laceration = lac").concept
    'laceration'
    """
    forms = [form.strip().replace("[", "\\[").replace("]", "\\]") for form in text.split(" = ")]
    return Entry(tuple(_Parser(form, 0, where, None).parse() for form in forms), forms[0].lower())


@dataclass(frozen=True, slots=True)
class Pool:
    """Constructions to draw from, in proportion to their weights."""

    templates: tuple[Template, ...]
    limits: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", tuple(accumulate(template.weight for template in self.templates)))

    def draw(self, rng: Random) -> Template:
        """Draw a construction."""
        return self.templates[bisect_right(self.limits, int(rng.random() * self.limits[-1]))]


def parse_block(block: str, *, where: str, split: str, lists: Mapping[str, object]) -> Pool:
    """Parse a block of constructions, one per line, and keep those that a split may use.

    Examples
    --------
    >>> block = '''
    ... no <sign>
    ... test> without <sign>
    ... '''
    >>> len(parse_block(block, where="exam", split="train", lists={"sign": ()}).templates)
    1
    >>> parse_block("no <sing>", where="exam", split="train", lists={"sign": ()})
    Traceback (most recent call last):
    ...
    hyperspan.errors.CorpusError: exam:1: there is no word list 'sing'; did you mean 'sign'?
    """
    kept = []
    for number, line in enumerate(block.splitlines(), start=1):
        if not line.strip():
            continue
        template = parse(line.strip(), where=where, number=number)
        for name in slots_of(template.nodes):
            if name not in lists:
                near = get_close_matches(name, lists, n=1)
                advice = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(sorted(lists))}"
                raise CorpusError(f"there is no word list {name!r}; {advice}", path=where, line=number)
        if template.only in ("", split):
            kept.append(template)
    if not kept:
        raise CorpusError(f"no construction is left for the split {split!r}; expected at least one", path=where)
    return Pool(tuple(kept))
