"""Split a corpus into train, dev and test by document."""

from __future__ import annotations

import random
from collections.abc import Iterable

from hyperspan.errors import UsageError

SPLITS = ("train", "dev", "test")


def parse_shares(text: str) -> tuple[float, float, float]:
    """Parse the shares of train, dev and test in percent.

    Examples
    --------
    >>> parse_shares("80,10,10")
    (80.0, 10.0, 10.0)
    >>> parse_shares("80,30")
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: the split '80,30' is not three shares that add up to 100, such as 80,10,10
    """
    try:
        train, dev, test = (float(share) for share in text.split(","))
    except ValueError:
        train = dev = test = float("nan")
    if not (abs(train + dev + test - 100.0) < 1e-6 and min(train, dev, test) >= 0.0):
        raise UsageError(f"the split {text!r} is not three shares that add up to 100, such as 80,10,10")
    return train, dev, test


def assign_splits(documents: Iterable[str], shares: tuple[float, float, float], seed: int) -> dict[str, str]:
    """Assign every document name to a split.

    The result depends only on the names and the seed, not on the order of the documents.

    Examples
    --------
    >>> assign_splits(["a", "b", "c", "d"], (50, 25, 25), seed=1)
    {'d': 'train', 'a': 'train', 'c': 'dev', 'b': 'test'}
    """
    names = sorted(set(documents))
    random.Random(seed).shuffle(names)
    n_train = round(len(names) * shares[0] / 100.0)
    n_dev = round(len(names) * (shares[0] + shares[1]) / 100.0) - n_train
    return {
        name: SPLITS[0 if position < n_train else 1 if position < n_train + n_dev else 2]
        for position, name in enumerate(names)
    }
