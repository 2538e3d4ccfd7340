"""From annotated sentences to a model: features, gold, the search for weights, the threshold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import LearningError
from hyperspan.evaluation import evaluate
from hyperspan.features import Extractor, FeatureBlock
from hyperspan.learning import (
    DEFAULT_THRESHOLD,
    L2_CHOICES,
    LOWEST_THRESHOLD,
    Gold,
    Record,
    Search,
    ThresholdCurve,
    choose_parameters,
    encode_gold,
    first_weights,
    new_search,
)
from hyperspan.mentions import Mention, Sentence, Unit
from hyperspan.recognizer.checkpoint import Interrupted, Keeper, read_note
from hyperspan.recognizer.finding import decoded_in, find_mentions
from hyperspan.recognizer.model import Model, Training
from hyperspan.recognizer.settings import Settings
from hyperspan.recognizer.summary import names_of_strongest
from hyperspan.structures import Hypergraph, Linear, structure
from hyperspan.text import Annotator, as_sentences

if TYPE_CHECKING:
    from hyperspan.learning import Objective

LONGEST_SENTENCE = 20_000
"""Words; longer sentences are refused in training, and cut nowhere: split them."""

_HELD_OUT = 10


@dataclass(frozen=True)
class Course:
    """How training is watched, stopped and taken up again: see `Recognizer.fit`."""

    on_iteration: Callable[[Record], bool | None] | None = None
    dev_every: int = 0
    checkpoint: Path | None = None
    resume: bool = False


def learn(
    settings: Settings, annotator: Annotator, train: list[Sentence], dev: list[Sentence], course: Course
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
    course : Course

    Raises
    ------
    LearningError, Interrupted, ModelError
        As in `Recognizer.fit`.
    """
    if settings.l2 == "auto" and not dev:
        return _learn_auto(settings, annotator, train, course)
    if settings.l2 == "auto" and not any(sentence.mentions for sentence in dev):
        raise LearningError(
            f"l2='auto' needs development data with mentions, but its {len(dev):,} sentences have none; "
            "give others, or a number for l2"
        )
    penalties = L2_CHOICES if settings.l2 == "auto" else (float(settings.l2),)
    model, training = _search(settings, annotator, train, dev, penalties, course)
    return model, _tuned(settings, model, training, dev)


def prepare(
    units: Iterable[Unit], annotator: Annotator, y: Sequence[Sequence[Mention]] | None = None
) -> list[Sentence]:
    """Return sentences with all that features need, and with the mentions given apart if they are.

    Raises
    ------
    LearningError
        If a sentence is too long, or there are mentions for more or fewer sentences.
    """
    sentences = list(annotator.annotate(as_sentences(units)))
    for sentence in sentences:
        if len(sentence) > LONGEST_SENTENCE:
            raise LearningError(
                f"{sentence.place or repr(sentence.doc)}: a sentence has {len(sentence):,} words; "
                f"expected at most {LONGEST_SENTENCE:,}. Split it, or leave it out"
            )
    if y is None:
        return sentences
    if len(y) != len(sentences):
        raise LearningError(f"there are {len(sentences)} sentences, but mentions for {len(y)}")
    return [sentence.with_mentions(mentions) for sentence, mentions in zip(sentences, y, strict=True)]


def _learn_auto(
    settings: Settings, annotator: Annotator, train: list[Sentence], course: Course
) -> tuple[Model, Training]:
    """Choose the penalty on documents held out by the seed, then learn from all."""
    course = replace(course, dev_every=0)
    chosen = read_note(course.checkpoint) if course.resume else {}
    if not chosen:
        kept, held_out = _hold_out(train, settings.seed)
        model, tried = _search(settings, annotator, kept, held_out, L2_CHOICES, course)
        tried = _tuned(settings, model, tried, held_out)
        chosen = {name: getattr(tried, name) for name in ("l2", "threshold", "threshold_curve", "dev_scores", "log")}
        course = replace(course, resume=False)
    model, training = _search(settings, annotator, train, [], (chosen["l2"],), course, chosen)
    return model, replace(
        training,
        threshold=chosen["threshold"],
        threshold_curve=chosen.get("threshold_curve", []),
        dev_scores=chosen["dev_scores"],
        log=[*chosen["log"], *training.log],
    )


def _hold_out(train: Sequence[Sentence], seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """Return what is kept and what is held out: a tenth of the documents, or more until there is a mention in it.

    Sentences that belong to no document are documents of their own.
    """
    names = [sentence.doc or str(number) for number, sentence in enumerate(train)]
    documents = sorted(set(names))
    shuffled = [documents[place] for place in np.random.default_rng(seed).permutation(len(documents))]
    with_mentions = {name for name, sentence in zip(names, train, strict=True) if sentence.mentions}
    n_held = max(1, len(documents) // _HELD_OUT)
    while n_held < len(shuffled) and not with_mentions.intersection(shuffled[:n_held]):
        n_held += 1
    held = set(shuffled[:n_held])
    if not with_mentions - held:
        raise LearningError(
            "l2='auto' needs development data, or training data with mentions in several documents, to hold some out; "
            f"there are mentions in {len(with_mentions)}. Give development data, or a number for l2"
        )
    kept = [sentence for name, sentence in zip(names, train, strict=True) if name not in held]
    return kept, [sentence for name, sentence in zip(names, train, strict=True) if name in held]


def _search(
    settings: Settings,
    annotator: Annotator,
    train: list[Sentence],
    dev: list[Sentence],
    penalties: tuple[float, ...],
    course: Course,
    note: dict[str, Any] | None = None,
) -> tuple[Model, Training]:
    """Search for the best weights; the threshold and the scores are left to others."""
    from hyperspan.learning import Objective  # here, so that finding mentions does not wait for it

    written_as = structure(settings.structure, _types_of(train), settings.max_components)
    extractor = Extractor(settings.features, settings.clusters, settings.lexicon, threads=settings.n_threads)
    block = extractor.fit_transform(train)
    gold = _encoded(written_as, train, settings)
    parameters = choose_parameters(
        written_as,
        block,
        gold,
        0 if extractor.index_ is None else len(extractor.index_),
        frequent=settings.frequent,
        with_prior=settings.distribution != "encodings",
    )
    objective = Objective(
        written_as,
        block,
        gold,
        parameters,
        facet=extractor.facet_,
        over=settings.distribution,
        n_threads=settings.n_threads,
    )
    model = Model(written_as, settings.distribution, extractor, parameters, np.zeros(parameters.n_weights))
    scores_dev = bool(dev) and (len(penalties) > 1 or course.dev_every > 0)
    dev_block = extractor.transform(dev if scores_dev else [])
    fingerprint = _fingerprint(settings, written_as.types, block, gold, penalties, dev, dev_block)
    keeper = Keeper(course.checkpoint, fingerprint, note)
    search = (keeper.load() if course.resume else None) or new_search(
        objective.of_model(first_weights(written_as, gold, parameters)), penalties
    )

    def dev_f1(weights: NDArray[np.float64]) -> float:
        found = _candidates(replace(model, weights=objective.to_model(weights)), dev_block)
        return ThresholdCurve.of([sentence.mentions for sentence in dev], found).best_f1

    _run(search, objective, settings, course, keeper, dev_f1 if scores_dev else None)
    training = Training(
        l2=search.best_l2,
        threshold=DEFAULT_THRESHOLD,
        n_iterations=search.n_iterations,
        log=search.records,
        dev_scores={},
        left_out=len(gold.left_out),
        annotator=annotator.record(),
    )
    model = replace(model, weights=objective.to_model(search.weights))
    return replace(model, names=names_of_strongest(model, train, block)), training


def _run(
    search: Search,
    objective: Objective,
    settings: Settings,
    course: Course,
    keeper: Keeper,
    dev_f1: Callable[[NDArray[np.float64]], float] | None,
) -> None:
    records = search.run(
        objective,
        max_iterations=settings.max_iterations,
        tolerance=settings.tolerance,
        dev_f1=dev_f1,
        dev_every=course.dev_every,
    )
    for record in records:
        wants_stop = course.on_iteration is not None and course.on_iteration(record)
        if wants_stop:
            keeper.save(search)
            raise Interrupted(search.state.iteration)
        if not search.is_done:
            keeper.save_in_time(search)


def _types_of(train: Sequence[Sentence]) -> tuple[str, ...]:
    types = tuple(sorted({mention.type for sentence in train for mention in sentence.mentions}))
    if not types:
        raise LearningError(
            f"there is no mention in the {len(train):,} training sentences; expected sentences with mentions"
        )
    return types


def _encoded(written_as: Hypergraph | Linear, train: Sequence[Sentence], settings: Settings) -> Gold:
    gold = encode_gold(written_as, train, settings.distribution)
    n_mentions = sum(len(sentence.mentions) for sentence in train)
    if len(gold.left_out) == n_mentions:
        raise LearningError(
            f"the structure {settings.structure!r} cannot write any of the {n_mentions:,} training mentions; "
            "choose another structure, or a higher max_components"
        )
    return gold


def _fingerprint(
    settings: Settings,
    types: tuple[str, ...],
    block: FeatureBlock,
    gold: Gold,
    penalties: Sequence[float],
    dev: Sequence[Sentence],
    dev_block: FeatureBlock,
) -> str:
    """Identify all that the search depends on, so that a checkpoint is only taken up for the same one.

    More or fewer iterations may be asked for when a search with one penalty goes on.
    """
    digest = hashlib.blake2b(digest_size=16)
    chosen = [
        settings.structure,
        settings.max_components,
        settings.distribution,
        settings.frequent,
        settings.tolerance,
    ]
    digest.update(repr((chosen, types, tuple(penalties))).encode("utf-8", "surrogatepass"))
    for array in (block.first_feature, block.feature, *gold[:3]):
        digest.update(array.tobytes())
    if len(penalties) > 1:
        digest.update(repr((settings.max_iterations, [sentence.mentions for sentence in dev])).encode())
        for array in (dev_block.first_token, dev_block.first_feature, dev_block.feature):
            digest.update(array.tobytes())
    return digest.hexdigest()


def _candidates(model: Model, block: FeatureBlock) -> list[tuple[Mention, ...]]:
    return [decoded.mentions for decoded in decoded_in(model, block, "probable", LOWEST_THRESHOLD)]


def _tuned(settings: Settings, model: Model, training: Training, dev: list[Sentence]) -> Training:
    """Choose the threshold on development data, and score it."""
    threshold = DEFAULT_THRESHOLD if settings.threshold is None else settings.threshold
    rows: list[dict[str, Any]] = []
    if not dev:
        return replace(training, threshold=threshold)
    if settings.threshold is None:
        curve = threshold_curve(model, dev)
        threshold, rows = curve.choose(), [] if curve.is_empty else curve.rows()
    found = [
        sentence.with_mentions(here.mentions)
        for sentence, here in zip(dev, find_mentions(model, dev, settings.decode, threshold), strict=True)
    ]
    return replace(training, threshold=threshold, threshold_curve=rows, dev_scores=evaluate(dev, found).as_dict())


def threshold_curve(model: Model, dev: Sequence[Sentence], lowest: float = LOWEST_THRESHOLD) -> ThresholdCurve:
    """Return precision and recall by threshold on annotated sentences with gold mentions."""
    candidates = (found.mentions for found in find_mentions(model, dev, "probable", lowest))
    return ThresholdCurve.of((sentence.mentions for sentence in dev), candidates, lowest)
