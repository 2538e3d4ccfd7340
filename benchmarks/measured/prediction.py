"""The speed of prediction from text to mentions, and the mentions that are found."""

import hashlib
import json
import statistics
import sys
import time
from typing import Any

from hyperspan import Recognizer, corpora


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Return tokens per second, a hash of all mentions, and the sum of their probabilities."""
    texts = list(corpora.stream(request["texts"]))
    recognizer = Recognizer.load(request["model"], n_threads=request["threads"])
    found = list(recognizer.annotate(texts, decode=request["decode"]))
    mentions = [[number, each.type, each.parts] for number, text in enumerate(found) for each in text.mentions]
    rates, cpu_seconds = [], []
    for _ in range(request["passes"]):
        wall, cpu = time.perf_counter(), time.process_time()
        found = list(recognizer.annotate(texts, decode=request["decode"]))
        rates.append(request["n_tokens"] / (time.perf_counter() - wall))
        cpu_seconds.append(time.process_time() - cpu)
    return {
        "values": {
            "tokens a second": statistics.median(rates),
            "CPU seconds a million tokens": 1e6 * statistics.median(cpu_seconds) / request["n_tokens"],
        },
        "results": {
            "number of mentions": len(mentions),
            "hash of all mentions": hashlib.sha256(json.dumps(mentions).encode()).hexdigest(),
            "sum of probabilities": sum(each.prob or 0.0 for text in found for each in text.mentions),
        },
    }


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
