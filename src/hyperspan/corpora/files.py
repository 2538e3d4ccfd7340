"""Read the files of a corpus within size limits, and check document names that become file names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from hyperspan.diagnostics import Diagnostics, quoted
from hyperspan.errors import CorpusError

LARGEST_DOCUMENT = 256 * 1024 * 1024
"""The maximum number of bytes in a file that must be read whole (a text, its annotations)."""

LONGEST_LINE = 64 * 1024 * 1024
"""The maximum number of bytes in one line of a streamed file."""

_NOT_IN_NAMES = re.compile("[\\\\:\0-\x1f\x7f\ud800-\udfff\ufeff\ufffe\uffff]")

_CHUNK = 1024 * 1024

HEAD_BYTES = 4096
"""How many bytes of a file are read to recognise its format."""


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file."""
    with open(path, "rb") as file:
        return file.read(HEAD_BYTES)


def read_text(path: Path, diagnostics: Diagnostics) -> str | None:
    """Read a whole UTF-8 text exactly as it is: no newline is translated.

    A file that is too large or not UTF-8 is reported; the result is None if such files are to be skipped.
    """
    raw = read_bytes(path, diagnostics)
    return None if raw is None else decode(raw, diagnostics, path=path)


def read_bytes(path: Path, diagnostics: Diagnostics, advice: str = "") -> bytes | None:
    """Read a whole file; report one that is too large, with some advice."""
    size = path.stat().st_size
    if size <= LARGEST_DOCUMENT:
        with open(path, "rb") as file:
            raw = file.read(size + 1)
            while len(raw) <= LARGEST_DOCUMENT and (
                more := file.read(_CHUNK)
            ):  # larger than its stated size, or endless
                raw += more
        if len(raw) <= LARGEST_DOCUMENT:
            return raw
        size = len(raw)
    message = f"the file has {size:,} bytes; what must be read whole may have {LARGEST_DOCUMENT:,}{advice}"
    diagnostics.report("too-large", message, path=str(path))
    return None


def decode(raw: bytes, diagnostics: Diagnostics, *, path: Path, line: int | None = None) -> str | None:
    """Decode UTF-8, or report the line and the first invalid byte."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line_in_raw = raw.count(b"\n", 0, error.start) + (1 if line is None else line)
        diagnostics.report(
            "encoding",
            f"byte 0x{raw[error.start]:02x} at position {error.start} is not UTF-8 ({error.reason}); "
            "expected UTF-8 text (convert it, for example with iconv)",
            path=str(path),
            line=line_in_raw,
        )
        return None


def stream_lines(path: Path, diagnostics: Diagnostics, *, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
    """Yield ``(number, line)``, counted from 1, without line ends unless ``keep_ends``, in bounded memory.

    A byte order mark at the very beginning is dropped. Lines that are too long or not UTF-8 are reported.
    """
    with open(path, "rb") as file:
        yield from numbered_lines(file.readline, path, diagnostics, keep_ends=keep_ends)


def numbered_lines(
    read_line: Callable[[int], bytes], path: Path, diagnostics: Diagnostics, *, keep_ends: bool = False
) -> Iterator[tuple[int, str]]:
    """Do the same as `stream_lines` for any binary file, given its ``readline``."""
    number = 0
    while raw := read_line(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            diagnostics.report(
                "too-large", f"the line has more than {LONGEST_LINE:,} bytes", path=str(path), line=number
            )
            while raw and not raw.endswith(b"\n"):
                raw = read_line(LONGEST_LINE)
            continue
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        line = decode(raw, diagnostics, path=path, line=number)
        if line is not None:
            yield number, line if keep_ends else line.rstrip("\r\n")


def document_path(folder: Path, doc: str, suffix: str) -> Path:
    """Return the path of a document's file inside a folder; raise an error for names that lead out of it.

    Examples
    --------
    >>> document_path(Path("out"), "ward/note 7", ".ann").as_posix()
    'out/ward/note 7.ann'
    >>> document_path(Path("out"), "../../etc/passwd", ".ann")
    Traceback (most recent call last):
    ...
    hyperspan.errors.CorpusError: document name '../../etc/passwd' cannot be a file name: ...
    """
    parts = doc.split("/")
    hostile = any(part[:1] in ("", ".") or len(part.encode("utf-8", "replace")) > 200 for part in parts)
    if hostile or len(doc) > 1000 or _NOT_IN_NAMES.search(doc):
        raise CorpusError(
            f"document name {quoted(doc)} cannot be a file name: expected a name that is not too long, "
            "no part of which is empty or begins with a dot, without backslashes, colons, control characters, byte "
            "order marks or half characters"
        )
    return folder.joinpath(PurePosixPath(doc).with_name(parts[-1] + suffix))
