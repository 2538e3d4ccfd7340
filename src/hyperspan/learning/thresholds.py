"""The threshold of ``probable``: as probable as a mention must be to be predicted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperspan.mentions import Mention

DEFAULT_THRESHOLD = 0.3
"""Used where there is no development data."""

LOWEST_THRESHOLD = 0.1
"""Tuning does not look below this."""


def best_threshold(
    gold: Iterable[Sequence[Mention]],
    candidates: Iterable[Sequence[Mention]],
    default: float = DEFAULT_THRESHOLD,
) -> tuple[float, float]:
    """Return the threshold with the highest F1 and that F1.

    Parameters
    ----------
    gold : iterable of sequences of Mention
        The gold mentions of each sentence.
    candidates : iterable of sequences of Mention
        Mentions with their probability, all those above `LOWEST_THRESHOLD`.
    default : float
        Of equally good thresholds, the one nearest to this is taken.

    Examples
    --------
    >>> right, wrong = Mention("A", [(0, 1)], prob=0.8), Mention("A", [(1, 2)], prob=0.4)
    >>> best_threshold([[right]], [[right, wrong]])
    (0.6, 1.0)
    """
    n_gold, ranked = 0, []
    for right, found in zip(gold, candidates, strict=True):
        n_gold += len(right)
        known = set(right)
        ranked += [(mention.prob or 0.0, mention in known) for mention in found]
    ranked.sort(reverse=True)
    if not ranked or not n_gold:
        return default, 0.0
    best, n_right = (default, -1.0), 0
    for place, (prob, is_right) in enumerate(ranked):
        n_right += is_right
        is_last = place + 1 == len(ranked)
        after = min(prob, LOWEST_THRESHOLD) if is_last else ranked[place + 1][0]
        if after == prob and not is_last:
            continue
        f1 = 2.0 * n_right / (place + 1 + n_gold)
        threshold = _between(after, prob, default)
        if f1 > best[1] or (f1 == best[1] and abs(threshold - default) < abs(best[0] - default)):
            best = (threshold, f1)
    return best


def _between(below: float, prob: float, default: float) -> float:
    """Return a threshold that keeps ``prob`` and drops ``below``: the default, or a short number in the middle."""
    if below < default <= prob:
        return default
    middle = (below + prob) / 2.0
    return next((number for number in (round(middle, 6), middle) if below < number <= prob), prob)
