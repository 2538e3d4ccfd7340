"""List every mention that not all annotators marked, for a decision, the costliest sentence first."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from hyperspan.agreement.alignment import align, as_words
from hyperspan.agreement.confusion import boundary_class
from hyperspan.agreement.documents import Shared, SharedSentence
from hyperspan.agreement.report import mean
from hyperspan.mentions import Mention, in_order

KINDS = ("alone", "boundary", "type", "type and boundary")
"""How a mention differs from its partner on the other side; ``alone``: it has none."""

COLUMNS = ("cost", "doc", "sentence", "type", "spans", "text", "by", "not_by", "kind", "nearest", "keep")


@dataclass(frozen=True, slots=True)
class Disputed:
    """A mention that some annotators marked and others did not.

    Attributes
    ----------
    mention : Mention
        The mention as it was annotated.
    by, not_by : tuple of str
        The annotators who marked it, and those who have the sentence but did not.
    kind : str
        One of `KINDS`: how it differs from its partner by the first annotator in ``not_by``.
    nearest : Mention or None
        That partner.
    """

    mention: Mention
    by: tuple[str, ...]
    not_by: tuple[str, ...]
    kind: str
    nearest: Mention | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sentence on which annotators differ.

    Attributes
    ----------
    doc : str
        The document.
    number : int
        The number of the sentence in it, from 1.
    shared : SharedSentence
    cost : float
        The cost of the differences, as the mean over pairs of annotators. Boundaries inside a word cost nothing.
    disputed : tuple of Disputed
    """

    doc: str
    number: int
    shared: SharedSentence
    cost: float
    disputed: tuple[Disputed, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return one line of the list."""
        return {
            "doc": self.doc,
            "sentence": self.number,
            "cost": self.cost,
            "tokens": list(self.shared.sentence.tokens),
            "disputed": [
                {
                    **self._mention_record(each.mention),
                    "by": list(each.by),
                    "not_by": list(each.not_by),
                    "kind": each.kind,
                    "nearest": None if each.nearest is None else self._mention_record(each.nearest),
                }
                for each in self.disputed
            ],
        }

    def _mention_record(self, mention: Mention) -> dict[str, Any]:
        return {
            "type": mention.type,
            "spans": [list(part) for part in mention.parts],
            "text": self.shared.text_of(mention),
        }


def disagreements(shared: Shared) -> list[Disagreement]:
    """Return the sentences on which annotators differ, the costliest first.

    Examples
    --------
    >>> from hyperspan import Sentence
    >>> from hyperspan.agreement import share
    >>> words = "blood in stomach and overlying lac".split()
    >>> ann = Sentence(words, [Mention("Finding", [(0, 3)]), Mention("Finding", [(2, 3), (5, 6)])], doc="a")
    >>> bob = Sentence(words, [Mention("Finding", [(0, 3)]), Mention("Finding", [(5, 6)])], doc="a")
    >>> (found,) = disagreements(share({"ann": [ann], "bob": [bob]}))
    >>> for each in found.disputed:
    ...     print(found.shared.text_of(each.mention), "|", each.by, "|", each.kind)
    stomach … lac | ('ann',) | boundary
    lac | ('bob',) | boundary
    """
    found = [
        Disagreement(each.doc, number, sentence, _cost(sentence), _disputed(sentence))
        for each in shared.documents
        for number, sentence in enumerate(each.sentences, 1)
        if not sentence.agrees
    ]
    return sorted(found, key=lambda each: -each.cost)


def _cost(sentence: SharedSentence) -> float:
    words = {annotator: as_words(sentence.words_of(annotator)) for annotator in sentence.mentions}
    return mean(align(words[one], words[other]).cost for one, other in combinations(words, 2))


def _disputed(sentence: SharedSentence) -> tuple[Disputed, ...]:
    have = {annotator: set(mentions) for annotator, mentions in sentence.mentions.items()}
    found = []
    for mention in in_order(set().union(*have.values())):
        by = tuple(annotator for annotator, mentions in have.items() if mention in mentions)
        not_by = tuple(annotator for annotator in have if annotator not in by)
        if not_by:
            found.append(Disputed(mention, by, not_by, *_nearest(sentence, mention, by[0], not_by[0])))
    return tuple(found)


def _nearest(sentence: SharedSentence, mention: Mention, by: str, not_by: str) -> tuple[str, Mention | None]:
    """Return how a mention differs from its partner on the other side, and the partner."""
    if mention not in sentence.in_words:
        return "alone", None
    ours = [each for each in sentence.mentions[by] if each in sentence.in_words]
    theirs = [each for each in sentence.mentions[not_by] if each in sentence.in_words]
    in_words = sentence.in_words
    found = align(as_words(in_words[each] for each in ours), as_words(in_words[each] for each in theirs))
    for row, column, _ in found.pairs:
        if ours[row] == mention:
            other = theirs[column]
            same_words = boundary_class(in_words[mention], in_words[other]) == "equal" and mention.parts == other.parts
            kinds = [
                name
                for name, differs in (("type", mention.type != other.type), ("boundary", not same_words))
                if differs
            ]
            return " and ".join(kinds), other
    return "alone", None


def as_csv(found: Iterable[Disagreement]) -> str:
    """Return the list as a table for a spreadsheet: one mention per row, and an empty column ``keep`` for the decision.

    A cell that a spreadsheet would interpret as a formula gets an apostrophe in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for each in found:
        writer.writerows(_rows(each))
    return file.getvalue()


def _rows(found: Disagreement) -> Iterator[Sequence[str]]:
    for each in found.disputed:
        nearest = "" if each.nearest is None else found.shared.text_of(each.nearest)
        yield [
            f"{found.cost:.3f}",
            *map(
                _harmless,
                (
                    found.doc,
                    " ".join(found.shared.sentence.tokens),
                    each.mention.type,
                    ";".join(f"{start} {end}" for start, end in each.mention.parts),
                    found.shared.text_of(each.mention),
                    "; ".join(each.by),
                    "; ".join(each.not_by),
                    each.kind,
                    nearest,
                    "",
                ),
            ),
        ]


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
