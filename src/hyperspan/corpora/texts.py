"""Read texts to find mentions in: plain files, or a corpus without its annotations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from hyperspan.corpora.brat import FORMAT as BRAT
from hyperspan.corpora.files import read_text
from hyperspan.corpora.format import Format, Item
from hyperspan.corpora.reading import NoneRecognised, find_items, recognise, stream_noting
from hyperspan.corpora.sidecars import TEXT_SUFFIXES
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import FormatError
from hyperspan.files import kind_of
from hyperspan.mentions import Document, Unit

TEXT = "text"
"""The format name for plain texts."""

_NAMES = f"plain texts, in files {' or '.join(TEXT_SUFFIXES)}"


def stream_texts(
    path: str | Path,
    *,
    format: str | None = None,
    keep_gold: bool = False,
    diagnostics: Diagnostics | None = None,
) -> Iterator[Unit]:
    """Yield the sentences or documents of a file or folder without their mentions, one at a time.

    A ``.txt`` or ``.text`` file is a document; a folder of them has one document per file, named after it. In a brat
    folder, texts without annotations are read too.

    Parameters
    ----------
    path : path
        A file or folder.
    format : str, optional
        One of `formats`, or ``"text"`` for all plain texts of a folder; recognised automatically if not given.
    keep_gold : bool
        Read mentions too; errors in them are then problems like any other.
    diagnostics : Diagnostics, optional
        Collects problems according to its ``on_error``. If not given, the first one raises an error.
    """
    path = Path(path)
    diagnostics = diagnostics or Diagnostics()
    is_text = path.is_file() and path.suffix.lower() in TEXT_SUFFIXES
    if (format == TEXT and path.is_file()) or (is_text and format is None and recognise(path) is None):
        annotations = path.with_suffix(".ann")
        if keep_gold and annotations.is_file():
            yield from stream_noting(Item(annotations, path.parent), BRAT, diagnostics)
        else:
            yield from _plain(Item(path, path.parent), diagnostics)
        return
    found, items, texts = _found(path, format)
    if found is not None and found is not BRAT and texts:
        message = f"{len(texts):,} plain texts beside the {found.name} files are not read; read them with --from {TEXT}"
        diagnostics.note("texts-not-read", message, path=str(path))
        texts = []
    both = chain(((item, found) for item in items), ((item, None) for item in texts))
    for item, of in sorted(both, key=lambda pair: pair[0].path):
        if of is None:
            yield from _plain(item, diagnostics)
        else:
            yield from stream_noting(replace(item, texts_only=not keep_gold), of, diagnostics)


def _found(path: Path, format: str | None) -> tuple[Format | None, list[Item], list[Item]]:
    """Return the format of a file or folder, its items, and its texts without annotations."""
    if format == TEXT:
        texts = _texts_in(path) if path.is_dir() else []
        if not texts:
            raise FormatError(f"there is no plain text here; expected {_NAMES}", path=str(path))
        return None, [], texts
    try:
        found, items = find_items(path, format)
    except NoneRecognised as error:
        if format is not None:
            raise
        texts = _texts_in(path)
        if not texts:
            raise FormatError(f"{error.message}, or {_NAMES}", path=error.path) from None
        return None, [], texts
    has_sidecars = found.write_folder is not None and found is not BRAT
    if format is not None or not path.is_dir() or has_sidecars:
        return found, items, []
    known = {item.path for item in items}
    return found, items, [text for text in _texts_in(path) if text.path not in known]


def _texts_in(root: Path) -> list[Item]:
    """Return the texts of a folder and its sub-folders that have no annotations beside them."""
    found: list[Path] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        for path in folder.iterdir():
            if path.name.startswith("."):
                continue
            if path.is_dir():
                waiting += [] if path.is_symlink() else [path]
            elif path.suffix.lower() in TEXT_SUFFIXES and not path.with_suffix(".ann").exists() and not kind_of(path):
                found.append(path)
    return [Item(path, root) for path in sorted(found)]


def _plain(item: Item, diagnostics: Diagnostics) -> Iterator[Unit]:
    try:
        text = read_text(item.path, diagnostics)
    except OSError as error:
        diagnostics.report("unreadable", f"cannot be read: {error.strerror}", path=str(item.path))
        return
    if text is not None:
        yield Document(item.doc, text, place=str(item.path))
