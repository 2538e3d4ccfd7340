"""The pieces of work: functions that run in workers, with the served models as their first argument.

The data for later pieces goes to the server and back as opaque bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

import orjson

from hyperspan.corpora.brat import document_of
from hyperspan.diagnostics import Diagnostics
from hyperspan.mentions import Mention, Sentence
from hyperspan.recognizer import Prediction
from hyperspan.server.errors import ApiError
from hyperspan.server.export import File, export
from hyperspan.server.inputs import Input, diagnostics_of, input_of, with_given
from hyperspan.server.limits import Limits
from hyperspan.server.models import Models
from hyperspan.server.predicting import Answer, How, explanation_answer, find, sentence_answer
from hyperspan.server.schemas import BratRequest, ExplainRequest, ExportRequest, PredictRequest
from hyperspan.server.tagger import tagger_answer

Piece = tuple[list[Sentence], list[tuple[Mention, ...]], list[str | None]]
"""Sentences, their known mentions if any, and the reasons for those left out."""


class Begun(NamedTuple):
    """The state of a request to find mentions after its first piece."""

    n_sentences: int
    findings: list[str]
    lines: list[bytes]
    truncated: bool
    rest: list[bytes]
    """The remaining pieces, each for `go_on`."""


def begin(models: Models, given: PredictRequest, how: How, limits: Limits) -> Begun:
    """Read a request and process the first piece, which for most requests is the only one."""
    read = input_of(given, limits)
    pieces = [_piece(read, chosen) for chosen in read.pieces()]
    lines, truncated = _found(models, given.model, pieces[0], how, given.candidates) if pieces else ([], False)
    rest = [pickle.dumps(piece, pickle.HIGHEST_PROTOCOL) for piece in pieces[1:]]
    return Begun(len(read.sentences), read.findings, lines, truncated, rest)


def _piece(read: Input, chosen: slice) -> Piece:
    """Return a range of sentences, their known mentions if any, and the reasons for those left out."""
    errors = [read.too_long.get(number) for number in range(chosen.start, chosen.stop)]
    return read.sentences[chosen], read.gold[chosen], errors


def go_on(models: Models, name: str | None, piece: bytes, how: How, candidates: bool) -> tuple[list[bytes], bool]:
    """Process one more piece; return a line of JSON for each sentence, and whether mentions were truncated."""
    return _found(models, name, pickle.loads(piece), how, candidates)


def _found(
    models: Models,
    name: str | None,
    piece: Piece,
    how: How,
    candidates: bool,
) -> tuple[list[bytes], bool]:
    sentences, gold, errors = piece
    read = [sentence for sentence, error in zip(sentences, errors, strict=True) if error is None]
    found = iter(find(models.named(name), read, how, wants_candidates=candidates))
    answers = [next(found) if error is None else Answer(Prediction(()), ()) for error in errors]
    rows = zip(sentences, answers, gold or repeat(None, len(sentences)), errors, strict=True)
    lines = [
        orjson.dumps(sentence_answer(sentence, answer, of_sentence) | ({} if error is None else {"skipped": error}))
        for sentence, answer, of_sentence, error in rows
    ]
    return lines, any(answer.found.truncated for answer in answers)


def explained(models: Models, given: ExplainRequest, how: How, limits: Limits) -> bytes:
    """Explain the mentions of one sentence, as JSON."""
    read = input_of(given, limits)
    if len(read.sentences) != 1:
        raise ApiError(422, f"the text has {len(read.sentences):,} sentences; expected one. Explain them one by one")
    (sentence,) = read.sentences
    if given.mention is not None:
        (sentence,) = with_given([sentence], [[given.mention]])
    return as_json(explanation_answer(models.named(given.model), sentence, how, given.type))


def read_for_export(models: Models, given: ExportRequest, limits: Limits) -> tuple[list[bytes], bool]:
    """Read an export request; return its sentences in pieces, and whether mentions were given."""
    read = input_of(given, limits)
    if given.mentions is None:
        return [pickle.dumps(read.sentences[piece], pickle.HIGHEST_PROTOCOL) for piece in read.pieces()], False
    return [pickle.dumps(with_given(read.sentences, given.mentions), pickle.HIGHEST_PROTOCOL)], True


def find_for_export(models: Models, name: str | None, piece: bytes, how: How) -> bytes:
    """Find the mentions of a piece of sentences."""
    sentences = pickle.loads(piece)
    answers = find(models.named(name), sentences, how)
    found = [sentence.with_mentions(answer.found.mentions) for sentence, answer in zip(sentences, answers, strict=True)]
    return pickle.dumps(found, pickle.HIGHEST_PROTOCOL)


def exported(models: Models, given: ExportRequest, pieces: Sequence[bytes]) -> File:
    """Write sentences with mentions as a file."""
    sentences = [sentence for piece in pieces for sentence in pickle.loads(piece)]
    types = models.named(given.model).recognizer.types_
    return export(given.format, Input(sentences, given.text), sentences, types, given.doc)


def tagged(models: Models, text: str, pieces: Sequence[bytes]) -> bytes:
    """Return the found mentions in the form that brat expects from a tagger."""
    return as_json(tagger_answer(text, [sentence for piece in pieces for sentence in pickle.loads(piece)]))


def read_brat(models: Models, given: BratRequest) -> bytes:
    """Read a text and its annotations in brat's format; return JSON."""
    diagnostics = Diagnostics("skip")
    document = document_of("", given.text, given.ann, diagnostics)
    gold = [{"type": mention.type, "spans": mention.parts} for mention in document.mentions]
    return as_json({"text": given.text, "gold": gold, "findings": diagnostics_of(diagnostics)})


def as_json(data: Any) -> bytes:
    """Return plain data as JSON."""
    return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY)
