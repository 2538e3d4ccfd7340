"""Read the lines of a resource file, and report broken ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hyperspan.corpora.files import LONGEST_LINE
from hyperspan.errors import FeatureError, location


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield ``(number, line)``, counted from 1, without line ends, in bounded memory.

    A byte order mark at the very beginning is dropped.

    Raises
    ------
    FeatureError
        If the file cannot be opened, or a line is too long or not UTF-8.
    """
    try:
        with open(path, "rb") as file:
            number = 0
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise broken(path, number, f"the line has more than {LONGEST_LINE:,} bytes")
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                try:
                    line = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise broken(
                        path,
                        number,
                        f"byte 0x{raw[error.start]:02x} at position {error.start} is not UTF-8 ({error.reason}); "
                        "convert the file, for example with iconv",
                    ) from None
                yield number, line.rstrip("\r\n")
    except OSError as error:
        raise FeatureError(f"{path}: cannot be read: {error.strerror}") from None


def broken(path: Path, line: int, message: str) -> FeatureError:
    """Return the error for one line of a file."""
    return FeatureError(f"{location(str(path), line)}: {message}")
