"""Store clusters and texts as plain arrays in a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperspan.features.columns import ClusterPaths
from hyperspan.features.index import Offsets


class ClusterMap:
    """Words and cluster paths: the part of the clusters that features need and a model stores.

    Examples
    --------
    >>> ClusterMap({"hernia": "0110"}).path_of("hernia")
    '0110'
    """

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = dict(paths)

    @property
    def words(self) -> Sequence[str]:
        """Every word that is in a cluster."""
        return tuple(self._paths)

    def path_of(self, word: str) -> str | None:
        """Return the bit string of a word's cluster, or None."""
        return self._paths.get(word)

    @classmethod
    def of(cls, clusters: ClusterPaths) -> ClusterMap:
        """Copy words and paths from any clusters."""
        paths = ((word, clusters.path_of(word)) for word in clusters.words)
        return cls({word: path for word, path in paths if path is not None})

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the map as arrays."""
        paths = tuple(dict.fromkeys(self._paths.values()))
        number = {path: position for position, path in enumerate(paths)}
        words, first_word = packed(self._paths)
        path_bytes, first_path = packed(paths)
        return {
            "cluster_words": words,
            "cluster_first_word": first_word,
            "cluster_paths": path_bytes,
            "cluster_first_path": first_path,
            "cluster_ids": np.array([number[path] for path in self._paths.values()], np.int32),
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> ClusterMap:
        """Restore the map from `to_arrays`."""
        words = unpacked(arrays["cluster_words"], arrays["cluster_first_word"])
        paths = unpacked(arrays["cluster_paths"], arrays["cluster_first_path"])
        return cls({word: paths[id] for word, id in zip(words, arrays["cluster_ids"].tolist(), strict=True)})


def packed(texts: Iterable[str]) -> tuple[npt.NDArray[np.uint8], Offsets]:
    """Pack texts into one array of bytes and the start of each; any character is allowed.

    Examples
    --------
    >>> unpacked(*packed(["a", "", "\\ud800é"])) == ["a", "", "\\ud800é"]
    True
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    first = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=first[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), first


def unpacked(bytes: npt.NDArray[np.uint8], first: Offsets) -> list[str]:
    """Return the texts that `packed` wrote."""
    raw = bytes.tobytes()
    return [raw[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(first.tolist())]
