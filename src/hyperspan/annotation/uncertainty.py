"""How unsure a model is of a document: expected errors, entropy and margin, from exact probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference import BatchDistribution
from hyperspan.mentions import Document, Mention, Sentence, Unit
from hyperspan.recognizer import Prediction, Recognizer, with_found
from hyperspan.recognizer.model import batches
from hyperspan.text import split_document

LEAST_PROB = 0.01
"""Mentions less probable than this are left out of the expected errors."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that might be annotated next.

    Attributes
    ----------
    doc : str
        Its name.
    units : tuple of Sentence or Document
        As it was read.
    cut : tuple of tuples of Sentence
        The sentences of each unit, without mentions.
    """

    doc: str
    units: tuple[Unit, ...]
    cut: tuple[tuple[Sentence, ...], ...]

    @property
    def sentences(self) -> Iterator[Sentence]:
        """All sentences, in order."""
        return chain.from_iterable(self.cut)

    @property
    def n_words(self) -> int:
        """How many words there are to read."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How unsure a model is of a document.

    Attributes
    ----------
    errors : float
        How many errors to expect in what is predicted: ``1 - p`` for each predicted mention, and ``p`` for each other.
    entropy : float
        Of the distribution over the outcomes of all its sentences, in nats.
    margin : float
        How much better the best reading is than the second, as the log of the ratio of their probabilities. The second
        best of a document differs in one sentence, so it is the least of its sentences; infinite for a single reading.
    predicted : tuple of Sentence or Document
        With the predicted mentions and their probabilities.
    """

    errors: float
    entropy: float
    margin: float
    predicted: tuple[Unit, ...]


def candidates(units: Iterable[Unit]) -> list[Candidate]:
    """Return the documents of a corpus, in order of appearance: units of one name are one document."""
    by_name: dict[str, list[Unit]] = {}
    for unit in units:
        by_name.setdefault(unit.doc, []).append(unit)
    return [Candidate(doc, tuple(members), tuple(map(_cut, members))) for doc, members in by_name.items()]


def _cut(unit: Unit) -> tuple[Sentence, ...]:
    bare = unit.with_mentions(())
    return tuple(split_document(bare)) if isinstance(bare, Document) else (bare,)


def uncertainties(
    recognizer: Recognizer, pool: Sequence[Candidate], *, with_margin: bool = True
) -> Iterator[Uncertainty]:
    """Yield how unsure a recognizer is of each document, in their order.

    The margin costs the most, and is left at 0 if it is not wanted.
    """
    per_sentence = _of_sentences(recognizer, (each for one in pool for each in one.sentences), with_margin)
    for candidate in pool:
        here: list[_OfSentence] = []
        predicted = []
        for unit, sentences in zip(candidate.units, candidate.cut, strict=True):
            found = list(islice(per_sentence, len(sentences)))
            predicted.append(with_found(unit, sentences, [Prediction(each.mentions) for each in found]))
            here += found
        yield Uncertainty(
            sum(each.errors for each in here),
            sum(each.entropy for each in here),
            min((each.margin for each in here), default=inf),
            tuple(predicted),
        )


@dataclass(frozen=True, slots=True)
class _OfSentence:
    errors: float
    entropy: float
    margin: float
    mentions: tuple[Mention, ...]


def _of_sentences(recognizer: Recognizer, sentences: Iterable[Sentence], with_margin: bool) -> Iterator[_OfSentence]:
    threshold = recognizer.threshold_
    for batch in batches(sentences):
        over = recognizer.distribution_over(batch)
        found = over.probable(min(LEAST_PROB, threshold))
        of_margin = margins(over) if with_margin else np.zeros(len(batch))
        for decoded, entropy, margin in zip(found, entropies(over).tolist(), of_margin.tolist(), strict=True):
            predicted = tuple(mention for mention in decoded.mentions if (mention.prob or 0.0) >= threshold)
            yield _OfSentence(expected_errors(decoded.mentions, threshold), entropy, margin, predicted)


def expected_errors(mentions: Iterable[Mention], threshold: float) -> float:
    """Return how many errors to expect if mentions from a threshold on are predicted.

    Examples
    --------
    >>> round(expected_errors([Mention("A", [(0, 1)], 0.9), Mention("A", [(1, 2)], 0.2)], 0.3), 3)
    0.3
    """
    probs = [mention.prob or 0.0 for mention in mentions]
    return sum(1.0 - prob if prob >= threshold else prob for prob in probs)


def entropies(over: BatchDistribution[Any]) -> NDArray[np.float64]:
    """Return the entropy of the outcomes of each sentence, in nats.

    Notes
    -----
    With ``p(y) = exp(s(y)) / Z`` it is ``log Z`` less the expected score, and that is the sum over edges of expected
    count times score: exact, whatever the outcomes are. Over ``encodings`` no two outcomes have the same ``enough``
    reading, so it is the entropy of that reading too; over tags several may have, and it is an upper bound.
    """
    if over.structure.has_transitions and over.batch.n_sentences > 1:
        # Marginals of transitions are given for a whole batch.
        return np.concatenate([entropies(over.sentence(number)) for number in range(over.batch.n_sentences)])
    log_partition, edges, transitions = over.marginals()
    of_word = _expected(edges, over.batch.scores).sum(axis=1)
    sentence_of = np.repeat(np.arange(over.batch.n_sentences), over.batch.lengths)
    expected = np.bincount(sentence_of, weights=of_word, minlength=over.batch.n_sentences)
    if over.structure.has_transitions:
        expected = expected + _expected(transitions, over.batch.transitions).sum()
    return np.maximum(0.0, np.where(over.is_possible, log_partition - expected, 0.0))


def _expected(counts: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    # What is forbidden has the score -inf and is never used.
    return np.where(counts > 0.0, counts * np.where(np.isfinite(scores), scores, 0.0), 0.0)


def margins(over: BatchDistribution[Any]) -> NDArray[np.float64]:
    """Return how much better the best outcome of each sentence scores than the second; infinite without a second."""
    return np.array([two[0].score - two[1].score if len(two) > 1 else inf for two in over.k_best(2)])
