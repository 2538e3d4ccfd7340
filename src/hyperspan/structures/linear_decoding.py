"""Decode tags to mentions. Any sequence of tags can be read, even one that encodes no set of mentions.

The tags are cut into *components*: runs of adjacent words of one type and one kind (contiguous, body, head). A B tag
starts a new component, and so does a change of kind or type. A mention never combines components of different types,
and contains a component completely or not at all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from hyperspan.errors import StructureError
from hyperspan.mentions import Mention

_start = attrgetter("start")

if TYPE_CHECKING:
    from hyperspan.structures.linear import Kind, Linear
    from hyperspan.structures.structure import Encoding


@dataclass(frozen=True, slots=True)
class Component:
    """A run of adjacent words of one type and kind."""

    type: str
    kind: Kind
    begins: bool
    start: int
    end: int


def components(structure: Linear, encoding: Encoding) -> list[Component]:
    """Cut tags into components, from left to right.

    Raises
    ------
    StructureError
        If a label is not a tag of the structure, or the words are not each tagged once and in order.

    Examples
    --------
    >>> from hyperspan.structures.linear import Linear
    >>> structure = Linear(("Finding",))
    >>> tags = ["B", "I", "BH", "O", "BD", "ID", "BD"]
    >>> encoding = tuple((word, structure.tags.index(tag)) for word, tag in enumerate(tags))
    >>> [(component.kind, component.start, component.end) for component in components(structure, encoding)]
    [('contiguous', 0, 2), ('head', 2, 3), ('body', 4, 6), ('body', 6, 7)]
    """
    for position, (word, label) in enumerate(encoding):
        if word != position:
            raise StructureError(f"tag {position} of the sentence is for word {word}; expected one for each in order")
        if not 0 <= label < structure.n_labels:
            raise StructureError(f"label {label} is not one of the {structure.n_labels} of {structure.name!r}")
    found: list[Component] = []
    for word, label in encoding:
        tag = structure.meanings[label]
        if tag is None:
            continue
        last = found[-1] if found else None
        if last and last.end == word and not tag.begins and (last.type, last.kind) == (tag.type, tag.kind):
            found[-1] = Component(last.type, last.kind, last.begins, last.start, word + 1)
        else:
            found.append(Component(tag.type, tag.kind, tag.begins, word, word + 1))
    return found


def all_readings(structure: Linear, encoding: Encoding, most_components: int | None) -> Iterator[Mention]:
    """Yield every mention that the tags can mean, each once: runs first, then combinations, small ones first.

    - Every run of one or more adjacent contiguous and head components whose contiguous members after the first begin
      with an I tag. So every head is a mention.
    - Every combination of two or more body and head components, up to ``most_components`` (None: any number), that
      leaves a gap. Adjacent ones join into one part.
    """
    by_type = _by_type(components(structure, encoding))
    for of_type in by_type:
        for run in _runs(of_type):
            for first in range(len(run)):
                for last in range(first, len(run)):
                    yield Mention(run[0].type, ((run[first].start, run[last].end),))
    pairing = [[component for component in of_type if component.kind != "contiguous"] for of_type in by_type]
    largest = max(map(len, pairing), default=0)
    for size in range(2, (largest if most_components is None else min(most_components, largest)) + 1):
        for of_type in pairing:
            for chosen in combinations(of_type, size):
                mention = _joined(chosen)
                if mention.is_discontiguous:
                    yield mention


def enough_readings(structure: Linear, encoding: Encoding, *, left_first: bool = False) -> Iterator[Mention]:
    """Yield the mentions of one plausible reading, each once; all of them are among `all_readings`.

    - Heads are processed from left to right. Each forms at most two mentions with unused bodies: one with the nearest
      on its left, then one with the nearest on its right; if one side has none, both come from the other. If only one
      body then remains, the head takes it too, as a third mention.
    - Remaining bodies pair up from left to right, each with the next one, the last three together. A lone body is
      dropped.
    - Contiguous components join adjacent heads: each longest run, as `all_readings` has them, is a mention if a
      contiguous component is in it.
    - A head without any mention is a mention by itself.

    A body is part of a mention with a gap, so an adjacent body is skipped in favour of the next, and no more than
    ``max_components`` bodies are combined.

    The paper takes bodies "starting from the closest ones from its left", which can also mean that a head takes both
    from its left as long as there are any: that is ``left_first``. On Chia and PGxCorpus the two readings differ in one
    mention of 40,945, and in none of 6,761.
    """
    for of_type in _by_type(components(structure, encoding)):
        bodies = [component for component in of_type if component.kind == "body"]
        heads = [component for component in of_type if component.kind == "head"]
        if structure.max_components == 1:
            bodies = []
        used = set()
        for head in heads:
            for body in _bodies_of(head, bodies, left_first):
                used.add(head)
                yield _joined([head, body])
        for group in _groups(bodies, structure.max_components):
            yield _joined(group)
        for run in _runs(of_type):
            if any(component.kind == "contiguous" for component in run):
                used.update(run)
                yield _joined(run)
        for head in heads:
            if head not in used:
                yield _joined([head])


def _bodies_of(head: Component, bodies: list[Component], left_first: bool) -> list[Component]:
    """Remove the bodies of a head from the unused ones, which are sorted, and return them."""
    middle = bisect_left(bodies, head.start, key=_start)
    # Three on either side include the two nearest, whether or not the first of them touches the head.
    left = [body for body in reversed(bodies[max(0, middle - 3) : middle]) if body.end < head.start]
    right = [body for body in bodies[middle : middle + 3] if body.start > head.end]
    taken = ([*left, *right] if left_first else [*left[:1], *right, *left[1:]])[:2]
    for body in taken:
        del bodies[bisect_left(bodies, body.start, key=_start)]
    if len(bodies) == 1 and (bodies[0].end < head.start or bodies[0].start > head.end):
        taken.append(bodies.pop())
    return taken


def _groups(bodies: Sequence[Component], max_components: int) -> Iterator[list[Component]]:
    """Pair up bodies from left to right, the last three together; groups without a gap are dropped."""
    waiting = list(reversed(bodies))
    while len(waiting) > 1:
        if len(waiting) == 3 and max_components >= 3:
            group, waiting = waiting[::-1], []
        else:
            first = waiting.pop()
            partner = -1 if waiting[-1].start > first.end else -2
            if len(waiting) < -partner:
                return
            group = [first, waiting.pop(partner)]
        if any(one.end < next.start for one, next in pairwise(group)):
            yield group


def _runs(of_type: Sequence[Component]) -> Iterator[list[Component]]:
    """Yield the longest runs of adjacent contiguous and head components."""
    run: list[Component] = []
    for component in of_type:
        if component.kind == "body":
            continue
        goes_on = component.kind == "head" or not component.begins
        if run and not (run[-1].end == component.start and goes_on):
            yield run
            run = []
        run.append(component)
    if run:
        yield run


def _by_type(found: Sequence[Component]) -> list[list[Component]]:
    types = dict.fromkeys(component.type for component in found)
    return [[component for component in found if component.type == type] for type in types]


def _joined(chosen: Sequence[Component]) -> Mention:
    return Mention.of(chosen[0].type, ((component.start, component.end) for component in chosen))
