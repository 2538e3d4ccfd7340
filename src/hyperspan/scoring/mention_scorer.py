"""The interface of mention scorers, which take a second look at whole mentions.

The first look scores edges, one word at a time. A `MentionScorer` sees whole candidates, with their exact probabilities
under the first look, and gives them new probabilities. A new mention scorer implements the protocol and is registered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import ModelError
from hyperspan.mentions import Mention, Sentence
from hyperspan.scoring.proposed import Proposed
from hyperspan.scoring.scorer import Arrays, Reason, Scorer
from hyperspan.structures import Structure
from hyperspan.structures.decoding import MOST_MENTIONS

AnyMentionScorer = TypeVar("AnyMentionScorer", bound="MentionScorer")

LONGEST_DOCUMENT = 20_000
"""The maximum number of words in a document; longer ones count as several documents, which bounds memory."""

USUAL_LENGTH = 100
"""The number of words up to which a sentence has the same maximum number of candidates."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Which mentions get a second look: the candidates.

    Attributes
    ----------
    lowest : tuple of float
        The minimum probability of a candidate under the first look, by number of parts; the last also applies to more
        parts. It can be lower for mentions with several parts, whose probability is spread over many alternatives.
    most : int
        The maximum number of candidates in a sentence of up to `USUAL_LENGTH` words, for each number of parts; the most
        probable ones are kept. A longer sentence has more in proportion, up to `MOST_MENTIONS`.

    Examples
    --------
    >>> Proposal(most=100).most_in(np.array([7, 250, 20_000])).tolist()
    [100, 250, 1000]
    """

    lowest: tuple[float, ...] = (0.04, 0.01)
    most: int = 100

    def most_in(self, n_words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the maximum number in sentences of these numbers of words, for each number of parts."""
        in_proportion = self.most * n_words // USUAL_LENGTH
        most: NDArray[np.int64] = np.clip(in_proportion, self.most, max(self.most, MOST_MENTIONS))
        return most


class MentionScorer(Protocol):
    """Computes the probability of whole candidate mentions."""

    name: ClassVar[str]
    """The name under which it is registered and stored in model files."""

    @property
    def proposal(self) -> Proposal:
        """Which mentions it needs as candidates."""

    def probs(self, sentences: Sequence[Sentence], candidates: Proposed) -> NDArray[np.float64]:
        """Return the probability of each candidate, of shape (n_rows,).

        Parameters
        ----------
        sentences : sequence of Sentence
            Annotated sentences, of whole documents as defined by `DocumentBorders`.
        candidates : Proposed
            The candidates of each sentence, sorted; ``prob`` is the exact probability under the first look.
        """

    def explain(
        self,
        sentences: Sequence[Sentence],
        candidates: Proposed,
        wanted: Sequence[Sequence[Mention]],
        top: int,
    ) -> list[dict[Mention, list[Reason]]]:
        """Return the strongest reasons for and against some candidates of each sentence.

        Parameters
        ----------
        sentences, candidates
            As in `probs`.
        wanted : sequence of sequences of Mention
            The candidates of each sentence to explain.
        top : int
            The number of reasons for each.
        """

    def describe(self) -> dict[str, Any]:
        """Describe it as plain data: sizes, features, and anything else of interest to users."""

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the complete state as plain data and arrays, for a model file."""

    @classmethod
    def from_state(
        cls: type[AnyMentionScorer],
        structure: Structure,
        scorer: Scorer,
        data: Mapping[str, Any],
        arrays: Arrays,
        *,
        n_threads: int,
    ) -> AnyMentionScorer:
        """Restore a mention scorer from its state.

        Parameters
        ----------
        structure : Structure
        scorer : Scorer
            The scorer of the first look in the same model.
        data, arrays
            What `state` returned.
        n_threads : int

        Raises
        ------
        HyperspanError, KeyError, TypeError, ValueError
            If the state is invalid.
        """


MENTION_SCORERS: dict[str, type[MentionScorer]] = {}
"""Every mention scorer by its name in model files."""


def register_mention_scorer(name: str, scorer: type[MentionScorer]) -> None:
    """Register a mention scorer under a name."""
    MENTION_SCORERS[name] = scorer


def mention_scorer_class(name: str) -> type[MentionScorer]:
    """Return a mention scorer by name.

    Raises
    ------
    ModelError
        If there is no mention scorer of that name.
    """
    if name not in MENTION_SCORERS:
        raise ModelError(f"there is no mention scorer {name!r}; expected one of {', '.join(MENTION_SCORERS)}")
    return MENTION_SCORERS[name]


class DocumentBorders:
    """Find where documents begin in a stream of sentences.

    Sentences of one document are consecutive, have the same ``doc``, and have increasing offsets if they have any. A
    sentence with neither ``doc`` nor ``offsets`` is a document of its own. A document with more than `LONGEST_DOCUMENT`
    words counts as several.

    Examples
    --------
    >>> borders = DocumentBorders()
    >>> [borders.begins(Sentence(["word"], doc=doc)) for doc in ("1", "1", "2", "", "")]
    [True, False, True, True, True]
    """

    def __init__(self) -> None:
        self._before: Sentence | None = None
        self._n_words = 0

    def begins(self, sentence: Sentence) -> bool:
        """Return whether the next sentence begins a document."""
        n_words, before = len(sentence.tokens), self._before
        self._before = sentence
        if before is None or self._n_words >= LONGEST_DOCUMENT or not _goes_on(before, sentence):
            self._n_words = n_words
            return True
        self._n_words += n_words
        return False


def _goes_on(before: Sentence, sentence: Sentence) -> bool:
    if before.doc != sentence.doc:
        return False
    if before.offsets and sentence.offsets:
        return before.offsets[-1][1] <= sentence.offsets[0][0]
    return bool(sentence.doc)
