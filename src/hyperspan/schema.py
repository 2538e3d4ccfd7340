"""Validate what is read from files before using any of it.

A forged file can carry a correct hash, and compiled code does not check bounds. So a schema gives every value a type
and a range, and every array a type and a shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import DTypeLike, NDArray

from hyperspan.errors import ModelError

Count = Annotated[int, Meta(ge=0, le=2**53)]
Penalty = Annotated[float, Meta(ge=0.0)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Threshold = Annotated[float, Meta(gt=0.0, le=1.0)]


def fitted(data: object, schema: Any, place: str = "") -> Any:
    """Return data after validating it against a schema.

    Raises
    ------
    ModelError
        If a value does not fit; the message says where it is.
    """
    try:
        return msgspec.convert(data, schema, strict=True)
    except msgspec.ValidationError as error:
        text = str(error).replace("`", "'")
        raise ModelError(f"{place}: {text}" if place else text) from None
    except (RecursionError, OverflowError, UnicodeEncodeError) as error:
        raise ModelError(f"{place or 'its data'} cannot be checked: {type(error).__name__}") from None


def check_finite(*numbers: float) -> None:
    """Raise an error if a number is not finite."""
    if not all(map(math.isfinite, numbers)):
        raise ModelError("it has numbers that are not finite")


def check_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: DTypeLike, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """Return an array by name after checking its type and shape; None in the shape allows any size.

    Raises
    ------
    ModelError
        If there is no such array, or its type or shape is different.
    """
    if name not in arrays:
        raise ModelError(f"it lacks the array {name!r}")
    array = arrays[name]
    fits = len(shape) == array.ndim and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if array.dtype != np.dtype(dtype) or not fits or not array.flags.c_contiguous:
        wanted = tuple("any" if size is None else size for size in shape)
        raise ModelError(
            f"the array {name!r} is {array.dtype} of shape {array.shape}; expected {np.dtype(dtype)} of shape {wanted}"
        )
    return array


def check_texts(arrays: Mapping[str, NDArray[Any]], name: str, first: str) -> int:
    """Check texts stored one after another in an array of bytes; return how many there are."""
    raw = check_array(arrays, name, np.uint8, (None,))
    begin = check_array(arrays, first, np.int64, (None,))
    if not len(begin) or begin[0] != 0 or begin[-1] != len(raw) or bool(np.any(np.diff(begin) < 0)):
        raise ModelError(f"the array {first!r} does not say where the texts of {name!r} begin")
    return len(begin) - 1
