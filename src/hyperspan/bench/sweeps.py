"""What inference costs, in nanoseconds per word and type on one thread, beside torch-struct for a chain of seven tags.

| row | what is timed |
| --- | --- |
| sum | the log partition function: forward only |
| gradient | the log partition function and the probability of every edge: forward and backward |
| best | the best structure, sentence by sentence, as ``distribution(...).best()`` gives it |

Scores are random. First the kernels must agree with their plain references, and torch-struct with ours. Times are those
of the thread at work, so that a busy machine disturbs less.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hyperspan.bench.harness import NOT_INSTALLED, Aim, Figure, Row, check_same, in_turns, peer
from hyperspan.bench.setting import Setting
from hyperspan.errors import MissingExtraError
from hyperspan.inference import distribution, sum_batch
from hyperspan.inference.algebra import LOG_SUM
from hyperspan.inference.chain_reference import chain_reference
from hyperspan.inference.frontier_reference import frontier_reference
from hyperspan.structures import Hypergraph, Linear, structure

STRUCTURES = {
    "shared, K=3": ("shared", 3),
    "split, K=3": ("split", 3),
    "mention": ("mention", 1),
    "linear": ("linear", 3),
}

LENGTH = 25
"""The words of a sentence: about what clinical and news text have."""

WANTED = 1000.0
"""Nanoseconds per word and type for the gradient of ``shared``."""

TORCH_STRUCT = "torch-struct, 1 thread"

Structure = Hypergraph | Linear
Scores = NDArray[np.float64]
Borders = NDArray[np.int64]


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for every structure and quantity."""
    rower = setting.rower("sweeps", "nanoseconds a word and type", data="random scores")
    check_references(setting.seed)
    n_words = setting.pick(2_000, 20_000)
    timed: dict[str, Callable[[], object]] = {}
    sizes: dict[str, int] = {}
    for name, (short, max_components) in STRUCTURES.items():
        made = structure(short, ["A"], max_components)
        scores, first_word = made_up(made, n_words // LENGTH, setting.seed)
        few = len(scores) // LENGTH // 10
        timed[f"{name}: sum"] = _summing(made, scores, first_word, wants_expected=False)
        timed[f"{name}: gradient"] = _summing(made, scores, first_word, wants_expected=True)
        timed[f"{name}: best"] = _finding_best(made, scores, few)
        sizes |= {f"{name}: sum": len(scores), f"{name}: gradient": len(scores), f"{name}: best": few * LENGTH}
    absent = ""
    try:
        timed[TORCH_STRUCT] = torch_struct(setting)
        sizes[TORCH_STRUCT] = n_words // LENGTH * LENGTH
    except MissingExtraError:
        absent = NOT_INSTALLED
    seconds = in_turns(timed, setting.pick(2, 15), clock=time.thread_time)
    figures = {name: figure.per(sizes[name] / 1e9) for name, figure in seconds.items()}
    for name in timed:
        if name == TORCH_STRUCT:
            continue
        is_compared = name == "linear: gradient"
        theirs: Figure | None = figures.get(TORCH_STRUCT) if is_compared else None
        yield rower(
            name,
            figures[name],
            TORCH_STRUCT if is_compared else "",
            theirs,
            aim=Aim("ours", "at most", WANTED) if name == "shared, K=3: gradient" else None,
            note=absent if is_compared else "",
        )


def made_up(made: Structure, n_sentences: int, seed: int = 0, length: int = LENGTH) -> tuple[Scores, Borders]:
    """Return random scores, and where sentences begin."""
    first_word = np.arange(n_sentences + 1) * length
    return np.random.default_rng(seed).normal(-1.0, 1.0, size=(n_sentences * length, made.n_labels)), first_word


def check_references(seed: int = 0) -> None:
    """Stop if a kernel does not give what its plain reference gives.

    Raises
    ------
    Disagreement
        If they differ.
    """
    for name, (short, max_components) in STRUCTURES.items():
        made = structure(short, ["A", "B"], max_components)
        scores, first_word = made_up(made, 1, seed, length=6)
        if isinstance(made, Linear):
            plain = chain_reference(scores.tolist(), [[0.0] * made.n_labels] * made.n_labels, LOG_SUM)
        else:
            plain = sum(
                frontier_reference(block.staircase, scores[:, block.first_label :].tolist(), LOG_SUM)
                for block in made.blocks
            )
        for wants in (False, True):
            found = sum_batch(made, scores, first_word, wants_expected=wants).log_partition[0]
            check_same(f"{name}, the log partition function", float(found), float(plain), 1e-12)


def torch_struct(setting: Setting) -> Callable[[], object]:
    """Return what computes the partition function and the marginals of a batch, in double precision as ours.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    Disagreement
        If its partition function is not ours.
    """
    torch = peer("torch", "torch-struct", "The comparison with torch-struct")
    package = peer("torch_struct", "torch-struct", "The comparison with torch-struct")
    torch.set_num_threads(1)
    made = structure("linear", ["A"])
    n_sentences = setting.pick(2_000, 20_000) // LENGTH
    scores, first_word = made_up(made, n_sentences, setting.seed)
    rows = torch.tensor(scores.reshape(n_sentences, LENGTH, made.n_labels))
    pairs = rows[:, 1:, :, None].expand(-1, -1, -1, made.n_labels).clone()
    pairs[:, 0] += rows[:, 0][:, None, :]
    pairs.requires_grad_(True)

    def gradient() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that its distributions check nothing
            package.LinearChainCRF(pairs).marginals.sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = float(package.LinearChainCRF(pairs).partition.detach().sum())
    ours = float(sum_batch(made, scores, first_word).log_partition.sum())
    check_same("the log partition function", ours, theirs, 1e-10)
    return gradient


def _summing(made: Structure, scores: Scores, first_word: Borders, *, wants_expected: bool) -> Callable[[], object]:
    return lambda: sum_batch(made, scores, first_word, wants_expected=wants_expected, n_threads=1)


def _finding_best(made: Structure, scores: Scores, n_sentences: int) -> Callable[[], object]:
    def best() -> None:
        for first in range(0, n_sentences * LENGTH, LENGTH):
            distribution(made, scores[first : first + LENGTH]).best()

    return best
