"""How fast a lexicon is built, loaded and matched, and how large it is.

    python benchmarks/bench_lexicon.py --quick
    python benchmarks/bench_lexicon.py --json lexicon.json

The phrases are made up: one to five words of a vocabulary with Zipf frequencies. The text is made of the same words,
with a phrase put in now and then. First the matches of some sentences are compared with a plain search by dictionary.
Times are processor seconds of one process; compiling does not count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from common import environment
from hyperspan.features.lexicon import Lexicon

ROOT = Path(__file__).resolve().parent.parent
SIZES = {"quick": (50_000, 200_000), "full": (1_000_000, 2_000_000)}
N_CATEGORIES = 100


def main() -> None:
    """Parse options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="50,000 phrases and 200,000 tokens, not 1 and 2 million")
    parser.add_argument("--rounds", type=int, default=3, help="how often matching is timed (3)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    size = "quick" if options.quick else "full"
    report = {
        "benchmark": "lexicon",
        "size": size,
        **measure(*SIZES[size], options.rounds),
        "env": environment("hyperspan", "numpy", "numba", threads=1),
    }
    show(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def measure(n_entries: int, n_tokens: int, rounds: int) -> dict[str, Any]:
    """Build, check and time a lexicon."""
    entries, sentences = made_up(n_entries, n_tokens)
    Lexicon.from_entries(entries[:10]).match(sentences[:2])
    build, lexicon = timed(lambda: Lexicon.from_entries(entries))
    check(lexicon, dict(reversed(entries)), sentences[:300])
    save, raw = timed(lexicon.to_bytes)
    load, _ = timed(lambda: Lexicon.from_bytes(raw))
    match = [timed(lambda: lexicon.match(sentences)) for _ in range(rounds)]
    total = sum(map(len, sentences))
    covered = sum(int((ids >= 0).sum()) for ids in match[0][1])
    return {
        "entries": len(entries),
        "phrases": len(lexicon),
        "tokens": total,
        "covered": covered,
        "build_seconds": build,
        "save_seconds": save,
        "load_seconds": load,
        "match_seconds": [seconds for seconds, _ in match],
        "tokens_a_second": total / statistics.median(seconds for seconds, _ in match),
        "bytes_a_phrase": lexicon.n_bytes / len(lexicon),
        "file_bytes_a_phrase": len(raw) / len(lexicon),
    }


def made_up(n_entries: int, n_tokens: int, seed: int = 0) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Return phrases with their categories, and sentences."""
    chance = np.random.default_rng(seed)
    n_words = max(n_entries // 5, 1000)
    consonants, vowels = "bcdfgklmnprtv", "aeiou"
    syllables = [consonant + vowel for consonant in consonants for vowel in vowels]
    words = []
    for number in range(n_words):
        parts = []
        rest = number + len(syllables)
        while rest:
            rest, part = divmod(rest, len(syllables))
            parts.append(syllables[part])
        words.append("".join(parts) + "k")  # no word looks like a plural
    weights = 1.0 / (np.arange(n_words) + 10.0)
    weights /= weights.sum()
    lengths = chance.choice([1, 2, 3, 4, 5], n_entries, p=[0.2, 0.35, 0.25, 0.12, 0.08])
    flat = iter(chance.choice(n_words, int(lengths.sum()), p=weights).tolist())
    categories = chance.integers(N_CATEGORIES, size=n_entries).tolist()
    entries = [
        (" ".join(words[next(flat)] for _ in range(length)), f"category {category}")
        for length, category in zip(lengths.tolist(), categories, strict=True)
    ]
    tokens = [words[number] for number in chance.choice(n_words, n_tokens, p=weights).tolist()]
    sentences = [tokens[start : start + 20] for start in range(0, n_tokens, 20)]
    for number in range(0, len(sentences), 3):
        sentences[number][5:10] = entries[int(chance.integers(n_entries))][0].split()
    return entries, sentences


def check(lexicon: Lexicon, categories: dict[str, str], sentences: Sequence[Sequence[str]]) -> None:
    """Stop if some sentence is matched differently from the definition."""
    for tokens in sentences:
        best: list[tuple[int, str]] = [(0, "")] * len(tokens)
        for start in range(len(tokens)):
            for end in range(start + 1, min(start + 5, len(tokens)) + 1):
                category = categories.get(" ".join(tokens[start:end]))
                for position in range(start, end) if category else ():
                    if best[position][0] < end - start:
                        best[position] = (end - start, category or "")
        expected = [(category,) if category else () for _, category in best]
        assert lexicon.categories_of(tokens) == expected, f"matches differ in {tokens}"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds and the result of some work."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def show(report: dict[str, Any]) -> None:
    """Print the figures."""
    print(
        f"{report['entries']:,} entries, {report['phrases']:,} different phrases, {report['tokens']:,} tokens, ", end=""
    )
    print(f"{report['covered'] / report['tokens']:.0%} of them covered\n")
    for what in ("build", "save", "load"):
        print(f"{what:<24}{report[f'{what}_seconds']:>12.2f} s")
    print(f"{'match':<24}{report['tokens_a_second']:>12,.0f} tokens a second")
    print(f"{'memory, arrays':<24}{report['bytes_a_phrase']:>12.1f} bytes a phrase")
    print(f"{'file':<24}{report['file_bytes_a_phrase']:>12.1f} bytes a phrase")


if __name__ == "__main__":
    main()
