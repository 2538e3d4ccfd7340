"""Cross-validation by document: what is judged has never been trained on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hyperspan.errors import UsageError
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Recognizer


class Fold(NamedTuple):
    """One part of a corpus, and a recognizer that was trained on all the others.

    Attributes
    ----------
    recognizer : Recognizer
    held_out : list of int
        The positions of the sentences that it has not seen, in order.
    """

    recognizer: Recognizer
    held_out: list[int]


def assign_folds(docs: Iterable[str], n_folds: int, seed: int = 0) -> dict[str, int]:
    """Say which fold each document belongs to: folds differ by one document at most.

    The same names and seed give the same folds, in whatever order the names come.

    Raises
    ------
    UsageError
        If there are fewer documents than folds.

    Examples
    --------
    >>> assign_folds(["a", "b", "c", "a"], 2) == assign_folds(["c", "b", "a"], 2)
    True
    >>> assign_folds(["a"], 2)
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: there is 1 document for 2 folds; expected at least as many documents, or ask for fewer
    folds
    """
    names = sorted(set(docs))
    if not 2 <= n_folds <= len(names):
        documents = "is 1 document" if len(names) == 1 else f"are {len(names)} documents"
        raise UsageError(
            f"there {documents} for {n_folds} folds; expected at least as many documents, or ask for fewer folds"
            if n_folds >= 2
            else f"n_folds is {n_folds}; expected at least 2, so that something is held out"
        )
    order = np.random.default_rng(seed).permutation(len(names)).tolist()
    return {names[place]: number % n_folds for number, place in enumerate(order)}


def cross_train(
    settings: Mapping[str, Any], sentences: Sequence[Sentence], n_folds: int, seed: int = 0
) -> Iterator[Fold]:
    """Yield every fold of a corpus with a recognizer trained on the others, one after another.

    Parameters
    ----------
    settings : mapping
        The arguments of each `Recognizer`.
    sentences : sequence of Sentence
        With their mentions. All sentences of a document are in one fold.
    n_folds, seed : int
        As in `assign_folds`.
    """
    fold_of = assign_folds((sentence.doc for sentence in sentences), n_folds, seed)
    for number in range(n_folds):
        is_held_out = [fold_of[sentence.doc] == number for sentence in sentences]
        train = [sentence for sentence, held_out in zip(sentences, is_held_out, strict=True) if not held_out]
        recognizer = Recognizer(**settings).fit(train)
        yield Fold(recognizer, [place for place, held_out in enumerate(is_held_out) if held_out])
