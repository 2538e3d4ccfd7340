"""Measure a model's uncertainty about a document: expected errors, entropy and margin, from exact probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, tee
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference import BatchDistribution
from hyperspan.mentions import Document, Mention, Sentence, Unit
from hyperspan.recognizer import Prediction, Recognizer, with_found
from hyperspan.recognizer.model import batches
from hyperspan.structures import Decoded
from hyperspan.text import split_document

LEAST_PROB = 0.01
"""Less probable mentions are left out of the expected errors."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that might be annotated next.

    Attributes
    ----------
    doc : str
        Its name.
    units : tuple of Sentence or Document
        The document as it was read.
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
        """How many words the document has."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """A model's uncertainty about a document.

    Attributes
    ----------
    errors : float
        The expected number of errors in the prediction: ``1 - p`` for each predicted mention, and ``p`` for each other.
        With a second look, these are its probabilities; entropy and margin are always those of the first look.
    entropy : float
        The entropy of the distribution over the outcomes of all its sentences, in nats.
    margin : float
        The log ratio of the probabilities of the best and the second-best reading. The second best of a document
        differs in one sentence, so it is the minimum over its sentences; infinite if there is a single reading.
    predicted : tuple of Sentence or Document
        With the predicted mentions and their probabilities.
    """

    errors: float
    entropy: float
    margin: float
    predicted: tuple[Unit, ...]


def candidates(units: Iterable[Unit]) -> list[Candidate]:
    """Return the documents of a corpus, in order of appearance; units with the same name are one document."""
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
    """Yield a recognizer's uncertainty about each document, in order.

    The margin is the most expensive, and stays 0 if it is not wanted.
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
    lowest = min(LEAST_PROB, threshold)
    second: Iterator[Prediction] | None = None
    if recognizer.rescorer_ is not None:  # the threshold is one for its probabilities
        sentences, again = tee(sentences)
        second = recognizer.find(again, decode="probable", threshold=lowest)
    for batch in batches(sentences, whole_documents=recognizer.reads_documents_):
        over = recognizer.distribution_over(batch)
        found: Sequence[Decoded | Prediction] = (
            over.probable(lowest) if second is None else list(islice(second, len(batch)))
        )
        of_margin = margins(over) if with_margin else np.zeros(len(batch))
        for decoded, entropy, margin in zip(found, entropies(over).tolist(), of_margin.tolist(), strict=True):
            predicted = tuple(mention for mention in decoded.mentions if (mention.prob or 0.0) >= threshold)
            yield _OfSentence(expected_errors(decoded.mentions, threshold), entropy, margin, predicted)


def expected_errors(mentions: Iterable[Mention], threshold: float) -> float:
    """Return the expected number of errors if mentions above a threshold are predicted.

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
    With ``p(y) = exp(s(y)) / Z``, it is ``log Z`` minus the expected score, which is the sum over edges of expected
    count times score: exact for any kind of outcome. Over ``encodings``, no two outcomes have the same ``enough``
    reading, so it is also the entropy of that reading; over tags several may have the same, and it is an upper bound.
    """
    if over.structure.has_transitions and over.batch.n_sentences > 1:
        # Marginals of transitions are sums over a whole batch.
        return np.concatenate([entropies(over.sentence(number)) for number in range(over.batch.n_sentences)])
    log_partition, edges, transitions = over.marginals()
    of_word = _expected(edges, over.batch.scores).sum(axis=1)
    sentence_of = np.repeat(np.arange(over.batch.n_sentences), over.batch.lengths)
    expected = np.bincount(sentence_of, weights=of_word, minlength=over.batch.n_sentences)
    if over.structure.has_transitions:
        expected = expected + _expected(transitions, over.batch.transitions).sum()
    return np.maximum(0.0, np.where(over.is_possible, log_partition - expected, 0.0))


def _expected(counts: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    # Forbidden edges have the score -inf and are never used.
    return np.where(counts > 0.0, counts * np.where(np.isfinite(scores), scores, 0.0), 0.0)


def margins(over: BatchDistribution[Any]) -> NDArray[np.float64]:
    """Return the difference in score of each sentence's best and second-best outcome; infinite without a second."""
    return np.array([two[0].score - two[1].score if len(two) > 1 else inf for two in over.k_best(2)])
