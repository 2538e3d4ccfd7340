"""Export sentences with mentions as files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import orjson

from hyperspan.corpora.brat import annotations_of
from hyperspan.corpora.brat_configuration import NAME as CONFIGURATION
from hyperspan.corpora.brat_configuration import Configuration
from hyperspan.corpora.jsonl import record_of
from hyperspan.diagnostics import Diagnostics
from hyperspan.mentions import Document, Sentence, Unit
from hyperspan.render import TypeColours, html_pieces, sentence_picture, svg_document
from hyperspan.server.errors import ApiError
from hyperspan.server.inputs import Input, diagnostics_of
from hyperspan.server.schemas import Format
from hyperspan.text import join_sentences

MOST_IN_SVG = 200
"""The maximum number of sentences in an SVG drawing; HTML can hold more."""

MOST_DRAWN = 200_000
"""The maximum number of words that all mentions of a drawing span, including gaps."""

MOST_COVERED = 10_000_000
"""The maximum number of characters that all mentions of a file cover, counted for each mention."""

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_EARLIEST = (1980, 1, 1, 0, 0, 0)


class File(NamedTuple):
    """A file to be sent: its name, media type and content."""

    name: str
    media_type: str
    content: bytes


def export(format: Format, given: Input, sentences: Sequence[Sentence], types: Sequence[str], doc: str) -> File:
    """Write sentences with mentions as a file.

    Parameters
    ----------
    format : {"brat", "jsonl", "svg", "html"}
    given : Input
        The input of the sentences: if it was a text, mentions get its character offsets.
    sentences : sequence of Sentence
        The sentences with mentions.
    types : sequence of str
        All types, which fixes their colours.
    doc : str
        The name of the document.
    """
    name = file_name(doc)
    _check_covered(sentences)
    if format in ("svg", "html"):
        _check_size(sentences)
    if format == "svg":
        return File(f"{name}.svg", "image/svg+xml", _svg(sentences, types))
    if format == "html":
        pieces = html_pieces(sentences, title=doc or "Mentions", types=types)
        return File(f"{name}.html", "text/html", "".join(pieces).encode("utf-8", "replace"))
    if format == "jsonl":
        units: Sequence[Unit] = [_document(given, sentences, doc)] if given.text is not None else sentences
        lines = [orjson.dumps(record_of(unit), option=orjson.OPT_APPEND_NEWLINE) for unit in units]
        return File(f"{name}.jsonl", "application/x-ndjson", b"".join(lines))
    return File(f"{name}.zip", "application/zip", _brat(_document(given, sentences, doc), name))


def file_name(doc: str) -> str:
    """Return a document's name in a form that is safe on every system and in a header.

    Examples
    --------
    >>> file_name("../../etc/passwd"), file_name('note "7"\\r\\n'), file_name("שלום")
    ('etc-passwd', 'note-7', 'text')
    """
    return _NOT_IN_NAMES.sub("-", doc).strip("-.")[:80].strip("-.") or "text"


def _document(given: Input, sentences: Sequence[Sentence], doc: str) -> Document:
    if not sentences:
        return Document(doc, given.text or "")
    return join_sentences(sentences, given.text)


def _check_covered(sentences: Sequence[Sentence]) -> None:
    """Raise an error if mentions cover far more text than there is: each would be written out."""
    n_characters = 0
    for sentence in sentences:
        if sentence.mentions:
            first = list(accumulate(map(len, sentence.tokens), initial=0))
            n_characters += sum(
                first[end] - first[start] for mention in sentence.mentions for start, end in mention.parts
            )
    if n_characters > MOST_COVERED:
        raise ApiError(
            422,
            f"the mentions cover {n_characters:,} characters, more than the {MOST_COVERED:,} that are written; "
            "export fewer sentences, or raise the threshold",
        )


def _check_size(sentences: Sequence[Sentence]) -> None:
    n_drawn = sum(mention.end - mention.start for sentence in sentences for mention in sentence.mentions)
    if n_drawn > MOST_DRAWN:
        raise ApiError(
            422,
            f"the mentions reach over {n_drawn:,} words, more than the {MOST_DRAWN:,} that are drawn; "
            "draw fewer sentences, or raise the threshold",
        )


def _svg(sentences: Sequence[Sentence], types: Sequence[str]) -> bytes:
    if len(sentences) > MOST_IN_SVG:
        raise ApiError(
            422, f"there are {len(sentences):,} sentences; a drawing takes {MOST_IN_SVG}. Export them as 'html'"
        )
    colours = TypeColours(types)
    pictures = [sentence_picture(sentence, types=colours) for sentence in sentences]
    return svg_document(pictures, title=None if sentences else "no sentence").encode("utf-8", "replace")


def _brat(document: Document, name: str) -> bytes:
    """Return a zip file with the text and its annotations; the same input gives the same bytes."""
    diagnostics = Diagnostics("skip")
    annotations = annotations_of(document, diagnostics)
    if diagnostics.total:
        raise ApiError(422, "brat cannot hold all of these mentions; details say which", diagnostics_of(diagnostics))
    file = io.BytesIO()
    configuration = Configuration()
    configuration.add(document)
    texts = {f"{name}.txt": document.text, f"{name}.ann": annotations, CONFIGURATION: configuration.text()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as folder:
        for member, text in texts.items():
            folder.writestr(zipfile.ZipInfo(member, _EARLIEST), text.encode("utf-8"), zipfile.ZIP_DEFLATED)
    return file.getvalue()
