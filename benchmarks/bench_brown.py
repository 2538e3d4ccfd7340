"""How fast Brown clusters are made and how good they are, beside the package ``brown-clustering``.

    pip install brown-clustering
    python benchmarks/bench_brown.py --quick
    python benchmarks/bench_brown.py --json brown.json

The text is that of the real corpora if they are there ($CORPORA, or ../shared/data beside the checkout), else one made
up by a class-based bigram model with Zipf frequencies. Both programs get the same sentences; the average mutual
information of both results is computed by the same function, from the definition. The peer smooths its counts, by
default so strongly that its clusters suffer, so it is run as it comes and with next to no smoothing.

Times are processor seconds of one process; compiling (and loading compiled code) does not count on either side.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import environment
from hyperspan import Sentence, corpora
from hyperspan.features.brown import Clusters, average_mutual_information, brown_clusters, count_bigrams

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"quick": (30_000, 100), "full": (300_000, 1000)}
RECORDED = {
    "brown-clustering 0.1.6": 880.0,
    "wcluster (C++)": 699.0,
}
"""Seconds for 300,000 tokens and 1,000 clusters, measured before on another day: not part of this run."""
SMOOTHING = (1.0, 1e-4)

Words = Sequence[Sequence[str]]


def main() -> None:
    """Parse options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="30,000 tokens and 100 clusters, not 300,000 and 1,000")
    parser.add_argument("--rounds", type=int, default=3, help="how often ours is timed (3)")
    parser.add_argument(
        "--peer-limit", type=float, default=120.0, help="seconds that one run of the peer may take (120)"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    size = "quick" if options.quick else "full"
    n_tokens, n_clusters = SIZES[size]
    name, sentences = load(n_tokens)
    bigrams = count_bigrams(sentences)
    report: dict[str, Any] = {
        "benchmark": "brown",
        "size": size,
        "corpus": name,
        "tokens": sum(map(len, sentences)),
        "words": len(bigrams.words),
        "clusters": n_clusters,
        "ours": ours(sentences, n_clusters, options.rounds),
        "peers": [peer(sentences, n_clusters, alpha, options.peer_limit) for alpha in SMOOTHING],
        "recorded": RECORDED if size == "full" else {},
        "env": environment("hyperspan", "numpy", "numba", "brown-clustering", threads=1),
    }
    show(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def load(n_tokens: int) -> tuple[str, list[Sequence[str]]]:
    """Return sentences of about ``n_tokens`` tokens together."""
    folder = Path(os.environ.get("CORPORA", ROOT.parent / "shared" / "data"))
    files = sorted(folder.rglob("*.jsonl"))
    sentences: list[Sequence[str]] = []
    total = 0
    for path in files:
        for unit in corpora.stream(path):
            if isinstance(unit, Sentence):
                sentences.append(unit.tokens)
                total += len(unit.tokens)
                if total >= n_tokens:
                    return "real corpora", sentences
    if files:
        return "real corpora", sentences
    return "made up", made_up(n_tokens)


def made_up(n_tokens: int, seed: int = 0) -> list[Sequence[str]]:
    """Return a text of words with Zipf frequencies, in which the class of a word depends on the class before."""
    chance = random.Random(seed)
    n_classes, n_words = 60, max(n_tokens // 12, 100)
    members = [[f"w{rank}" for rank in range(c, n_words, n_classes)] for c in range(n_classes)]
    weights = [[1.0 / (c + n_classes * k + 2) for k in range(len(members[c]))] for c in range(n_classes)]
    follows = [[chance.paretovariate(0.7) for _ in range(n_classes)] for _ in range(n_classes)]
    sentences: list[Sequence[str]] = []
    total = 0
    while total < n_tokens:
        sentence, last = [], chance.randrange(n_classes)
        for _ in range(chance.randint(5, 30)):
            last = chance.choices(range(n_classes), follows[last])[0]
            sentence.append(chance.choices(members[last], weights[last])[0])
        sentences.append(sentence)
        total += len(sentence)
    return sentences


def ours(sentences: Words, n_clusters: int, rounds: int) -> dict[str, Any]:
    """Time our clustering."""
    brown_clusters(sentences[:20], 5)
    seconds, results = [], []
    for _ in range(rounds):
        started = time.process_time()
        results.append(brown_clusters(sentences, n_clusters))
        seconds.append(time.process_time() - started)
    assert all(result == results[0] for result in results), "the clusters are not the same every time"
    return {
        "seconds": seconds,
        "median": statistics.median(seconds),
        "information": _information(sentences, results[0]),
    }


def _information(sentences: Words, clusters: Clusters) -> float:
    bigrams = count_bigrams(sentences)
    return average_mutual_information(bigrams, clusters.ids_of(bigrams.words))


_PEER = """
import json, sys, time
from brown_clustering import BigramCorpus, BrownClustering
request = json.load(sys.stdin)
BrownClustering(BigramCorpus(request["sentences"][:20], alpha=request["alpha"]), 5).train()
started = time.process_time()
clusters = BrownClustering(BigramCorpus(request["sentences"], alpha=request["alpha"]), request["n_clusters"]).train()
json.dump({"seconds": time.process_time() - started, "clusters": clusters}, sys.stdout)
"""


def peer(sentences: Words, n_clusters: int, alpha: float, limit: float) -> dict[str, Any]:
    """Time the peer in a process of its own, which is ended when it takes too long."""
    if find_spec("brown_clustering") is None:
        return {"alpha": alpha, "skipped": "brown-clustering is not installed"}
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
        return {"alpha": alpha, "skipped": f"not done after {limit:.0f} seconds (--peer-limit)"}
    result = json.loads(done.stdout)
    cluster_of = {word: number for number, words in enumerate(result["clusters"]) for word in words}
    bigrams = count_bigrams(sentences)
    information = average_mutual_information(bigrams, [cluster_of[word] for word in bigrams.words])
    return {"alpha": alpha, "seconds": result["seconds"], "information": information}


def show(report: dict[str, Any]) -> None:
    """Print the figures."""
    ours = report["ours"]
    print(f"{report['tokens']:,} tokens ({report['corpus']}), ", end="")
    print(f"{report['words']:,} words, {report['clusters']:,} clusters; load {report['env']['load']}\n")
    print(f"{'program':<38}{'seconds':>10}{'ratio':>8}{'information':>13}")
    print(f"{'hyperspan':<38}{ours['median']:>10.2f}{1.0:>8.1f}{ours['information']:>13.4f}")
    for peer in report["peers"]:
        name = f"brown-clustering, alpha {peer['alpha']:g}"
        if "skipped" in peer:
            print(f"{name:<38}{peer['skipped']}")
        else:
            ratio = peer["seconds"] / ours["median"]
            print(f"{name:<38}{peer['seconds']:>10.2f}{ratio:>8.1f}{peer['information']:>13.4f}")
    for name, seconds in report["recorded"].items():
        print(f"{name + ', recorded earlier':<38}{seconds:>10.2f}{seconds / ours['median']:>8.1f}{'':>13}")


if __name__ == "__main__":
    main()
