"""The peak memory of training, minus that of the process after the same work on a few sentences."""

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
    """Return the peak memory of this process so far."""
    if sys.platform == "linux":  # on Linux, getrusage may report the peak of the parent process
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
