"""One iteration of training: the chain, ``shared`` and ``split`` beside CRFsuite's chain of seven tags.

All mentions count as one type for the first rows, then only those of the commonest type. CRFsuite gets the same
features and the same tags; before anything is timed, both must have the same objective at the weights that CRFsuite
finds in five iterations. An iteration is the work between two lines of the training log: evaluations, line search and
direction. CRFsuite has one thread; on a busy machine, compare CPU times.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.crfsuite import Crfsuite, Run
from benchmarks.data import as_one_type
from benchmarks.harness import NOT_INSTALLED, Aim, Figure, Row
from benchmarks.problem import SEEN_ONLY, Problem, per_iteration, problem, search
from benchmarks.setting import Rower, Setting
from hyperspan.errors import MissingExtraError
from hyperspan.mentions import Sentence

CRFSUITE = "CRFsuite chain, 7 tags, 1 thread"


@dataclass(frozen=True)
class Variant:
    """A variant of our iteration."""

    name: str
    problem: Problem
    threads: int
    aim: Aim | None = None
    clock: Callable[[], float] = time.perf_counter

    @property
    def is_by_processor(self) -> bool:
        """Whether to measure CPU time instead of wall time."""
        return self.clock is time.process_time


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each structure."""
    data, threads = setting.data, setting.threads
    rower = setting.rower("iteration", "seconds an iteration")
    sentences = as_one_type(data.sentences)
    chain = problem(sentences, "linear", frequent=SEEN_ONLY, threads=threads)
    variants = [
        Variant(f"linear, {threads} threads", chain, threads, Aim("ratio", "at least", 5.0)),
        Variant("linear, 1 thread", chain, 1),
        Variant("linear, 1 thread, processor time", chain, 1, clock=time.process_time),
    ]
    yield from _compare(setting, rower, "all mentions", chain, sentences, variants)
    of_one = as_one_type(data.sentences, keep=data.commonest_type)
    chain = problem(of_one, "linear", extractor=chain.extractor, features=chain.features, frequent=SEEN_ONLY)
    variants = []
    for name, aim in {"linear": None, "shared": Aim("ratio", "at least", 3.0), "split": None}.items():
        made = problem(of_one, name, extractor=chain.extractor, features=chain.features)
        variants.append(Variant(f"{name}, K=3, {threads} threads", made, threads, aim))
    shared = variants[1].problem
    variants.append(Variant("shared, K=3, 1 thread, processor time", shared, 1, clock=time.process_time))
    yield from _compare(setting, rower, f"type {data.commonest_type}", chain, of_one, variants)


def _compare(
    setting: Setting,
    rower: Rower,
    what: str,
    chain: Problem,
    sentences: Sequence[Sentence],
    variants: Sequence[Variant],
) -> Iterator[Row]:
    """Time our variants and CRFsuite in turn."""
    iterations, rounds = setting.pick(4, 8), setting.pick(2, 5)
    crfsuite, value = _crfsuite(setting, chain, sentences)
    objectives = {variant.name: variant.problem.objective(variant.threads) for variant in variants}
    ours: dict[str, list[float]] = {variant.name: [] for variant in variants}
    runs: list[Run] = []
    for turn in range(rounds + 1):  # the first is a warm-up
        for variant in variants:
            done = search(objectives[variant.name], variant.problem.n_weights, iterations, variant.clock)
            if turn:
                ours[variant.name].append(per_iteration(done))
        if crfsuite is not None and turn:
            runs.append(crfsuite.train(iterations))
    theirs = theirs_by_processor = None
    if runs:
        theirs = Figure.of(per_iteration(run.done) for run in runs)
        theirs_by_processor = Figure.of(statistics.median(run.processor[1:]) for run in runs)
    for variant in variants:
        made = variant.problem
        note = (
            f"{what}; {made.features.n_tokens:,} tokens, {len(made.features.feature):,} feature occurrences, "
            f"{made.n_separate_weights:,} weights ({made.n_weights:,} different)"
        )
        if crfsuite is None:
            note = NOT_INSTALLED
        elif made is chain:
            note += f"; same objective at the same weights ({value:.3f})"
        else:
            note += f"; CRFsuite has {chain.n_separate_weights:,} weights"
        figure = theirs_by_processor if variant.is_by_processor else theirs
        yield rower(variant.name, Figure.of(ours[variant.name]), CRFSUITE, figure, aim=variant.aim, note=note)


def _crfsuite(setting: Setting, chain: Problem, sentences: Sequence[Sentence]) -> tuple[Crfsuite | None, float]:
    """Return CRFsuite with the sentences, if it is installed, and the objective on which we agree."""
    try:
        crfsuite = Crfsuite(chain, sentences, setting.say)
    except MissingExtraError:
        return None, 0.0
    return crfsuite, crfsuite.check()
