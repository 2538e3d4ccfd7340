"""The interface of scorers, on which distributions, decoders and files depend.

A new scorer implements `Scorer` and is registered; its trainer is registered with
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
    """A feature of a word that supports a mention (or opposes it, if negative), and by how much.

    For a linear scorer, the amount is the feature's weights times how much more often their labels are used in
    structures with the mention than in all: the derivative of the mention's log probability with respect to the
    feature's value.
    """

    word: int
    feature: str
    amount: float
    in_words: str = ""
    """The feature in plain words."""
    is_bias: bool = False
    """Whether it holds for every word, and so says nothing about this one."""
    look: int = 1
    """1 if edges are scored; 2 if the whole mention is, and the amounts add up to its log odds."""


class Scorer(Protocol):
    """Computes the score of every label at every word."""

    @property
    def n_threads(self) -> int:
        """How many threads it may use; results do not depend on it."""

    def use_threads(self, number: int) -> None:
        """Set the number of threads."""

    def scores(self, sentences: Sequence[Sentence]) -> ScoreBatch:
        """Return the scores of annotated sentences."""

    def describe(self) -> dict[str, Any]:
        """Describe it as plain data: sizes, features, and anything else of interest to users."""

    def explain(self, sentence: Sentence, moved: NDArray[np.float64], top: int) -> list[Reason]:
        """Return the features with the most influence on a sentence.

        Parameters
        ----------
        sentence : Sentence
        moved : float64 array of shape (n_words, n_labels)
            How much more often each label is used than on average: for a mention, its expected count given the mention
            minus its expected count.
        top : int
            The number of reasons.
        """

    def strongest(self, sentences: Iterable[Sentence], top: int) -> dict[str, list[dict[str, Any]]]:
        """Return the strongest features for and against each label, by the label's name; empty if there are none.

        Parameters
        ----------
        sentences : iterable of Sentence
            Annotated sentences that provide names for features stored only as hashes.
        top : int
            The number of features for each label: dicts with ``feature``, ``twins`` (duplicates) and ``weight``.
        """

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of words, such as ``pos``, that it was trained with and needs in new sentences."""

    def settings(self) -> dict[str, Any]:
        """Return the recognizer's settings that belong to the scorer, by name, such as its templates."""

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the complete state as plain data and arrays, for a model file."""

    @classmethod
    def from_state(
        cls: type[AnyScorer], structure: Structure, data: Mapping[str, Any], arrays: Arrays, *, n_threads: int
    ) -> AnyScorer:
        """Restore a scorer from its state.

        Raises
        ------
        HyperspanError, KeyError, TypeError, ValueError
            If the state is invalid.
        """


SCORERS: dict[str, type[Scorer]] = {}
"""Every scorer by its name in model files; one for a single kind of structure is ``name/kind``."""


def register_scorer(name: str, scorer: type[Scorer], kind: str = "") -> None:
    """Register a scorer under a name, for all structures or for those of one kind."""
    SCORERS[f"{name}/{kind}" if kind else name] = scorer


def scorer_class(name: str, kind: str = "") -> type[Scorer]:
    """Return a scorer by name, for structures of a kind: registered, or provided by an installed package.

    Raises
    ------
    ModelError
        If there is no scorer of that name.
    MissingExtraError
        If it needs a package that is not installed.
    """
    if name not in SCORERS:
        load_plugin(name)
    if name not in SCORERS or "/" in name:
        known = ", ".join(name for name in SCORERS if "/" not in name)
        raise ModelError(f"there is no scorer {name!r}; expected one of {known}")
    return SCORERS.get(f"{name}/{kind}", SCORERS[name])
