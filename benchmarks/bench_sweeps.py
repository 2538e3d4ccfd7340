"""What inference costs: nanoseconds per word and type, on one thread.

    python benchmarks/bench_sweeps.py --quick
    python benchmarks/bench_sweeps.py --json sweeps.json

| row | what is timed |
| --- | --- |
| sum | the log partition function: forward only |
| gradient | the log partition function and the probability of every edge: forward and backward |
| best | the best structure, sentence by sentence, as `distribution(...).best()` gives it |

Then how the gradient grows with the length of sentences, the number of words and the number of types, which should be
in proportion; and what others need for a chain of 7 tags: CRFsuite for one evaluation of likelihood and gradient with
two features a word, torch-struct for the partition function and the marginals of given scores. Times are those of the
thread at work, so that a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import environment, spread, time_in_turn, write_json
from hyperspan.inference import distribution, sum_batch
from hyperspan.inference.algebra import LOG_SUM
from hyperspan.inference.chain_reference import chain_reference
from hyperspan.inference.frontier_reference import frontier_reference
from hyperspan.structures import Hypergraph, Linear, structure

STRUCTURES = {
    "shared, 3 parts": ("shared", 3),
    "split, 3 parts": ("split", 3),
    "mention": ("mention", 1),
    "linear": ("linear", 3),
}
LENGTH = 25
"""The words of a sentence, where nothing else is said: about what clinical and news text have."""

WANTED = 1000.0
"""Nanoseconds per word and type for the gradient of ``shared``."""

Structure = Hypergraph | Linear


def main() -> None:
    """Parse options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer words and rounds")
    parser.add_argument("--rounds", type=int, help="how often everything is timed (5 or 15)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    rounds = options.rounds or (5 if options.quick else 15)
    n_words = 5_000 if options.quick else 20_000
    check_agreement()
    report = {
        "benchmark": "sweeps",
        "quick": options.quick,
        "rounds": rounds,
        "unit": "nanoseconds per word and type",
        "costs": costs(n_words, rounds),
        "growth": growth(rounds, quick=options.quick),
        "others": others(n_words, rounds),
        "env": environment("hyperspan", "numba", "numpy", "python-crfsuite", "torch", "torch-struct", threads=1),
    }
    show(report)
    write_json(options.json, report)


def made_up(made: Structure, lengths: list[int], seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return random scores, and where sentences of these lengths begin."""
    first_word = np.cumsum([0, *lengths])
    return np.random.default_rng(seed).normal(-1.0, 1.0, size=(first_word[-1], made.n_labels)), first_word


def check_agreement() -> None:
    """Stop if a kernel does not give what its plain reference gives: then there is nothing to measure."""
    for name, (short, max_components) in STRUCTURES.items():
        made = structure(short, ["A", "B"], max_components)
        scores, first_word = made_up(made, [6])
        if isinstance(made, Linear):
            plain = chain_reference(scores.tolist(), [[0.0] * made.n_labels] * made.n_labels, LOG_SUM)
        else:
            plain = sum(
                frontier_reference(block.staircase, scores[:, block.first_label :].tolist(), LOG_SUM)
                for block in made.blocks
            )
        found = [sum_batch(made, scores, first_word, wants_expected=wants).log_partition[0] for wants in (False, True)]
        if not np.allclose(found, plain, rtol=1e-12):
            sys.exit(f"{name}: the kernels say {found}, the reference {plain}: nothing to measure")


def costs(n_words: int, rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Time every structure and quantity."""
    variants, sizes = {}, {}
    for name, (short, max_components) in STRUCTURES.items():
        made = structure(short, ["A"], max_components)
        scores, first_word = made_up(made, [LENGTH] * (n_words // LENGTH))
        few = n_words // LENGTH // 10

        def summed(wants, made=made, scores=scores, first_word=first_word):
            return sum_batch(made, scores, first_word, wants_expected=wants, n_threads=1)

        def best(made=made, scores=scores, few=few):
            for first in range(0, few * LENGTH, LENGTH):
                distribution(made, scores[first : first + LENGTH]).best()

        variants[f"{name}: sum"] = lambda summed=summed: summed(False)
        variants[f"{name}: gradient"] = lambda summed=summed: summed(True)
        variants[f"{name}: best"] = best
        sizes.update({f"{name}: sum": len(scores), f"{name}: gradient": len(scores), f"{name}: best": few * LENGTH})
    seconds = time_in_turn(variants, rounds, time.thread_time)
    return {name: spread(times, sizes[name] / 1e9) for name, times in seconds.items()}


def growth(rounds: int, *, quick: bool) -> dict[str, dict[str, dict[str, float]]]:
    """Time the gradient of ``shared`` for longer sentences, more words and more types."""
    one = structure("shared", ["A"])
    n_words = 4_000 if quick else 20_000
    by_length = {length: (one, [length] * (n_words // length)) for length in (10, 30, 100, 300, 1000)}
    by_words = {words: (one, [LENGTH] * (words // LENGTH)) for words in (1_000, 10_000, 100_000)}
    by_types = {
        n_types: (structure("shared", [f"T{number}" for number in range(n_types)]), [LENGTH] * (n_words // LENGTH))
        for n_types in (1, 2, 4, 8, 16)
    }
    found = {}
    for what, cases in {"words a sentence": by_length, "words": by_words, "types": by_types}.items():
        variants, sizes = {}, {}
        for size, (made, lengths) in cases.items():
            scores, first_word = made_up(made, lengths)

            def gradient(made=made, scores=scores, first_word=first_word):
                return sum_batch(made, scores, first_word, n_threads=1)

            variants[str(size)] = gradient
            sizes[str(size)] = len(scores) * len(made.types)
        seconds = time_in_turn(variants, min(rounds, 7), time.thread_time)
        found[what] = {name: spread(times, sizes[name] / 1e9) for name, times in seconds.items()}
    return found


def others(n_words: int, rounds: int) -> dict[str, dict[str, float] | str]:
    """Time what others need for a chain of 7 tags, where they are installed."""
    found: dict[str, dict[str, float] | str] = {}
    for name, measure in {"CRFsuite": crfsuite, "torch-struct": torch_struct}.items():
        try:
            found[name] = measure(n_words, rounds)
        except ImportError as error:
            found[name] = f"not measured: {error}"
    return found


def crfsuite(n_words: int, rounds: int) -> dict[str, float]:
    """Train for some iterations; what an evaluation took is in CRFsuite's own log, to the millisecond."""
    import pycrfsuite

    n_words, rng = max(n_words, 20_000) * 5, np.random.default_rng(0)
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params(
        {"c2": 1.0, "max_iterations": rounds, "feature.possible_transitions": True, "feature.possible_states": True}
    )
    for _ in range(n_words // LENGTH):
        words, tags = rng.integers(2000, size=LENGTH), rng.integers(7, size=LENGTH)
        trainer.append([[f"word={word}", f"suffix={word % 50}"] for word in words], [str(tag) for tag in tags])
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
    times = [each["time"] / each["linesearch_trials"] for each in trainer.logparser.iterations]
    return spread(times, n_words / 1e9)


def torch_struct(n_words: int, rounds: int) -> dict[str, float]:
    """Partition function and marginals of a batch, in double precision as ours."""
    import torch
    import torch_struct

    torch.set_num_threads(1)
    made = structure("linear", ["A"])
    n_sentences = max(1, n_words // LENGTH // 5)
    scores, first_word = made_up(made, [LENGTH] * n_sentences)
    rows = torch.tensor(scores.reshape(n_sentences, LENGTH, 7))
    pairs = rows[:, 1:, :, None].expand(-1, -1, -1, 7).clone()
    pairs[:, 0] += rows[:, 0][:, None, :]
    pairs.requires_grad_(True)

    def gradient() -> None:
        torch_struct.LinearChainCRF(pairs).marginals.sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that its distributions check nothing
        total = torch_struct.LinearChainCRF(pairs).partition.detach().numpy()
        if not np.allclose(total, sum_batch(made, scores, first_word).log_partition, rtol=1e-10):
            sys.exit("torch-struct gives another partition function: nothing to measure")
        times = time_in_turn({"": gradient}, min(rounds, 7), time.thread_time)[""]
    return spread(times, n_sentences * LENGTH / 1e9)


def show(report: dict[str, Any]) -> None:
    """Print the figures."""
    env = report["env"]
    print(f"nanoseconds per word and type, median (least to most) of {report['rounds']} rounds, one thread")
    print(f"{env['cpu']}, {env['cores']} cores, load {env['load']}\n")
    for name, times in report["costs"].items():
        note = ""
        if name == "shared, 3 parts: gradient":
            note = f"  wanted: under {WANTED:.0f}{'' if times['median'] < WANTED else ', MISSED'}"
        print(f"  {name:<28} {figures(times)}{note}")
    for what, cases in report["growth"].items():
        print(f"\n  gradient of shared, by {what}")
        for size, times in cases.items():
            print(f"  {int(size):>28,} {figures(times)}")
    print("\n  a chain of 7 tags: the gradient, by others")
    for name, times in report["others"].items():
        print(f"  {name:<28} {times if isinstance(times, str) else figures(times)}")


def figures(times: dict[str, float]) -> str:
    """Write the median and the spread."""
    return f"{times['median']:9,.0f} ({times['least']:,.0f} to {times['most']:,.0f})"


if __name__ == "__main__":
    main()
