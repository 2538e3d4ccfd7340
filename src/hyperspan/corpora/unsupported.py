"""Record notes about fields that a format cannot hold, once for each kind."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any

from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.mentions import Mention, Sentence, Unit


class AllBut:
    """A container of all names except some.

    Examples
    --------
    >>> "cui" in AllBut("type"), "type" in AllBut("type")
    (True, False)
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def __contains__(self, name: object) -> bool:
        return name not in self.names


EVERYTHING = AllBut()


def note_unsupported(
    unit: Unit,
    format: str,
    diagnostics: Diagnostics,
    *,
    doc: bool = False,
    attributes: Container[str] = (),
    columns: Container[str] = (),
    mention_attributes: Container[str] = (),
    holds: Callable[[str, Any], bool] | None = None,
    prob: bool = False,
) -> None:
    """Record notes about the fields of a sentence or document that a format cannot hold.

    Notes never raise errors: the mentions are complete, and most conversions need no more.

    Parameters
    ----------
    unit : Sentence or Document
        The unit being written.
    format : str
        The format's name.
    diagnostics : Diagnostics
        Collects the notes.
    doc : bool
        Whether the document's name is held.
    attributes, columns, mention_attributes : container of str
        The names that are held.
    holds : callable, optional
        Returns whether an attribute of a mention, given by name and value, can be read back unchanged. Replaces
        ``mention_attributes`` for formats that hold only some values.
    prob : bool
        Whether the probabilities of mentions are held.

    Examples
    --------
    >>> diagnostics = Diagnostics()
    >>> note_unsupported(Sentence(["fever"], doc="n7", columns={"pos": ["NOUN"]}), "inline", diagnostics)
    >>> print(diagnostics.notes["columns-not-held"])
    <input>: the format 'inline' holds no column 'pos' (document 'n7') [columns-not-held]
    """
    where = f"(document {quoted(unit.doc)})"

    def note(kind: str, what: str) -> None:
        diagnostics.note(f"{kind}-not-held", f"the format {format!r} holds no {what} {where}", path=unit.place or None)

    if unit.doc and not doc:
        note("doc", "document names")
    if (lost := _first_lost(unit.attributes, attributes)) is not None:
        note("attributes", f"attribute {lost!r}")
    if isinstance(unit, Sentence):
        if (lost := _first_lost(unit.columns, columns)) is not None:
            note("columns", f"column {lost!r}")
        if unit.offsets is not None:
            note("offsets", "character offsets of tokens")
    for mention in unit.mentions:
        if holds is not None:
            lost = next((name for name, value in mention.attributes.items() if not holds(name, value)), None)
        else:
            lost = _first_lost(mention.attributes, mention_attributes)
        if lost is not None:
            value = "" if holds is None else f" with the value {quoted(mention.attributes[lost])}"
            note("mention-attributes", f"attribute {lost!r}{value} of mentions")
            break
    if not prob and any(mention.prob is not None for mention in unit.mentions):
        note("prob", "probabilities of mentions")


def _first_lost(names: Iterable[str], held: Container[str]) -> str | None:
    return next((name for name in names if name not in held), None)


def same_mentions(before: Iterable[Mention], after: Iterable[Mention]) -> bool:
    """Return whether two lists of mentions are equal in everything, including attributes and probabilities."""
    return list(map(_everything_of, before)) == list(map(_everything_of, after))


def _everything_of(mention: Mention) -> tuple[Mention, dict[str, Any], float | None]:
    return mention, dict(mention.attributes), mention.prob
