"""From what a model says of sentences to the mentions that are predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hyperspan.inference import Decoder, ScoreBatch, check_decoder
from hyperspan.mentions import (
    Document,
    Mention,
    Sentence,
    Unit,
    in_order,
    to_characters,
    unchecked_document,
    unchecked_mention,
)
from hyperspan.recognizer.model import BATCH_WORDS, Model, batches
from hyperspan.scoring import DocumentBorders, MentionScorer, Proposal
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
    if model.rescorer is not None:
        yield from rescored(model, model.rescorer, sentences, decode, threshold, top)
        return
    decoder = check_decoder(decode)
    for sentences_here in batches(sentences, model.batch_words, whole_documents=model.reads_documents):
        batch = model.scorer.scores(sentences_here)
        decoded = decode_batch(model, batch, decoder, threshold)
        alternatives = _alternatives(model, batch, top) if top else [()] * batch.n_sentences
        for here, others in zip(decoded, alternatives, strict=True):
            yield Prediction(here.mentions, here.truncated, others)


def rescored(
    model: Model, rescorer: MentionScorer, sentences: Iterable[Sentence], decode: str, threshold: float, top: int = 0
) -> Iterator[Prediction]:
    """Yield what is predicted after a second look.

    Under ``probable`` the candidates count whose new probability is at least the threshold. The other decoders choose
    mentions as they do without; these get the same probabilities, except that one too improbable to be a candidate
    keeps the one it has.
    """
    decoder = None if decode == "probable" else check_decoder(decode)
    for looked_at in _documents(first_look(model, rescorer.proposal, sentences, decoder, threshold, top)):
        candidates = [here.candidates for here in looked_at]
        probs = rescorer.probs([here.sentence for here in looked_at], candidates)
        for here, of_sentence in zip(looked_at, probs, strict=True):
            new = [
                unchecked_mention(mention.type, mention.parts, prob)
                for mention, prob in zip(here.candidates, of_sentence, strict=True)
                if decoder is not None or prob >= threshold
            ]
            if here.chosen is not None:
                by_mention = {mention: mention for mention in new}
                new = [by_mention.get(mention, mention) for mention in here.chosen]
            yield Prediction(tuple(new), here.truncated, here.alternatives)


class FirstLook(NamedTuple):
    """What the first look says of a sentence.

    Attributes
    ----------
    sentence : Sentence
    candidates : tuple of Mention
        In order, each with its exact probability.
    chosen : tuple of Mention, or None
        What a decoder chose, if there was one.
    truncated : bool
        There were more mentions as probable as the threshold than are among the candidates.
    alternatives : tuple
        As in `Prediction`.
    """

    sentence: Sentence
    candidates: tuple[Mention, ...]
    chosen: tuple[Mention, ...] | None = None
    truncated: bool = False
    alternatives: tuple[Alternative, ...] = ()


def first_look(
    model: Model,
    proposal: Proposal,
    sentences: Iterable[Sentence],
    decoder: Decoder | None = None,
    threshold: float = 1.0,
    top: int = 0,
) -> Iterator[FirstLook]:
    """Yield the candidates of each sentence, in batches that bound memory, and what a decoder chooses beside."""
    for sentences_here in batches(sentences, model.batch_words, whole_documents=model.reads_documents):
        batch = model.scorer.scores(sentences_here)
        proposed = _proposed(model, batch, proposal, threshold)
        chosen = [None] * batch.n_sentences if decoder is None else decode_batch(model, batch, decoder, threshold)
        alternatives = _alternatives(model, batch, top) if top else [()] * batch.n_sentences
        for sentence, here, best, others in zip(sentences_here, proposed, chosen, alternatives, strict=True):
            if best is None:
                yield FirstLook(sentence, here.mentions, None, here.truncated, others)
            else:
                yield FirstLook(sentence, here.mentions, best.mentions, best.truncated, others)


def _proposed(model: Model, batch: ScoreBatch, proposal: Proposal, threshold: float) -> list[Decoded]:
    """Return the candidates of each sentence; truncated where some as probable as the threshold are missing."""
    decoded = decode_batch(model, batch, lambda over, _: over.probable(proposal.lowest), threshold)
    for number, here in enumerate(decoded):
        if here.truncated:  # a search that was cut short may have missed likely ones: look for these once more
            (likely,) = model.over(batch.sentence(number)).probable(max(proposal.lowest))
            everything = {mention: mention for mention in (*here.mentions, *likely.mentions)}
            decoded[number] = Decoded(in_order(everything), likely.truncated)
        if len(here.mentions) > proposal.most:
            decoded[number] = _most_probable(decoded[number], proposal.most, threshold)
    return decoded


def _most_probable(decoded: Decoded, most: int, threshold: float) -> Decoded:
    """Return the most probable mentions of each number of parts."""
    falling = sorted(decoded.mentions, key=lambda mention: (-(mention.prob or 0.0), mention))
    n_so_far: Counter[int] = Counter()
    kept, truncated = [], decoded.truncated
    for mention in falling:
        n_so_far[len(mention.parts)] += 1
        if n_so_far[len(mention.parts)] <= most:
            kept.append(mention)
        else:
            truncated |= (mention.prob or 0.0) >= threshold
    return Decoded(in_order(kept), truncated)


def _documents(looked_at: Iterable[FirstLook]) -> Iterator[list[FirstLook]]:
    """Put sentences together so that no document is cut."""
    borders, so_far, n_words = DocumentBorders(), list[FirstLook](), 0
    for here in looked_at:
        if borders.begins(here.sentence) and n_words >= BATCH_WORDS:
            yield so_far
            so_far, n_words = [], 0
        so_far.append(here)
        n_words += len(here.sentence)
    if so_far:
        yield so_far


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
