"""Whether probabilities are what they say: of mentions with a probability of 0.8, four in five should be right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperspan.mentions import Mention

N_BINS = 10


def reliability(gold: Iterable[Sequence[Mention]], candidates: Iterable[Sequence[Mention]]) -> list[dict[str, Any]]:
    """Return for each bin of probability how many mentions there are, how probable they are, and how many are right.

    Parameters
    ----------
    gold : iterable of sequences of Mention
        The gold mentions of each sentence.
    candidates : iterable of sequences of Mention
        Mentions of each sentence with their probability.

    Examples
    --------
    >>> right, wrong = Mention("A", [(0, 1)], prob=0.8), Mention("A", [(1, 2)], prob=0.82)
    >>> reliability([[right]], [[right, wrong]])
    [{'mentions': 2, 'prob': 0.81, 'right': 0.5}]
    """
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(N_BINS)]
    for known, found in zip(gold, candidates, strict=True):
        wanted = set(known)
        for mention in found:
            prob = mention.prob or 0.0
            bins[min(int(prob * N_BINS), N_BINS - 1)].append((prob, mention in wanted))
    return [
        {
            "mentions": len(kept),
            "prob": round(sum(prob for prob, _ in kept) / len(kept), 4),
            "right": round(sum(is_right for _, is_right in kept) / len(kept), 4),
        }
        for kept in bins
        if kept
    ]


def calibration_error(bins: Sequence[Mapping[str, Any]]) -> float:
    """Return the expected calibration error, given what `reliability` returns.

    Examples
    --------
    >>> calibration_error([{"mentions": 3, "prob": 0.5, "right": 0.6}, {"mentions": 1, "prob": 0.9, "right": 0.5}])
    0.175
    """
    total = sum(kept["mentions"] for kept in bins)
    return sum(kept["mentions"] * abs(kept["prob"] - kept["right"]) for kept in bins) / total if total else 0.0
