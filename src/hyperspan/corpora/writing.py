"""Write a corpus atomically: completely or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, Any

from hyperspan.corpora.format import Format
from hyperspan.corpora.omop import FORMAT as OMOP
from hyperspan.corpora.reading import format_named, formats
from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import FormatError, UsageError
from hyperspan.files import check_file, check_folder, writing, writing_folder
from hyperspan.mentions import Document, Sentence, Unit

_BY_SUFFIX = {
    ".csv": "omop",
    ".cupt": "cupt",
    ".inline": "inline",
    ".json": "bioc",
    ".jsonl": "jsonl",
    ".parquet": "bigbio",
    ".xml": "bioc",
}

_WRITTEN_ONLY = {OMOP.name: OMOP}


def written_formats() -> tuple[str, ...]:
    """Return the names of all formats that can be written."""
    return (*formats(), *_WRITTEN_ONLY)


def format_of_output(path: str | Path, option: str = "--to", others: Iterable[str] = ()) -> str:
    """Return the format that an output name implies: jsonl for ``notes.jsonl``, brat for a name without a suffix.

    If it implies none, the error names the option that sets the format, and other suffixes that the caller supports.
    """
    path = Path(path)
    if not path.suffix or path.is_dir():
        return "brat"
    try:
        return _BY_SUFFIX[path.suffix.lower()]
    except KeyError:
        known = ", ".join(sorted({*_BY_SUFFIX, *others}))
        raise UsageError(
            f"{path.name!r} does not say which format to write; use {known}, or name it with {option}"
        ) from None


def check_output(path: str | Path, format: str | None = None, *, overwrite: bool = False) -> Format:
    """Return the format to write, after checking before any work is done that `write` can begin.

    The parameters are those of `write`.
    """
    chosen, path = writable(format or format_of_output(path)), Path(path)
    if chosen.write_folder is not None:
        check_folder(path, overwrite=overwrite)
    else:
        check_file(path)
    return chosen


def write(
    units: Iterable[Unit],
    path: str | Path,
    *,
    format: str | None = None,
    overwrite: bool = False,
    diagnostics: Diagnostics | None = None,
) -> None:
    """Write sentences or documents to a file or folder that appears only once it is complete.

    Parameters
    ----------
    units : iterable of Sentence or Document
        Read one at a time.
    path : path
        The file, or the folder for formats with one file per document.
    format : str, optional
        The name of a format; derived from the suffix if not given.
    overwrite : bool
        Replace an existing folder. Files are always replaced.
    diagnostics : Diagnostics, optional
        Collects notes on data that the format cannot hold, such as attributes, and applies its ``on_error`` to units
        that cannot be written. If not given, such data is dropped without a word, and the first such unit raises an
        error.

    Raises
    ------
    UsageError
        If the suffix does not say which format to write, the folder is not empty and ``overwrite`` is false, or the
        output cannot be written.
    FormatError
        If there is no format of that name.
    CorpusError
        If a unit cannot be written in this format.
    """
    chosen = writable(format or format_of_output(path))
    diagnostics = diagnostics or Diagnostics()
    path = Path(path)
    units = _without_halves(units, diagnostics)
    if chosen.write_folder is not None:
        with writing_folder(path, overwrite=overwrite) as folder:
            chosen.write_folder(units, folder, diagnostics)
    elif chosen.write_file is not None:
        with writing(path) as file:
            _file_writer(chosen, path)(units, file, diagnostics)


def write_to(units: Iterable[Unit], file: IO[bytes], *, format: str, diagnostics: Diagnostics | None = None) -> None:
    """Write sentences or documents to an open file, in a format with one file for everything."""
    chosen = writable(format)
    diagnostics = diagnostics or Diagnostics()
    if chosen.write_file is None:
        raise UsageError(f"{format} writes a folder with two files a document; name it with -o FOLDER")
    chosen.write_file(_without_halves(units, diagnostics), file, diagnostics)


def write_splits(
    splits: Mapping[str, Iterable[Unit]],
    path: str | Path,
    *,
    format: str,
    overwrite: bool = False,
    diagnostics: Diagnostics | None = None,
) -> None:
    """Write a folder with one file (``train.jsonl``) or folder (``train/``) for each split, one after another.

    A document that is named after the folder it was read from (``train/a``) becomes ``train/a`` again, not
    ``train/train/a``.
    """
    chosen = writable(format)
    diagnostics = diagnostics or Diagnostics()
    with writing_folder(Path(path), overwrite=overwrite) as folder:
        for name, of_split in splits.items():
            units = _without_halves(of_split, diagnostics)
            if chosen.write_folder is not None:
                (folder / name).mkdir()
                inside = (replace(unit, doc=unit.doc.removeprefix(f"{name}/")) for unit in units)
                chosen.write_folder(inside, folder / name, diagnostics)
            elif chosen.write_file is not None:
                target = folder / f"{name}{chosen.suffixes[0]}"
                with open(target, "wb") as file:
                    _file_writer(chosen, target)(units, file, diagnostics)


def _file_writer(format: Format, path: Path) -> Callable[[Iterable[Unit], IO[bytes], Diagnostics], None]:
    """Return the function that writes the variant of a format that a file's suffix implies."""
    writer = format.write_by_suffix.get(path.suffix.lower(), format.write_file)
    assert writer is not None
    return writer


def writable(name: str) -> Format:
    """Return a format by name, after checking that it can be written."""
    if name not in written_formats():
        raise FormatError(f"there is no corpus format {name!r}; expected one of {', '.join(written_formats())}")
    format = _WRITTEN_ONLY.get(name) or format_named(name)
    if format.write_file is None and format.write_folder is None:
        raise UsageError(f"the format {name!r} can only be read; choose another with --to")
    return format


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def _without_halves(units: Iterable[Unit], diagnostics: Diagnostics) -> Iterator[Unit]:
    """Yield the units that UTF-8 can hold, and report the others by name."""
    for unit in units:
        if (half := _half_in(_texts_of(unit))) is None:
            yield unit
        else:
            diagnostics.report(
                "not-held",
                f"document {quoted(unit.doc)} has half a character, {half!r}, which UTF-8 cannot hold",
                path=unit.place or None,
            )


def _texts_of(unit: Unit) -> Iterator[Any]:
    yield unit.doc
    yield unit.text if isinstance(unit, Document) else "".join(unit.tokens)
    yield unit.attributes
    if isinstance(unit, Sentence):
        yield unit.columns
    for mention in unit.mentions:
        yield mention.type
        yield mention.attributes


def _half_in(value: Any) -> str | None:
    """Return the first lone surrogate (half a character) in a value, at any depth."""
    if isinstance(value, str):
        if value.isascii():
            return None
        match = _HALF_CHARACTER.search(value)
        return None if match is None else match[0]
    if isinstance(value, Mapping):
        value = chain(value.keys(), value.values())
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        return None
    return next((half for one in value if (half := _half_in(one)) is not None), None)
