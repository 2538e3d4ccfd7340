"""The peak memory of training, less what the process has after the same work on a handful of sentences."""

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from hyperspan import Recognizer, corpora


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Return the megabytes that training takes."""
    recognizer = Recognizer(
        structure=request["structure"], tolerance=0.0, max_iterations=request["short"], n_threads=request["threads"]
    )
    recognizer.fit(list(islice(corpora.stream(request["corpus"]), 50)))
    before = peak_megabytes()
    recognizer.fit(list(corpora.stream(request["corpus"])))
    return {"values": {"megabytes": peak_megabytes() - before}, "results": {}}


def peak_megabytes() -> float:
    """Return the most memory that this process has had so far."""
    if sys.platform == "linux":  # getrusage may say there what the process had that started this one
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
