"""Measure the memory of work in a separate process: ``python -m benchmarks.process``.

The request is JSON on stdin, and the measurement JSON on stdout. The baseline is taken after importing, and after the
same work on a few sentences, so compiled code does not count, but the corpus does.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Hashable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.crfsuite import pycrfsuite
from benchmarks.data import ONE_TYPE, Data, as_one_type
from benchmarks.harness import Disagreement
from benchmarks.problem import L2, templates
from hyperspan.features import Extractor
from hyperspan.features.columns import Values
from hyperspan.features.extraction_reference import features_reference
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.scoring import LinearScorer
from hyperspan.structures import structure

HANDFUL = Data("demo", most_tokens=500)

Seen = dict[str, Any]


def ask(request: Seen) -> Seen:
    """Run a request in a new process.

    Raises
    ------
    Disagreement
        If it fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", __name__], input=json.dumps(request), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Disagreement(f"{request} ended with exit code {done.returncode}: {done.stderr.strip()[-500:]}")
    found: Seen = json.loads(done.stdout)
    return found


def peak_bytes() -> int:
    """Return the peak memory of this process so far.

    Examples
    --------
    >>> peak_bytes() > 1_000_000
    True
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):  # not Linux
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def answer(request: Seen) -> Seen:
    """Run a request and return the memory that it took."""
    logging.disable(logging.WARNING)
    work = {"train": train, "predict": predict, "crfsuite": train_crfsuite}[request["what"]]
    work(request, HANDFUL.sentences)
    begin = peak_bytes()
    data = Data(request["data"], request["tokens"], request["seed"])
    return {"begin": begin, **work(request, data.sentences), "n_tokens": data.n_tokens}


def train(request: Seen, sentences: Sequence[Sentence]) -> Seen:
    """Train a recognizer for a few more iterations than the history of the optimiser holds."""
    read = peak_bytes()
    if request["structure"] == "linear":
        sentences = as_one_type(sentences)
    recognizer = Recognizer(
        structure=request["structure"],
        features=templates(),
        max_iterations=request["iterations"],
        n_threads=request["threads"],
    ).fit(sentences)
    peak = peak_bytes()
    if request.get("model"):
        recognizer.save(request["model"])
    assert isinstance(recognizer.scorer_, LinearScorer)
    n_occurrences = sum(len(block.feature) for block in recognizer.scorer_.extractor.transform_blocks(sentences))
    return {"read": read, "peak": peak, "n_occurrences": n_occurrences, "n_weights": len(recognizer.weights_)}


def predict(request: Seen, sentences: Sequence[Sentence]) -> Seen:
    """Load a model and find the mentions in a stream that repeats the same sentences."""
    recognizer = Recognizer.load(request["model"], n_threads=request["threads"])
    loaded = peak_bytes()
    n_found = sum(1 for _ in islice(recognizer.annotate(iter(sentences)), request.get("most", 20_000)))
    return {"read": loaded, "peak": peak_bytes(), "n_sentences": n_found}


def train_crfsuite(request: Seen, sentences: Sequence[Sentence]) -> Seen:
    """Train CRFsuite's chain with the same features; its strings are made and dropped sentence by sentence."""
    read = peak_bytes()
    trainer = pycrfsuite().Trainer("lbfgs", {"c2": L2, "max_iterations": request["iterations"]}, verbose=False)
    chain = structure("linear", [ONE_TYPE])
    active = Extractor(templates()).active
    known: dict[str, dict[Hashable, Values]] = {}
    for sentence in as_one_type(sentences):
        labels = chain.encode(sentence.mentions, len(sentence)).encoding
        names = features_reference(active, sentence, known=known)
        trainer.append(names, [chain.label_name(label) for _, label in labels])
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
    return {"read": read, "peak": peak_bytes()}


if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
