"""Model files: arrays and JSON in one safetensors file, with a hash of the content. No code, no pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from hyperspan.diagnostics import quoted
from hyperspan.errors import ModelError
from hyperspan.files import writing

FORMAT_VERSION = 1
_KEY = "hyperspan"


def write_arrays(path: Path, kind: str, data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write plain data and arrays to one file that appears only once it is complete.

    The same content gives the same bytes.
    """
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    header: dict[str, Any] = {"kind": kind, "format_version": FORMAT_VERSION, "data": data}
    header["content_hash"] = _hash(header, ordered)
    text = json.dumps(header, sort_keys=True, ensure_ascii=True)
    try:
        with writing(path) as file:
            file.write(save(ordered, {_KEY: text}))
    except OSError as error:
        raise ModelError(
            f"cannot write the {kind} {path}: {error.strerror or error}. What was there before is unchanged; "
            "free some space, or choose another location"
        ) from error


def read_arrays(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_arrays` wrote.

    Raises
    ------
    ModelError
        If the file is missing, truncated, altered, of another kind, or from a newer version.
    """
    if not path.is_file():
        raise ModelError(f"there is no {kind} file {str(path)!r}; expected one written by 'hyperspan train'")
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[_KEY])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, KeyError, ValueError, TypeError, AttributeError, OSError, RecursionError) as error:
        raise ModelError(
            f"{path} is not a {kind} file, or it is damaged ({type(error).__name__}); copy it again, or train again"
        ) from None
    if not isinstance(header, dict) or header.get("kind") != kind:
        seen = header.get("kind") if isinstance(header, dict) else header
        raise ModelError(f"{path} holds {quoted(seen)}, not a {kind}; name a {kind} file")
    version = header.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path} has format version {quoted(version)}; this program reads version {FORMAT_VERSION}. "
            "Install the version of hyperspan that wrote it, or train again"
        )
    expected = header.pop("content_hash", None)
    if expected != _hash(header, arrays):
        raise ModelError(f"{path} was altered after it was written: its content does not match its hash. Train again")
    data = header.get("data")
    if not isinstance(data, dict):
        raise ModelError(f"{path} lacks its settings; it was not written by this program")
    return data, arrays


def _hash(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True, ensure_ascii=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
