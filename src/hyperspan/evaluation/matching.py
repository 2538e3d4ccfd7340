"""Pair gold and predicted sentences, and compare their mentions."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TypeAlias

from hyperspan.diagnostics import quoted
from hyperspan.errors import AlignmentError, CorpusError, UsageError
from hyperspan.mentions import Document, Mention, Sentence, Span, Unit, to_tokens

Tokenize: TypeAlias = Callable[[str], Sequence[Span]]
"""Returns the offsets of the words in a text, in order."""

_MADE_UP = re.compile(r"(.+)[:-]\d+", re.DOTALL)
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Comparison:
    """One sentence or document: which mentions are right, missed and spurious.

    Attributes
    ----------
    gold, predicted : Sentence or Document
        The two sides, with the same tokens or text.
    right : tuple of Mention
        On both sides with the same type and parts; taken from the prediction.
    missed, spurious : tuple of Mention
        Only in gold, and only in the prediction.
    in_words : mapping of Mention to Mention
        Every mention in word offsets. A mention that covers only white space is missing.
    """

    gold: Unit
    predicted: Unit
    right: tuple[Mention, ...]
    missed: tuple[Mention, ...]
    spurious: tuple[Mention, ...]
    in_words: Mapping[Mention, Mention]

    @property
    def gold_mentions(self) -> tuple[Mention, ...]:
        """All gold mentions, without duplicates."""
        return self.right + self.missed

    @property
    def predicted_mentions(self) -> tuple[Mention, ...]:
        """All predicted mentions, without duplicates."""
        return self.right + self.spurious

    def words_of(self, mentions: Iterable[Mention]) -> list[Mention]:
        """Return mentions in word offsets, without those that cover no word."""
        return [self.in_words[mention] for mention in mentions if mention in self.in_words]


def comparisons(
    gold: Iterable[Unit], predicted: Iterable[Unit], *, tokenize: Tokenize | None = None
) -> Iterator[Comparison]:
    """Compare two corpora one sentence or document at a time, in the order of the first.

    Parameters
    ----------
    gold, predicted : iterable of Sentence or Document
        `pairs` says which of them belong together.
    tokenize : callable, optional
        Returns the offsets of the words in a document's text, as ``hyperspan.text.tokenize`` does. Not needed for
        sentences.

    Examples
    --------
    >>> words = "blood in stomach".split()
    >>> gold = Sentence(words, [Mention("Finding", [(0, 3)]), Mention("Site", [(2, 3)])])
    >>> predicted = Sentence(words, [Mention("Finding", [(0, 1)]), Mention("Site", [(2, 3)])])
    >>> for found in comparisons([gold], [predicted]):
    ...     print([[gold.text_of(mention) for mention in kind] for kind in (found.right, found.missed, found.spurious)])
    [['stomach'], ['blood in stomach'], ['blood']]
    """
    for gold_unit, predicted_unit in pairs(gold, predicted):
        yield compare(gold_unit, predicted_unit, tokenize=tokenize)


def compare(gold: Unit, predicted: Unit, *, tokenize: Tokenize | None = None) -> Comparison:
    """Compare the mentions of one sentence or document as sets, without checking that the two belong together."""
    wanted, found = set(gold.mentions), set(predicted.mentions)
    return Comparison(
        gold,
        predicted,
        tuple(sorted(mention for mention in found if mention in wanted)),
        tuple(sorted(wanted - found)),
        tuple(sorted(found - wanted)),
        _in_words(gold, wanted | found, tokenize),
    )


def _in_words(unit: Unit, mentions: set[Mention], tokenize: Tokenize | None) -> dict[Mention, Mention]:
    if isinstance(unit, Sentence):
        return {mention: mention for mention in mentions}
    if tokenize is None:
        raise UsageError(
            f"document {quoted(unit.doc)} has character offsets, but gaps and overlaps are counted in words; "
            "define them, for example with tokenize=hyperspan.text.tokenize"
        )
    return words_of(mentions, tokenize(unit.text) if mentions else ())


def words_of(mentions: Iterable[Mention], offsets: Sequence[Span]) -> dict[Mention, Mention]:
    """Convert mentions of a text to the words they touch, given the words' offsets; drop those that touch none.

    Examples
    --------
    >>> words_of([Mention("Finding", [(3, 7), (10, 14)])], [(0, 2), (3, 8), (9, 14)])
    {Mention(type='Finding', parts=((3, 7), (10, 14)), prob=None): Mention(type='Finding', parts=((1, 3),), prob=None)}
    """
    in_words = {}
    for mention in mentions:
        spans: list[Span] = []
        for part in mention.parts:
            try:
                spans += to_tokens(replace(mention, parts=(part,)), offsets, widen=True).parts
            except AlignmentError:  # only white space
                continue
        if spans:
            in_words[mention] = Mention.of(mention.type, spans)
    return in_words


def pairs(gold: Iterable[Unit], predicted: Iterable[Unit]) -> Iterator[tuple[Unit, Unit]]:
    """Yield gold and predicted sentences or documents that belong together, in the order of gold.

    The n-th sentence of a document in gold belongs to its n-th sentence in the prediction. Both are read in step. If
    documents are in a different order, the prediction is read ahead and buffered. Sentences without a document name,
    which the reader names after the file, are paired in order.

    Raises
    ------
    CorpusError
        If a sentence of one side has no partner on the other, or tokens or text differ. The message names the first
        difference.

    Examples
    --------
    >>> fever, pain = Sentence(["fever"], doc="a"), Sentence(["pain"], doc="b")
    >>> [one.doc + other.doc for one, other in pairs([fever, pain], [pain, fever])]
    ['aa', 'bb']
    >>> list(pairs([fever, pain], [fever, Sentence(["pains"], doc="b")]))
    Traceback (most recent call last):
    ...
    hyperspan.errors.CorpusError: gold and prediction differ at sentence 2, document 'b': token 0 is 'pain' in gold, but
    'pains' in the prediction. Both must have the same tokens: predict on the gold corpus itself.
    """
    rest = iter(predicted)
    waiting: dict[str, deque[Unit]] = defaultdict(deque)
    number = 0
    for number, unit in enumerate(gold, 1):
        partner = _partner(unit, rest, waiting)
        if partner is None:
            raise _no_partner(unit, number, waiting)
        _check_same(unit, partner, number)
        yield unit, partner
    left = next((units[0] for units in waiting.values() if units), None) or next(rest, None)
    if left is not None:
        raise CorpusError(
            f"the prediction has a {_kind(left)} that gold lacks: {_where(left)}, when all {number} of gold "
            "have their partners. Both must hold the same documents with the same sentences."
        )


def _partner(unit: Unit, rest: Iterator[Unit], waiting: dict[str, deque[Unit]]) -> Unit | None:
    if units := waiting.get(unit.doc):
        partner = units.popleft()
        if not units:
            del waiting[unit.doc]
        return partner
    for other in rest:
        if other.doc == unit.doc or (not waiting and _has_made_up_name(unit) and _has_made_up_name(other)):
            return other
        waiting[other.doc].append(other)
    return None


def _has_made_up_name(unit: Unit) -> bool:
    return name_in_file(unit) != unit.doc


def name_in_file(unit: Unit) -> str:
    """Return the name of a document; only the number if the reader had to name it after its file.

    Examples
    --------
    >>> name_in_file(Sentence(["fever"], doc="gold-00012", place="corpus/gold.jsonl:12"))
    '-00012'
    """
    match = _MADE_UP.fullmatch(unit.doc)
    if match is None or not unit.place:
        return unit.doc
    path = PurePath(re.sub(r":\d+$", "", unit.place)).with_suffix("").as_posix()
    return unit.doc[match.end(1) :] if path == match[1] or path.endswith(f"/{match[1]}") else unit.doc


def _no_partner(unit: Unit, number: int, waiting: Mapping[str, Sequence[Unit]]) -> CorpusError:
    other = next((units[0] for units in waiting.values() if units), None)
    seen = "the prediction ends before it" if other is None else f"the prediction has {_where(other)} in its place"
    return CorpusError(
        f"{_kind(unit)} {number} of gold has no partner: {_where(unit)}; {seen}. "
        "Both must hold the same documents with the same sentences."
    )


def _check_same(gold: Unit, predicted: Unit, number: int) -> None:
    difference = difference_of(gold, predicted, "gold", "the prediction")
    if difference is None:
        return
    if type(gold) is not type(predicted):
        raise CorpusError(
            f"gold and prediction differ at {_kind(gold)} {number}, {_where(gold)}: {difference}. "
            "'hyperspan convert' brings one into the form of the other."
        )
    what = "tokens" if isinstance(gold, Sentence) else "text"
    raise CorpusError(
        f"gold and prediction differ at {_kind(gold)} {number}, {_where(gold, predicted)}: {difference}. "
        f"Both must have the same {what}: predict on the gold corpus itself."
    )


def difference_of(one: Unit, other: Unit, first: str, second: str) -> str | None:
    """Describe where the tokens or texts of two sides differ, given the names of the sides; None if they are equal.

    Examples
    --------
    >>> difference_of(Sentence(["no", "fever"]), Sentence(["no", "pain"]), "ann", "bob")
    "token 1 is 'fever' in ann, but 'pain' in bob"
    """
    if isinstance(one, Sentence) and isinstance(other, Sentence):
        return _sequence_difference(one.tokens, other.tokens, first, second)
    if isinstance(one, Document) and isinstance(other, Document):
        return _sequence_difference(one.text, other.text, first, second)
    have = {Sentence: "tokens", Document: "text with character offsets"}
    return f"{first} has {have[type(one)]}, but {second} has {have[type(other)]}"


def _sequence_difference(one: Sequence[str], other: Sequence[str], first: str, second: str) -> str | None:
    if one == other:
        return None
    at = _first_difference(one, other)
    if at == min(len(one), len(other)):
        what = "characters" if isinstance(one, str) else "tokens"
        return f"{first} has {len(one)} {what}, but {second} {len(other)}"
    if isinstance(one, str):
        here = slice(at, at + _SHOWN)
        return (
            f"at character {at} the text continues with {quoted(one[here])} in {first}, "
            f"but with {quoted(other[here])} in {second}"
        )
    return f"token {at} is {quoted(one[at])} in {first}, but {quoted(other[at])} in {second}"


def _first_difference(one: Sequence[str], other: Sequence[str]) -> int:
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _kind(unit: Unit) -> str:
    return "sentence" if isinstance(unit, Sentence) else "document"


def _where(*units: Unit) -> str:
    places = " and ".join(unit.place for unit in units if unit.place)
    return f"document {quoted(units[0].doc)}" + (f" ({places})" if places else "")


def neighbours(mentions: Iterable[Mention], others: Iterable[Mention]) -> Iterator[list[int]]:
    """Yield for each mention the indices of the others that share a word with it, whatever their type.

    Examples
    --------
    >>> list(neighbours([Mention("A", [(0, 3)])], [Mention("A", [(4, 5)]), Mention("B", [(2, 3), (4, 5)])]))
    [[1]]
    """
    at_word: dict[int, list[int]] = defaultdict(list)
    for position, other in enumerate(others):
        for word in other.words():
            at_word[word].append(position)
    for mention in mentions:
        yield sorted({position for word in mention.words() for position in at_word.get(word, ())})


def most_partners(gold: Sequence[Mention], predicted: Sequence[Mention]) -> int:
    """Return how many mentions can be paired one to one so that each pair has the same type and a common word.

    Examples
    --------
    >>> gold = [Mention("A", [(0, 2)]), Mention("A", [(2, 4)])]
    >>> most_partners(gold, [Mention("A", [(0, 4)])]), most_partners(gold, [Mention("A", [(1, 4)]), gold[1]])
    (1, 2)
    """
    candidates = [
        [position for position in shared if predicted[position].type == mention.type]
        for mention, shared in zip(gold, neighbours(gold, predicted), strict=True)
    ]
    candidates = [shared for shared in candidates if shared]
    bound = min(len(candidates), len({position for shared in candidates for position in shared}))
    taken: set[int] = set()
    for shared in candidates:
        taken.update([position for position in shared if position not in taken][:1])
    # A greedy pairing is nearly always enough; one that reaches the upper bound is a largest one.
    return bound if len(taken) == bound else _largest_pairing(candidates, len(predicted))


def _largest_pairing(candidates: Sequence[Sequence[int]], n_columns: int) -> int:
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    columns = np.concatenate([np.asarray(shared, dtype=np.int32) for shared in candidates])
    first = np.concatenate([[0], np.cumsum([len(shared) for shared in candidates])]).astype(np.int32)
    links = csr_array((np.ones(len(columns), dtype=bool), columns, first), shape=(len(candidates), n_columns))
    return int(np.count_nonzero(maximum_bipartite_matching(links, perm_type="column") >= 0))
