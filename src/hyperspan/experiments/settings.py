"""The settings of experiments that a user can change."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from hyperspan.errors import UsageError
from hyperspan.learning import L2_CHOICES

DEFAULT_ITERATIONS, QUICK_ITERATIONS = 100, 12

QUICK_PENALTIES = (1.0, 0.25)
"""With two, the choice of a penalty is exercised."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that all experiments share.

    Parameters
    ----------
    quick : bool
        Fewer sentences, iterations and penalties: to see that everything works, not to learn from the results.
    seed : int
        The random seed: of the documents of the SMALL setting, and of the types of ``type-scaling``.
    threads : int
        The number of threads for training; only times depend on it.
    max_iterations : int
        The maximum number of iterations for each penalty.
    penalties : tuple of float
        The values of λ that ``main`` chooses from.
    types : tuple of str
        Only mentions of these types are kept; all if empty.
    max_components : int
        The maximum number of parts of a mention.
    features, annotator, clusters, lexicon
        As in ``hyperspan train``; the last two are files.
    as_published : bool
        Whether to follow the paper's set-up as closely as possible, see `hyperspan.experiments.as_published`.
    """

    quick: bool = False
    seed: int = 0
    threads: int = 2
    max_iterations: int = DEFAULT_ITERATIONS
    penalties: tuple[float, ...] = L2_CHOICES
    types: tuple[str, ...] = ()
    max_components: int = 3
    features: str = "default"
    annotator: str = "none"
    clusters: str | None = None
    lexicon: str | None = None
    as_published: bool = False

    @classmethod
    def of(
        cls,
        *,
        quick: bool = False,
        max_iterations: int | None = None,
        penalties: tuple[float, ...] | None = None,
        as_published: bool = False,
        features: str = "default",
        annotator: str = "none",
        **others: Any,
    ) -> Settings:
        """Return settings; the defaults depend on ``quick`` and ``as_published``.

        Examples
        --------
        >>> Settings.of(quick=True).max_iterations, Settings.of(quick=True, max_iterations=50).max_iterations
        (12, 50)
        """
        if max_iterations is None:
            max_iterations = QUICK_ITERATIONS if quick else DEFAULT_ITERATIONS
        if penalties is None:
            penalties = QUICK_PENALTIES if quick else L2_CHOICES
        if as_published:
            if features not in ("default", "published"):
                raise UsageError(f"--as-published takes the published features, but --features is {features!r}")
            features, annotator = "published", "auto" if annotator == "none" else annotator
        return cls(
            quick=quick,
            max_iterations=max_iterations,
            penalties=penalties,
            as_published=as_published,
            features=features,
            annotator=annotator,
            **others,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def parse_penalties(text: str) -> tuple[float, ...]:
    """Parse penalties such as ``0.125,0.5,2``; the strongest comes first, because training goes from it to the next.

    Examples
    --------
    >>> parse_penalties("0.125,0.5,2")
    (2.0, 0.5, 0.125)
    >>> parse_penalties("0.5,strong")
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: --l2 is '0.5,strong'; expected numbers above 0 separated by commas, such as
    0.125,0.5,2
    """
    try:
        found = {float(number) for number in text.split(",")}
    except ValueError:
        found = set()
    if not found or not all(0.0 < number < math.inf for number in found):
        raise UsageError(f"--l2 is {text!r}; expected numbers above 0 separated by commas, such as 0.125,0.5,2")
    return tuple(sorted(found, reverse=True))
