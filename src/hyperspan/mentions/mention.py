"""A mention: a type and a set of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import total_ordering
from operator import attrgetter
from typing import Any, TypeAlias

from hyperspan.diagnostics import quoted
from hyperspan.errors import MentionError

Span: TypeAlias = tuple[int, int]
"""A half-open range ``(start, end)`` with ``start < end``."""


class _Nothing(Mapping[str, Any]):
    """An empty mapping of attributes; each process has exactly one."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __reduce__(self) -> str:
        return "NOTHING"


NOTHING: Mapping[str, Any] = _Nothing()
"""The attributes of an object that has none."""


def nothing() -> Mapping[str, Any]:
    """Return the shared empty mapping of attributes."""
    return NOTHING


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """A type and a set of words, written as parts (maximal runs of adjacent words).

    Two mentions are equal if their types and parts are equal; probability and attributes are not compared. Mentions are
    sorted by their parts, then by type.

    Parameters
    ----------
    type : str
        The kind of thing mentioned, such as ``"Finding"``.
    parts : sequence of (start, end)
        Half-open spans, not empty, in text order, with a gap between any two. `Mention.of` sorts and joins spans for
        you.
    prob : float, optional
        The probability that a model gives it.
    attributes : mapping, optional
        Anything else that is known, such as ``{"cui": "C0019080"}``.

    Raises
    ------
    MentionError
        If the type is empty, or parts are missing, empty, out of order or touching.

    Examples
    --------
    >>> mention = Mention("Finding", [(1, 2), (6, 9)])
    >>> mention.is_discontiguous, mention.n_words, mention.gap
    (True, 4, 4)
    >>> Mention.of("Finding", [(6, 9), (1, 2)]) == mention
    True
    """

    type: str
    parts: tuple[Span, ...]
    prob: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=nothing, repr=False)

    def __init__(
        self, type: str, parts: Sequence[Span], prob: float | None = None, attributes: Mapping[str, Any] = NOTHING
    ) -> None:
        # Written out because mentions are created by the million, and a frozen dataclass takes 1.5 times as long.
        _set_type(self, type)
        _set_parts(self, parts)
        _set_prob(self, prob)
        _set_attributes(self, attributes)
        if not _is_well_formed(type, parts):
            self._check()

    def _check(self) -> None:
        """Normalise the parts, or raise an error that says what is wrong with them."""
        if not isinstance(self.type, str) or not self.type:
            raise MentionError(f"a mention's type is {quoted(self.type)}; expected a text that is not empty")
        try:
            parts = tuple((start, end) for start, end in self.parts)
        except (TypeError, ValueError):
            raise MentionError(f"parts are {quoted(self.parts)}; expected pairs (start, end)") from None
        object.__setattr__(self, "parts", parts)
        if not parts:
            raise MentionError(f"a mention of type {quoted(self.type)} has no parts; expected at least one")
        previous = -1
        for start, end in parts:
            if type(start) is not int or type(end) is not int:
                raise MentionError(f"part ({quoted(start)}, {quoted(end)}) is not a pair of integers")
            if start < 0:
                raise MentionError(f"part ({start}, {end}) starts before 0")
            if end <= start:
                what = "is empty" if end == start else "ends before it starts"
                raise MentionError(f"part ({start}, {end}) {what}; offsets are half-open and increasing")
            if start <= previous:
                raise MentionError(
                    f"part ({start}, {end}) comes after a part that ends at {previous}; "
                    "parts are in text order and never touch (Mention.of sorts and joins them)"
                )
            previous = end

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a single call of the constructor, which is fast."""
        known = (self.type, self.parts, self.prob)
        return (Mention, (*known, self.attributes)) if self.attributes else (unchecked_mention, known)

    @classmethod
    def of(
        cls,
        type: str,
        spans: Iterable[Span],
        *,
        prob: float | None = None,
        attributes: Mapping[str, Any] = NOTHING,
    ) -> Mention:
        """Make a mention from spans in any order; spans that touch or overlap are joined into one part."""
        parts: list[Span] = []
        for start, end in sorted(spans):
            if parts and parts[-1][0] < parts[-1][1] and start <= parts[-1][1] and start < end:
                parts[-1] = (parts[-1][0], max(parts[-1][1], end))
            else:
                parts.append((start, end))
        return cls(type, tuple(parts), prob, attributes)

    @classmethod
    def of_words(cls, type: str, words: Iterable[int], *, prob: float | None = None) -> Mention:
        """Make a mention from word positions in any order."""
        return cls.of(type, ((word, word + 1) for word in words), prob=prob)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mention):
            return NotImplemented
        return self.type == other.type and self.parts == other.parts

    def __lt__(self, other: Mention) -> bool:
        if not isinstance(other, Mention):
            return NotImplemented
        return (self.parts, self.type) < (other.parts, other.type)

    def __hash__(self) -> int:
        return hash((self.type, self.parts))

    @property
    def start(self) -> int:
        """Where the first part starts."""
        return self.parts[0][0]

    @property
    def end(self) -> int:
        """Where the last part ends."""
        return self.parts[-1][1]

    @property
    def is_discontiguous(self) -> bool:
        """Whether there is more than one part."""
        return len(self.parts) > 1

    @property
    def n_words(self) -> int:
        """How many positions the parts cover: words in a sentence, characters in a document."""
        return sum(end - start for start, end in self.parts)

    @property
    def gap(self) -> int:
        """How many positions lie between the parts, summed."""
        return self.end - self.start - self.n_words

    def words(self) -> Iterator[int]:
        """Yield every covered position."""
        for start, end in self.parts:
            yield from range(start, end)

    def overlaps(self, other: Mention) -> bool:
        """Return whether the two mentions share a position.

        Examples
        --------
        >>> Mention("A", [(0, 2)]).overlaps(Mention("B", [(1, 3)]))
        True
        """
        mine, theirs = 0, 0
        while mine < len(self.parts) and theirs < len(other.parts):
            if max(self.parts[mine][0], other.parts[theirs][0]) < min(self.parts[mine][1], other.parts[theirs][1]):
                return True
            if self.parts[mine][1] <= other.parts[theirs][1]:
                mine += 1
            else:
                theirs += 1
        return False

    def shift(self, by: int) -> Mention:
        """Return the same mention moved by a number of positions."""
        return replace(self, parts=tuple((start + by, end + by) for start, end in self.parts))


_set_type, _set_parts, _set_prob, _set_attributes = (
    Mention.__dict__[name].__set__ for name in ("type", "parts", "prob", "attributes")
)
_IN_ORDER = attrgetter("parts", "type")


def unchecked_mention(type: str, parts: tuple[Span, ...], prob: float | None = None) -> Mention:
    """Make a mention without validation, for parts that are known to be valid; faster than the constructor.

    Examples
    --------
    >>> unchecked_mention("Finding", ((0, 2),), 0.5) == Mention("Finding", [(0, 2)])
    True
    """
    mention = object.__new__(Mention)
    _set_type(mention, type)
    _set_parts(mention, parts)
    _set_prob(mention, prob)
    _set_attributes(mention, NOTHING)
    return mention


def in_order(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return mentions sorted by their parts, then by type: the same as ``sorted``, but several times as fast."""
    return tuple(sorted(mentions, key=_IN_ORDER))


def _is_well_formed(type_: object, parts: object) -> bool:
    """Return whether type and parts need no normalisation and have no error: a fast check, since most are fine."""
    if type(type_) is not str or not type_ or type(parts) is not tuple or not parts:
        return False
    previous = -1
    for part in parts:
        if type(part) is not tuple or len(part) != 2:
            return False
        start, end = part
        if type(start) is not int or type(end) is not int or not previous < start < end:
            return False
        previous = end
    return True
