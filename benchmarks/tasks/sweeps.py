"""The cost of inference in nanoseconds per word and type on one thread; for the chain beside torch-struct and CRFsuite.

| row | what is timed |
| --- | --- |
| `log_partition` | the log partition function: forward only |
| `marginals` | the log partition function and the marginal of every edge, as in training |
| `best` | the best structure: Viterbi |
| `probable` | all mentions above a threshold, with their probabilities, as in prediction |

Each is a method of the batched distribution, called as training and prediction call it, on batches of the same size.
The scores come from a model with one type, trained for a few iterations. All sentences have the same length, which
torch-struct needs. First our partition functions are compared with the plain references, and the peers' with ours.
Times are CPU times of one thread, which a busy machine disturbs less.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.chains import CrfsuiteChain, TorchStruct, Work
from benchmarks.data import as_one_type, first_tokens
from benchmarks.harness import NOT_INSTALLED, Aim, Row, check_same, in_turns
from benchmarks.problem import templates
from benchmarks.setting import Setting
from hyperspan.errors import MissingExtraError
from hyperspan.inference import ScoreBatch, distribution
from hyperspan.inference.automaton import chain_automaton, staircase_automaton
from hyperspan.inference.reference.algebra import LOG_SUM
from hyperspan.inference.reference.automaton import total
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.recognizer.model import BATCH_WORDS
from hyperspan.structures import Hypergraph, Structure, structure

STRUCTURES = {
    "shared, K=3": ("shared", 3),
    "split, K=3": ("split", 3),
    "mention": ("mention", 1),
    "linear": ("linear", 3),
}

QUANTITIES = ("log_partition", "marginals", "best", "probable")

LENGTH = 25
"""The number of words in a sentence: about as many as in clinical and news text."""

AIMS = {"shared, K=3: marginals": Aim("ours", "at most", 1000.0)}
"""In nanoseconds per word and type."""

TORCH_STRUCT = "torch-struct, 1 thread"
CRFSUITE = "CRFsuite, 1 thread"


def run(setting: Setting) -> Iterator[Row]:
    """Yield a row for every structure and quantity, and for the chain one for each peer."""
    rower = setting.rower("sweeps", "nanoseconds a word and type")
    check_references(setting.seed)
    sentences = as_one_type(first_tokens(setting.data.sentences, setting.pick(2_000, 20_000)))
    timed: dict[str, Work] = {}
    peers: dict[str, dict[str, Work]] = {}
    n_words = 0
    for name, (short, max_components) in STRUCTURES.items():
        setting.say(f"training {name}")
        made, batches = scored(short, max_components, sentences, setting.pick(2, 20))
        if made.has_transitions:
            peers, batches = peers_of(made, batches)
        n_words = sum(len(batch.scores) for batch in batches)
        for quantity in QUANTITIES:
            timed[f"{name}: {quantity}"] = partial(ask, made, batches, quantity)
    for peer, works in peers.items():
        timed |= {f"{peer}: {quantity}": work for quantity, work in works.items()}
    seconds = in_turns(timed, setting.pick(2, 15), clock=time.thread_time)
    figures = {name: figure.per(n_words / 1e9) for name, figure in seconds.items()}
    note = f"{n_words:,} words in batches of about {BATCH_WORDS:,}"
    for name in STRUCTURES:
        for quantity in QUANTITIES:
            row = f"{name}: {quantity}"
            if name == "linear" and quantity != "probable":
                for peer in (TORCH_STRUCT, CRFSUITE):
                    theirs = figures.get(f"{peer}: {quantity}")
                    yield rower(row, figures[row], peer, theirs, note=note if theirs else NOT_INSTALLED)
            else:
                yield rower(row, figures[row], aim=AIMS.get(row), note=note)


def scored(
    short: str, max_components: int, sentences: Sequence[Sentence], iterations: int
) -> tuple[Structure, list[ScoreBatch]]:
    """Train a model; return its structure and its scores of the same words, in batches as large as in prediction."""
    recognizer = Recognizer(
        structure=short, max_components=max_components, features=templates(), max_iterations=iterations, n_threads=1
    ).fit(sentences)
    batch = recognizer.scorer_.scores(sentences)
    n_sentences = len(batch.scores) // LENGTH
    even = replace(batch, scores=batch.scores[: n_sentences * LENGTH], first_word=np.arange(n_sentences + 1) * LENGTH)
    return recognizer.structure_, even.cut(max(1, len(even.scores) // BATCH_WORDS))


def ask(made: Structure, batches: Sequence[ScoreBatch], quantity: str) -> None:
    """Call a method of the distribution over each batch."""
    for batch in batches:
        getattr(distribution(made, batch), quantity)()


def peers_of(made: Structure, batches: Sequence[ScoreBatch]) -> tuple[dict[str, dict[str, Work]], list[ScoreBatch]]:
    """Return the quantities of the installed peers for a chain, and the batches with the transitions that all share.

    Raises
    ------
    Disagreement
        If their results differ from ours.
    """
    peers: dict[str, TorchStruct | CrfsuiteChain] = {}
    batches = list(batches)
    with suppress(MissingExtraError):
        crfsuite = CrfsuiteChain([made.label_name(label) for label in range(made.n_labels)])
        batches = [replace(batch, transitions=crfsuite.transitions) for batch in batches]
        peers[CRFSUITE] = crfsuite.give(batches)
    with suppress(MissingExtraError):
        peers[TORCH_STRUCT] = TorchStruct(batches)
    for peer in peers.values():
        peer.check(made, batches)
    return {
        name: {"log_partition": peer.log_partition, "marginals": peer.marginals, "best": peer.best}
        for name, peer in peers.items()
    }, batches


def check_references(seed: int = 0) -> None:
    """Raise an error if the partition functions differ from the plain references.

    Raises
    ------
    Disagreement
        If they differ.
    """
    chance = np.random.default_rng(seed)
    for name, (short, max_components) in STRUCTURES.items():
        made = structure(short, ["A"], max_components)
        scores = chance.normal(-1.0, 1.0, size=(6, made.n_labels))
        if isinstance(made, Hypergraph):
            automata = [(staircase_automaton(block.staircase), block.first_label) for block in made.blocks]
        else:
            automata = [(chain_automaton(np.zeros((made.n_labels, made.n_labels))), 0)]
        plain = sum(total(automaton, scores[:, first:].tolist(), LOG_SUM) for automaton, first in automata)
        over = distribution(made, ScoreBatch.of_sentence(scores))
        for quantity, found in (("log_partition", over.log_partition()), ("marginals", over.marginals().log_partition)):
            check_same(f"{name}, the log partition function of {quantity}", float(found[0]), float(plain), 1e-12)
