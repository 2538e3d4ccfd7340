"""Sentences, documents and corpora: what contains mentions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from hyperspan.diagnostics import LostMention, counted, quoted
from hyperspan.errors import MentionError
from hyperspan.mentions.mention import NOTHING, Mention, Span, in_order, nothing
from hyperspan.mentions.notebook import Shown, shortened

if TYPE_CHECKING:
    from hyperspan.diagnostics import Diagnostics


@dataclass(frozen=True, slots=True, repr=False)
class Sentence(Shown):
    """Words and the mentions in them, as word offsets.

    Parameters
    ----------
    tokens : sequence of str
        The words; none is empty.
    mentions : iterable of Mention
        Stored in sorted order. No duplicates, and none may extend beyond the last word.
    doc : str
        The id of the document.
    attributes : mapping
        Properties of the whole sentence, such as ``{"section": "history", "note_type": "echo"}``.
    columns : mapping of str to sequence of str
        One value per word for each column, such as ``{"pos": [...], "lemma": [...]}``.
    offsets : sequence of (start, end), optional
        Where each word starts and ends in the document's text.
    split : str
        ``"train"``, ``"dev"``, ``"test"`` or empty.
    place : str
        Where it was read from, for messages, such as ``"notes.jsonl:12"``.
    source : object, optional
        What its format needs to write it back unchanged.
    lost : tuple of LostMention
        Gold mentions that the reader skipped, and that evaluation counts as missed: invalid offsets, a boundary inside
        a word, or a mention that no single sentence contains.

    Raises
    ------
    MentionError
        If a token is empty, a mention ends beyond the last word or occurs twice, or columns or offsets have another
        length than the tokens.

    Examples
    --------
    >>> sentence = Sentence("Infarctions either water shed or embolic".split(), [Mention("Finding", [(0, 1), (2, 4)])])
    >>> sentence.text_of(sentence.mentions[0])
    'Infarctions … water shed'
    """

    tokens: tuple[str, ...]
    mentions: tuple[Mention, ...] = ()
    doc: str = ""
    attributes: Mapping[str, Any] = field(default_factory=nothing, hash=False)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=nothing, hash=False)
    offsets: tuple[Span, ...] | None = None
    split: str = field(default="", compare=False)
    place: str = field(default="", compare=False, repr=False)
    source: Any = field(default=None, compare=False, repr=False)
    lost: tuple[LostMention, ...] = field(default=(), compare=False, repr=False)

    if TYPE_CHECKING:  # the constructor accepts more types than the fields store

        def __init__(
            self,
            tokens: Iterable[str],
            mentions: Iterable[Mention] = ...,
            doc: str = ...,
            attributes: Mapping[str, Any] = ...,
            columns: Mapping[str, Iterable[str]] = ...,
            offsets: Iterable[Span] | None = ...,
            split: str = ...,
            place: str = ...,
            source: Any = ...,
            lost: tuple[LostMention, ...] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.tokens, str):
            raise MentionError(f"tokens are the text {quoted(self.tokens)}; expected a sequence of words")
        tokens = tuple(self.tokens)
        object.__setattr__(self, "tokens", tokens)
        if not all(tokens) or not set(map(type, tokens)) <= {str}:
            for position, token in enumerate(tokens):
                if not isinstance(token, str) or not token:
                    raise MentionError(f"token {position} is {quoted(token)}; expected a text that is not empty")
        object.__setattr__(self, "mentions", _checked_mentions(self.mentions, len(tokens), "tokens"))
        if self.columns:
            columns = {name: tuple(values) for name, values in self.columns.items()}
            for name, values in columns.items():
                if len(values) != len(tokens):
                    raise MentionError(f"column {name!r} has {len(values)} values, but there are {len(tokens)} tokens")
            object.__setattr__(self, "columns", columns)
        if self.offsets is not None:
            offsets = self.offsets
            if type(offsets) is not tuple or not set(map(type, offsets)) <= {tuple} or set(map(len, offsets)) - {2}:
                offsets = tuple((start, end) for start, end in offsets)
            if len(offsets) != len(tokens):
                raise MentionError(f"there are {len(offsets)} offsets, but {len(tokens)} tokens")
            object.__setattr__(self, "offsets", offsets)

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        doc = f", doc={shortened(self.doc)}" if self.doc else ""
        words = f"{counted(len(self.tokens), 'word')} {shortened(' '.join(self.tokens))}"
        return f"Sentence({words}, {counted(len(self.mentions), 'mention')}{doc})"

    def with_mentions(self, mentions: Iterable[Mention]) -> Sentence:
        """Return the same sentence with other mentions."""
        return replace(self, mentions=tuple(mentions))

    def text_of(self, mention: Mention) -> str:
        """Return the words of a mention, with ``…`` for every gap."""
        return " … ".join(" ".join(self.tokens[start:end]) for start, end in mention.parts)

    @property
    def is_discontiguous(self) -> bool:
        """Whether some mention, lost or not, has more than one part."""
        return any(each.is_discontiguous for each in self.mentions) or any(each.is_discontiguous for each in self.lost)


# Frozen objects are filled through their slot descriptors, each by name: a loop over them is slower.
(
    _put_tokens,
    _put_mentions,
    _put_doc,
    _put_attributes,
    _put_columns,
    _put_offsets,
    _put_split,
    _put_place,
    _put_source,
    _put_lost,
) = (getattr(Sentence, each.name).__set__ for each in fields(Sentence))


def unchecked_sentence(
    tokens: tuple[str, ...],
    mentions: tuple[Mention, ...],
    doc: str,
    attributes: Mapping[str, Any],
    offsets: tuple[Span, ...],
    split: str,
    place: str,
    lost: tuple[LostMention, ...] = (),
) -> Sentence:
    """Make a sentence without validation, from values that are known to be valid; faster than the constructor.

    Examples
    --------
    >>> made = unchecked_sentence(("no", "fever"), (), "a", NOTHING, ((0, 2), (3, 8)), "", "")
    >>> made == Sentence(["no", "fever"], doc="a", offsets=[(0, 2), (3, 8)])
    True
    """
    sentence = object.__new__(Sentence)
    _put_tokens(sentence, tokens)
    _put_mentions(sentence, mentions)
    _put_doc(sentence, doc)
    _put_attributes(sentence, attributes)
    _put_columns(sentence, NOTHING)
    _put_offsets(sentence, offsets)
    _put_split(sentence, split)
    _put_place(sentence, place)
    _put_source(sentence, None)
    _put_lost(sentence, lost)
    return sentence


@dataclass(frozen=True, slots=True, repr=False)
class Document(Shown):
    """A text and the mentions in it, as character offsets.

    Parameters
    ----------
    doc : str
        The document's id.
    text : str
        The text exactly as it was read. Carriage returns are kept, because offsets count them.
    mentions : iterable of Mention
        Stored in sorted order. No duplicates, and none may extend beyond the end of the text.
    attributes, split, place, source, lost
        As in `Sentence`.

    Raises
    ------
    MentionError
        If a mention ends beyond the text or occurs twice.
    """

    doc: str
    text: str
    mentions: tuple[Mention, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=nothing, hash=False)
    split: str = field(default="", compare=False)
    place: str = field(default="", compare=False, repr=False)
    source: Any = field(default=None, compare=False, repr=False)
    lost: tuple[LostMention, ...] = field(default=(), compare=False, repr=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            doc: str,
            text: str,
            mentions: Iterable[Mention] = ...,
            attributes: Mapping[str, Any] = ...,
            split: str = ...,
            place: str = ...,
            source: Any = ...,
            lost: tuple[LostMention, ...] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "mentions", _checked_mentions(self.mentions, len(self.text), "characters"))

    def __repr__(self) -> str:
        text = f"{counted(len(self.text), 'character')} {shortened(self.text)}"
        return f"Document({shortened(self.doc)}, {text}, {counted(len(self.mentions), 'mention')})"

    def with_mentions(self, mentions: Iterable[Mention]) -> Document:
        """Return the same document with other mentions."""
        return replace(self, mentions=tuple(mentions))

    def text_of(self, mention: Mention) -> str:
        """Return the text of a mention, with ``…`` for every gap."""
        return " … ".join(self.text[start:end] for start, end in mention.parts)

    def place_of(self, mention: Mention) -> tuple[str, int | None]:
        """Return the file and line that a mention was read from, for messages; if unknown, those of the document.

        Examples
        --------
        >>> Document("note", "no fever", place="notes.jsonl:12").place_of(Mention("Finding", [(3, 8)]))
        ('notes.jsonl', 12)
        """
        path, colon, number = self.place.rpartition(":")
        has_line = bool(colon) and number.isascii() and number.isdigit() and len(number) < 19
        line_of = getattr(self.source, "line_of", None)
        line = line_of(mention) if line_of is not None else None
        if line is None and has_line:
            line = int(number)
        return (path if has_line else self.place) or self.doc, line

    @property
    def is_discontiguous(self) -> bool:
        """Whether some mention, lost or not, has more than one part."""
        return any(each.is_discontiguous for each in self.mentions) or any(each.is_discontiguous for each in self.lost)


_fill_document = tuple(getattr(Document, each.name).__set__ for each in fields(Document))


def unchecked_document(document: Document, mentions: tuple[Mention, ...]) -> Document:
    """Return a document with other mentions, which must be sorted and inside the text; nothing is validated.

    Examples
    --------
    >>> document = Document("a", "no fever")
    >>> found = (Mention("Finding", [(3, 8)]),)
    >>> unchecked_document(document, found) == document.with_mentions(found)
    True
    """
    made = object.__new__(Document)
    values = (
        document.doc,
        document.text,
        mentions,
        document.attributes,
        document.split,
        document.place,
        document.source,
        document.lost,
    )
    for fill, value in zip(_fill_document, values, strict=True):
        fill(made, value)
    return made


Unit: TypeAlias = Sentence | Document
"""What a corpus consists of: sentences if the format has tokens, documents if it has text."""


@dataclass(frozen=True, slots=True, repr=False)
class Corpus(Shown):
    """Sentences or documents, in order, with the problems found while reading them.

    Examples
    --------
    >>> corpus = Corpus([Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])], split="train")])
    >>> len(corpus), corpus.n_mentions, corpus.splits
    (1, 1, ('train',))
    """

    units: tuple[Unit, ...]
    diagnostics: Diagnostics | None = field(default=None, compare=False, repr=False)

    if TYPE_CHECKING:

        def __init__(self, units: Iterable[Unit], diagnostics: Diagnostics | None = ...) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", tuple(self.units))

    def __len__(self) -> int:
        return len(self.units)

    def __iter__(self) -> Iterator[Unit]:
        return iter(self.units)

    def __getitem__(self, position: int) -> Unit:
        return self.units[position]

    def __repr__(self) -> str:
        kind = "document" if any(isinstance(unit, Document) for unit in self.units) else "sentence"
        splits = f", splits {', '.join(self.splits)}" if self.splits else ""
        return f"Corpus({counted(len(self.units), kind)}, {counted(self.n_mentions, 'mention')}{splits})"

    @property
    def n_mentions(self) -> int:
        """How many mentions there are."""
        return sum(len(unit.mentions) for unit in self.units)

    @property
    def types(self) -> tuple[str, ...]:
        """The types that occur, in alphabetical order."""
        return tuple(sorted({mention.type for unit in self.units for mention in unit.mentions}))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that occur, in order of appearance."""
        return tuple(dict.fromkeys(unit.split for unit in self.units if unit.split))

    def split(self, name: str) -> Corpus:
        """Return the sentences or documents of one split."""
        return Corpus(tuple(unit for unit in self.units if unit.split == name), self.diagnostics)

    def discontiguous(self) -> Corpus:
        """Return the sentences or documents with a discontiguous mention: the *discontiguous subset*."""
        return Corpus(tuple(unit for unit in self.units if unit.is_discontiguous), self.diagnostics)


def _checked_mentions(mentions: Iterable[Mention], length: int, unit: str) -> tuple[Mention, ...]:
    ordered = in_order(mentions)
    for before, after in pairwise(ordered):
        if before.parts == after.parts and before.type == after.type:
            raise MentionError(
                f"the {after.type!r} mention {list(after.parts)} occurs twice; expected every mention once"
            )
    for mention in ordered:
        if mention.parts[-1][1] > length:
            raise MentionError(
                f"the {mention.type!r} mention {list(mention.parts)} ends at {mention.end}, "
                f"but there are only {length} {unit}"
            )
    return ordered
