"""List errors, mention by mention, with the most likely reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperspan.evaluation.matching import Comparison
from hyperspan.mentions import Mention, Sentence, Unit

KINDS = ("missed", "spurious", "wrong type", "wrong boundary", "wrong type and boundary")
"""The kinds of errors."""


def list_errors(comparison: Comparison) -> dict[str, Any] | None:
    """Return the false negatives and false positives of a sentence or document as plain data; None if there are none.

    Each has a ``kind``. A gold mention is ``missed``, and a predicted one ``spurious``, if no error of the other side
    shares a word with it. Otherwise it has a ``partner`` there: one with the same parts (``wrong type``), if not, one
    of the same type (``wrong boundary``), if not, any (``wrong type and boundary``). Among several candidates, the one
    with the most words in common wins, then the first. A mention may be the partner of several others.

    Examples
    --------
    >>> from hyperspan.evaluation import compare
    >>> words = "blood in stomach and overlying lac".split()
    >>> gold = Sentence(words, [Mention("Finding", [(0, 3)]), Mention("Finding", [(2, 3), (5, 6)])])
    >>> predicted = Sentence(words, [Mention("Finding", [(0, 3)]), Mention("Finding", [(5, 6)])])
    >>> for error in list_errors(compare(gold, predicted))["errors"]:
    ...     print(error["error"], "|", error["kind"], "|", error["text"], "|", error["partner"]["text"])
    false negative | wrong boundary | stomach … lac | lac
    false positive | wrong boundary | lac | stomach … lac
    """
    if not comparison.missed and not comparison.spurious:
        return None
    gold, predicted = comparison.gold, comparison.predicted
    record: dict[str, Any] = {"doc": gold.doc}
    if gold.place:
        record["place"] = gold.place
    if isinstance(gold, Sentence):
        record["tokens"] = list(gold.tokens)
    record["errors"] = [
        *(
            _error("false negative", "missed", mention, gold, comparison.spurious, predicted, comparison)
            for mention in comparison.missed
        ),
        *(
            _error("false positive", "spurious", mention, predicted, comparison.missed, gold, comparison)
            for mention in comparison.spurious
        ),
    ]
    return record


def _error(
    error: str,
    alone: str,
    mention: Mention,
    unit: Unit,
    others: Sequence[Mention],
    other_unit: Unit,
    comparison: Comparison,
) -> dict[str, Any]:
    kind, partner = _partner(mention, others, comparison)
    record = {"error": error, "kind": kind or alone, **_record(mention, unit)}
    if partner is not None:
        record["partner"] = _record(partner, other_unit)
    return record


def _partner(mention: Mention, others: Sequence[Mention], comparison: Comparison) -> tuple[str | None, Mention | None]:
    best: tuple[int, int] = (0, 0)
    found: tuple[str | None, Mention | None] = (None, None)
    words = _words(mention, comparison)
    for other in others:
        common = len(words & _words(other, comparison))
        if other.parts == mention.parts:
            rank, kind = 3, "wrong type"
        elif not common:
            continue
        elif other.type == mention.type:
            rank, kind = 2, "wrong boundary"
        else:
            rank, kind = 1, "wrong type and boundary"
        if (rank, common) > best:
            best, found = (rank, common), (kind, other)
    return found


def _words(mention: Mention, comparison: Comparison) -> set[int]:
    in_words = comparison.in_words.get(mention)
    return set() if in_words is None else set(in_words.words())


def _record(mention: Mention, unit: Unit) -> dict[str, Any]:
    record: dict[str, Any] = {
        "type": mention.type,
        "spans": [list(part) for part in mention.parts],
        "text": unit.text_of(mention),
    }
    if mention.prob is not None:
        record["prob"] = mention.prob
    return record
