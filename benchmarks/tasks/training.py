"""The training of a chain to the same objective, ours and CRFsuite's.

Both train from zero until they converge or reach the maximum number of iterations. The goal is the worse of the two
final objectives, and the time is that until each reaches it. Our time starts with sentences: features, gold, weights.
CRFsuite's starts with ready feature strings, whose making takes longer than our whole training (see ``features``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from benchmarks.crfsuite import Crfsuite
from benchmarks.data import as_one_type
from benchmarks.harness import NOT_INSTALLED, Aim, Figure, Row
from benchmarks.problem import SEEN_ONLY, Done, problem, search
from benchmarks.setting import Setting
from benchmarks.tasks.iteration import CRFSUITE
from hyperspan.errors import MissingExtraError


def run(setting: Setting) -> Iterator[Row]:
    """Yield one row."""
    rower = setting.rower("training", "seconds")
    sentences = as_one_type(setting.data.sentences)
    iterations, rounds = setting.pick(15, 100), setting.pick(2, 3)
    chain = problem(sentences, "linear", frequent=SEEN_ONLY, threads=setting.threads)

    def ours() -> Done:
        begin = time.perf_counter()
        made = problem(sentences, "linear", frequent=SEEN_ONLY, threads=setting.threads)
        objective = made.objective(setting.threads)
        before = time.perf_counter() - begin
        done = search(objective, made.n_weights, iterations)
        return [(before + seconds, value) for seconds, value in done]

    runs: list[Callable[[], Done]] = [ours]
    note = ""
    try:
        crfsuite = Crfsuite(chain, sentences, setting.say)
        crfsuite.check()
        runs.append(
            lambda: [(crfsuite.append_seconds + seconds, value) for seconds, value in crfsuite.train(iterations).done]
        )
    except MissingExtraError:
        note = NOT_INSTALLED
    name = f"linear, {setting.threads} threads"
    found = [[run() for run in runs] for _ in range(rounds)]
    goal = max(done[-1][1] for of_round in found for done in of_round)
    seconds = [Figure.of(time_to(of_round[place], goal)[0] for of_round in found) for place in range(len(runs))]
    if note:
        yield rower(name, seconds[0], CRFSUITE, note=note)
        return
    counts = [time_to(done, goal)[1] for done in found[0]]
    yield rower(
        name,
        seconds[0],
        CRFSUITE,
        seconds[1],
        aim=Aim("ratio", "at least", 5.0),
        note=f"to the objective {goal:.1f}: iteration {counts[0]} of ours, {counts[1]} of CRFsuite's, "
        f"of at most {iterations}",
    )


def time_to(done: Done, goal: float) -> tuple[float, int]:
    """Return the time at which an objective was reached, and the iteration, counted from 1.

    Examples
    --------
    >>> time_to([(1.0, 9.0), (2.0, 5.0), (3.0, 4.9)], 5.0)
    (2.0, 2)
    """
    return next((seconds, place) for place, (seconds, value) in enumerate(done, start=1) if value <= goal)
