"""Inference over a chain with given scores by torch-struct and CRFsuite, the peers that we are timed against."""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.crfsuite import pycrfsuite
from benchmarks.harness import check_same, peer
from hyperspan.inference import ScoreBatch, distribution
from hyperspan.structures import Structure

Work = Callable[[], object]

TOLERANCE = 1e-4
"""CRFsuite prints its weights with six digits."""


class TorchStruct:
    """torch-struct on one thread, in double precision like ours.

    Parameters
    ----------
    batches : sequence of ScoreBatch
        Sentences of the same length.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """

    def __init__(self, batches: Sequence[ScoreBatch]) -> None:
        torch = peer("torch", "torch-struct", "The comparison with torch-struct")
        self._package = peer("torch_struct", "torch-struct", "The comparison with torch-struct")
        torch.set_num_threads(1)
        self._potentials = [torch.tensor(_pairs(batch)).requires_grad_() for batch in batches]

    def log_partition(self) -> list[Any]:
        """Return the log partition function of every sentence, batch by batch."""
        return [chain.partition.detach() for chain in self._chains()]

    def marginals(self) -> list[Any]:
        """Return the marginals of pairs of tags, batch by batch."""
        return [chain.marginals.detach() for chain in self._chains()]

    def best(self) -> list[Any]:
        """Return the best sequences, batch by batch."""
        return [chain.argmax.detach() for chain in self._chains()]

    def _chains(self) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that its distributions do not validate
            return [self._package.LinearChainCRF(potentials) for potentials in self._potentials]

    def check(self, structure: Structure, batches: Sequence[ScoreBatch]) -> None:
        """Raise an error if its partition function differs from ours.

        Raises
        ------
        Disagreement
            If they differ.
        """
        ours = sum(float(distribution(structure, batch).log_partition().sum()) for batch in batches)
        theirs = sum(float(each.sum()) for each in self.log_partition())
        check_same("the log partition function of torch-struct", ours, theirs, 1e-10)


def _pairs(batch: ScoreBatch) -> NDArray[np.float64]:
    """Return the potentials of a tag (third axis) after another (last axis) at every word but the first."""
    n_labels = batch.scores.shape[1]
    rows = batch.scores.reshape(batch.n_sentences, -1, n_labels)
    pairs = rows[:, 1:, :, None] + np.zeros(n_labels)
    if batch.transitions.size:
        pairs += batch.transitions.T
    pairs[:, 0] += rows[:, 0][:, None, :]
    return pairs


class CrfsuiteChain:
    """CRFsuite with an attribute for every tag, whose value gives the score.

    Its weights cannot be set. So a model is trained in which each attribute belongs to one tag, scores are divided by
    its weights, and ``transitions`` are those that it has learned. It looks up the strings of a sentence every time:
    its interface has no other way.

    Parameters
    ----------
    tags : sequence of str

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        package = pycrfsuite()
        self._tags = list(tags)
        self._items: list[Any] = []
        self._tagger = package.Tagger()
        with tempfile.TemporaryDirectory() as folder:
            model = str(Path(folder) / "model")
            trainer = package.Trainer("lbfgs", {"c2": 0.1, "feature.possible_transitions": True}, verbose=False)
            trainer.append([[tag] for tag in tags], self._tags)
            trainer.train(model)
            self._tagger.open(model)
        info = self._tagger.info()
        self._weights = np.array([info.state_features[tag, tag] for tag in tags])
        self.transitions = np.array([[info.transitions[before, after] for after in tags] for before in tags])

    def give(self, batches: Sequence[ScoreBatch]) -> CrfsuiteChain:
        """Set the scores of sentences; their transitions must be those of this model."""
        items = pycrfsuite().ItemSequence
        self._items = [
            items([dict(zip(self._tags, row, strict=True)) for row in (sentence.scores / self._weights).tolist()])
            for batch in batches
            for sentence in map(batch.sentence, range(batch.n_sentences))
        ]
        return self

    def log_partition(self) -> None:
        """Run the forward pass over every sentence."""
        for items in self._items:
            self._tagger.set(items)
            self._tagger.probability([self._tags[0]] * len(items))

    def marginals(self) -> None:
        """Run the forward and backward passes over every sentence, by asking for one marginal."""
        for items in self._items:
            self._tagger.set(items)
            self._tagger.marginal(self._tags[0], 0)

    def best(self) -> list[list[str]]:
        """Return the best sequences."""
        return [self._tagger.tag(items) for items in self._items]

    def check(self, structure: Structure, batches: Sequence[ScoreBatch]) -> None:
        """Raise an error if the probabilities of its best sequences differ from those of ours.

        Raises
        ------
        Disagreement
            If they differ.
        """
        ours = 0.0
        for batch in batches:
            over = distribution(structure, batch)
            ours += sum(outcome.score for outcome in over.best()) - float(over.log_partition().sum())
        theirs = 0.0
        for items in self._items:
            theirs += math.log(self._tagger.probability(self._tagger.tag(items)))
        check_same("the log-probability of CRFsuite's best sequences", ours, theirs, TOLERANCE)
