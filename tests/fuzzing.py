"""Damage valid files at random, and see that readers take it well."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from hyperspan import corpora
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError
from hyperspan.mentions import Unit

HOSTILE = (
    b"\0",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\t",
    b" ",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xd9\xa3",
    b"-1",
    b"+1",
    b"1_0",
    b"1e9",
    b"9" * 30,
    b"9" * 5000,
    b"NaN",
    b"\\",
    b'"',
    b"<",
    b"&",
    b"]]>",
    b"[" * 3000,
    b";" * 50,
    b"..",
)
"""Bytes that have broken somebody's reader: control characters, half characters, odd numbers, open brackets."""


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _stretch(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + rng.choice((1, 1, 2, 5, 20, 100)))


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _delete(data: bytes, rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 10)) + data[end:]


def _move(data: bytes, rng: random.Random) -> bytes:
    start, end = _stretch(data, rng)
    rest = data[:start] + data[end:]
    at = _place(rest, rng)
    return rest[:at] + data[start:end] + rest[at:]


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(HOSTILE) + data[at:]


def _change_number(data: bytes, rng: random.Random) -> bytes:
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    number = rng.choice(numbers)
    other = rng.choice((b"0", b"1", b"-1", b"4294967296", b"007", b"", rng.choice(numbers).group()))
    return data[: number.start()] + other + data[number.end() :]


def _repeat_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


_DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip,
    _delete,
    _repeat,
    _move,
    _truncate,
    _insert,
    _insert,
    _change_number,
    _repeat_line,
)


def mutations(data: bytes, seed: int) -> bytes:
    """Return the data with one to four random damages; the same seed does the same damage.

    Examples
    --------
    >>> mutations(b"T1\\tDrug 0 7\\taspirin", seed=1) == mutations(b"T1\\tDrug 0 7\\taspirin", seed=1)
    True
    """
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_DAMAGES)(data, rng)
    return data


def assert_reader_survives(
    format_name: str, files: Mapping[str, bytes], primary: str, tmp_path: Path, n_mutations: int
) -> None:
    """Damage the files of one item again and again, one of them at a time, and read it.

    Reading may raise nothing but `CorpusError` under ``on_error="error"``, and nothing at all under ``"skip"``; what
    was read under ``"skip"`` can be written, or is refused with a `CorpusError`.

    Parameters
    ----------
    format_name : str
        A format by name.
    files : mapping of str to bytes
        Valid files by name; sub-folders are made.
    primary : str
        The one that the reader is given.
    tmp_path : path
        Where to put them.
    n_mutations : int
        How often to damage them.
    """
    names = sorted(files)
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert _read(format_name, tmp_path / primary, Diagnostics("error")), "the undamaged files hold nothing to damage"
    n_refused = 0
    for seed in range(n_mutations):
        name = names[seed % len(names)]
        damaged = mutations(files[name], seed)
        (tmp_path / name).write_bytes(damaged)
        try:
            n_refused += _is_refused(format_name, tmp_path / primary)
            units = _read(format_name, tmp_path / primary, Diagnostics("skip"))
            _write(format_name, units, tmp_path / "written" / str(seed))
        except Exception as error:
            pytest.fail(
                f"{format_name}, seed {seed}, damaged {name} {damaged[:500]!r}: {type(error).__name__}: {error}"
            )
        (tmp_path / name).write_bytes(files[name])
    assert n_refused, f"none of {n_mutations} damaged files was refused: the fuzzer or the reader sees nothing"


def _read(format_name: str, path: Path, diagnostics: Diagnostics) -> list[Unit]:
    return list(corpora.stream(path, format=format_name, diagnostics=diagnostics))


def _is_refused(format_name: str, path: Path) -> bool:
    try:
        _read(format_name, path, Diagnostics("error"))
    except CorpusError:
        return True
    return False


def _write(format_name: str, units: list[Unit], path: Path) -> None:
    format = corpora.format_named(format_name)
    if format.write_file is None and format.write_folder is None:
        return
    with suppress(CorpusError):
        corpora.write(units, path, format=format_name, diagnostics=Diagnostics("skip"))
