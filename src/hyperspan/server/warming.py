"""Warm up: run every kind of request once before the first one arrives."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from hyperspan.inference import DECODERS
from hyperspan.mentions import Sentence
from hyperspan.server.errors import ApiError
from hyperspan.server.export import export
from hyperspan.server.inputs import input_of
from hyperspan.server.limits import Limits
from hyperspan.server.models import Model
from hyperspan.server.predicting import How, explanation_answer, find, sentence_answer
from hyperspan.server.schemas import PredictRequest

TEXT = "Left and right kidneys are enlarged, with blood in the stomach. No fever."


def warm_up(models: Iterable[Model]) -> None:
    """Run every kind of request once, so that everything is compiled and loaded."""
    for model in models:
        _warm_up(model)


def _warm_up(model: Model) -> None:
    given = PredictRequest(text=TEXT)
    read = input_of(given, Limits())
    sentences: list[Sentence] = []
    for decode in DECODERS:
        how = How.of(model.recognizer, decode, None)
        for wants_candidates in (False, True):
            answers = find(model, read.sentences, how, wants_candidates=wants_candidates)
            sentences = [
                sentence.with_mentions(answer.found.mentions)
                for sentence, answer in zip(read.sentences, answers, strict=True)
            ]
            for sentence, answer in zip(read.sentences, answers, strict=True):
                sentence_answer(sentence, answer)
        explanation_answer(model, read.sentences[0], how)
    for format in ("svg", "html", "brat", "jsonl"):
        with suppress(ApiError):  # brat cannot hold every type
            export(format, read, sentences, model.recognizer.types_, "text")
