"""Encode gold mentions, decode them, and count what is lost: the paper's encoding-decoding table for any corpus."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from hyperspan.ambiguity.counts import STRUCTURES
from hyperspan.ambiguity.readings import count_readings
from hyperspan.errors import UsageError
from hyperspan.mentions import Mention, Sentence
from hyperspan.structures import Decoded, Encoding, Linear, Structure, sizes_for, structure
from hyperspan.structures.linear_decoding import all_readings

DECODERS = ("all", "enough")

ANY_NUMBER = "all_any_number"
"""The third way to read tags: ``all`` with any number of components, one interpretation of the paper."""

MOST_READ = 100_000
"""The maximum number of mentions read from the encoding of one sentence."""


@dataclass(slots=True)
class Errors:
    """Counts of mentions over a corpus: those read from the encodings, the gold ones, and those in both."""

    predicted: int = 0
    gold: int = 0
    right: int = 0
    truncated: int = 0

    @property
    def precision_error(self) -> float:
        """The share of the decoded mentions that are not gold; 0 if there are none."""
        return 1 - self.right / self.predicted if self.predicted else 0.0

    @property
    def recall_error(self) -> float:
        """The share of the gold mentions that are lost; 0 if there are none."""
        return 1 - self.right / self.gold if self.gold else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; ``truncated`` sentences had more mentions than the limit, so that counts are too low."""
        return {
            "precision_error": self.precision_error,
            "recall_error": self.recall_error,
            "predicted": self.predicted,
            "gold": self.gold,
            "truncated": self.truncated,
        }


@dataclass(slots=True)
class Readings:
    """How many sets of mentions have the same encodings as the sentences with mentions."""

    sentences: int = 0
    ambiguous: int = 0
    uncounted: int = 0
    total: int = 0
    log2_total: float = 0.0
    most: int = 0
    worst: list[tuple[int, int, Sentence]] = field(default_factory=list)

    def add(self, sentence: Sentence, number: int | None, n_worst: int) -> None:
        """Add one sentence; the ``n_worst`` most ambiguous ones are kept."""
        self.sentences += 1
        if number is None:
            self.uncounted += 1
            return
        self.ambiguous += number > 1
        self.total += number
        self.log2_total += math.log2(number)
        self.most = max(self.most, number)
        if n_worst and number > 1:
            entry = (number, -self.sentences, sentence)
            if len(self.worst) < n_worst:
                heapq.heappush(self.worst, entry)
            elif entry[:2] > self.worst[0][:2]:
                heapq.heapreplace(self.worst, entry)

    def most_ambiguous(self) -> list[tuple[int, Sentence]]:
        """Return the number of sets and the sentence, most ambiguous first."""
        return [
            (number, sentence) for number, _, sentence in sorted(self.worst, key=lambda entry: (-entry[0], -entry[1]))
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; means are over the sentences whose sets could be counted."""
        counted = self.sentences - self.uncounted
        return {
            "sentences": self.sentences,
            "ambiguous": self.ambiguous,
            "uncounted": self.uncounted,
            "mean": _quotient(self.total, counted),
            "mean_log2": self.log2_total / counted if counted else 0.0,
            "max_log2": math.log2(self.most) if self.most else 0.0,
        }


@dataclass(slots=True)
class OfStructure:
    """The result of a round trip through one structure; ``lost`` counts gold mentions that the reader skipped."""

    errors: dict[str, Errors] = field(default_factory=lambda: {decoder: Errors() for decoder in DECODERS})
    left_out: int = 0
    lost: int = 0
    readings: Readings = field(default_factory=Readings)

    def lose(self, number: int) -> None:
        """Count gold mentions that the reader skipped."""
        self.lost += number
        for errors in self.errors.values():
            errors.gold += number

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            **{decoder: errors.as_dict() for decoder, errors in self.errors.items()},
            "left_out": self.left_out,
            "lost": self.lost,
            "mention_sets": self.readings.as_dict(),
        }


def round_trip(
    sentences: Iterable[Sentence],
    *,
    max_components: int = 3,
    linear_components: int | str | None = "same",
    n_worst: int = 3,
) -> dict[str, OfStructure]:
    """Encode and decode the mentions of a corpus with every structure.

    Parameters
    ----------
    sentences : iterable of Sentence
        Sentences with gold mentions.
    max_components : int
        The most parts of a mention; mentions with more are left out of the encodings, and so are lost.
    linear_components : int, None or "same"
        How many components ``all`` combines for ``linear``: None for any number; by default ``max_components``. In
        addition, `ANY_NUMBER` has the errors if any number is combined.
    n_worst : int
        How many of the most ambiguous sentences to keep for each structure.

    Examples
    --------
    >>> mentions = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)], [(0, 1), (5, 6)])]
    >>> sentence = Sentence("Infarctions either water shed or embolic".split(), mentions)
    >>> table = round_trip([sentence])
    >>> table["linear"].errors["all"].predicted, table["shared"].errors["all"].predicted
    (5, 3)
    >>> table["linear"].errors["enough"].recall_error.__round__(2), table["shared"].readings.most
    (0.33, 1)
    """
    most_joined = max_components if linear_components == "same" else linear_components
    if isinstance(most_joined, str) or (most_joined is not None and most_joined < 1):
        raise UsageError(f"linear_components is {linear_components!r}; expected a number from 1 on, None or 'same'")
    names = (*STRUCTURES, "segments")
    table = {name: OfStructure() for name in names}
    table["linear"].errors[ANY_NUMBER] = Errors()
    for name in names:
        _structure(
            name, ("any",), max_components
        )  # raises an error for a wrong number of parts before any sentence is read
    for sentence in sentences:
        if not sentence.mentions:
            for of_structure in table.values():
                of_structure.lose(len(sentence.lost))
            continue
        types = tuple(sorted({mention.type for mention in sentence.mentions}))
        for name, of_structure in table.items():
            sizes = tuple(sizes_for(name, sentence.mentions, 1.0).items())
            _add(of_structure, _structure(name, types, max_components, sizes), sentence, most_joined, n_worst)
    return table


def _add(result: OfStructure, chosen: Structure, sentence: Sentence, most_joined: int | None, n_worst: int) -> None:
    encoded = chosen.encode(sentence.mentions, len(sentence))
    result.left_out += len(encoded.left_out)
    result.lose(len(sentence.lost))
    gold = set(sentence.mentions)
    for decoder, errors in result.errors.items():
        mentions, truncated = _decoded(decoder, chosen, encoded.encoding, most_joined)
        errors.predicted += len(mentions)
        errors.gold += len(gold)
        errors.right += len(gold & mentions)
        errors.truncated += truncated
    result.readings.add(sentence, count_readings(chosen, encoded.encoding), n_worst)


def _decoded(decoder: str, chosen: Structure, encoding: Encoding, most_joined: int | None) -> tuple[set[Mention], bool]:
    if decoder != "enough" and chosen.kind == "chain":
        limit = None if decoder == ANY_NUMBER else most_joined
        decoded = Decoded.first(all_readings(cast(Linear, chosen), encoding, limit), MOST_READ)
    else:
        decoded = chosen.decode(encoding, "all" if decoder == "all" else "enough", limit=MOST_READ)
    return set(decoded.mentions), decoded.truncated


@lru_cache(maxsize=4096)
def _structure(
    name: str, types: tuple[str, ...], max_components: int, sizes: tuple[tuple[str, int], ...] = ()
) -> Structure:
    return structure(name, types, max_components, dict(sizes))


def _quotient(total: int, number: int) -> float | None:
    """Return the mean of huge integers, or None if no float is large enough."""
    if not number:
        return 0.0
    try:
        return total / number
    except OverflowError:
        return None
