"""From what a model says of sentences to the mentions that are found in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from hyperspan.features import FeatureBlock
from hyperspan.inference import Distribution, Outcome
from hyperspan.inference.outcomes import bounded, with_probs
from hyperspan.inference.tags_together import TagScores, all_tags_in, enough_tags_in, probable_tags_in
from hyperspan.inference.together import Sentences, all_in, enough_in, probable_in
from hyperspan.mentions import Document, Mention, Sentence, Unit, to_characters, unchecked_document
from hyperspan.recognizer.model import Model, batches
from hyperspan.recognizer.settings import Decode
from hyperspan.structures import Decoded, Linear, decode_all, decode_enough
from hyperspan.threads import run

_WORTH_THREADS = 1_000

Alternative = tuple[float, tuple[Mention, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a sentence.

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


def find_mentions(
    model: Model, sentences: Iterable[Sentence], decode: Decode, threshold: float, top: int = 0
) -> Iterator[Found]:
    """Yield what is found in each of some annotated sentences, in batches that bound memory."""
    for batch in batches(sentences):
        block = model.extractor.transform(batch)
        decoded = decoded_in(model, block, decode, threshold)
        overs = model.distributions_of(block) if top else repeat(None, len(batch))
        for here, over in zip(decoded, overs, strict=True):
            yield Found(here.mentions, here.truncated, () if over is None else _alternatives(over, top))


def decoded_in(model: Model, block: FeatureBlock, decode: Decode, threshold: float) -> list[Decoded]:
    """Return the mentions that are probable, or those of the best outcome, for each sentence, given their features.

    The same as `decoded_from` says of each; over encodings for many at once, which takes a fraction of the time, and in
    as many threads as extract features.
    """
    if model.over != "encodings":
        return [decoded_from(over, decode, threshold) for over in model.distributions_of(block)]
    n_threads = model.extractor.threads if block.n_tokens >= _WORTH_THREADS else 1
    pieces = block.cut(n_threads)

    def work(number: int) -> list[Decoded]:
        scores, first_word = model.scores(pieces[number]), pieces[number].first_token
        if isinstance(model.structure, Linear):
            tag_scores = TagScores(model.structure, scores, model.transitions, first_word)
            return _decoded_from_tags(tag_scores, decode, threshold)
        return _decoded_together(Sentences(model.structure, scores, first_word), decode, threshold)

    return [decoded for piece in run(n_threads, work, n_threads) for decoded in piece]


def _decoded_together(sentences: Sentences, decode: Decode, threshold: float) -> list[Decoded]:
    if decode == "probable":
        return probable_in(sentences, threshold)
    return enough_in(sentences) if decode == "enough" else all_in(sentences)


def _decoded_from_tags(sentences: TagScores, decode: Decode, threshold: float) -> list[Decoded]:
    if decode == "probable":
        return probable_tags_in(sentences, threshold)
    return enough_tags_in(sentences) if decode == "enough" else all_tags_in(sentences)


def decoded_from(over: Distribution, decode: Decode, threshold: float) -> Decoded:
    """Return the mentions that are probable, or those of the best outcome, each with its probability."""
    if decode == "probable":
        return over.probable(threshold)
    decoded = bounded(_read(over, over.best(), decode))
    return with_probs(decoded, [over.prob_of([mention]) for mention in decoded.mentions])


def with_found(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Found]) -> Unit:
    """Return a sentence or document with the mentions that were found in its sentences."""
    return with_mentions(unit, mentions_of(unit, sentences, found))


def with_mentions(unit: Unit, mentions: Sequence[Mention]) -> Unit:
    """Return a sentence or document with mentions that were found in it, and so need no checks."""
    if isinstance(unit, Document):
        return unchecked_document(unit, tuple(mentions))
    return unit.with_mentions(mentions)


def mentions_of(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Found]) -> list[Mention]:
    """Return the mentions that were found in the sentences of a unit, in order: of a document as characters."""
    if isinstance(unit, Sentence):
        return list(found[0].mentions)
    return [
        to_characters(mention, sentence.offsets or ())
        for sentence, here in zip(sentences, found, strict=True)
        for mention in here.mentions
    ]


def _alternatives(over: Distribution, top: int) -> tuple[Alternative, ...]:
    log_partition = over.log_partition()
    return tuple(
        (float(np.exp(min(0.0, outcome.score - log_partition))), _read(over, outcome, "enough").mentions)
        for outcome in over.k_best(top)
    )


def _read(over: Distribution, outcome: Outcome, decode: Decode) -> Decoded:
    if outcome.mentions is not None:
        return Decoded(outcome.mentions, outcome.truncated)
    reading = decode_all if decode == "all" else decode_enough
    return reading(over.structure, outcome.edges)
