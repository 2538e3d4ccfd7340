"""Train a model for others to load; its time does not count."""

import json
import sys

from hyperspan import Recognizer, corpora

request = json.load(sys.stdin)
recognizer = Recognizer(structure=request["structure"], max_iterations=request["long"], n_threads=request["threads"])
recognizer.fit(list(corpora.stream(request["corpus"]))).save(request["model"])
json.dump({"values": {}, "results": {}}, sys.stdout)
