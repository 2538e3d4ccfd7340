"""How fast sentences become features, beside building the same features as texts.

    python benchmarks/bench_features.py --quick
    python benchmarks/bench_features.py --json features.json

The published templates are used, all of them: where a corpus brings no tags, lemmas, sections or note types, simple
stand-ins give every token one, so that no template is idle. Tokens are given; reading and tokenising do not count.

| row | what is timed |
| --- | --- |
| texts | plain Python: every feature of every token as a text, nothing remembered |
| texts, words remembered | the same, but the values of a word (affixes, clusters ...) are worked out once |
| ids, new words | compiled, into ids of a known index; the extractor has never seen any of the words |
| ids | compiled, into ids of a known index; the extractor knows the words |
| kernels only | the compiled part of it on one thread: codes in, ids out |
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from common import environment
from hyperspan import Sentence, corpora
from hyperspan.features import Extractor, Lexicon
from hyperspan.features.columns import hash_text
from hyperspan.features.extraction import chunks_of
from hyperspan.features.extraction_reference import features_reference, hash_feature_reference
from hyperspan.features.kernels import hash_features
from hyperspan.features.state import ClusterMap

ROOT = Path(__file__).resolve().parent.parent
QUICK_TOKENS = 20_000
WANTED_RATIO = 10


def main() -> None:
    """Parse options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK_TOKENS:,} tokens, three rounds")
    parser.add_argument("--rounds", type=int, help="how often everything is timed (3 or 5)")
    parser.add_argument("--threads", type=int, default=2, help="threads of the compiled part (2)")
    parser.add_argument(
        "--corpus", type=Path, help="a corpus of sentences; the real one or the demo corpus if not given"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    name, sentences = load(options.corpus)
    if options.quick:
        sentences = first_tokens(sentences, QUICK_TOKENS)
    result = measure(sentences, rounds=options.rounds or (3 if options.quick else 5), threads=options.threads)
    env = environment("hyperspan", "numpy", "numba", threads=options.threads)
    report = {"benchmark": "features", "corpus": name, "quick": options.quick, **result, "env": env}
    show(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def load(path: Path | None) -> tuple[str, list[Sentence]]:
    """Return the sentences to measure with: a real corpus if there is one, else the demo corpus."""
    real = Path(os.environ.get("CORPORA", ROOT.parent / "shared" / "data")) / "chia" / "train.jsonl"
    if path is None and not real.exists():
        from hyperspan.corpora import demo

        name, units = "demo", list(demo.generate(2000, seed=0, unit="sentences"))
    else:
        chosen = real if path is None else path
        name, units = "/".join(chosen.parts[-2:]), list(corpora.read(chosen))
    sentences = [unit for unit in units if isinstance(unit, Sentence)]
    if not sentences:
        sys.exit(f"{path} holds no sentences of tokens; convert it first with 'hyperspan convert'")
    return name, [with_stand_ins(sentence) for sentence in sentences]


def with_stand_ins(sentence: Sentence) -> Sentence:
    """Give a sentence every column and attribute that the published templates look at."""
    columns = {
        "pos": tuple(f"T{hash_text(token[-2:]) % 40}" for token in sentence.tokens),
        "lemma": tuple(token.lower().removesuffix("s") or token for token in sentence.tokens),
        **sentence.columns,
    }
    kind = hash_text(sentence.doc)
    attributes = {"section": f"section {kind % 30}", "note_type": f"type {kind % 4}", **sentence.attributes}
    return replace(sentence, columns=columns, attributes=attributes)


def resources_for(sentences: list[Sentence]) -> tuple[ClusterMap, Lexicon]:
    """Return clusters with paths of 8 to 14 bits for every word, and a lexicon of every seventh."""
    words = sorted({token for sentence in sentences for token in sentence.tokens})
    paths = {}
    for word in words:
        bits = hash_text(word)
        paths[word] = f"{bits % 1000:010b}"[: 8 + bits % 3] + f"{bits >> 40:b}"[: bits % 5]
    return ClusterMap(paths), Lexicon.from_entries([(word, f"C{hash_text(word) % 12}") for word in words[::7]])


class Answers:
    """What a lexicon says of some sentences, known beforehand: it is fast for batches only, which texts do not use."""

    def __init__(self, lexicon: Lexicon, sentences: list[Sentence]) -> None:
        self.categories = lexicon.categories
        tokens = [sentence.tokens for sentence in sentences]
        self._found = dict(zip(tokens, lexicon.match(tokens), strict=True))

    def match(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        return [self._found[tuple(tokens)] for tokens in sentences]


def first_tokens(sentences: list[Sentence], n_tokens: int) -> list[Sentence]:
    """Return sentences from the beginning until there are so many tokens."""
    total = 0
    for position, sentence in enumerate(sentences):
        total += len(sentence)
        if total >= n_tokens:
            return sentences[: position + 1]
    return sentences


def measure(sentences: list[Sentence], *, rounds: int, threads: int) -> dict[str, Any]:
    """Check that all variants agree, warm up, and time them in turn."""
    clusters, lexicon = resources_for(sentences)
    extractor = Extractor("published", clusters, lexicon, threads=threads).fit(sentences)
    assert not extractor.skipped
    active, index = extractor.active, extractor.index_
    assert index is not None
    check_agreement(extractor, sentences[:: max(1, len(sentences) // 200)])
    batches = [extractor._table.encode(chunk, lexicon) for chunk in chunks_of(sentences)]
    n_features = sum(len(block.hash) for block in extractor.hash_blocks(sentences))
    n_tokens = sum(map(len, sentences))

    answers = Answers(lexicon, sentences)

    def texts() -> None:
        for sentence in sentences:
            features_reference(active, sentence, clusters, answers)

    def texts_remembered() -> None:
        known: dict[Any, Any] = {}
        for sentence in sentences:
            features_reference(active, sentence, clusters, answers, known)

    def new_words() -> None:
        fresh = Extractor("published", clusters, lexicon, threads=threads)
        fresh.index_ = index
        fresh.transform(sentences)

    def ids() -> None:
        extractor.transform(sentences)

    def kernels() -> None:
        for batch in batches:
            index.find(*hash_features(extractor._plan, batch))

    variants: dict[str, Callable[[], None]] = {
        "texts": texts,
        "texts, words remembered": texts_remembered,
        "ids, new words": new_words,
        "ids": ids,
        "kernels only": kernels,
    }
    wall, cpu = time_in_turn(variants, rounds)
    by_size = {}
    for share in (4, 2, 1):
        part = sentences[: len(sentences) // share]
        (times,) = time_in_turn({"ids": lambda part=part: extractor.transform(part)}, rounds)[0].values()
        by_size[sum(map(len, part))] = statistics.median(times)
    median = {name: statistics.median(times) for name, times in wall.items()}
    return {
        "threads": threads,
        "rounds": rounds,
        "sentences": len(sentences),
        "tokens": n_tokens,
        "words": len(clusters.words),
        "features_a_token": n_features / n_tokens,
        "index": len(index),
        "seconds": {
            name: {
                "median": median[name],
                "least": min(wall[name]),
                "most": max(wall[name]),
                "cpu": statistics.median(cpu[name]),
            }
            for name in variants
        },
        "tokens_a_second": {name: n_tokens / value for name, value in median.items()},
        "ratio": {
            f"{slow} / {fast}": median[slow] / median[fast]
            for slow in ("texts", "texts, words remembered")
            for fast in ("ids, new words", "ids")
        },
        "tokens_a_second_by_size": {str(size): size / value for size, value in by_size.items()},
    }


def check_agreement(extractor: Extractor, sentences: list[Sentence]) -> None:
    """Stop if the compiled features are not those that the texts name."""
    texts = [
        hash_feature_reference(feature)
        for sentence in sentences
        for features in extractor.describe(sentence)
        for feature in features
    ]
    compiled = np.concatenate([block.hash for block in extractor.hash_blocks(sentences)])
    if compiled.tolist() != texts:
        sys.exit("the compiled features differ from the plain ones: nothing to measure")


def time_in_turn(
    variants: dict[str, Callable[[], object]], rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Time all variants one after the other, several times over, after a round that does not count.

    Returns wall-clock and processor seconds; on a busy machine the latter are the ones to look at.
    """
    wall: dict[str, list[float]] = {name: [] for name in variants}
    cpu: dict[str, list[float]] = {name: [] for name in variants}
    for round in range(rounds + 1):
        for name, run in variants.items():
            begin, cpu_begin = time.perf_counter(), time.process_time()
            run()
            if round:
                wall[name].append(time.perf_counter() - begin)
                cpu[name].append(time.process_time() - cpu_begin)
    return wall, cpu


def show(report: dict[str, Any]) -> None:
    """Print the figures."""
    print(
        f"{report['corpus']}: {report['tokens']:,} tokens, {report['words']:,} distinct words, "
        f"{report['features_a_token']:.1f} features a token, {report['index']:,} different ones; "
        f"{report['threads']} threads, load {report['env']['load']}"
    )
    for name, times in report["seconds"].items():
        print(
            f"  {name:<24} {times['median']:8.3f} s ({times['least']:.3f} to {times['most']:.3f})"
            f" {report['tokens_a_second'][name]:12,.0f} tokens/s, {times['cpu']:7.3f} s of processor"
        )
    for name, ratio in report["ratio"].items():
        print(f"  {name:<42} {ratio:6.1f} times as fast{'' if ratio >= WANTED_RATIO else '  (less than wanted)'}")
    for size, speed in report["tokens_a_second_by_size"].items():
        print(f"  ids, {int(size):>9,} tokens {speed:12,.0f} tokens/s")


if __name__ == "__main__":
    main()
