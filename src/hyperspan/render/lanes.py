"""Place mentions on lanes below a sentence: each on a single lane, without overlap."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from hyperspan.mentions import Mention, Sentence

Lane: TypeAlias = list[Mention]
"""Mentions that do not cover each other."""

Number = TypeVar("Number", int, float)


def lay_lanes(
    mentions: Iterable[Mention], extent: Callable[[Mention], tuple[Number, Number]] | None = None
) -> list[Lane]:
    """Place mentions on lanes greedily: the longest first, each on the first lane with enough space.

    Parameters
    ----------
    mentions : iterable of Mention
    extent : callable, optional
        The columns a mention takes, including its label; from its first to its last word if not given.

    Examples
    --------
    >>> lanes = lay_lanes([Mention("A", [(0, 2)]), Mention("A", [(0, 1), (3, 4)]), Mention("B", [(4, 5)])])
    >>> [[mention.parts for mention in lane] for lane in lanes]
    [[((0, 1), (3, 4)), ((4, 5),)], [((0, 2),)]]
    """
    measure: Callable[[Mention], tuple[Any, Any]] = extent or (lambda mention: (mention.start, mention.end))
    lanes: list[tuple[Lane, list[tuple[Any, Any]]]] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start - mention.end, mention)):
        taken_by = measure(mention)
        for lane, taken in lanes:
            if _has_room(taken, *taken_by):
                lane.append(mention)
                insort(taken, taken_by)
                break
        else:
            lanes.append(([mention], [taken_by]))
    return [sorted(lane) for lane, _ in lanes]


def _has_room(taken: list[tuple[Any, Any]], start: Any, end: Any) -> bool:
    after = bisect_left(taken, (start, end))
    return (after == 0 or taken[after - 1][1] <= start) and (after == len(taken) or end <= taken[after][0])


def mention_data(sentence: Sentence, mention: Mention) -> dict[str, Any]:
    """Return a mention as plain data: its type, parts, probability and words."""
    return {
        "type": mention.type,
        "parts": [list(part) for part in mention.parts],
        "prob": mention.prob,
        "text": sentence.text_of(mention),
    }


def sentence_data(sentence: Sentence) -> dict[str, Any]:
    """Return a sentence with its mentions on lanes, as plain data for pages, notebooks and files.

    Returns
    -------
    dict
        ``doc``, ``tokens``, ``types`` (those that occur, in alphabetical order) and ``lanes``: a list of lists of
        mentions, each with ``type``, ``parts`` (half-open token offsets), ``prob`` (None if unknown) and ``text``.

    Examples
    --------
    >>> sentence = Sentence("water shed or embolic".split(), [Mention("Finding", [(0, 2)], prob=0.9)])
    >>> sentence_data(sentence)["lanes"]
    [[{'type': 'Finding', 'parts': [[0, 2]], 'prob': 0.9, 'text': 'water shed'}]]
    """
    return {
        "doc": sentence.doc,
        "tokens": list(sentence.tokens),
        "types": sorted({mention.type for mention in sentence.mentions}),
        "lanes": [[mention_data(sentence, mention) for mention in lane] for lane in lay_lanes(sentence.mentions)],
    }


def sentence_of_data(data: Mapping[str, Any]) -> Sentence:
    """Return the sentence that `sentence_data` described.

    Examples
    --------
    >>> sentence = Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])], doc="a")
    >>> sentence_of_data(sentence_data(sentence)) == sentence
    True
    """
    mentions = [
        Mention(mention["type"], mention["parts"], mention.get("prob")) for lane in data["lanes"] for mention in lane
    ]
    return Sentence(tuple(data["tokens"]), tuple(mentions), data.get("doc", ""))


def mention_label(mention: Mention) -> str:
    """Return the label of a mention: its type, and its probability if there is one."""
    return mention.type if mention.prob is None else f"{mention.type} {mention.prob:.2f}"


def mention_title(sentence: Sentence, mention: Mention) -> str:
    """Describe a mention in words.

    Examples
    --------
    >>> sentence = Sentence("laceration in distal esophagus".split())
    >>> mention_title(sentence, Mention("Finding", [(0, 1), (3, 4)], prob=0.87))
    'Finding, 2 parts, probability 0.87: laceration … esophagus'
    """
    parts = f", {len(mention.parts)} parts" if mention.is_discontiguous else ""
    prob = "" if mention.prob is None else f", probability {mention.prob:.2f}"
    return f"{mention.type}{parts}{prob}: {sentence.text_of(mention)}"


def weight(mention: Mention) -> float:
    """Return the line weight of a mention, 0 to 1: its probability, or 1 if unknown."""
    return 1.0 if mention.prob is None else min(1.0, max(0.0, mention.prob))
