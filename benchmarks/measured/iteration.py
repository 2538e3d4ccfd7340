"""The time of a training iteration: a long training less a short one, over the iterations between them."""

import json
import sys
import time
from typing import Any

from hyperspan import Recognizer, corpora

request = json.load(sys.stdin)
sentences = list(corpora.stream(request["corpus"]))


def fit(iterations: int, units: list[Any]) -> tuple[float, float, Any]:
    recognizer = Recognizer(
        structure=request["structure"], tolerance=0.0, max_iterations=iterations, n_threads=request["threads"]
    )
    wall, cpu = time.perf_counter(), time.process_time()
    recognizer.fit(units)
    return time.perf_counter() - wall, time.process_time() - cpu, recognizer


fit(3, sentences[:50])
wall_short, cpu_short, short = fit(request["short"], sentences)
wall_long, cpu_long, long = fit(request["long"], sentences)
n_iterations = long.n_iter_ - short.n_iter_
answer = {
    "values": {
        "seconds": (wall_long - wall_short) / n_iterations,
        "CPU seconds": (cpu_long - cpu_short) / n_iterations,
    },
    "results": {"objective": short.training_log_[-1]["objective"]},
}
json.dump(answer, sys.stdout)
