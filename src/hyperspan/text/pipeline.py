"""Convert documents to sentences and back; every mention is kept or reported.

Sentence boundaries never depend on the mentions, because new text has none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from hyperspan.diagnostics import INSIDE_TOKEN, Diagnostics, LostMention, quoted
from hyperspan.errors import AlignmentError, MentionError
from hyperspan.mentions import (
    Document,
    Mention,
    Sentence,
    Span,
    Unit,
    in_order,
    to_characters,
    to_tokens,
    unchecked_sentence,
)
from hyperspan.text.lines import split_lines
from hyperspan.text.marks import mask_marks
from hyperspan.text.notes import note_type
from hyperspan.text.sections import Section, known_headings, section_at, sections_of
from hyperspan.text.sentences import LineEnds, sentences_of
from hyperspan.text.tokens import Tokens, tokenize_parts

_ADVICE = 'Correct it, or pass diagnostics=Diagnostics("skip") to drop and count such cases.'


def split_document(
    document: Document, diagnostics: Diagnostics | None = None, *, line_ends: LineEnds = "auto", language: str = "en"
) -> list[Sentence]:
    """Split a document into tokenized sentences with its mentions.

    Tokens are unchanged pieces of the text, with their offsets. A sentence has the document's attributes, and also
    ``section`` and ``note_type`` if these are known.

    Parameters
    ----------
    document : Document
        The document to split.
    diagnostics : Diagnostics, optional
        Collects the mentions that cannot be kept: ``crosses-sentence`` for one that no single sentence contains,
        ``inside-token`` for one with a boundary inside a token (widened if ``on_error`` is ``"widen"``), ``no-token``
        for one that covers only white space, and ``duplicate`` for one that becomes equal to another. If not given,
        the first of them raises an error.
    line_ends : {"auto", "always", "never"}
        When the end of a line ends a sentence, as in `split_sentences`.
    language : str
        The language of the known headings.

    Examples
    --------
    >>> text = "IMPRESSION: Infarctions either water shed or embolic. No bleed."
    >>> document = Document("note 7", text, [Mention("Finding", [(12, 23), (31, 41)])])
    >>> first, second = split_document(document)
    >>> first.text_of(first.mentions[0]), first.attributes["section"]
    ('Infarctions … water shed', 'impression')
    >>> second.tokens, second.offsets
    (('No', 'bleed', '.'), ((54, 56), (57, 62), (62, 63)))
    """
    (sentences,) = split_documents([document], diagnostics, line_ends=line_ends, language=language)
    return sentences


def split_documents(
    documents: Sequence[Document],
    diagnostics: Diagnostics | None = None,
    *,
    line_ends: LineEnds = "auto",
    language: str = "en",
    compiled: bool = False,
) -> list[list[Sentence]]:
    """Split several documents like `split_document`; for short documents this is faster than one call for each.

    With ``compiled``, a compiled kernel finds the tokens; see `hyperspan.text.tokens.tokenize_parts`.
    """
    spans, sections = [], []
    for document in documents:
        masked = mask_marks(document.text)
        lines = split_lines(masked, known_headings(language))
        spans.append(sentences_of(masked, lines, line_ends=line_ends))
        sections.append(sections_of(masked, lines, language))
    tokens = tokenize_parts([document.text for document in documents], spans, compiled=compiled)
    gathered, rows = diagnostics or Diagnostics(advice=_ADVICE), zip(documents, spans, sections, tokens, strict=True)
    return [_sentences(*row, gathered) for row in rows]


def _sentences(
    document: Document,
    spans: Sequence[Span],
    sections: Sequence[Section],
    parts: Sequence[Tokens],
    diagnostics: Diagnostics,
) -> list[Sentence]:
    attributes = _attributes(document)
    mentions, lost = _place_mentions(document, [offsets for _, offsets in parts], diagnostics)
    return [
        _sentence(document, tokens, placed, _with_section(attributes, section_at(sections, start)), lost.get(index, ()))
        for index, (tokens, placed, (start, _)) in enumerate(zip(parts, mentions, spans, strict=True))
    ]


def whole_sentence(document: Document, diagnostics: Diagnostics | None = None) -> Sentence:
    """Return a document as one sentence with all its tokens.

    Examples
    --------
    >>> whole_sentence(Document("a", "One. Two.")).tokens
    ('One', '.', 'Two', '.')
    """
    ((tokens,),) = tokenize_parts([document.text], [[(0, len(document.text))]])
    (mentions,), lost = _place_mentions(document, [tokens[1]], diagnostics or Diagnostics(advice=_ADVICE))
    return _sentence(document, tokens, mentions, _attributes(document), lost.get(0, ()))


def as_sentences(
    units: Iterable[Unit], diagnostics: Diagnostics | None = None, *, line_ends: LineEnds = "auto", language: str = "en"
) -> Iterator[Sentence]:
    """Yield the sentences of a corpus: documents are split, sentences pass through unchanged.

    The parameters are those of `split_document`.

    Examples
    --------
    >>> units = [Document("a", "Rest. Fluids."), Sentence(["no", "fever"])]
    >>> [" ".join(sentence.tokens) for sentence in as_sentences(units)]
    ['Rest .', 'Fluids .', 'no fever']
    """
    diagnostics = diagnostics or Diagnostics(advice=_ADVICE)
    for unit in units:
        if isinstance(unit, Sentence):
            yield unit
        else:
            yield from split_document(unit, diagnostics, line_ends=line_ends, language=language)


def as_documents(units: Iterable[Unit], diagnostics: Diagnostics | None = None) -> Iterator[Document]:
    """Yield the documents of a corpus: consecutive sentences of one document are joined, documents stay unchanged.

    Parameters
    ----------
    units : iterable of Sentence or Document
        Read one at a time; only the sentences of one document are in memory together.
    diagnostics : Diagnostics, optional
        Collects notes about what a text cannot store: columns of tokens, and attributes of some sentences only.

    Examples
    --------
    >>> units = [Sentence(["no", "fever"], doc="a"), Sentence(["Rest", "."], doc="a"), Sentence(["Fluids"], doc="b")]
    >>> [(document.doc, document.text) for document in as_documents(units)]
    [('a', 'no fever\\nRest .'), ('b', 'Fluids')]
    """
    for _, group in groupby(units, key=_document_key):
        sentences: list[Sentence] = []
        for unit in group:
            if isinstance(unit, Document):
                yield unit
            else:
                sentences.append(unit)
        if sentences:
            document = join_sentences(sentences)
            if diagnostics is not None:
                _note_unsupported(sentences, document, diagnostics)
            yield document


def _document_key(unit: Unit) -> tuple[bool, str, str]:
    return isinstance(unit, Document), unit.doc, unit.split


def _note_unsupported(sentences: Sequence[Sentence], document: Document, diagnostics: Diagnostics) -> None:
    """Record a note for everything in the sentences that the joined document cannot store."""
    path = document.place or None
    for sentence in sentences:
        if column := next(iter(sentence.columns), None):
            diagnostics.note("columns-not-held", f"a text holds no column {column!r} of its tokens", path=path)
        if sentence.offsets is not None:
            diagnostics.note("offsets-not-held", "tokens are joined by blanks, not as they stood before", path=path)
        if (lost := next((name for name in sentence.attributes if name not in document.attributes), None)) is not None:
            diagnostics.note(
                "attributes-not-held", f"a text holds no attribute {lost!r} that only some sentences have", path=path
            )


def join_sentences(sentences: Sequence[Sentence], text: str | None = None) -> Document:
    """Join the sentences of one document.

    Tokens are joined by blanks and sentences by newlines. If the original text is given and all sentences have offsets,
    the document has that text and the mentions keep their original offsets.

    Raises
    ------
    MentionError
        If there are no sentences, they belong to different documents, or offsets and text do not agree.

    Examples
    --------
    >>> document = join_sentences([Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])]), Sentence(["Rest", "."])])
    >>> document.text, document.mentions[0].parts
    ('no fever\\nRest .', ((3, 8),))
    """
    if not sentences:
        raise MentionError("there are no sentences to join; expected at least one")
    first = sentences[0]
    for sentence in sentences:
        if sentence.doc != first.doc:
            raise MentionError(
                f"sentences of {quoted(first.doc)} and {quoted(sentence.doc)} cannot become one document; "
                "expected them to belong to the same"
            )
    offsets: Sequence[Sequence[Span]]
    if text is None:
        text, offsets = _joined(sentences)
    else:
        offsets = [_checked_offsets(sentence, text) for sentence in sentences]
    mentions = [
        to_characters(mention, places)
        for sentence, places in zip(sentences, offsets, strict=True)
        for mention in sentence.mentions
    ]
    lost = tuple(
        mention if mention.start is None else mention._replace(start=places[mention.start][0])
        for sentence, places in zip(sentences, offsets, strict=True)
        for mention in sentence.lost
    )
    return Document(
        first.doc, text, tuple(mentions), _shared_attributes(sentences), first.split, first.place, lost=lost
    )


def _attributes(document: Document) -> Mapping[str, Any]:
    found = note_type(document.text, attributes=document.attributes, name=document.doc)
    if found is None or "note_type" in document.attributes:
        return document.attributes
    return {**document.attributes, "note_type": found}


def _with_section(attributes: Mapping[str, Any], section: str | None) -> Mapping[str, Any]:
    return attributes if section is None or "section" in attributes else {**attributes, "section": section}


def _sentence(
    document: Document,
    found: Tokens,
    mentions: Iterable[Mention],
    attributes: Mapping[str, Any],
    lost: tuple[LostMention, ...],
) -> Sentence:
    tokens, offsets = found
    return unchecked_sentence(
        tokens, in_order(mentions), document.doc, attributes, offsets, document.split, document.place, lost
    )


def _place_mentions(
    document: Document, offsets: Sequence[Sequence[Span]], diagnostics: Diagnostics
) -> tuple[list[dict[Mention, Mention]], dict[int, tuple[LostMention, ...]]]:
    """Return the mentions of each sentence in word offsets, each with its original; and the mentions it lost.

    A lost mention belongs to the sentence with its first word; one whose position is unknown belongs to the first.
    """
    placed: list[dict[Mention, Mention]] = [{} for _ in offsets]
    lost: dict[int, tuple[LostMention, ...]] = {}
    if not document.mentions and not document.lost:
        return placed, lost
    before = diagnostics.take_lost()
    all_offsets = [span for places in offsets for span in places]
    first_tokens = [0]
    for places in offsets:
        first_tokens.append(first_tokens[-1] + len(places))

    def lose(mentions: Iterable[LostMention]) -> None:
        for mention in mentions:
            index, first = 0, None
            if mention.start is not None and all_offsets:
                word = min(bisect_right(all_offsets, mention.start, key=_end), len(all_offsets) - 1)
                index = bisect_right(first_tokens, word) - 1
                first = word - first_tokens[index]
            lost[index] = (*lost.get(index, ()), mention._replace(start=first))

    lose(document.lost)
    for mention in document.mentions:
        aligned = _align(document, mention, all_offsets, diagnostics)
        if aligned is None:
            lose(diagnostics.take_lost())
            continue
        diagnostics.take_lost()  # widened mentions are not lost
        index = bisect_right(first_tokens, aligned.start) - 1
        if aligned.end > first_tokens[index + 1]:
            last = bisect_right(first_tokens, aligned.end - 1) - 1
            _report(
                diagnostics,
                "crosses-sentence",
                document,
                mention,
                f"lies in {last - index + 1} sentences; expected it in one",
            )
            lose(diagnostics.take_lost())
            continue
        here = aligned.shift(-first_tokens[index])
        if here in placed[index]:
            other = list(placed[index][here].parts)
            _report(diagnostics, "duplicate", document, mention, f"covers the same tokens as {other}")
        else:
            placed[index][here] = mention
    diagnostics.lost = [*before]
    return placed, lost


def _end(span: Span) -> int:
    return span[1]


def _align(document: Document, mention: Mention, offsets: Sequence[Span], diagnostics: Diagnostics) -> Mention | None:
    try:
        return to_tokens(mention, offsets)
    except AlignmentError:
        pass
    try:
        wider = to_tokens(mention, offsets, widen=True)
    except AlignmentError:
        _report(diagnostics, "no-token", document, mention, "has a part with no token in it; expected at least one")
        return None
    words = document.text_of(to_characters(wider, offsets))
    _report(
        diagnostics,
        INSIDE_TOKEN,
        document,
        mention,
        f"has a boundary inside a token; expected it at the token's edge, as in {quoted(words)}",
    )
    return wider if diagnostics.widens else None


def _report(diagnostics: Diagnostics, kind: str, document: Document, mention: Mention, what: str) -> None:
    path, line = document.place_of(mention)
    diagnostics.report(
        kind,
        f"the {quoted(mention.type)} mention {list(mention.parts)} {quoted(document.text_of(mention))} "
        f"of document {quoted(document.doc)} {what}",
        path=path or None,
        line=line,
        lost=LostMention.at(mention.type, mention.parts, len(document.text)),
    )


def _joined(sentences: Sequence[Sentence]) -> tuple[str, list[list[Span]]]:
    offsets: list[list[Span]] = []
    position = 0
    for sentence in sentences:
        places = []
        for token in sentence.tokens:
            places.append((position, position + len(token)))
            position += len(token) + 1
        # The newline replaces the last blank of a sentence; a sentence without tokens has no blank.
        position += not sentence.tokens
        offsets.append(places)
    return "\n".join(" ".join(sentence.tokens) for sentence in sentences), offsets


def _checked_offsets(sentence: Sentence, text: str) -> tuple[Span, ...]:
    if sentence.offsets is None:
        raise MentionError(
            f"a sentence of {quoted(sentence.doc)} has no offsets; expected them beside a text, "
            "or no text to join tokens by blanks"
        )
    reached = 0
    for token, (start, end) in zip(sentence.tokens, sentence.offsets, strict=True):
        if not reached <= start < end or text[start:end] != token:
            raise MentionError(
                f"token {quoted(token)} of {quoted(sentence.doc)} has the offsets ({start}, {end}), "
                f"but the text has {quoted(text[max(start, 0) : max(end, 0)])} there"
            )
        reached = end
    return sentence.offsets


def _shared_attributes(sentences: Sequence[Sentence]) -> dict[str, Any]:
    shared = dict(sentences[0].attributes)
    for sentence in sentences[1:]:
        shared = {
            key: value
            for key, value in shared.items()
            if key in sentence.attributes and sentence.attributes[key] == value
        }
    return shared
