"""Cross-validation by document, so that no model sees the documents that it checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hyperspan.errors import UsageError
from hyperspan.mentions import Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.recognizer.folds import deal_out


class Fold(NamedTuple):
    """One fold of a corpus, and a recognizer trained on the others.

    Attributes
    ----------
    recognizer : Recognizer
    held_out : list of int
        The sorted indices of the sentences that it has not seen.
    """

    recognizer: Recognizer
    held_out: list[int]


def assign_folds(docs: Iterable[str], n_folds: int, seed: int = 0) -> dict[str, int]:
    """Assign each document to a fold; the sizes of folds differ by at most one document.

    The same names and seed give the same folds, whatever the order of the names.

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
    names = set(docs)
    if not 2 <= n_folds <= len(names):
        documents = "is 1 document" if len(names) == 1 else f"are {len(names)} documents"
        raise UsageError(
            f"there {documents} for {n_folds} folds; expected at least as many documents, or ask for fewer folds"
            if n_folds >= 2
            else f"n_folds is {n_folds}; expected at least 2, so that something is held out"
        )
    return deal_out([names], n_folds, seed)


def cross_train(
    settings: Mapping[str, Any], sentences: Sequence[Sentence], n_folds: int, seed: int = 0
) -> Iterator[Fold]:
    """Yield every fold of a corpus with a recognizer trained on the others, one after another.

    Parameters
    ----------
    settings : mapping
        The arguments of each `Recognizer`.
    sentences : sequence of Sentence
        Sentences with their mentions. All sentences of a document are in one fold.
    n_folds, seed : int
        As in `assign_folds`.
    """
    fold_of = assign_folds((sentence.doc for sentence in sentences), n_folds, seed)
    for number in range(n_folds):
        is_held_out = [fold_of[sentence.doc] == number for sentence in sentences]
        train = [sentence for sentence, held_out in zip(sentences, is_held_out, strict=True) if not held_out]
        recognizer = Recognizer(**settings).fit(train)
        yield Fold(recognizer, [place for place, held_out in enumerate(is_held_out) if held_out])
