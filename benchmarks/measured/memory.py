"""The peak memory of training, less what the process has after the same work on a handful of sentences."""

import json
import resource
import sys
from pathlib import Path

from hyperspan import Recognizer, corpora

request = json.load(sys.stdin)


def peak_megabytes() -> float:
    if sys.platform == "linux":  # what getrusage says there can be the peak of the process that started this one
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def recognizer() -> Recognizer:
    return Recognizer(
        structure=request["structure"], tolerance=0.0, max_iterations=request["short"], n_threads=request["threads"]
    )


handful = [sentence for sentence, _ in zip(corpora.stream(request["corpus"]), range(50), strict=False)]
recognizer().fit(handful)
before = peak_megabytes()
recognizer().fit(list(corpora.stream(request["corpus"])))
json.dump({"values": {"megabytes": peak_megabytes() - before}, "results": {}}, sys.stdout)
