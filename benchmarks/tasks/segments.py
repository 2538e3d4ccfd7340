"""``segments`` beside ``shared``: an evaluation of the objective, prediction, and the memory of training, per token.

Only mentions of the most frequent type count; the templates are the default ones. Times are CPU times of one thread.
Memory is the peak of arrays and objects during feature extraction, the indexing of weights and one evaluation.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence

from benchmarks.data import as_one_type
from benchmarks.harness import Aim, Figure, Row
from benchmarks.setting import Setting
from hyperspan import Recognizer
from hyperspan.inference import distribution_class
from hyperspan.mentions import Sentence
from hyperspan.recognizer.problems import Problem, problem_for
from hyperspan.recognizer.training import structure_of

NAMES = ("shared", "segments")


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for evaluations, one for prediction with each decoder, and one for memory."""
    data = setting.data
    sentences = [sentence for sentence in as_one_type(data.sentences, keep=data.commonest_type) if len(sentence)]
    n_tokens, rounds = sum(map(len, sentences)), setting.pick(2, 7)
    rower = setting.rower("segments", "microseconds a token")
    made = {name: _problem(name, sentences) for name in NAMES}
    sizes = made["segments"].objective.structure.sizes
    note = f"type {data.commonest_type}, {n_tokens:,} tokens, {sizes}, one thread, processor time"
    evaluations = _in_turns({name: _evaluation(problem) for name, problem in made.items()}, rounds)
    yield _row(rower, "an evaluation of the objective", evaluations, n_tokens, Aim("ratio", "at least", 1 / 3), note)
    trained = {
        name: Recognizer(structure=name, max_iterations=setting.pick(5, 50), n_threads=1).fit(sentences)
        for name in NAMES
    }
    texts = sentences[: setting.pick(200, 5_000)]
    n_texts = sum(map(len, texts))
    for decode in ("probable", "enough"):
        found = _in_turns({name: _finder(each, decode, texts) for name, each in trained.items()}, rounds)
        yield _row(rower, f"prediction, {decode}", found, n_texts, Aim("ratio", "at least", 0.5), note)
    peaks = {name: Figure.of([_peak(name, sentences)]).per(n_tokens) for name in NAMES}
    yield rower(
        "memory of training, segments", peaks["segments"], "shared", peaks["shared"], unit="bytes a token", note=note
    )


def _row(rower: Callable[..., Row], what: str, seconds: dict[str, Figure], n_tokens: int, aim: Aim, note: str) -> Row:
    ours, shared = (seconds[name].per(1e-6 * n_tokens) for name in ("segments", "shared"))
    return rower(f"{what}, segments", ours, "shared", shared, aim=aim, note=note)


def _problem(name: str, sentences: Sequence[Sentence]) -> Problem:
    settings = Recognizer(structure=name, n_threads=1)._settings()
    structure = structure_of(settings, sentences)
    return problem_for(settings, structure, distribution_class(structure), sentences)


def _evaluation(problem: Problem) -> Callable[[], object]:
    weights = problem.objective.of_model(problem.first_weights())
    return lambda: problem.objective(weights)


def _finder(recognizer: Recognizer, decode: str, sentences: Sequence[Sentence]) -> Callable[[], object]:
    return lambda: list(recognizer.find(sentences, decode=decode))


def _in_turns(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, Figure]:
    """Return the CPU time of each, in alternating rounds; the first round is a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, do in work.items():
            begin = time.process_time()
            do()
            if turn:
                seconds[name].append(time.process_time() - begin)
    return {name: Figure.of(each) for name, each in seconds.items()}


def _peak(name: str, sentences: Sequence[Sentence]) -> int:
    tracemalloc.start()
    try:
        _evaluation(_problem(name, sentences))()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
