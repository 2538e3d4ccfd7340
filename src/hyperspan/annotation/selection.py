"""Select the documents to annotate next: the most uncertain, without near-duplicates, within a budget of words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hyperspan.annotation.uncertainty import Candidate, Uncertainty
from hyperspan.errors import UsageError

STRATEGIES: Mapping[str, Callable[[Uncertainty], float]] = {
    "errors": lambda found: found.errors,
    "entropy": lambda found: found.entropy,
    "margin": lambda found: -found.margin,
    "random": lambda found: 0.0,
}
"""The value of a document under a strategy."""

MOST_SIMILAR = 0.5
_SHINGLE = 3


def shingles(candidate: Candidate) -> frozenset[tuple[str, ...]]:
    """Return every three consecutive words of a document, in lower case; all words of a shorter one."""
    words = [word.lower() for sentence in candidate.sentences for word in sentence.tokens]
    if len(words) < _SHINGLE:
        return frozenset([tuple(words)])
    return frozenset(zip(*(words[shift:] for shift in range(_SHINGLE)), strict=False))


class Seen:
    """Documents that were already chosen or annotated, to compare others with.

    Examples
    --------
    >>> from hyperspan import Sentence
    >>> one, other = (
    ...     Candidate(doc, (), ((Sentence(text.split()),),))
    ...     for doc, text in {"a": "no fever or rash seen", "b": "no fever or rash today"}.items()
    ... )
    >>> seen = Seen()
    >>> seen.add(one)
    >>> seen.similarity(other), seen.similarity(one)
    (0.5, 1.0)
    """

    def __init__(self) -> None:
        self._where: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._sizes: list[int] = []

    def add(self, candidate: Candidate) -> None:
        """Add a document."""
        found = shingles(candidate)
        for shingle in found:
            self._where[shingle].append(len(self._sizes))
        self._sizes.append(len(found))

    def similarity(self, candidate: Candidate) -> float:
        """Return the highest Jaccard index of a document's shingles with those of a seen one, 0 to 1."""
        found = shingles(candidate)
        shared = Counter(number for shingle in found for number in self._where.get(shingle, ()))
        return max(
            (count / (len(found) + self._sizes[number] - count) for number, count in shared.items()), default=0.0
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """The documents that were chosen.

    Attributes
    ----------
    chosen : list of int
        Their indices in the pool, the most valuable first.
    n_similar : int
        How many were skipped because they are too similar to one chosen or annotated before.
    n_too_long : int
        How many were skipped because they exceed the remaining budget.
    """

    chosen: list[int]
    n_similar: int
    n_too_long: int


def worth(
    strategy: str, pool: Sequence[Candidate], found: Sequence[Uncertainty], *, per_word: bool = True, seed: int = 0
) -> list[float]:
    """Return the value of each document under a strategy.

    Parameters
    ----------
    strategy : {"errors", "entropy", "margin", "random"}
    pool, found : sequences
        The documents, and the model's uncertainty about each, which ``random`` ignores.
    per_word : bool
        Divide expected errors and entropy by the number of words, which measure the cost of annotation.
    seed : int
        Determines the order of ``random``.
    """
    if strategy not in STRATEGIES:
        raise UsageError(f"there is no strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
    if strategy == "random":
        order: list[float] = np.random.default_rng(seed).permutation(len(pool)).astype(float).tolist()
        return order
    values = map(STRATEGIES[strategy], found)
    if strategy == "margin" or not per_word:
        return list(values)
    return [value / max(1, candidate.n_words) for value, candidate in zip(values, pool, strict=True)]


def select(
    pool: Sequence[Candidate],
    values: Sequence[float],
    *,
    n: int | None = None,
    n_words: int | None = None,
    most_similar: float = MOST_SIMILAR,
    annotated: Iterable[Candidate] = (),
) -> Selection:
    """Choose documents one after another, the most valuable first.

    Parameters
    ----------
    pool : sequence of Candidate
    values : sequence of float
        The value of each.
    n : int, optional
        The maximum number of documents to choose.
    n_words : int, optional
        The maximum number of words in total. A document that no longer fits is skipped.
    most_similar : float
        Skip documents at least this similar to one chosen or annotated before; above 1, nothing is skipped.
    annotated : iterable of Candidate
        The documents that are already annotated: documents of the same name and similar ones are skipped.
    """
    seen, names = Seen(), set[str]()
    for candidate in annotated:
        seen.add(candidate)
        names.add(candidate.doc)
    chosen: list[int] = []
    n_similar = n_too_long = n_taken = 0
    for place in sorted(range(len(pool)), key=lambda place: (-values[place], place)):
        if n is not None and len(chosen) >= n:
            break
        candidate = pool[place]
        if candidate.doc in names or not candidate.n_words:
            continue
        if n_words is not None and n_taken + candidate.n_words > n_words:
            n_too_long += 1
        elif most_similar <= 1.0 and seen.similarity(candidate) >= most_similar:
            n_similar += 1
        else:
            seen.add(candidate)
            chosen.append(place)
            n_taken += candidate.n_words
    return Selection(chosen, n_similar, n_too_long)
