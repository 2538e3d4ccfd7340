"""From annotated sentences to a model: who trains which scorer, and the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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

LONGEST_SENTENCE = 20_000
"""Words; longer sentences are refused in training, and cut nowhere: split them."""


@dataclass(frozen=True)
class TrainingOptions:
    """How training is watched, stopped and taken up again: see `Recognizer.fit`.

    With ``saves_when_done`` the search is saved at its end too, since something else will follow.
    """

    on_iteration: Callable[[Record], bool | None] | None = None
    dev_every: int = 0
    checkpoint: Path | None = None
    resume: bool = False
    saves_when_done: bool = False


Trainer = Callable[[Settings, list[Sentence], list[Sentence], TrainingOptions], tuple[Model, Training]]
"""Learns from training and development sentences; the latter may be none.

It may leave the threshold, the development scores and the annotator of the `Training` to `learn`, except where it set
development data aside itself.
"""

TRAINERS: dict[str, Trainer] = {}
"""Who trains each scorer, by the scorer's name."""


def register_trainer(scorer: str, trainer: Trainer) -> None:
    """Say who trains a scorer that has been registered with `hyperspan.scoring.register_scorer`."""
    TRAINERS[scorer] = trainer


def learn(
    settings: Settings, annotator: Annotator, train: list[Sentence], dev: list[Sentence], options: TrainingOptions
) -> tuple[Model, Training]:
    """Learn from prepared sentences.

    Parameters
    ----------
    settings : Settings
        Checked.
    annotator : Annotator
        Who annotated the sentences, for the record.
    train, dev : list of Sentence
        As `prepare` gives them; ``dev`` may be empty.
    options : TrainingOptions

    Raises
    ------
    LearningError, Interrupted, ModelError
        As in `Recognizer.fit`.
    """
    # An encoder takes its second look by itself, if at all.
    trainer, wants_more = TRAINERS[settings.scorer], settings.rescore != "off" and settings.encoder is None
    model, training = trainer(settings, train, dev, replace(options, saves_when_done=wants_more))
    if wants_more and model.rescorer is None:
        from hyperspan.recognizer.rescoring import take_second_look  # here, so that nobody else waits for it

        model, training = take_second_look(settings, (model, training), train, dev, options, trainer)
    return model, replace(tuned(settings, model, training, dev), annotator=annotator.record())


def prepare(units: Iterable[Unit], annotator: Annotator) -> list[Sentence]:
    """Return sentences with all that features need.

    Raises
    ------
    LearningError
        If a sentence is too long.
    """
    sentences = list(annotator.annotate(as_sentences(units)))
    for sentence in sentences:
        if len(sentence) > LONGEST_SENTENCE:
            raise LearningError(
                f"{sentence.place or repr(sentence.doc)}: a sentence has {len(sentence):,} words; "
                f"expected at most {LONGEST_SENTENCE:,}. Split it, or leave it out"
            )
    return sentences


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
    """Return the structure for training data: its types, and its sizes where the settings do not say them."""
    mentions = [mention for sentence in train for mention in sentence.mentions]
    sizes = {**sizes_for(settings.structure, mentions), **settings.sizes}
    return structure(settings.structure, types_of(train), settings.max_components, sizes)


def check_left_out(gold: Gold, train: Sequence[Sentence], settings: Settings) -> None:
    """Refuse training data of which nothing can be written.

    Raises
    ------
    LearningError
        If there is no mention that the structure can write.
    """
    n_mentions = sum(len(sentence.mentions) for sentence in train)
    if len(gold.left_out) == n_mentions:
        raise LearningError(
            f"the structure {settings.structure!r} cannot write any of the {n_mentions:,} training mentions; "
            "choose another structure, or a higher max_components"
        )


def tuned(settings: Settings, model: Model, training: Training, dev: Sequence[Sentence]) -> Training:
    """Choose the threshold on development data, if there is any, and score it."""
    if not dev:
        return training if settings.threshold is None else replace(training, threshold=settings.threshold)
    threshold, rows = settings.threshold, list[dict[str, Any]]()
    if threshold is None:
        curve = threshold_curve(model, dev)
        threshold, rows = curve.choose(), [] if curve.is_empty else curve.rows()
    found = [
        sentence.with_mentions(here.mentions)
        for sentence, here in zip(dev, predict(model, dev, settings.decode, threshold), strict=True)
    ]
    return replace(training, threshold=threshold, threshold_curve=rows, dev_scores=evaluate(dev, found).as_dict())


def threshold_curve(model: Model, dev: Sequence[Sentence], lowest: float = LOWEST_THRESHOLD) -> ThresholdCurve:
    """Return precision and recall by threshold on annotated sentences with gold mentions."""
    candidates = (found.mentions for found in predict(model, dev, "probable", lowest))
    return ThresholdCurve.of((sentence.mentions for sentence in dev), candidates, lowest)


def untuned(l2: float, n_iterations: int, log: list[dict[str, Any]], left_out: int) -> Training:
    """Return the record of a training whose threshold has not been tuned yet."""
    return Training(l2, DEFAULT_THRESHOLD, n_iterations, log, {}, left_out, {})
