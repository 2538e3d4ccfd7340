"""The time to load a model from its file, after it has been loaded once."""

import json
import statistics
import sys
import time
from typing import Any

from hyperspan import Recognizer


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Return the milliseconds that loading takes."""
    Recognizer.load(request["model"])
    seconds = []
    for _ in range(request["passes"]):
        begin = time.perf_counter()
        Recognizer.load(request["model"])
        seconds.append(time.perf_counter() - begin)
    return {"values": {"milliseconds": 1e3 * statistics.median(seconds)}, "results": {}}


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
