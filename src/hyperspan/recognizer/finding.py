"""From the distribution over a sentence's outcomes to the mentions that are found in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hyperspan.inference import Distribution, Outcome
from hyperspan.inference.tag_sequences import TagSequences
from hyperspan.mentions import Mention, Sentence, Unit, to_characters
from hyperspan.recognizer.settings import Decode
from hyperspan.structures import Decoded, decode_all, decode_enough

MOST_WORK = 1_000_000
"""About how many words are gone over to give the mentions of one sentence their probabilities: some seconds' worth."""

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


def find_in_outcomes(over: Distribution, decode: Decode, threshold: float, top: int = 0) -> Found:
    """Return the mentions to find in a sentence, given the distribution over its outcomes."""
    decoded = decoded_from(over, decode, threshold)
    return Found(decoded.mentions, decoded.truncated, _alternatives(over, top))


def decoded_from(over: Distribution, decode: Decode, threshold: float) -> Decoded:
    """Return the mentions that are probable, or those of the best outcome, each with its probability."""
    if decode == "probable":
        return over.probable(threshold)
    return _with_probs(over, _read(over, over.best(), decode))


def with_found(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Found]) -> Unit:
    """Return a sentence or document with the mentions that were found in its sentences."""
    if isinstance(unit, Sentence):
        return unit.with_mentions(found[0].mentions)
    mentions = [
        to_characters(mention, sentence.offsets or ())
        for sentence, here in zip(sentences, found, strict=True)
        for mention in here.mentions
    ]
    return unit.with_mentions(mentions)


def _alternatives(over: Distribution, top: int) -> tuple[Alternative, ...]:
    if not top:
        return ()
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


def _with_probs(over: Distribution, decoded: Decoded) -> Decoded:
    """Return mentions with their probability; no more of them than can be worked out in some seconds."""
    if isinstance(over, TagSequences):  # its probabilities are counted in samples: all of them at once
        sampled = over.probable(0.0, limit=max(1, MOST_WORK))
        known = {mention: mention.prob for mention in sampled.mentions}
        with_prob = [replace(mention, prob=known.get(mention, 0.0)) for mention in decoded.mentions]
        return replace(decoded, mentions=tuple(with_prob))
    with_prob, work = [], 0
    for mention in decoded.mentions:
        work += mention.end - mention.start + over.n_words // 100
        if with_prob and work > MOST_WORK:
            return Decoded(tuple(with_prob), truncated=True)
        with_prob.append(replace(mention, prob=over.prob_of([mention])))
    return replace(decoded, mentions=tuple(with_prob))
