"""Forge model files and checkpoints: change what they hold, with a hash that fits."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from hyperspan.recognizer import model_file

Arrays = dict[str, np.ndarray]
Change = Callable[[dict[str, Any], Arrays], object]

DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]

FEW_VALUES: tuple[Any, ...] = (None, True, "\ud800", -1, 2**70, float("nan"), [], {}, {"x": 1}, DEEP)
"""What stands in the place of every value."""

VALUES: tuple[Any, ...] = (
    *FEW_VALUES,
    *(False, "", "x", "spacy:/tmp", 0, 1, 3, 2**31, -0.5, 0.5, 1e308, float("inf")),
    *([1], ["x"], [[]], {"name": "spacy:."}),
)
"""And what else there is to try, for those who have time."""

MOST_CHILDREN = 3
"""How many values of a long list or object are changed: the first ones, and the last."""


def header_of(raw: bytes) -> dict[str, Any]:
    """Return what a file says of itself, without our own reader."""
    length = int.from_bytes(raw[:8], "little")
    header: dict[str, Any] = json.loads(json.loads(raw[8 : 8 + length])["__metadata__"]["hyperspan"])
    return header


def arrays_of(raw: bytes) -> Arrays:
    """Return the arrays of a file."""
    return dict(load(raw))


def forged(raw: bytes, change: Change) -> bytes:
    """Change what a file holds, with a hash that fits: what somebody with bad intentions would do."""
    arrays = arrays_of(raw)
    header = header_of(raw)
    header.pop("content_hash")
    change(header, arrays)
    header["content_hash"] = model_file._hash(header, arrays)
    return save(arrays, {"hyperspan": json.dumps(header)})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where every value of plain data stands."""
    yield path
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys if len(keys) <= 2 * MOST_CHILDREN else [*keys[:MOST_CHILDREN], keys[-1]]:
        yield from places(value[key], (*path, key))


def with_value(place: tuple[Any, ...], value: Any) -> Change:
    """Return the change that puts a value in a place of the data."""

    def change(header: dict[str, Any], arrays: Arrays) -> None:
        holder: Any = header
        *before, last = ("data", *place)
        for key in before:
            holder = holder[key]
        holder[last] = copy.deepcopy(value) if value is not DEEP else value

    return change


def without(place: tuple[Any, ...]) -> Change:
    """Return the change that takes a value out of the data."""

    def change(header: dict[str, Any], arrays: Arrays) -> None:
        holder: Any = header
        *before, last = ("data", *place)
        for key in before:
            holder = holder[key]
        del holder[last]

    return change


def changes_of_data(header: dict[str, Any], values: Sequence[Any] = FEW_VALUES) -> Iterator[tuple[str, Change]]:
    """Yield every change of one value of the data, with its name."""
    for place in places(header["data"]):
        for value in values:
            yield f"{place!a} = {value!a:.60}", with_value(place, value)
        if place:
            yield f"no {place}", without(place)


_OF_ARRAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "empty": lambda array: array[:0].copy(),
    "shorter": lambda array: array[:-1].copy(),
    "first column": lambda array: array.reshape(len(array), -1)[:, :1].copy(),
    "longer": lambda array: np.concatenate([array, array]),
    "reversed": lambda array: array[::-1].copy(),
    "flat": lambda array: array.reshape(-1).copy(),
    "deeper": lambda array: array[None].copy(),
    "bytes": lambda array: array.astype(np.uint8),
    "halves": lambda array: array.astype(np.float32),
    "wide": lambda array: array.astype(np.int64),
    "floats": lambda array: array.astype(np.float64),
    "zeros": np.zeros_like,
    "large": lambda array: np.full_like(array, np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1e300),
    "low": lambda array: np.full_like(array, np.iinfo(array.dtype).min if array.dtype.kind in "iu" else -1e300),
    "not numbers": lambda array: np.full_like(array, np.nan) if array.dtype.kind == "f" else ~array,
    "one more": lambda array: array + np.ones((), array.dtype),
}


def changes_of_arrays(arrays: Arrays) -> Iterator[tuple[str, Change]]:
    """Yield every change of one array, with its name."""

    def set_array(name: str, make: Callable[[np.ndarray], np.ndarray]) -> Change:
        def change(header: dict[str, Any], arrays: Arrays) -> None:
            with np.errstate(all="ignore"):
                arrays[name] = make(arrays[name])

        return change

    for name in arrays:
        for kind, make in _OF_ARRAYS.items():
            yield f"{name} {kind}", set_array(name, make)
        yield f"no {name}", lambda header, arrays, name=name: arrays.pop(name)


def changes(raw: bytes, values: Sequence[Any] = FEW_VALUES) -> Iterator[tuple[str, Change]]:
    """Yield every change of one value or array of a file, with its name."""
    yield from changes_of_data(header_of(raw), values)
    yield from changes_of_arrays(arrays_of(raw))
