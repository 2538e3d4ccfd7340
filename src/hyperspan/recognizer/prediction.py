"""Predict the mentions of sentences with a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.inference import BatchDistribution, Decoder, ScoreBatch, check_decoder
from hyperspan.inference.mention_rows import MentionRows, joined_rows
from hyperspan.inference.outcomes import most_probable
from hyperspan.mentions import (
    Document,
    Mention,
    Sentence,
    Unit,
    in_order,
    to_characters,
    unchecked_document,
)
from hyperspan.recognizer.model import BATCH_WORDS, Model, batches
from hyperspan.scoring import DocumentBorders, MentionScorer, Proposal, Proposed
from hyperspan.structures import Decoded
from hyperspan.structures.decoding import MOST_MENTIONS
from hyperspan.threads import run

_WORTH_THREADS = 1_000
_HIGHEST_SEARCHED = 0.5

Alternative = tuple[float, tuple[Mention, ...]]
Found = TypeVar("Found")

_WHOLE, _CUT = Decoded(()), Decoded((), truncated=True)
_NONE: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for a sentence.

    Attributes
    ----------
    mentions : tuple of Mention
        In order, each with its probability.
    truncated : bool
        Whether there were more mentions, in the prediction or in an alternative, so that some are missing.
    alternatives : tuple of (float, tuple of Mention)
        The requested number of best outcomes, with their probabilities.
    """

    mentions: tuple[Mention, ...]
    truncated: bool = False
    alternatives: tuple[Alternative, ...] = ()


def predict(
    model: Model, sentences: Iterable[Sentence], decode: str, threshold: float, top: int = 0
) -> Iterator[Prediction]:
    """Yield the prediction for each annotated sentence, processed in batches that bound memory."""
    if model.rescorer is not None:
        yield from rescored(model, model.rescorer, sentences, decode, threshold, top)
        return
    decoder = check_decoder(decode)
    for sentences_here in batches(sentences, model.batch_words, whole_documents=model.reads_documents):
        if top:
            batch = model.scorer.scores(sentences_here)
            alternatives, decoded = _alternatives(model, batch, top, decode_batch(model, batch, decoder, threshold))
        else:
            decoded, alternatives = _decoded(model, sentences_here, decoder, threshold), [()] * len(sentences_here)
        for here, others in zip(decoded, alternatives, strict=True):
            yield Prediction(here.mentions, here.truncated, others)


def _decoded(model: Model, sentences: Sequence[Sentence], decoder: Decoder, threshold: float) -> list[Decoded]:
    """Return the mentions of each sentence; for some types after another, where there would be too many scores."""
    return _of_all_types(
        [
            decode_batch(some, some.scorer.scores(sentences), decoder, threshold)
            for some in model.by_types(sum(map(len, sentences)))
        ]
    )


def _of_all_types(found: Sequence[list[Decoded]]) -> list[Decoded]:
    """Return the mentions of each sentence, given those of some types after another."""
    if len(found) == 1:
        return found[0]
    return [
        most_probable(
            [mention for here in of_types for mention in here.mentions],
            MOST_MENTIONS,
            any(here.truncated for here in of_types),
        )
        for of_types in zip(*found, strict=True)
    ]


def rescored(
    model: Model, rescorer: MentionScorer, sentences: Iterable[Sentence], decode: str, threshold: float, top: int = 0
) -> Iterator[Prediction]:
    """Yield the predictions after a second look.

    Under ``probable``, these are the candidates whose new probability is at least the threshold. The other decoders
    choose the same mentions as without a second look and give them the new probabilities; a mention too improbable to
    be a candidate keeps its old one.
    """
    decoder = None if decode == "probable" else check_decoder(decode)
    for look in _whole_documents(first_looks(model, rescorer.proposal, sentences, decoder, threshold, top)):
        probs = rescorer.probs(look.sentences, look.candidates)
        which = np.flatnonzero(probs >= threshold) if decoder is None else np.arange(len(probs))
        found = look.candidates.mentions(which, probs[which])
        for here, decoded, alternatives in zip(found, look.decoded, look.alternatives, strict=True):
            if decoder is None:
                kept = most_probable(here, MOST_MENTIONS, decoded.truncated)
            else:
                by_mention = {mention: mention for mention in here}
                kept = replace(decoded, mentions=tuple(by_mention.get(each, each) for each in decoded.mentions))
            yield Prediction(kept.mentions, kept.truncated, alternatives)


class FirstLook(NamedTuple):
    """The result of the first look at some sentences.

    Attributes
    ----------
    sentences : list of Sentence
    candidates : Proposed
        Sorted, each with its exact probability.
    decoded : list of Decoded
        What a decoder chose in each sentence. Without a decoder it has no mentions, and ``truncated`` says whether some
        mentions at least as probable as the threshold are not among the candidates.
    alternatives : list of tuple
        As in `Prediction`.
    """

    sentences: list[Sentence]
    candidates: Proposed
    decoded: list[Decoded]
    alternatives: list[tuple[Alternative, ...]]

    @classmethod
    def joined(cls, pieces: Sequence[FirstLook]) -> FirstLook:
        """Return pieces as one."""
        if len(pieces) == 1:
            return pieces[0]
        return cls(
            [sentence for piece in pieces for sentence in piece.sentences],
            Proposed.joined([piece.candidates for piece in pieces]),
            [decoded for piece in pieces for decoded in piece.decoded],
            [alternatives for piece in pieces for alternatives in piece.alternatives],
        )

    def of_documents(self, begins: Sequence[bool]) -> FirstLook:
        """Return the same with the documents of the sentences."""
        return self._replace(candidates=replace(self.candidates, document=np.cumsum(begins, dtype=np.int64)))

    def piece(self, begin: int, end: int) -> FirstLook:
        """Return the first look at some consecutive sentences."""
        return FirstLook(
            self.sentences[begin:end],
            self.candidates.piece(begin, end),
            self.decoded[begin:end],
            self.alternatives[begin:end],
        )


def first_looks(
    model: Model,
    proposal: Proposal,
    sentences: Iterable[Sentence],
    decoder: Decoder | None = None,
    threshold: float = 1.0,
    top: int = 0,
) -> Iterator[FirstLook]:
    """Yield the candidates of sentences and the choice of a decoder, in batches that bound memory.

    As in `predict`, some types are searched after another where there would be too many scores, unless alternatives
    are wanted, which combine all types.
    """
    for sentences_here in batches(sentences, model.batch_words, whole_documents=model.reads_documents):
        by_types = [model] if top else model.by_types(sum(map(len, sentences_here)))
        looks = [_first_look(some, proposal, sentences_here, decoder, threshold, top) for some in by_types]
        yield looks[0] if len(looks) == 1 else _look_at_all_types(model, looks, proposal, decoder, threshold)


def _first_look(
    model: Model, proposal: Proposal, sentences: list[Sentence], decoder: Decoder | None, threshold: float, top: int
) -> FirstLook:
    batch = model.scorer.scores(sentences)
    candidates, truncated = _proposed(model, batch, proposal, threshold)
    if decoder is None:
        decoded = [_CUT if is_cut else _WHOLE for is_cut in truncated.tolist()]
    else:
        decoded = decode_batch(model, batch, decoder, threshold)
    alternatives = [_NONE] * batch.n_sentences
    if top:
        alternatives, decoded = _alternatives(model, batch, top, decoded)
    return FirstLook(sentences, candidates, decoded, alternatives)


def _look_at_all_types(
    model: Model, looks: Sequence[FirstLook], proposal: Proposal, decoder: Decoder | None, threshold: float
) -> FirstLook:
    """Return one first look, given those at the same sentences for some types after another."""
    sentences, first_type, tables = looks[0].sentences, 0, list[MentionRows]()
    for look in looks:
        tables.append(look.candidates.rows._replace(block=look.candidates.rows.block + first_type))
        first_type += len(look.candidates.types)
    lengths = np.array(list(map(len, sentences)))
    candidates, lacking = _candidates_among(joined_rows(tables), model.structure.types, lengths, proposal, threshold)
    decoded = _of_all_types([look.decoded for look in looks])
    if decoder is None:
        for number in lacking.tolist():
            decoded[number] = _CUT
    return FirstLook(sentences, candidates, decoded, looks[0].alternatives)


def candidates_in(model: Model, proposal: Proposal, sentences: Iterable[Sentence]) -> Proposed:
    """Return the candidates of sentences."""
    looks = [look.candidates for look in first_looks(model, proposal, sentences)]
    return Proposed.joined(looks) if looks else Proposed.of((), model.structure.types)


def _proposed(
    model: Model, batch: ScoreBatch, proposal: Proposal, threshold: float
) -> tuple[Proposed, NDArray[np.bool_]]:
    """Return the candidates of each sentence, and whether some at least as probable as the threshold are missing."""

    def search(piece: ScoreBatch) -> tuple[Proposed, NDArray[np.bool_]]:
        over = model.over(piece)
        rows, was_cut = over.probable_rows(proposal.lowest, MOST_MENTIONS)
        for number in np.flatnonzero(was_cut).tolist():
            rows, reached = _once_more(over, rows, number, proposal.lowest)
            was_cut[number] = threshold < reached
        found, lacking = _candidates_among(rows, over.block_types, piece.lengths, proposal, threshold)
        was_cut[lacking] = True
        return found, was_cut

    found, truncated = zip(*_in_threads(model, batch, search), strict=True)
    return Proposed.joined(found), np.concatenate(truncated)


def _candidates_among(
    rows: MentionRows, types: Sequence[str], lengths: NDArray[np.int64], proposal: Proposal, threshold: float
) -> tuple[Proposed, NDArray[np.int64]]:
    """Return the candidates among rows, and the sentences where some at least as probable as the threshold are lost."""
    found, lost = Proposed.found(rows, types, len(lengths)).most_probable(proposal.most_in(lengths))
    return found, np.unique(lost.sentence[lost.prob >= threshold])


def _once_more(
    over: BatchDistribution[Any], rows: MentionRows, number: int, lowest: Sequence[float]
) -> tuple[MentionRows, float]:
    """Search a sentence again whose search was cut, and add what is found.

    The end of the sentence may not have been reached. So the lowest probability is doubled until the search is not cut;
    also return that probability, or infinity if the search is always cut.
    """
    is_here = rows.sentence == number
    here, others = (rows.chosen(np.flatnonzero(which)) for which in (is_here, ~is_here))
    (known,) = here._replace(sentence=np.zeros_like(here.sentence)).mentions(over.block_types, 1)
    everything, again = {mention: mention for mention in known}, over.sentence(number)
    reached, is_cut = min(lowest), True
    while is_cut and reached < _HIGHEST_SEARCHED:
        reached *= 2.0
        (likely,) = again.probable([max(least, reached) for least in lowest])
        everything |= {mention: mention for mention in likely.mentions}
        is_cut = likely.truncated
    kept = Proposed.of([in_order(everything)], over.block_types).rows
    return joined_rows([others, kept._replace(sentence=kept.sentence + number)]), np.inf if is_cut else reached


def _whole_documents(looks: Iterable[FirstLook]) -> Iterator[FirstLook]:
    """Group sentences so that no document is split."""
    borders, waiting, begun, n_words = DocumentBorders(), list[FirstLook](), list[bool](), 0
    for look in looks:
        begin = 0
        for place, sentence in enumerate(look.sentences):
            begins = borders.begins(sentence)
            if begins and n_words >= BATCH_WORDS:
                yield FirstLook.joined([*waiting, look.piece(begin, place)]).of_documents(begun)
                waiting, begun, n_words, begin = [], [], 0, place
            begun.append(begins)
            n_words += len(sentence.tokens)
        waiting.append(look.piece(begin, len(look.sentences)) if begin else look)
    if waiting:
        yield FirstLook.joined(waiting).of_documents(begun)


def decode_batch(model: Model, batch: ScoreBatch, decoder: Decoder, threshold: float) -> list[Decoded]:
    """Return the mentions of each sentence, given their scores, with as many threads as the scorer may use."""
    found = _in_threads(model, batch, lambda piece: decoder(model.over(piece), threshold))
    return [decoded for piece in found for decoded in piece]


def _in_threads(model: Model, batch: ScoreBatch, work: Callable[[ScoreBatch], Found]) -> list[Found]:
    """Return the results for the pieces of a batch, in order, with as many threads as the scorer may use."""
    n_threads = model.scorer.n_threads if len(batch.scores) >= _WORTH_THREADS else 1
    pieces = batch.cut(n_threads)
    return run(n_threads, lambda number: work(pieces[number]), n_threads)


def _alternatives(
    model: Model, batch: ScoreBatch, top: int, decoded: Sequence[Decoded]
) -> tuple[list[tuple[Alternative, ...]], list[Decoded]]:
    """Return the best outcomes of each sentence, and what was decoded, truncated also where one of these is."""
    over = model.over(batch)
    found, marked = [], []
    for outcomes, log_partition, here in zip(over.k_best(top), over.log_partition().tolist(), decoded, strict=True):
        probs = [float(np.exp(min(0.0, outcome.score - log_partition))) for outcome in outcomes]
        readings = [over.read(outcome, "enough") for outcome in outcomes]
        found.append(tuple(zip(probs, (reading.mentions for reading in readings), strict=True)))
        marked.append(replace(here, truncated=here.truncated or any(reading.truncated for reading in readings)))
    return found, marked


def with_found(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Prediction]) -> Unit:
    """Return a sentence or document with the mentions that were found in its sentences."""
    return with_mentions(unit, mentions_of(unit, sentences, found))


def with_mentions(unit: Unit, mentions: Sequence[Mention]) -> Unit:
    """Return a sentence or document with predicted mentions, which need no validation."""
    if isinstance(unit, Document):
        return unchecked_document(unit, tuple(mentions))
    return unit.with_mentions(mentions)


def mentions_of(unit: Unit, sentences: Sequence[Sentence], found: Sequence[Prediction]) -> list[Mention]:
    """Return the mentions found in the sentences of a unit, sorted; in characters for a document."""
    if isinstance(unit, Sentence):
        return list(found[0].mentions)
    return [
        to_characters(mention, sentence.offsets or ())
        for sentence, here in zip(sentences, found, strict=True)
        for mention in here.mentions
    ]
