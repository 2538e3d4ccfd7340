"""What a second look at whole mentions can be asked, whoever takes it.

The first look scores edges, one word at a time. A `MentionScorer` sees whole candidates, with their exact probabilities
under the first look, and gives them new ones. A new one implements the protocol and is registered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from numpy.typing import NDArray

from hyperspan.errors import ModelError
from hyperspan.mentions import Mention, Sentence
from hyperspan.scoring.scorer import Arrays, Reason, Scorer
from hyperspan.structures import Structure

AnyMentionScorer = TypeVar("AnyMentionScorer", bound="MentionScorer")

LONGEST_DOCUMENT = 20_000
"""Words; what is longer counts as several documents, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Which mentions get a second look.

    Attributes
    ----------
    lowest : tuple of float
        How probable they must be under the first look, by number of parts; the last holds for more parts. The
        probability of a mention with several parts is spread over many alternatives, so they may have a lower one.
    most : int
        At most so many of each number of parts in a sentence, the most probable ones.
    """

    lowest: tuple[float, ...] = (0.03, 0.005)
    most: int = 100


class MentionScorer(Protocol):
    """Gives whole candidate mentions a probability."""

    name: ClassVar[str]
    """Under which it is registered, as model files have it."""

    @property
    def proposal(self) -> Proposal:
        """Which mentions it wants to see."""

    def probs(self, sentences: Sequence[Sentence], candidates: Sequence[Sequence[Mention]]) -> list[list[float]]:
        """Return the probability of each candidate of each sentence.

        Parameters
        ----------
        sentences : sequence of Sentence
            Annotated. Documents, as `DocumentBorders` sees them, are here as a whole.
        candidates : sequence of sequences of Mention
            Of each sentence, in order; ``prob`` is the exact probability under the first look.
        """

    def explain(
        self,
        sentences: Sequence[Sentence],
        candidates: Sequence[Sequence[Mention]],
        wanted: Sequence[Sequence[Mention]],
        top: int,
    ) -> list[dict[Mention, list[Reason]]]:
        """Return what speaks most for and against some of the candidates of each sentence.

        Parameters
        ----------
        sentences, candidates
            As in `probs`.
        wanted : sequence of sequences of Mention
            Of each sentence those candidates whose reasons are asked for.
        top : int
            How many reasons are given for each.
        """

    def describe(self) -> dict[str, Any]:
        """Return what it is, as plain data: sizes, features, whatever a user may want to know."""

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all there is to know, as plain data and arrays, for a model file."""

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
        """Return the mention scorer that gave a state.

        Parameters
        ----------
        structure : Structure
        scorer : Scorer
            Who takes the first look in the same model.
        data, arrays
            What `state` gave.
        n_threads : int

        Raises
        ------
        HyperspanError, KeyError, TypeError, ValueError
            If the state is not one that `state` gives.
        """


MENTION_SCORERS: dict[str, type[MentionScorer]] = {}
"""Every mention scorer by its name, as model files have it."""


def register_mention_scorer(name: str, scorer: type[MentionScorer]) -> None:
    """Add a mention scorer under a name."""
    MENTION_SCORERS[name] = scorer


def mention_scorer_class(name: str) -> type[MentionScorer]:
    """Return a mention scorer by name.

    Raises
    ------
    ModelError
        If there is none of that name.
    """
    if name not in MENTION_SCORERS:
        raise ModelError(f"there is no mention scorer {name!r}; expected one of {', '.join(MENTION_SCORERS)}")
    return MENTION_SCORERS[name]


class DocumentBorders:
    """Says of sentences, one after another, where documents begin.

    Sentences of one document stand together, have the same ``doc``, and go on in the text where they say where they
    stand. A sentence with neither ``doc`` nor ``offsets`` is a document of its own. What is longer than
    `LONGEST_DOCUMENT` words counts as several.

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
        """Say whether the next sentence begins a document."""
        begins = self._before is None or self._n_words >= LONGEST_DOCUMENT or not _goes_on(self._before, sentence)
        self._n_words = len(sentence) + (0 if begins else self._n_words)
        self._before = sentence
        return begins


def _goes_on(before: Sentence, sentence: Sentence) -> bool:
    if before.doc != sentence.doc:
        return False
    if before.offsets and sentence.offsets:
        return before.offsets[-1][1] <= sentence.offsets[0][0]
    return bool(sentence.doc)
