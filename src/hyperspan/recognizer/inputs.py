"""The inputs of a recognizer: sentences, documents or plain texts, optionally with separate mentions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from hyperspan.diagnostics import quoted
from hyperspan.errors import LearningError, UsageError
from hyperspan.mentions import Document, Mention, Sentence, Unit

Given: TypeAlias = Unit | str
"""A sentence, a document, or a text that becomes a document."""

_EXPECTED = "expected sentences, documents or texts in a list"


def given_units(
    given: Iterable[Given], y: Iterable[Sequence[Mention]] | None = None, types: Iterable[str] | None = None
) -> Iterator[Unit]:
    """Return an iterator over sentences and documents; a text becomes a document.

    Parameters
    ----------
    given : iterable of Sentence, Document or str
    y : iterable of sequences of Mention, optional
        The mentions of each: in words for a sentence, in characters for a document or text.
    types : iterable of str, optional
        The types of the mentions to keep; all if not given.

    Raises
    ------
    UsageError
        If the input has another type.
    LearningError
        If the numbers of units and of lists of mentions differ.

    Examples
    --------
    >>> [unit.doc for unit in given_units(["No fever.", Sentence(["no", "pain"], doc="a")])]
    ['text-1', 'a']
    >>> given_units("No fever.")
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: 'No fever.' is one text; expected sentences, documents or texts in a list: ...
    """
    if isinstance(given, str | Sentence | Document):
        what = "text" if isinstance(given, str) else type(given).__name__.lower()
        raise UsageError(f"{quoted(given)} is one {what}; {_EXPECTED}: [{quoted(given)}]")
    if not isinstance(given, Iterable):
        raise UsageError(f"{quoted(given)} is not a list; {_EXPECTED}")
    units: Iterable[Unit] = map(_unit, enumerate(given, start=1))
    if y is not None:
        units = _with_mentions(units, y)
    return iter(units) if types is None else _of_types(units, frozenset(types))


def check_sentence(given: object) -> None:
    """Raise an error for anything but a sentence, such as a text.

    Examples
    --------
    >>> check_sentence("No fever.")
    Traceback (most recent call last):
    ...
    hyperspan.errors.UsageError: 'No fever.' is not a Sentence; expected Sentence(words), or one of those that ...
    """
    if not isinstance(given, Sentence):
        raise UsageError(
            f"{quoted(given)} is not a Sentence; expected Sentence(words), or one of those that "
            "hyperspan.text.as_sentences makes of a document"
        )


def _unit(numbered: tuple[int, Given]) -> Unit:
    number, given = numbered
    if isinstance(given, Sentence | Document):
        return given
    if isinstance(given, str):
        return Document(f"text-{number}", given)
    tokens = " (a sentence is Sentence(words))" if isinstance(given, list | tuple) else ""
    raise UsageError(f"number {number} is {quoted(given)}; {_EXPECTED}{tokens}")


def _with_mentions(units: Iterable[Unit], y: Iterable[Sequence[Mention]]) -> Iterator[Unit]:
    listed, mentions = list(units), list(y)
    if len(listed) != len(mentions):
        raise LearningError(f"there are {len(listed)} sentences or documents, but mentions for {len(mentions)}")
    return (unit.with_mentions(each) for unit, each in zip(listed, mentions, strict=True))


def _of_types(units: Iterable[Unit], types: frozenset[str]) -> Iterator[Unit]:
    for unit in units:
        kept = [mention for mention in unit.mentions if mention.type in types]
        yield unit if len(kept) == len(unit.mentions) else unit.with_mentions(kept)


def check_types(types: Iterable[str] | None, train: Iterable[Unit]) -> None:
    """Raise an error for types that no training mention has, such as misspelt ones."""
    if types is None:
        return
    present = {mention.type for unit in train for mention in unit.mentions}
    if missing := [type for type in types if type not in present]:
        there = ", ".join(map(quoted, sorted(present))) or "none"
        raise LearningError(
            f"types has {quoted(missing[0])}, which no training mention has; of those named, the data has {there}"
        )
