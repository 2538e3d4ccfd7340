"""Which documents to annotate next: the most uncertain ones, no near-duplicates, within a budget of words."""

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
"""How much a document is worth."""

MOST_SIMILAR = 0.5
_SHINGLE = 3


def shingles(candidate: Candidate) -> frozenset[tuple[str, ...]]:
    """Return every three words of a document that follow each other, in lower case; all words of a shorter one."""
    words = [word.lower() for sentence in candidate.sentences for word in sentence.tokens]
    if len(words) < _SHINGLE:
        return frozenset([tuple(words)])
    return frozenset(zip(*(words[shift:] for shift in range(_SHINGLE)), strict=False))


class Seen:
    """Documents that were chosen or annotated already, and how similar others are to them.

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
        """Take a document up."""
        found = shingles(candidate)
        for shingle in found:
            self._where[shingle].append(len(self._sizes))
        self._sizes.append(len(found))

    def similarity(self, candidate: Candidate) -> float:
        """Return Jaccard's index of the shingles of a document and those of the most similar one seen, 0 to 1."""
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
        Their positions in the pool, the most valuable first.
    n_similar : int
        How many were passed over because they are too similar to one chosen or annotated before.
    n_too_long : int
        How many were passed over because they did not fit into what was left of the budget.
    """

    chosen: list[int]
    n_similar: int
    n_too_long: int


def worth(
    strategy: str, pool: Sequence[Candidate], found: Sequence[Uncertainty], *, per_word: bool = True, seed: int = 0
) -> list[float]:
    """Return how much each document is worth under a strategy.

    Parameters
    ----------
    strategy : {"errors", "entropy", "margin", "random"}
    pool, found : sequences
        The documents, and how unsure a model is of each; nothing is asked of it under ``random``.
    per_word : bool
        Divide expected errors and entropy by the number of words, which is what annotating costs.
    seed : int
        Which order ``random`` gives.
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
        What each is worth.
    n : int, optional
        The most documents to choose.
    n_words : int, optional
        The most words they may have together. A document that does not fit any more is passed over.
    most_similar : float
        Pass over what is at least so similar to something chosen or annotated before; above 1 nothing is.
    annotated : iterable of Candidate
        What is annotated already: documents of the same name and similar ones are passed over.
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
