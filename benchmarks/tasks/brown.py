"""The speed and quality of Brown clustering, beside the package ``brown-clustering``.

Both get the same sentences; the average mutual information of both results is computed by the same function, from the
definition. The peer smooths its counts, by default so strongly that its clusters suffer. So it is run with its default
and with almost no smoothing, each time in a separate process with a time limit. Times are CPU seconds; compiling (and
loading compiled code) does not count on either side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from benchmarks.data import first_tokens
from benchmarks.harness import Disagreement, Figure, Row
from benchmarks.setting import Setting
from hyperspan.features.bigrams import count_bigrams
from hyperspan.features.brown import Clusters, average_mutual_information, brown_clusters

TOKENS = (5_000, 300_000)
CLUSTERS = (50, 1000)
SMOOTHING = (1.0, 1e-4)

LIMIT = 300.0
"""The time limit for one run of the peer, in seconds."""

Words = Sequence[Sequence[str]]

_PEER = """
import json, sys, time
from brown_clustering import BigramCorpus, BrownClustering
request = json.load(sys.stdin)
BrownClustering(BigramCorpus(request["sentences"][:20], alpha=request["alpha"]), 5).train()
started = time.process_time()
clusters = BrownClustering(BigramCorpus(request["sentences"], alpha=request["alpha"]), request["n_clusters"]).train()
json.dump({"seconds": time.process_time() - started, "clusters": clusters}, sys.stdout)
"""


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for each smoothing of the peer."""
    rower = setting.rower("brown", "processor seconds")
    sentences = [sentence.tokens for sentence in first_tokens(setting.data.sentences, setting.pick(*TOKENS))]
    n_clusters = setting.pick(*CLUSTERS)
    figure, clusters = ours(sentences, n_clusters, setting.pick(2, 3))
    bigrams = count_bigrams(sentences)
    information = average_mutual_information(bigrams, clusters.ids_of(bigrams.words))
    note = (
        f"{sum(map(len, sentences)):,} tokens, {len(bigrams.words):,} words, {n_clusters:,} clusters; "
        f"information {information:.4f}"
    )
    for alpha in SMOOTHING:
        found = theirs(sentences, n_clusters, alpha)
        name = f"brown-clustering, alpha {alpha:g}"
        if "seconds" not in found:
            yield rower("brown_clusters", figure, name, note=f"{note}; {found['skipped']}")
            continue
        seconds = found["seconds"]
        yield rower(
            "brown_clusters",
            figure,
            name,
            Figure(seconds, seconds, seconds),
            note=f"{note}, the peer's {found['information']:.4f}; the peer was run once",
        )


def ours(sentences: Words, n_clusters: int, rounds: int) -> tuple[Figure, Clusters]:
    """Time our clustering.

    Raises
    ------
    Disagreement
        If the clusters are not the same every time.
    """
    brown_clusters(sentences[:20], 5)
    seconds, results = [], []
    for _ in range(rounds):
        started = time.process_time()
        results.append(brown_clusters(sentences, n_clusters))
        seconds.append(time.process_time() - started)
    if any(result != results[0] for result in results):
        raise Disagreement("the clusters are not the same every time; nothing was timed")
    return Figure.of(seconds), results[0]


def theirs(sentences: Words, n_clusters: int, alpha: float, limit: float = LIMIT) -> dict[str, Any]:
    """Time the peer in a separate process with a time limit."""
    if find_spec("brown_clustering") is None:
        return {"skipped": "not installed: pip install brown-clustering"}
    request = {"sentences": [list(tokens) for tokens in sentences], "n_clusters": n_clusters, "alpha": alpha}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PEER],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=limit,
            check=True,
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        return {"skipped": f"the peer was not done after {limit:.0f} seconds"}
    result = json.loads(done.stdout)
    cluster_of = {word: number for number, words in enumerate(result["clusters"]) for word in words}
    bigrams = count_bigrams(sentences)
    information = average_mutual_information(bigrams, [cluster_of[word] for word in bigrams.words])
    return {"seconds": result["seconds"], "information": information}
