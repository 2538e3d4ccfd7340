"""The time to load a model from its file, after it has been loaded once."""

import json
import statistics
import sys
import time

from hyperspan import Recognizer

request = json.load(sys.stdin)
Recognizer.load(request["model"])
seconds = []
for _ in range(request["passes"]):
    begin = time.perf_counter()
    Recognizer.load(request["model"])
    seconds.append(time.perf_counter() - begin)
json.dump({"values": {"milliseconds": 1e3 * statistics.median(seconds)}, "results": {}}, sys.stdout)
