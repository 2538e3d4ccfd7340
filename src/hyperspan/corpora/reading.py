"""Recognise the format of a file or folder, and read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from hyperspan.corpora.files import head_of
from hyperspan.corpora.format import Format, Item
from hyperspan.diagnostics import Diagnostics, OnError, quoted
from hyperspan.errors import FormatError, MentionError
from hyperspan.files import kind_of
from hyperspan.mentions import Corpus, Unit

_NAMES = ("bigbio", "bioc", "brat", "cupt", "inline", "jsonl", "knowtator", "semeval")
_SPLITS = {"train": "train", "training": "train", "dev": "dev", "devel": "dev", "valid": "dev", "test": "test"}
_DEEPEST_FOLDER = 20


class NoneRecognised(FormatError):
    """No file in a folder has a known format."""


def formats() -> tuple[str, ...]:
    """Return the names of all formats."""
    return _NAMES


def format_named(name: str) -> Format:
    """Return a format by name.

    Raises
    ------
    FormatError
        If there is no format of that name.
    """
    if name not in _NAMES:
        raise FormatError(f"there is no corpus format {name!r}; expected one of {', '.join(_NAMES)}")
    format = import_module(f"hyperspan.corpora.{name}").FORMAT
    assert isinstance(format, Format)
    return format


def recognise(path: Path) -> Format | None:
    """Return the format of a file, recognised by its name and first bytes, or None."""
    candidates = [format for format in map(format_named, _NAMES) if path.name.lower().endswith(format.suffixes)]
    if not candidates:
        return None
    head = head_of(path)
    return next((format for format in candidates if format.recognise(path, head)), None)


def find_items(path: str | Path, format: str | None = None) -> tuple[Format, list[Item]]:
    """Return the format of a file or folder and its items, sorted by name.

    The files at the top of a folder decide its format; if none of them is recognised, the files in sub-folders do.
    Formats with files for every document are read from sub-folders too. Files or sub-folders named train, dev and test
    are the splits.

    Raises
    ------
    FormatError
        If nothing is recognised or can be read, if the folder has files of several formats, or if a format with one
        file for everything has files both at the top and in sub-folders.
    """
    try:
        return _find_items(Path(path), None if format is None else format_named(format))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=str(error.filename or path)) from None


def _find_items(path: Path, wanted: Format | None) -> tuple[Format, list[Item]]:
    if path.is_dir():
        return _items_in(path, wanted)
    if not path.exists():
        raise FormatError("there is no such file or folder", path=str(path))
    if (kind := kind_of(path)) is not None:
        raise FormatError(
            f"this is {kind}, which cannot be read twice; expected a file or folder. Write it to a file first",
            path=str(path),
        )
    found = wanted or recognise(path)
    if found is None:
        raise FormatError(
            f"the format is not recognised; expected one of {', '.join(_NAMES)}. Name it with --from", path=str(path)
        )
    return found, [Item(path, path.parent, _split_of(path, path.parent))]


def _items_in(root: Path, wanted: Format | None) -> tuple[Format, list[Item]]:
    found = list(_recognised_in(root, wanted, _DEEPEST_FOLDER))
    names = sorted({format.name for format, _ in found})
    if not found and wanted is not None:
        raise NoneRecognised(
            f"no file in this folder is of the format {wanted.name!r}, whose files end in "
            f"{', '.join(wanted.suffixes)}. Name another with --from, or leave it out to have it recognised",
            path=str(root),
        )
    if not found:
        raise NoneRecognised(
            f"no file in this folder is of a known format; expected one of {', '.join(_NAMES)}", path=str(root)
        )
    if len(names) > 1:
        counts = " and ".join(f"{sum(format.name == name for format, _ in found)} {name}" for name in names)
        raise FormatError(f"the folder holds files of several formats: {counts}. Choose with --from", path=str(root))
    return found[0][0], [Item(path, root, _split_of(path, root)) for _, path in found]


def _recognised_in(folder: Path, wanted: Format | None, depth: int) -> Iterator[tuple[Format, Path]]:
    """Yield the recognised files of a folder and of its sub-folders, sorted by name.

    The format of the files at the top decides which files below are used. Links to folders and hidden names are
    skipped.
    """
    entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    found = [
        (format, path) for path in entries if path.is_file() and (format := _recognise_as(path, wanted)) is not None
    ]
    below = [path for path in entries if path.is_dir() and not path.is_symlink()] if depth > 0 else []
    names = {format.name for format, _ in found}
    if len(names) == 1:
        wanted = found[0][0]
    if len(names) < 2:
        for path in below:
            found += _recognised_in(path, wanted, depth - 1)
    if names and wanted is not None and wanted.write_folder is None:
        _refuse_both(folder, wanted, [path for _, path in found])
    yield from sorted(found, key=lambda pair: pair[1])


def _refuse_both(folder: Path, format: Format, paths: list[Path]) -> None:
    """Raise an error for files both at the top and below it: it is unclear whether those below belong to the corpus."""
    below = [path.relative_to(folder).as_posix() for path in paths if path.parent != folder]
    if below:
        raise FormatError(
            f"{format.name} files are both at the top and in sub-folders, such as {quoted(below[0])}; it is not clear "
            "whether all are meant. Name one file or folder, or move the others away",
            path=str(folder),
        )


def _recognise_as(path: Path, wanted: Format | None) -> Format | None:
    if wanted is None:
        return recognise(path)
    fits = path.name.lower().endswith(wanted.suffixes) and wanted.recognise(path, head_of(path))
    return wanted if fits else None


def _split_of(path: Path, root: Path) -> str:
    """Return the split that a file name begins or ends with, or that a folder below the root is named after."""
    words = re.split(r"[^a-z]+", path.name.lower().split(".")[0])
    folders = path.relative_to(root).parts[:-1]
    return next((_SPLITS[word] for word in (words[0], words[-1], *map(str.lower, folders)) if word in _SPLITS), "")


def stream(path: str | Path, *, format: str | None = None, diagnostics: Diagnostics | None = None) -> Iterator[Unit]:
    """Yield the sentences or documents of a file or folder, one at a time, in bounded memory.

    Parameters
    ----------
    path : path
        A file or folder.
    format : str, optional
        One of `formats`; recognised automatically if not given.
    diagnostics : Diagnostics, optional
        Collects problems according to its ``on_error``. If not given, the first one raises an error.

    Raises
    ------
    FormatError
        As in `find_items`.
    CorpusError
        At the first problem, unless ``diagnostics`` collects them.
    """
    diagnostics = diagnostics or Diagnostics()
    found, items = find_items(path, format)
    for item in items:
        yield from stream_noting(item, found, diagnostics)


def stream_noting(item: Item, format: Format, diagnostics: Diagnostics) -> Iterator[Unit]:
    """Yield the sentences or documents of an item; record a note if there are none."""
    before, is_empty = diagnostics.total, True
    for unit in stream_item(item, format, diagnostics):
        is_empty = False
        yield unit
    if is_empty and diagnostics.total == before:
        diagnostics.note("empty", f"there is nothing in {item.path}", path=str(item.path))


def stream_item(item: Item, format: Format, diagnostics: Diagnostics) -> Iterator[Unit]:
    """Yield the sentences or documents of one of the items that `find_items` found."""
    try:
        diagnostics.take_lost()
        for unit in format.stream(item, diagnostics):
            if lost := diagnostics.take_lost():
                unit = replace(unit, lost=lost)
            yield replace(unit, split=item.split) if item.split and not unit.split else unit
    except OSError as error:
        diagnostics.report("unreadable", f"cannot be read: {error.strerror}", path=str(item.path))
    except MentionError as error:
        # Formats check values before they build units; this catches what they miss, so that users still get a location.
        diagnostics.report("invalid", str(error), path=str(item.path))


def read(path: str | Path, *, format: str | None = None, on_error: OnError = "error") -> Corpus:
    """Read a whole corpus into memory.

    Parameters
    ----------
    path : path
        A file or folder. Files or sub-folders named train, dev and test become the splits of the corpus.
    format : str, optional
        One of `formats`; recognised automatically if not given.
    on_error : {"error", "skip", "widen"}
        What to do with problems, as in `Diagnostics`; the ``diagnostics`` of the corpus has those that were skipped.

    Raises
    ------
    FormatError
        As in `find_items`.
    CorpusError
        At the first problem, under ``on_error="error"``.

    Examples
    --------
    >>> read("nowhere.jsonl")
    Traceback (most recent call last):
    ...
    hyperspan.errors.FormatError: nowhere.jsonl: there is no such file or folder
    """
    diagnostics = Diagnostics(on_error)
    return Corpus(tuple(stream(path, format=format, diagnostics=diagnostics)), diagnostics)
