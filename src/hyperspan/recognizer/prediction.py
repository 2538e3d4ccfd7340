"""From what a model says of sentences to the mentions that are predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hyperspan.inference import Decoder, ScoreBatch, check_decoder
from hyperspan.mentions import Document, Mention, Sentence, Unit, to_characters, unchecked_document
from hyperspan.recognizer.model import Model, batches
from hyperspan.structures import Decoded
from hyperspan.threads import run

_WORTH_THREADS = 1_000

Alternative = tuple[float, tuple[Mention, ...]]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is predicted for a sentence.

    Attributes
    ----------
    mentions : tuple of Mention
        In order, each with its probability.
    truncated : bool
        There were more, and some are missing.
    alternatives : tuple of (float, tuple of Mention)
        The best outcomes with their probabilities, as many as were asked for.
    """

    mentions: tuple[Mention, ...]
    truncated: bool = False
    alternatives: tuple[Alternative, ...] = ()


def predict(
    model: Model, sentences: Iterable[Sentence], decode: str, threshold: float, top: int = 0
) -> Iterator[Prediction]:
    """Yield what is predicted for each of some annotated sentences, in batches that bound memory."""
    decoder = check_decoder(decode)
    for sentences_here in batches(sentences, model.batch_words):
        batch = model.scorer.scores(sentences_here)
        decoded = decode_batch(model, batch, decoder, threshold)
        alternatives = _alternatives(model, batch, top) if top else [()] * batch.n_sentences
        for here, others in zip(decoded, alternatives, strict=True):
            yield Prediction(here.mentions, here.truncated, others)


def decode_batch(model: Model, batch: ScoreBatch, decoder: Decoder, threshold: float) -> list[Decoded]:
    """Return the mentions of each sentence, given their scores, in as many threads as the scorer may use."""
    n_threads = model.scorer.n_threads if len(batch.scores) >= _WORTH_THREADS else 1
    pieces = batch.cut(n_threads)
    found = run(n_threads, lambda number: decoder(model.over(pieces[number]), threshold), n_threads)
    return [decoded for piece in found for decoded in piece]


def _alternatives(model: Model, batch: ScoreBatch, top: int) -> list[tuple[Alternative, ...]]:
    over = model.over(batch)
    found = []
    for outcomes, log_partition in zip(over.k_best(top), over.log_partition().tolist(), strict=True):
        probs = [float(np.exp(min(0.0, outcome.score - log_partition))) for outcome in outcomes]
        readings = [over.read(outcome, "enough").mentions for outcome in outcomes]
        found.append(tuple(zip(probs, readings, strict=True)))
    return found


def with_found(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Prediction]) -> Unit:
    """Return a sentence or document with the mentions that were found in its sentences."""
    return with_mentions(unit, mentions_of(unit, sentences, found))


def with_mentions(unit: Unit, mentions: Sequence[Mention]) -> Unit:
    """Return a sentence or document with mentions that were found in it, and so need no checks."""
    if isinstance(unit, Document):
        return unchecked_document(unit, tuple(mentions))
    return unit.with_mentions(mentions)


def mentions_of(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Prediction]) -> list[Mention]:
    """Return the mentions that were found in the sentences of a unit, in order: of a document as characters."""
    if isinstance(unit, Sentence):
        return list(found[0].mentions)
    return [
        to_characters(mention, sentence.offsets or ())
        for sentence, here in zip(sentences, found, strict=True)
        for mention in here.mentions
    ]
