"""How many tokens a second go from text to mentions, and which mentions are found."""

import hashlib
import json
import statistics
import sys
import time

from hyperspan import Recognizer, corpora

request = json.load(sys.stdin)
texts = list(corpora.stream(request["texts"]))
recognizer = Recognizer.load(request["model"], n_threads=request["threads"])

found = list(recognizer.annotate(texts, decode=request["decode"]))
mentions = [[number, mention.type, mention.parts] for number, text in enumerate(found) for mention in text.mentions]
probs = [mention.prob or 0.0 for text in found for mention in text.mentions]
rates, cpu_seconds = [], []
for _ in range(request["passes"]):
    wall, cpu = time.perf_counter(), time.process_time()
    found = list(recognizer.annotate(texts, decode=request["decode"]))
    rates.append(request["n_tokens"] / (time.perf_counter() - wall))
    cpu_seconds.append(time.process_time() - cpu)
answer = {
    "values": {
        "tokens a second": statistics.median(rates),
        "CPU seconds a million tokens": 1e6 * statistics.median(cpu_seconds) / request["n_tokens"],
    },
    "results": {
        "mentions": hashlib.sha256(json.dumps(mentions).encode()).hexdigest(),
        "sum of probabilities": sum(probs),
    },
}
json.dump(answer, sys.stdout)
