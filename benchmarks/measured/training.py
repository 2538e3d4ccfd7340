"""Train a model for both checkouts to load; this is not timed."""

import json
import sys
from typing import Any

from hyperspan import Recognizer, corpora


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Write the model."""
    recognizer = Recognizer(
        structure=request["structure"], max_iterations=request["long"], n_threads=request["threads"]
    )
    recognizer.fit(list(corpora.stream(request["corpus"]))).save(request["model"])
    return {"values": {}, "results": {}}


if __name__ == "__main__":
    json.dump(main(json.load(sys.stdin)), sys.stdout)
