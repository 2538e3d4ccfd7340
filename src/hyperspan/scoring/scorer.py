"""What every scorer can be asked. Distributions, decoders and files do not know which one it is.

A new scorer implements `Scorer` and is registered; how it is trained is said beside it, with
`hyperspan.recognizer.register_trainer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import ModelError
from hyperspan.inference import ScoreBatch
from hyperspan.mentions import Sentence
from hyperspan.scoring.plugins import load_plugin
from hyperspan.structures import Structure

AnyScorer = TypeVar("AnyScorer", bound="Scorer")

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Reason:
    """What of a word speaks for a mention (or against it, if negative), and how much.

    For a linear scorer the amount is the feature's weights times how much more often their labels are used in
    structures with the mention than in all: the change of the mention's log probability per share of the feature.
    """

    word: int
    feature: str
    amount: float
    in_words: str = ""
    """What the feature says, for people."""
    is_bias: bool = False
    """Whether it holds of every word, and so says nothing of this one."""
    look: int = 1
    """1 where edges are scored; 2 where the whole mention is, whose amounts add up to its log odds."""


class Scorer(Protocol):
    """Gives every label a score at every word."""

    @property
    def n_threads(self) -> int:
        """How many threads it may use; results do not depend on it."""

    def use_threads(self, number: int) -> None:
        """Use so many threads from now on."""

    def scores(self, sentences: Sequence[Sentence]) -> ScoreBatch:
        """Return the scores of sentences that have been annotated."""

    def describe(self) -> dict[str, Any]:
        """Return what it is, as plain data: sizes, features, whatever a user may want to know."""

    def explain(self, sentence: Sentence, moved: NDArray[np.float64], top: int) -> list[Reason]:
        """Return what moved a sentence most.

        Parameters
        ----------
        sentence : Sentence
        moved : float64 array of shape (n_words, n_labels)
            How much more often each label is used than on average: for a mention, given the mention minus without.
        top : int
            How many reasons are given.
        """

    def strongest(self, sentences: Iterable[Sentence], top: int) -> dict[str, list[dict[str, Any]]]:
        """Return what speaks most for and against each label, by its name; nothing where it cannot be said.

        Parameters
        ----------
        sentences : iterable of Sentence
            Annotated sentences that may give names to what the scorer knows only by a hash.
        top : int
            How many are given for each label: dicts with ``feature``, ``twins`` and ``weight``.
        """

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of words, such as ``pos``, that it was trained with and misses where they are not given."""

    def settings(self) -> dict[str, Any]:
        """Return the recognizer's settings that are part of the scorer, by name: what made its features, say."""

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return all there is to know, as plain data and arrays, for a model file."""

    @classmethod
    def from_state(
        cls: type[AnyScorer], structure: Structure, data: Mapping[str, Any], arrays: Arrays, *, n_threads: int
    ) -> AnyScorer:
        """Return the scorer that gave a state.

        Raises
        ------
        HyperspanError, KeyError, TypeError, ValueError
            If the state is not one that `state` gives.
        """


SCORERS: dict[str, type[Scorer]] = {}
"""Every scorer by its name, as model files have it; one for a kind of structure only is ``name/kind``."""


def register_scorer(name: str, scorer: type[Scorer], kind: str = "") -> None:
    """Add a scorer under a name: for all structures, or for those of a kind, which are scored in another way."""
    SCORERS[f"{name}/{kind}" if kind else name] = scorer


def scorer_class(name: str, kind: str = "") -> type[Scorer]:
    """Return a scorer by name, for structures of a kind: one that is registered, or that an installed package brings.

    Raises
    ------
    ModelError
        If there is none of that name.
    MissingExtraError
        If it needs a package that is not installed.
    """
    if name not in SCORERS:
        load_plugin(name)
    if name not in SCORERS or "/" in name:
        known = ", ".join(name for name in SCORERS if "/" not in name)
        raise ModelError(f"there is no scorer {name!r}; expected one of {known}")
    return SCORERS.get(f"{name}/{kind}", SCORERS[name])
