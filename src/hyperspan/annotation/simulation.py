"""Simulate learning curves: compare selection strategies with random choice on an annotated corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from hyperspan.annotation.selection import STRATEGIES, select, worth
from hyperspan.annotation.uncertainty import Candidate, uncertainties
from hyperspan.errors import LearningError
from hyperspan.mentions import Unit
from hyperspan.recognizer import Recognizer

_Row: TypeAlias = tuple[float, float, float]
"""Mean words, mean F1 and its standard deviation."""


@dataclass(frozen=True, slots=True)
class Point:
    """One training: the annotated data so far, and the resulting F1.

    Attributes
    ----------
    strategy : str
    seed : int
    round : int
        0 is the random start, which all strategies of a seed share.
    words, documents : int
        The number of annotated words and documents.
    f1 : float
        The F1 on the corpus for scoring.
    """

    strategy: str
    seed: int
    round: int
    words: int
    documents: int
    f1: float


def simulate(
    settings: Mapping[str, Any],
    pool: Sequence[Candidate],
    gold: Sequence[Unit],
    *,
    strategies: Sequence[str] = tuple(STRATEGIES),
    n_rounds: int = 5,
    n_words: int = 2_000,
    start_words: int | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    per_word: bool = True,
) -> Iterator[Point]:
    """Yield the learning curve of each strategy, point by point.

    Every seed starts with documents chosen at random. In every round, a recognizer is trained on the annotated
    documents, scored, and used to choose the documents whose gold mentions are revealed next.

    Parameters
    ----------
    settings : mapping
        The arguments of each `Recognizer`.
    pool : sequence of Candidate
        Documents with gold mentions, which stay hidden until they are chosen.
    gold : sequence of Sentence or Document
        The corpus for scoring, not used for training or selection.
    strategies : sequence of str
    n_rounds, n_words : int
        The number of rounds, and the words chosen in each.
    start_words : int, optional
        The words of the random start; the same as a round if not given.
    seeds : sequence of int
    per_word : bool
        As in `worth`.
    """
    for seed in seeds:
        beginning = _chosen_at_random(pool, start_words or n_words, seed)
        first = _trained(settings, pool, beginning)
        f1 = first.evaluate(gold).all.f1
        for strategy in strategies:
            annotated, recognizer = list(beginning), first
            yield _point(strategy, seed, 0, pool, annotated, f1)
            for number in range(1, n_rounds + 1):
                taken = set(annotated)
                rest = [place for place in range(len(pool)) if place not in taken]
                values = _values(recognizer, strategy, [pool[place] for place in rest], seed, number, per_word)
                chosen = select([pool[place] for place in rest], values, n_words=n_words).chosen
                if not chosen:
                    break
                annotated += [rest[place] for place in chosen]
                recognizer = _trained(settings, pool, annotated)
                yield _point(strategy, seed, number, pool, annotated, recognizer.evaluate(gold).all.f1)


def _values(
    recognizer: Recognizer, strategy: str, rest: Sequence[Candidate], seed: int, number: int, per_word: bool
) -> list[float]:
    if strategy == "random":
        return worth("random", rest, (), seed=1_000 * seed + number)
    found = list(uncertainties(recognizer, rest, with_margin=strategy == "margin"))
    return worth(strategy, rest, found, per_word=per_word)


def _chosen_at_random(pool: Sequence[Candidate], n_words: int, seed: int) -> list[int]:
    return select(pool, worth("random", pool, (), seed=seed), n_words=n_words).chosen


def _trained(settings: Mapping[str, Any], pool: Sequence[Candidate], places: Sequence[int]) -> Recognizer:
    units = [unit for place in places for unit in pool[place].units]
    try:
        return Recognizer(**settings).fit(units)
    except LearningError as error:
        n_words = sum(pool[place].n_words for place in places)
        raise LearningError(f"nothing can be learned from the first {n_words:,} words: {error}") from None


def _point(strategy: str, seed: int, number: int, pool: Sequence[Candidate], places: Sequence[int], f1: float) -> Point:
    return Point(strategy, seed, number, sum(pool[place].n_words for place in places), len(places), f1)


@dataclass(frozen=True, slots=True)
class Curve:
    """The mean learning curve of a strategy over seeds.

    Attributes
    ----------
    strategy : str
    words, f1, deviation : list of float
        By round: mean words, mean F1, and the standard deviation of F1 over seeds.
    words_for_same : float or None
        How many words it needs to reach the final F1 of random choice, interpolated; None if it does not reach it.
    saved : float or None
        The share of words saved compared with random choice.
    """

    strategy: str
    words: list[float]
    f1: list[float]
    deviation: list[float]
    words_for_same: float | None
    saved: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return asdict(self)


def curves(points: Sequence[Point]) -> list[Curve]:
    """Return the mean curve of each strategy, in order of appearance.

    Examples
    --------
    >>> f1_by_round = {"errors": (0.2, 0.6, 0.7), "random": (0.2, 0.4, 0.5)}
    >>> points = [
    ...     Point(strategy, 0, number, 100 + 100 * number, number, f1)
    ...     for strategy, values in f1_by_round.items()
    ...     for number, f1 in enumerate(values)
    ... ]
    >>> found, _ = curves(points)
    >>> round(found.words_for_same), round(found.saved, 3)
    (175, 0.417)
    """
    found: dict[str, dict[int, list[Point]]] = {}
    for point in points:
        found.setdefault(point.strategy, {}).setdefault(point.round, []).append(point)
    means = {
        strategy: [
            (
                float(np.mean([point.words for point in here])),
                float(np.mean([point.f1 for point in here])),
                float(np.std([point.f1 for point in here])),
            )
            for here in by_round.values()
        ]
        for strategy, by_round in found.items()
    }
    by_chance = means.get("random")
    return [_curve(strategy, rows, by_chance[-1] if by_chance else None) for strategy, rows in means.items()]


def _curve(strategy: str, rows: Sequence[_Row], end_of_random: _Row | None) -> Curve:
    needed = None if end_of_random is None else _words_for(end_of_random[1], rows)
    return Curve(
        strategy,
        [words for words, _, _ in rows],
        [f1 for _, f1, _ in rows],
        [deviation for _, _, deviation in rows],
        needed,
        None if needed is None or end_of_random is None else 1.0 - needed / end_of_random[0],
    )


def _words_for(f1: float, rows: Sequence[_Row]) -> float | None:
    """Return the number of words at which a curve first reaches an F1."""
    before: tuple[float, float] | None = None
    for words, reached, _ in rows:
        if reached >= f1:
            if before is None:
                return words
            return before[0] + (words - before[0]) * (f1 - before[1]) / (reached - before[1])
        before = (words, reached)
    return None
