"""Merge the corpora of several annotators into one, recording who marked which mention."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hyperspan.agreement.documents import Shared
from hyperspan.errors import UsageError
from hyperspan.mentions import Mention, Unit, in_order

RULES: Mapping[str, Callable[[int, int], bool]] = {
    "majority": lambda n_with, n_annotators: 2 * n_with > n_annotators,
    "union": lambda n_with, n_annotators: n_with > 0,
    "intersection": lambda n_with, n_annotators: n_with == n_annotators,
}
"""Whether to keep a mention, given how many annotators marked it and how many have its document."""


def adjudicate(shared: Shared, rule: str) -> Iterator[Unit]:
    """Yield each document with the mentions that a rule keeps.

    Each mention has the attribute ``annotators``, the names of those who marked it; its other attributes come from the
    first of them. A document that only one annotator has keeps all its mentions.

    Parameters
    ----------
    shared : Shared
    rule : {"majority", "union", "intersection"}
        Keep what more than half of the annotators of the document marked, what anyone marked, or what all marked. With
        two annotators, more than half means both.

    Raises
    ------
    UsageError
        If there is no such rule.

    Examples
    --------
    >>> from hyperspan import Sentence
    >>> from hyperspan.agreement import share
    >>> fever, rash = Mention("Finding", [(0, 1)]), Mention("Finding", [(2, 3)])
    >>> ann = Sentence("fever and rash".split(), [fever, rash], doc="a")
    >>> shared = share({"ann": [ann], "bob": [ann.with_mentions([fever])], "cat": [ann.with_mentions([])]})
    >>> for sentence in adjudicate(shared, "majority"):
    ...     print([(sentence.text_of(each), each.attributes["annotators"]) for each in sentence.mentions])
    [('fever', ('ann', 'bob'))]
    """
    if rule not in RULES:
        raise UsageError(f"there is no rule {rule!r} to adjudicate by; expected one of {', '.join(RULES)}")
    keeps = RULES[rule]
    for each in shared.documents:
        for same in zip(*each.units.values(), strict=True):
            mentions_of = {
                annotator: {mention: mention for mention in unit.mentions}
                for annotator, unit in zip(each.units, same, strict=True)
            }
            yield _merged(same[0], mentions_of, keeps)
    for doc, units in shared.single.items():
        (annotator,) = (name for name in shared.annotators if doc not in shared.lacking[name])
        for unit in units:
            yield _merged(unit, {annotator: {mention: mention for mention in unit.mentions}}, keeps)


def _merged(
    unit: Unit, mentions_of: Mapping[str, Mapping[Mention, Mention]], keeps: Callable[[int, int], bool]
) -> Unit:
    kept = []
    for mention in in_order({mention for mentions in mentions_of.values() for mention in mentions}):
        have = tuple(annotator for annotator, mentions in mentions_of.items() if mention in mentions)
        if keeps(len(have), len(mentions_of)):
            attributes = mentions_of[have[0]][mention].attributes
            kept.append(Mention(mention.type, mention.parts, None, {**attributes, "annotators": have}))
    return replace(unit, mentions=tuple(kept), source=None, lost=())
