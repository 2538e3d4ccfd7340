"""The time of a training iteration: a long training minus a short one, divided by the difference in iterations."""

import json
import sys
import time
from typing import Any

from hyperspan import Recognizer, corpora


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Return the seconds per iteration, and the objective after the short training."""
    sentences = list(corpora.stream(request["corpus"]))
    fit(request, 3, sentences[:50])
    wall_short, cpu_short, short = fit(request, request["short"], sentences)
    wall_long, cpu_long, long = fit(request, request["long"], sentences)
    n_iterations = long.n_iter_ - short.n_iter_
    return {
        "values": {
            "seconds": (wall_long - wall_short) / n_iterations,
            "CPU seconds": (cpu_long - cpu_short) / n_iterations,
        },
        "results": {"objective": short.training_log_[-1]["objective"]},
    }


def fit(request: dict[str, Any], iterations: int, sentences: list[Any]) -> tuple[float, float, Recognizer]:
    """Return the wall time and CPU time of training, and the trained recognizer."""
    recognizer = Recognizer(
        structure=request["structure"], tolerance=0.0, max_iterations=iterations, n_threads=request["threads"]
    )
    wall, cpu = time.perf_counter(), time.process_time()
    recognizer.fit(sentences)
    return time.perf_counter() - wall, time.process_time() - cpu, recognizer


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
