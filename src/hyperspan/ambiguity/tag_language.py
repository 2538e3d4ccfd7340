"""The language of canonical tag sequences: those that encode some set of mentions in the linear chain.

The paper bounds their number by 7^n, because "the labels interact in a complex way". They form a regular language, so
they can be counted exactly for any sentence.

**Reduction.** Cut the heads into components: each BH begins one, and IH continues it. All contiguous mentions within a
component can be added to any set of mentions without changing a tag, and then every head word is covered twice, and
every IH shares two mentions with the word before, except in components of one or two words, which lack one mention. So
a tag sequence is canonical exactly if there are mentions such that

- no word O is covered, every word B, I, BD or ID by exactly one of them: a contiguous one for B and I, a discontiguous
  one for BD and ID, which covers the word before exactly for I and ID;
- at most one of them covers both a word BH and the word before;
- every component of one or two words is completely covered by one of them (its *witness*) that is not the component
  itself.

The number of mentions does not matter, nor whether they differ: equal ones count as one.

**Automaton.** Reading words from left to right, an open mention is described by its *kind* alone: contiguous, covering
the word as its part i, or waiting in the gap after part i. A state is the number of open mentions of each kind and what
the present component still needs. These numbers are not bounded, so there are two automata with finitely many states:
one allows only small numbers and accepts only canonical sequences; the other does not distinguish large numbers (except
odd from even, which matters if every mention has two parts) and accepts every canonical sequence. If both have the same
minimal deterministic automaton, it accepts exactly the canonical sequences. The tests make this comparison.

From three parts on, the canonical sequences no longer depend on the number of parts allowed. This is shown in the same
way: mentions with any number of parts (above) and with at most three (below) have the same automaton.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from hyperspan.errors import StructureError

TAGS = ("O", "B", "I", "BD", "ID", "BH", "IH")
"""The tags of one type, in the order of their labels."""

Bound = Literal["below", "above"]

_O, _B, _I, _BD, _ID, _BH, _IH = range(7)
_CONTIGUOUS = 0
_NO_COMPONENT, _SATISFIED, _TWO_MORE, _ONE_MORE, _MUST_LEAVE, _CROSSED = -6, -5, -4, -3, -2, -1

Counts = tuple[int, ...]
State = tuple[Counts, int]
"""How many open mentions there are of each kind, and what the current component needs: one of the constants above, or
the kind of a discontiguous witness."""


@dataclass(frozen=True)
class OpenMentions:
    """The kinds of open mentions, and how each can continue at the next word.

    Kind 0 is contiguous, kinds 1 .. ``n_parts`` cover the word with that part of a discontiguous mention, and the
    following ones wait in the gap after part 1, 2 …

    Parameters
    ----------
    n_parts : int
        How many parts are distinguished.
    unlimited : bool
        Whether the last of them also stands for all further parts.
    most : tuple of three int
        The most contiguous, covering and waiting mentions of each kind.
    bound : {"below", "above"}
        Whether higher numbers are left out, or not distinguished.
    period : int
        Above, waiting mentions are still counted modulo this.
    """

    n_parts: int
    unlimited: bool
    most: tuple[int, int, int]
    bound: Bound
    period: int = 1

    @property
    def n_gaps(self) -> int:
        """How many kinds of gaps there are."""
        return self.n_parts - 1 + self.unlimited

    @property
    def start(self) -> State:
        """The state before the first word."""
        return (0,) * (1 + self.n_parts + self.n_gaps), _NO_COMPONENT

    def is_final(self, state: State) -> bool:
        """Return whether all open mentions may end with the last word."""
        counts, needs = state
        is_open = any(counts[1 + self.n_parts :]) or (self.n_parts > 1 and counts[1])
        return not is_open and needs not in (_TWO_MORE, _ONE_MORE, _MUST_LEAVE)

    @cached_property
    def _limits(self) -> tuple[int, ...]:
        """The maximum number of mentions of each kind."""
        contiguous, covering, waiting = self.most
        return (contiguous, *(covering,) * self.n_parts, *(waiting,) * self.n_gaps)

    @cached_property
    def _moves(self) -> tuple[tuple[tuple[int | None, int], ...], ...]:
        return tuple(tuple(self.moves(kind)) for kind in range(len(self._limits)))

    def moves(self, kind: int) -> list[tuple[int | None, int]]:
        """Return how a mention can continue: its kind at the next word (None if it ends), and 1 if it covers both."""
        if kind == _CONTIGUOUS:
            return [(None, 0), (kind, 1)]
        if kind > self.n_parts:
            return [(kind, 0), (min(kind - self.n_parts + 1, self.n_parts), 0)]
        moves: list[tuple[int | None, int]] = [(kind, 1)]
        if kind > 1:
            moves.append((None, 0))
        if kind <= self.n_gaps:
            moves.append((self.n_parts + kind, 0))
        return moves

    def following(self, state: State, tag: int) -> set[State]:
        """Return the states after one more word with this tag."""
        before, needs = state
        forced = _forced(needs, tag)
        if forced is None:
            return set()
        empty = (0,) * len(before)
        found = {(empty, 0)}
        left = list(before)
        for kind in forced:
            left[kind] -= 1
            found = self._moved(found, [(kind, 1)], tag)
        for kind, n_open in enumerate(left):
            moves = self._moves[kind]
            for _ in range(n_open):
                found = self._moved(found, moves, tag)
            if self.bound == "above" and before[kind] >= self._limits[kind]:
                found = self._with_more(found, kind, moves, tag)
        after: set[State] = set()
        for counts, n_crossing in found:
            for begun in self._begun(counts, tag):
                if self._fits(begun, n_crossing, tag):
                    after.update((begun, what) for what in self._needs(counts, begun, needs, tag))
        return after

    def _plus(self, counts: Counts, kind: int) -> Counts | None:
        number = counts[kind] + 1
        if self.bound == "below":
            if number > self._limits[kind]:
                return None
        else:
            period = self.period if kind > self.n_parts else 1
            if number >= self._limits[kind] + period:
                number -= period
        return (*counts[:kind], number, *counts[kind + 1 :])

    def _moved(
        self, found: set[tuple[Counts, int]], moves: Sequence[tuple[int | None, int]], tag: int
    ) -> set[tuple[Counts, int]]:
        """Return the open mentions at the next word after one more mention moves."""
        after = set()
        for counts, n_crossing in found:
            for kind, crosses in moves:
                more = counts if kind is None else self._plus(counts, kind)
                if more is not None and self._may_fit(more, n_crossing + crosses, tag):
                    after.add((more, min(2, n_crossing + crosses)))
        return after

    def _with_more(
        self, found: set[tuple[Counts, int]], kind: int, moves: Sequence[tuple[int | None, int]], tag: int
    ) -> set[tuple[Counts, int]]:
        """Let any number of further mentions of a kind move, beyond those counted."""
        new = found
        while new:
            for _ in range(self.period if kind > self.n_parts else 1):
                new = self._moved(new, moves, tag)
            new = new - found
            found = found | new
        return found

    def _begun(self, counts: Counts, tag: int) -> set[Counts]:
        """Return the open mentions after any number of mentions begin at this word."""
        begun = {counts}
        for kind in (_CONTIGUOUS, 1) if self.n_gaps else (_CONTIGUOUS,):
            for _ in range(self._limits[kind]):
                begun |= {more for some in begun if (more := self._plus(some, kind)) is not None}
        return {some for some in begun if self._may_fit(some, 0, tag)}

    def _may_fit(self, counts: Counts, n_crossing: int, tag: int) -> bool:
        contiguous, covering = counts[_CONTIGUOUS], sum(counts[1 : 1 + self.n_parts])
        if tag == _O:
            return contiguous == covering == 0
        if tag in (_B, _I):
            return contiguous <= 1 and not covering and n_crossing <= (tag == _I)
        if tag in (_BD, _ID):
            return covering <= 1 and not contiguous and n_crossing <= (tag == _ID)
        return tag == _IH or n_crossing <= 1

    def _fits(self, counts: Counts, n_crossing: int, tag: int) -> bool:
        if not self._may_fit(counts, n_crossing, tag):
            return False
        if tag in (_O, _BH, _IH):
            return True
        return sum(counts[: 1 + self.n_parts]) == 1 and n_crossing == (tag in (_I, _ID))

    def _needs(self, moved: Counts, counts: Counts, needs: int, tag: int) -> list[int]:
        """Return what a component can need: a new one gets a witness, or will have three words."""
        if tag == _IH:
            return [{_TWO_MORE: _ONE_MORE, _ONE_MORE: _SATISFIED}.get(needs, needs)]
        if tag != _BH:
            return [_NO_COMPONENT]
        possible = [_TWO_MORE, *(kind for kind in range(1, 1 + self.n_parts) if counts[kind])]
        if counts[_CONTIGUOUS]:
            possible.append(_MUST_LEAVE)
        if moved[_CONTIGUOUS]:
            possible.append(_CROSSED)
        return possible


def _forced(needs: int, tag: int) -> list[int] | None:
    """Return the kinds of which one mention must also cover the next word, or None if the tag cannot follow."""
    if tag != _IH:
        return None if needs in (_TWO_MORE, _ONE_MORE) else [_CONTIGUOUS] if needs == _MUST_LEAVE else []
    if needs == _NO_COMPONENT:
        return None
    if needs in (_MUST_LEAVE, _CROSSED):
        return [_CONTIGUOUS]
    return [needs] if needs > 0 else []


@dataclass(frozen=True)
class TagLanguage:
    """A minimal deterministic automaton over tags.

    Attributes
    ----------
    following : tuple of tuple of int
        The state after each state and tag; state 0 is the start.
    is_final : tuple of bool
        Whether a sentence may end in a state.

    Examples
    --------
    >>> language = canonical_tags(3)
    >>> language.n_states
    26
    >>> language.accepts(["BH", "O", "BD", "ID", "O", "BD"]), language.accepts(["O", "BD", "O"])
    (True, False)
    """

    following: tuple[tuple[int, ...], ...]
    is_final: tuple[bool, ...]

    @property
    def n_states(self) -> int:
        """How many states there are, including a dead end."""
        return len(self.following)

    def accepts(self, tags: Iterable[str]) -> bool:
        """Return whether these tags encode some set of mentions.

        Raises
        ------
        StructureError
            If one is not a tag of a single type.
        """
        state = 0
        for tag in tags:
            if tag not in TAGS:
                raise StructureError(f"there is no tag {tag!r}; expected one of {', '.join(TAGS)}")
            state = self.following[state][TAGS.index(tag)]
        return self.is_final[state]

    def matrix(self) -> tuple[tuple[int, ...], ...]:
        """Return how many tags lead from each state to each state, without states that cannot reach the end."""
        alive = [state for state in range(self.n_states) if self._reaches_end(state)]
        return tuple(tuple(self.following[state].count(after) for after in alive) for state in alive)

    def counts(self, max_words: int) -> list[int]:
        """Return how many tag sequences of 1, 2 … words are accepted.

        Examples
        --------
        >>> canonical_tags(3).counts(7)
        [2, 8, 46, 310, 2049, 12663, 73944]
        """
        arcs = [(state, after, row.count(after)) for state, row in enumerate(self.following) for after in set(row)]
        ways = [1] + [0] * (self.n_states - 1)
        counts = []
        for _ in range(max_words):
            after_word = [0] * self.n_states
            for state, after, n_tags in arcs:
                if ways[state]:
                    after_word[after] += n_tags * ways[state]
            ways = after_word
            counts.append(sum(number for number, final in zip(ways, self.is_final, strict=True) if final))
        return counts

    def _reaches_end(self, state: int) -> bool:
        seen, waiting = {state}, [state]
        while waiting:
            at = waiting.pop()
            if self.is_final[at]:
                return True
            new = set(self.following[at]) - seen
            seen |= new
            waiting.extend(new)
        return False


def canonical_tags(max_components: int) -> TagLanguage:
    """Return the language of tag sequences that encode sets of mentions with at most this many parts.

    Examples
    --------
    >>> [canonical_tags(max_components).counts(6)[-1] for max_components in (1, 2, 3, 4)]
    [2219, 12598, 12663, 12663]
    """
    if max_components < 1:
        raise StructureError(f"max_components is {max_components}; expected at least 1")
    return _canonical_tags(min(max_components, 3))


@lru_cache(maxsize=3)
def _canonical_tags(n_parts: int) -> TagLanguage:
    if n_parts < 3:
        return language_of(OpenMentions(n_parts, unlimited=False, most=(1, 2, 3), bound="below"))
    return language_of(OpenMentions(2, unlimited=True, most=(1, 2, 2), bound="below"))


def language_of(open_mentions: OpenMentions) -> TagLanguage:
    """Return the minimal deterministic automaton that accepts the same tags."""
    following, is_final = _determinised(open_mentions)
    return _minimised(following, is_final)


def _determinised(open_mentions: OpenMentions) -> tuple[list[list[int]], list[bool]]:
    """Determinise: a deterministic state is the set of reachable states, as bits."""
    states = [open_mentions.start]
    numbers = {open_mentions.start: 0}
    arcs: list[list[int]] = []
    while len(arcs) < len(states):
        row = []
        for tag in range(len(TAGS)):
            reached = 0
            for after in open_mentions.following(states[len(arcs)], tag):
                if after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                reached |= 1 << numbers[after]
            row.append(reached)
        arcs.append(row)
    final = sum(1 << number for number, state in enumerate(states) if open_mentions.is_final(state))
    sets = [1]
    set_numbers = {1: 0}
    following: list[list[int]] = []
    while len(following) < len(sets):
        row = []
        members = _bits(sets[len(following)])
        for tag in range(len(TAGS)):
            reached = 0
            for member in members:
                reached |= arcs[member][tag]
            if reached not in set_numbers:
                set_numbers[reached] = len(sets)
                sets.append(reached)
            row.append(set_numbers[reached])
        following.append(row)
    return following, [bool(members & final) for members in sets]


def _bits(bits: int) -> list[int]:
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found


def _minimised(following: Sequence[Sequence[int]], is_final: Sequence[bool]) -> TagLanguage:
    """Merge states that no continuation distinguishes, and number them in the order in which tags reach them."""
    group = [int(final) for final in is_final]
    n_groups = 0
    while n_groups != len(set(group)):
        n_groups = len(set(group))
        names: dict[tuple[int, ...], int] = {}
        group = [
            names.setdefault((group[state], *(group[after] for after in row)), len(names))
            for state, row in enumerate(following)
        ]
    member = {of: state for state, of in reversed(list(enumerate(group)))}
    order = [group[0]]
    rows = []
    for of in order:  # grows while it is read
        row = [group[after] for after in following[member[of]]]
        order.extend(dict.fromkeys(after for after in row if after not in order))
        rows.append(row)
    number = {of: position for position, of in enumerate(order)}
    return TagLanguage(
        tuple(tuple(number[after] for after in row) for row in rows), tuple(is_final[member[of]] for of in order)
    )
