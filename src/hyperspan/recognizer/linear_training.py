"""Train linear weights over features, with one penalty or the best of several on development data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import LearningError
from hyperspan.features import FeatureBlock
from hyperspan.inference import check_decoder, distribution_class
from hyperspan.learning import (
    L2_CHOICES,
    LOWEST_THRESHOLD,
    Search,
    ThresholdCurve,
    new_search,
)
from hyperspan.mentions import Sentence
from hyperspan.recognizer.checkpoint import Checkpointer, Interrupted, read_note
from hyperspan.recognizer.model import Model, Training, batches
from hyperspan.recognizer.prediction import decode_batch
from hyperspan.recognizer.settings import Settings
from hyperspan.recognizer.training import (
    TrainingOptions,
    check_left_out,
    document_names,
    register_trainer,
    structure_of,
    tuned,
    untuned,
)
from hyperspan.structures import Structure

if TYPE_CHECKING:
    from hyperspan.learning import Objective, SegmentObjective
    from hyperspan.recognizer.problems import Problem

_HELD_OUT = 10


def train_linear(
    settings: Settings, train: list[Sentence], dev: list[Sentence], options: TrainingOptions
) -> tuple[Model, Training]:
    """Train linear weights over features by L-BFGS."""
    if settings.l2 == "auto" and not dev:
        return _train_auto(settings, train, options)
    if settings.l2 == "auto" and not any(sentence.mentions for sentence in dev):
        raise LearningError(
            f"l2='auto' needs development data with mentions, but its {len(dev):,} sentences have none; "
            "give others, or a number for l2"
        )
    penalties = L2_CHOICES if settings.l2 == "auto" else (float(settings.l2),)
    return _search(settings, train, dev, penalties, options)


def _train_auto(settings: Settings, train: list[Sentence], options: TrainingOptions) -> tuple[Model, Training]:
    """Choose the penalty on held-out documents, then train on all of them."""
    options = replace(options, dev_every=0)
    chosen = read_note(options.checkpoint) if options.resume else {}
    if not chosen:
        kept, held_out = _hold_out(train, settings.seed)
        model, tried = _search(settings, kept, held_out, L2_CHOICES, options)
        tried = tuned(settings, model, tried, held_out)
        chosen = {name: getattr(tried, name) for name in ("l2", "threshold", "threshold_curve", "dev_scores", "log")}
        options = replace(options, resume=False)
    model, training = _search(settings, train, [], (chosen["l2"],), options, chosen)
    return model, replace(
        training,
        threshold=chosen["threshold"],
        threshold_curve=chosen.get("threshold_curve", []),
        dev_scores=chosen["dev_scores"],
        log=[*chosen["log"], *training.log],
    )


def _hold_out(train: Sequence[Sentence], seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """Return the kept and the held-out sentences: a tenth of the documents, or more until they contain a mention.

    A sentence without a document counts as a document of its own.
    """
    names = document_names(train)
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
    train: list[Sentence],
    dev: list[Sentence],
    penalties: tuple[float, ...],
    options: TrainingOptions,
    note: dict[str, Any] | None = None,
) -> tuple[Model, Training]:
    """Search for the best weights, without choosing a threshold or scoring."""
    from hyperspan.recognizer.problems import problem_for  # imported here, since prediction does not need it

    written_as = structure_of(settings, train)
    problem = problem_for(settings, written_as, distribution_class(written_as, settings.distribution), train)
    check_left_out(problem.gold, train, settings)
    objective = problem.objective
    model = Model(written_as, settings.distribution, problem.scorer(np.zeros(objective.parameters.n_weights)))
    scores_dev = bool(dev) and (len(penalties) > 1 or options.dev_every > 0)
    scored_dev = dev if scores_dev else []
    dev_blocks = problem.features(scored_dev)
    borders = np.cumsum([0, *map(len, batches(scored_dev, model.batch_words))]).tolist()
    dev_batches = [tuple(block.sentences(begin, end) for block in dev_blocks) for begin, end in pairwise(borders)]
    fingerprint = _fingerprint(settings, written_as, problem, penalties, dev, dev_blocks, bool(note))
    checkpointer = Checkpointer(options.checkpoint, fingerprint, note)
    from_zero = settings.initial_weights == "zero"
    first = np.zeros(objective.parameters.n_weights) if from_zero else problem.first_weights()
    begin = objective.of_model(first)
    search = (checkpointer.load(len(begin), penalties) if options.resume else None) or new_search(begin, penalties)

    def dev_f1(weights: NDArray[np.float64]) -> float:
        found = [
            decoded.mentions
            for batch in problem.scores(objective.to_model(weights), dev_batches)
            for decoded in decode_batch(model, batch, check_decoder("probable"), LOWEST_THRESHOLD)
        ]
        return ThresholdCurve.on(dev, found).best_f1

    _run(search, objective, settings, options, checkpointer, dev_f1 if scores_dev else None)
    training = untuned(search.best_l2, search.n_iterations, search.records, len(problem.gold.left_out))
    return replace(model, scorer=problem.named(objective.to_model(search.weights), train)), training


def _run(
    search: Search,
    objective: Objective | SegmentObjective,
    settings: Settings,
    options: TrainingOptions,
    checkpointer: Checkpointer,
    dev_f1: Callable[[NDArray[np.float64]], float] | None,
) -> None:
    records = search.run(
        objective,
        max_iterations=settings.max_iterations,
        tolerance=settings.tolerance,
        dev_f1=dev_f1,
        dev_every=options.dev_every,
    )
    for record in records:
        wants_stop = options.on_iteration is not None and options.on_iteration(record)
        if wants_stop:
            checkpointer.save(search)
            raise Interrupted(search.state.iteration)
        if not search.is_done:
            checkpointer.save_in_time(search)
    if options.saves_when_done:
        checkpointer.save_if_possible(search)


def _fingerprint(
    settings: Settings,
    structure: Structure,
    problem: Problem,
    penalties: Sequence[float],
    dev: Sequence[Sentence],
    dev_blocks: Sequence[FeatureBlock],
    has_note: bool,
) -> str:
    """Return a hash of everything the search depends on, so that a checkpoint only resumes the same search.

    The number of iterations may change when a search with one penalty is resumed. If the penalty was chosen on held-out
    documents, so were the threshold and the scores, which also depend on the seed and on how mentions are decoded.
    """
    digest = hashlib.blake2b(digest_size=16)
    chosen: list[Any] = [
        settings.structure,
        settings.max_components,
        settings.distribution,
        settings.frequent,
        settings.tolerance,
        settings.initial_weights,
    ]
    if structure.sizes:
        chosen.append(structure.sizes)
    digest.update(repr((chosen, structure.types, tuple(penalties))).encode("utf-8", "surrogatepass"))
    if has_note:
        digest.update(repr((settings.seed, settings.decode, settings.threshold)).encode())
    blocks = (array for block in problem.blocks for array in (block.first_feature, block.feature))
    for array in (*blocks, *problem.gold[:3], *(() if problem.prior is None else (problem.prior,))):
        digest.update(array.tobytes())
    if len(penalties) > 1:
        digest.update(repr((settings.max_iterations, [sentence.mentions for sentence in dev])).encode())
        for block in dev_blocks:
            for array in (block.first_token, block.first_feature, block.feature):
                digest.update(array.tobytes())
    return digest.hexdigest()


register_trainer("linear", train_linear)
