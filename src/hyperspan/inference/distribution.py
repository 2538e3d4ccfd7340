"""The interface of distributions over the outcomes of the sentences of a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.inference import outcomes
from hyperspan.inference.mention_rows import MentionRows
from hyperspan.inference.outcomes import Outcome, bounded, most_probable, with_probs
from hyperspan.inference.scores import ScoreBatch
from hyperspan.mentions import Mention
from hyperspan.structures.decoding import MOST_MENTIONS, Decoded, Reading
from hyperspan.structures.structure import Encoded, Structure, check_end

AnyStructure = TypeVar("AnyStructure", bound=Structure)

NO_OUTCOME = "there is no best outcome: every outcome is forbidden by scores of -inf"
NO_SAMPLE = "nothing can be drawn: every outcome is forbidden by scores of -inf"


class Marginals(NamedTuple):
    """The log partition function, and the expected counts of edges.

    Attributes
    ----------
    log_partition : float64 array of shape (n_sentences,)
    edges : float64 array of shape (n_words, n_labels)
        The expected count of each edge: its probability, if an outcome can use it only once. All 0 in a sentence
        without possible outcomes.
    transitions : float64 array of shape (n_labels, n_labels) or (0, 0)
        The same for transitions, summed over all sentences.
    """

    log_partition: NDArray[np.float64]
    edges: NDArray[np.float64]
    transitions: NDArray[np.float64]


class BatchDistribution(ABC, Generic[AnyStructure]):
    """The distribution over the outcomes of each sentence of a batch; a single sentence is a batch of one.

    Created by `distribution`. Everything is exact unless stated otherwise, and the results for a sentence do not depend
    on the rest of the batch.

    Parameters
    ----------
    structure : Structure
    batch : ScoreBatch
    """

    name: ClassVar[str]
    """The name of the distribution."""

    def __init__(self, structure: AnyStructure, batch: ScoreBatch) -> None:
        self.structure = structure
        self.batch = batch.checked(structure)

    # How gold mentions are encoded, and where training starts

    @classmethod
    def encode(cls, structure: AnyStructure, mentions: Iterable[Mention], n_words: int) -> Encoded:
        """Return the edges of a set of mentions whose scores add up to the set's score."""
        return structure.encode(mentions, n_words)

    @classmethod
    def prior(cls, structure: AnyStructure) -> NDArray[np.float64]:
        """Return scores of shape (n_labels,) that are added and never learned: zeros by default."""
        return np.zeros(structure.n_labels)

    # What each distribution must implement

    @abstractmethod
    def log_partition(self) -> NDArray[np.float64]:
        """Return the log of the sum over all outcomes of each sentence, of shape (n_sentences,)."""

    @abstractmethod
    def marginals(self) -> Marginals:
        """Return the log partition function, and the expected counts of edges."""

    @abstractmethod
    def k_best(self, k: int) -> list[list[Outcome]]:
        """Return the k most probable outcomes of each sentence, best first; fewer if there are fewer."""

    @abstractmethod
    def sample(self, n_samples: int, seed: int = 0) -> list[list[Outcome]]:
        """Draw outcomes of each sentence in proportion to their probability.

        Raises
        ------
        StructureError
            If every outcome of a sentence is forbidden.
        """

    @abstractmethod
    def joint_probs(self, mentions: Sequence[Iterable[Mention]]) -> list[float]:
        """Return, for each sentence, the probability that its outcome contains all the given mentions."""

    @abstractmethod
    def probable_rows(self, threshold: float | Sequence[float], limit: int) -> tuple[MentionRows, NDArray[np.bool_]]:
        """Return what `probable` does as rows, in no order, and for which sentences the search was cut short.

        A sentence may have more than the limit.
        """

    @property
    def block_types(self) -> Sequence[str]:
        """The type of each block, by which rows tell types."""
        return self.structure.types

    # What follows from it

    def probable(self, threshold: float | Sequence[float] = 0.3, *, limit: int = MOST_MENTIONS) -> list[Decoded]:
        """Return every mention of each sentence whose probability is at least the threshold, with its probability.

        There is one threshold for all, or one for each number of parts; the last also applies to more parts.
        """
        check_at_least_one("limit", limit)
        return self.as_mentions(*self.probable_rows(threshold, limit), limit)

    def as_mentions(self, rows: MentionRows, was_cut: NDArray[np.bool_], limit: int) -> list[Decoded]:
        """Return rows as the mentions of each sentence, the most probable ones up to a limit."""
        found = rows.mentions(self.block_types, self.batch.n_sentences)
        return [most_probable(here, limit, is_cut) for here, is_cut in zip(found, was_cut.tolist(), strict=True)]

    def best(self) -> list[Outcome]:
        """Return the most probable outcome of each sentence.

        Raises
        ------
        StructureError
            If every outcome of a sentence is forbidden.
        """
        best = self.k_best(1)
        if not all(best):
            raise StructureError(NO_OUTCOME)
        return [outcomes[0] for outcomes in best]

    def read(self, outcome: Outcome, reading: Reading) -> Decoded:
        """Return the mentions of an outcome: those it consists of, or those that its encoding is read as."""
        if outcome.mentions is not None:
            return Decoded(outcome.mentions[:MOST_MENTIONS], outcome.truncated or len(outcome.mentions) > MOST_MENTIONS)
        return self.structure.decode(outcome.edges, reading)

    @property
    def most_steps(self) -> int:
        """The maximum number of words to process when computing the probabilities of one sentence's mentions."""
        return outcomes.MOST_STEPS

    def read_best(self, reading: Reading) -> list[Decoded]:
        """Return the mentions of the best outcome of each sentence, with their probabilities."""
        decoded = [bounded(self.read(outcome, reading), self.most_steps) for outcome in self.best()]
        probs = self.mention_probs([here.mentions for here in decoded])
        return [with_probs(here, of_sentence) for here, of_sentence in zip(decoded, probs, strict=True)]

    def mention_probs(self, mentions: Sequence[Sequence[Mention]]) -> list[list[float]]:
        """Return, for each given mention of each sentence, the probability that the outcome contains it.

        Raises
        ------
        StructureError
            If a mention has a type that is not in the structure, or ends beyond its sentence.
        """
        self.check_mentions(mentions)
        return [
            [self.sentence(number).joint_probs([[mention]])[0] for mention in here]
            for number, here in enumerate(mentions)
        ]

    def sentence(self, number: int) -> BatchDistribution[AnyStructure]:
        """Return the distribution over the outcomes of one sentence."""
        return type(self)(self.structure, self.batch.sentence(number))

    def given(self, mention: Mention) -> BatchDistribution[AnyStructure]:
        """Return the distribution of a single sentence clamped to the outcomes that contain a mention."""
        clamped = self.structure.clamp(self.batch.scores, mention, self.best()[0].edges)
        return type(self)(self.structure, ScoreBatch(clamped, self.batch.first_word, self.batch.transitions))

    def moved(self, mention: Mention) -> NDArray[np.float64]:
        """Return how much more often each edge of a single sentence is used given a mention than on average."""
        difference: NDArray[np.float64] = self.given(mention).marginals().edges - self.marginals().edges
        return difference

    @cached_property
    def is_possible(self) -> NDArray[np.bool_]:
        """Whether any outcome is possible in spite of scores of -inf, of shape (n_sentences,)."""
        if not np.any(self.batch.scores == -np.inf) and not np.any(self.batch.transitions == -np.inf):
            return np.ones(self.batch.n_sentences, dtype=np.bool_)
        return self.log_partition() > -np.inf

    def check_mentions(self, mentions: Sequence[Sequence[Mention]]) -> None:
        """Raise an error if mentions end beyond their sentence, or the number of lists is wrong."""
        if len(mentions) != self.batch.n_sentences:
            raise StructureError(f"there are mentions for {len(mentions)} of {self.batch.n_sentences} sentences")
        for here, n_words in zip(mentions, self.batch.lengths.tolist(), strict=True):
            for mention in here:
                check_end(mention, n_words)


def check_at_least_one(name: str, value: int) -> None:
    """Raise an error if a number of outcomes or mentions is below one."""
    if value < 1:
        raise StructureError(f"{name} is {value}; expected at least 1")
