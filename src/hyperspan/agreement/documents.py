"""Match the documents of several annotators, and collect the mentions of each in every sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from hyperspan.diagnostics import Diagnostics, counted, quoted
from hyperspan.errors import UsageError
from hyperspan.evaluation import Comparison, Tokenize, compare, in_sentences
from hyperspan.evaluation.matching import difference_of, name_in_file, words_of
from hyperspan.mentions import Document, Mention, Sentence, Unit, in_order
from hyperspan.text import split_sentences, tokenize


@dataclass(frozen=True)
class SharedSentence:
    """A sentence, and the mentions of each annotator in it.

    Attributes
    ----------
    sentence : Sentence
        The words, without mentions.
    mentions : mapping of str to tuple of Mention
        By annotator, as annotated: in characters if there is a text.
    in_words : mapping of Mention to Mention
        The same in words of this sentence. A mention that covers only white space is missing.
    """

    sentence: Sentence
    mentions: Mapping[str, tuple[Mention, ...]]
    in_words: Mapping[Mention, Mention]

    @property
    def agrees(self) -> bool:
        """Whether all annotators have the same mentions."""
        first, *others = map(set, self.mentions.values())
        return all(first == other for other in others)

    def words_of(self, annotator: str) -> tuple[Mention, ...]:
        """Return the mentions of an annotator in words, without duplicates."""
        return in_order({self.in_words[each] for each in self.mentions[annotator] if each in self.in_words})

    def text_of(self, mention: Mention) -> str:
        """Return the words of a mention as annotated; empty for white space."""
        return self.sentence.text_of(self.in_words[mention]) if mention in self.in_words else ""


@dataclass(frozen=True)
class SharedDocument:
    """A document that two annotators or more have.

    Attributes
    ----------
    doc : str
        Its name.
    units : mapping of str to tuple of Sentence or Document
        The version of each annotator who has it: the same sentences or the same text.
    """

    doc: str
    units: Mapping[str, tuple[Unit, ...]]

    @cached_property
    def sentences(self) -> tuple[SharedSentence, ...]:
        """The sentences, in order. Sentences that a mention of any annotator crosses are joined."""
        found: list[SharedSentence] = []
        for same in zip(*self.units.values(), strict=True):
            of_annotator = dict(zip(self.units, same, strict=True))
            first = same[0]
            found += _cut(first, of_annotator) if isinstance(first, Document) else [_as_it_is(first, of_annotator)]
        return tuple(found)

    @property
    def n_words(self) -> int:
        """How many words it has."""
        return sum(len(shared.sentence) for shared in self.sentences)

    def comparisons(self, first: str, second: str, tokenize: Tokenize = tokenize) -> Iterator[Comparison]:
        """Yield the comparison of two annotators for each sentence, as ``hyperspan evaluate`` makes it."""
        for one, other in zip(self.units[first], self.units[second], strict=True):
            yield from in_sentences(compare(one, other, tokenize=tokenize), split_sentences)


@dataclass(frozen=True)
class Shared:
    """The annotations of several annotators on the same documents.

    Attributes
    ----------
    annotators : tuple of str
        In the given order.
    documents : tuple of SharedDocument
        The documents that two or more have, in the order of the first who has them.
    lacking : mapping of str to tuple of str
        For each annotator, the documents that only others have.
    single : mapping of str to tuple of Sentence or Document
        The documents that only one annotator has.
    """

    annotators: tuple[str, ...]
    documents: tuple[SharedDocument, ...]
    lacking: Mapping[str, tuple[str, ...]]
    single: Mapping[str, tuple[Unit, ...]]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield every pair of annotators, in the given order."""
        yield from combinations(self.annotators, 2)

    def of(self, first: str, second: str) -> list[SharedDocument]:
        """Return the documents that both have."""
        return [shared for shared in self.documents if first in shared.units and second in shared.units]


def share(corpora: Mapping[str, Iterable[Unit]], diagnostics: Diagnostics | None = None) -> Shared:
    """Match the corpora of several annotators by document.

    Parameters
    ----------
    corpora : mapping of str to iterable of Sentence or Document
        By annotator.
    diagnostics : Diagnostics, optional
        Collects documents whose words or text differ between annotators, which are left out. If not given, the first of
        them raises an error. A document that an annotator lacks is not a problem: see `Shared.lacking`.

    Raises
    ------
    UsageError
        If there are fewer than two annotators.
    CorpusError
        If the words or text of a document differ, and no ``diagnostics`` that skip it are given.

    Examples
    --------
    >>> fever = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])], doc="a")
    >>> shared = share({"ann": [fever, Sentence(["pain"], doc="b")], "bob": [fever.with_mentions([])]})
    >>> [each.doc for each in shared.documents], shared.lacking
    (['a'], {'ann': (), 'bob': ('b',)})
    """
    if len(corpora) < 2:
        raise UsageError(f"there is {len(corpora)} annotator; agreement needs two or more")
    diagnostics = diagnostics if diagnostics is not None else Diagnostics()
    by_name = _by_name({annotator: tuple(units) for annotator, units in corpora.items()})
    documents, single = [], {}
    for name, of_annotator in by_name.items():
        units_of = {annotator: tuple(units) for annotator, units in of_annotator.items()}
        if len(units_of) == 1:
            (single[name],) = units_of.values()
        elif (difference := _difference(units_of)) is None:
            documents.append(SharedDocument(name, units_of))
        else:
            diagnostics.report("different-text", difference, path=next(iter(units_of.values()))[0].place or None)
    lacking = {annotator: tuple(name for name in by_name if annotator not in by_name[name]) for annotator in corpora}
    return Shared(tuple(corpora), tuple(documents), lacking, single)


def _by_name(corpora: Mapping[str, Sequence[Unit]]) -> dict[str, dict[str, list[Unit]]]:
    """Return the units of every document by annotator.

    A name that a reader may have made up from the name of the file counts without the file, unless as many annotators
    have it in full: a document in ``test.jsonl`` may really be called ``test-00001``.
    """
    with_name: dict[str, set[str]] = {}
    for annotator, units in corpora.items():
        for unit in units:
            for name in (unit.doc, name_in_file(unit)):
                with_name.setdefault(name, set()).add(annotator)
    by_name: dict[str, dict[str, list[Unit]]] = {}
    for annotator, units in corpora.items():
        for unit in units:
            short = name_in_file(unit)
            name = unit.doc if len(with_name[unit.doc]) >= len(with_name[short]) else short
            by_name.setdefault(name, {}).setdefault(annotator, []).append(unit)
    return by_name


def _difference(units_of: Mapping[str, Sequence[Unit]]) -> str | None:
    """Describe where the words or texts of annotators differ."""
    (first, units), *others = units_of.items()
    doc = quoted(units[0].doc)
    for other, theirs in others:
        if len(theirs) != len(units):
            return (
                f"document {doc} has {counted(len(units), 'sentence')} in {first}, but {len(theirs):,} in {other}; "
                "expected the same of all annotators"
            )
        for number, (one, another) in enumerate(zip(units, theirs, strict=True), 1):
            if (what := difference_of(one, another, first, other)) is not None:
                return f"document {doc}, sentence {number}: {what}; expected the same words of all annotators"
    return None


def _as_it_is(unit: Unit, of_annotator: Mapping[str, Unit]) -> SharedSentence:
    assert isinstance(unit, Sentence)
    mentions = {annotator: each.mentions for annotator, each in of_annotator.items()}
    words = {mention: mention for found in mentions.values() for mention in found}
    return SharedSentence(replace(unit, mentions=(), lost=()), mentions, words)


def _cut(document: Document, of_annotator: Mapping[str, Unit]) -> Iterator[SharedSentence]:
    """Yield the sentences of a document; those that a mention crosses are joined."""
    everything = in_order({mention for unit in of_annotator.values() for mention in unit.mentions})
    starts = _starts(document.text, everything)
    offsets = tokenize(document.text)
    first_words = [bisect_right(offsets, start, key=lambda span: span[1]) for start in starts]
    for number, (start, begin) in enumerate(zip(starts, first_words, strict=True)):
        is_last = number + 1 == len(starts)
        after, end = (
            (len(document.text) + 1, len(offsets)) if is_last else (starts[number + 1], first_words[number + 1])
        )
        here = {
            annotator: tuple(each for each in unit.mentions if start <= each.start < after)
            for annotator, unit in of_annotator.items()
        }
        if begin == end and not any(here.values()):
            continue
        own = tuple(offsets[begin:end])
        sentence = Sentence(tuple(document.text[a:b] for a, b in own), (), document.doc, offsets=own)
        yield SharedSentence(sentence, here, words_of({mention for found in here.values() for mention in found}, own))


def _starts(text: str, mentions: Iterable[Mention]) -> list[int]:
    """Return where sentences start, the first at 0, without boundaries that a mention crosses."""
    starts = [0, *(start for start, _ in split_sentences(text)[1:])]
    for mention in mentions:
        inside = bisect_right(starts, mention.start), bisect_right(starts, mention.end - 1)
        del starts[inside[0] : inside[1]]
    return starts
