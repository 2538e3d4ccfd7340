"""Train a model on annotated sentences: run the trainer of the scorer and tune the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import LearningError
from hyperspan.evaluation import evaluate
from hyperspan.inference import Gold
from hyperspan.learning import DEFAULT_THRESHOLD, LOWEST_THRESHOLD, Record, ThresholdCurve
from hyperspan.mentions import Sentence, Unit
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.prediction import predict
from hyperspan.recognizer.settings import Settings
from hyperspan.structures import Structure, sizes_for, structure
from hyperspan.text import Annotator, as_sentences

_ADVICE = (
    'Correct it, or train on the sentences of hyperspan.text.as_sentences(documents, Diagnostics("skip")), which drops '
    "and counts such cases."
)

LONGEST_SENTENCE = 20_000
"""The maximum number of words in a training sentence; longer ones are an error and must be split by the user."""


@dataclass(frozen=True)
class TrainingOptions:
    """How training is monitored, stopped and resumed: see `Recognizer.fit`.

    With ``saves_when_done``, the search is also saved at its end, because another step follows.
    """

    on_iteration: Callable[[Record], bool | None] | None = None
    dev_every: int = 0
    checkpoint: Path | None = None
    resume: bool = False
    saves_when_done: bool = False


Trainer = Callable[[Settings, list[Sentence], list[Sentence], TrainingOptions], tuple[Model, Training]]
"""Trains on training and development sentences; there may be none of the latter.

It may leave the threshold, the development scores and the annotator of the `Training` to `learn`, unless it held out
development data itself.
"""

TRAINERS: dict[str, Trainer] = {}
"""The trainer of each scorer, by the scorer's name."""


def register_trainer(scorer: str, trainer: Trainer) -> None:
    """Register the trainer of a scorer that was registered with `hyperspan.scoring.register_scorer`."""
    TRAINERS[scorer] = trainer


def learn(
    settings: Settings, annotator: Annotator, train: list[Sentence], dev: list[Sentence], options: TrainingOptions
) -> tuple[Model, Training]:
    """Train a model on prepared sentences.

    Parameters
    ----------
    settings : Settings
        Validated settings.
    annotator : Annotator
        What annotated the sentences, for the record.
    train, dev : list of Sentence
        As `prepare` returns them; ``dev`` may be empty.
    options : TrainingOptions

    Raises
    ------
    LearningError, Interrupted, ModelError
        As in `Recognizer.fit`.
    """
    # The neural trainer handles the second look itself.
    trainer, wants_more = TRAINERS[settings.scorer], settings.rescore != "off" and settings.encoder is None
    model, training = trainer(settings, train, dev, replace(options, saves_when_done=wants_more))
    if wants_more and model.rescorer is None:
        from hyperspan.recognizer.rescoring import take_second_look  # imported here, since nothing else needs it

        model, training = take_second_look(settings, (model, training), train, dev, options, trainer)
    return model, replace(tuned(settings, model, training, dev), annotator=annotator.record())


def prepare(units: Iterable[Unit], annotator: Annotator) -> list[Sentence]:
    """Return sentences with all columns that features need.

    Raises
    ------
    CorpusError
        If a mention of a document does not fit its words and sentences.
    LearningError
        If a sentence is too long.
    """
    sentences = list(annotator.annotate(as_sentences(units, Diagnostics(advice=_ADVICE))))
    for sentence in sentences:
        if len(sentence) > LONGEST_SENTENCE:
            raise LearningError(
                f"{sentence.place or repr(sentence.doc)}: a sentence has {len(sentence):,} words; "
                f"expected at most {LONGEST_SENTENCE:,}. Split it, or leave it out"
            )
    return sentences


def document_names(train: Sequence[Sentence]) -> list[str]:
    """Return the name of each sentence's document; a sentence without one is a document of its own.

    Examples
    --------
    >>> names = document_names([Sentence(["word"], doc=doc) for doc in ("a", "", "", "a")])
    >>> names[0] == names[3], len({*names})
    (True, 3)
    """
    return [sentence.doc or f"\x00{number}" for number, sentence in enumerate(train)]


def types_of(train: Sequence[Sentence]) -> tuple[str, ...]:
    """Return the types of mentions in training data, in alphabetical order.

    Raises
    ------
    LearningError
        If there is no mention.
    """
    types = tuple(sorted({mention.type for sentence in train for mention in sentence.mentions}))
    if not types:
        raise LearningError(
            f"there is no mention in the {len(train):,} training sentences; expected sentences with mentions"
        )
    return types


def structure_of(settings: Settings, train: Sequence[Sentence]) -> Structure:
    """Return the structure for training data: its types, and its sizes if the settings do not give them."""
    mentions = [mention for sentence in train for mention in sentence.mentions]
    sizes = {**sizes_for(settings.structure, mentions), **settings.sizes}
    return structure(settings.structure, types_of(train), settings.max_components, sizes)


def check_left_out(gold: Gold, train: Sequence[Sentence], settings: Settings) -> None:
    """Raise an error if the structure can encode none of the training mentions.

    Raises
    ------
    LearningError
        If there is no mention that the structure can encode.
    """
    n_mentions = sum(len(sentence.mentions) for sentence in train)
    if len(gold.left_out) == n_mentions:
        limits = ["max_components", *settings.sizes]
        raise LearningError(
            f"the structure {settings.structure!r} cannot encode any of the {n_mentions:,} training mentions; "
            f"choose another structure, or a higher {' or '.join(limits)}"
        )


def tuned(settings: Settings, model: Model, training: Training, dev: Sequence[Sentence]) -> Training:
    """Choose the threshold on development data, if there is any, and compute the scores there."""
    if not dev:
        return training if settings.threshold is None else replace(training, threshold=settings.threshold)
    threshold, rows = settings.threshold, list[dict[str, Any]]()
    if threshold is None:
        threshold, rows = training.threshold, training.threshold_curve
        curve = threshold_curve(model, dev)
        if not curve.is_empty:
            threshold, rows = curve.choose(), curve.rows()
    found = [
        sentence.with_mentions(here.mentions)
        for sentence, here in zip(dev, predict(model, dev, settings.decode, threshold), strict=True)
    ]
    return replace(training, threshold=threshold, threshold_curve=rows, dev_scores=evaluate(dev, found).as_dict())


def threshold_curve(model: Model, dev: Sequence[Sentence], lowest: float = LOWEST_THRESHOLD) -> ThresholdCurve:
    """Return precision, recall and F1 by threshold on annotated sentences with gold mentions."""
    candidates = (found.mentions for found in predict(model, dev, "probable", lowest))
    return ThresholdCurve.on(dev, candidates, lowest)


def untuned(l2: float, n_iterations: int, log: list[dict[str, Any]], left_out: int) -> Training:
    """Return the record of a training whose threshold has not been tuned yet."""
    return Training(l2, DEFAULT_THRESHOLD, n_iterations, log, {}, left_out, {})
