"""The hypergraph of a sentence, or its tags, as plain data.

The rows of the paper's figure: A (mentions from here on), E (mentions that start here), and for each type T (does one
start here?), B and O nodes, and X where mentions end. X is given once for each parent, as the figure draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from hyperspan.errors import StructureError
from hyperspan.render.prefix_tree import check_tree, tree_data, tree_text
from hyperspan.render.visible import visible
from hyperspan.structures import Block, Encoding, Hypergraph, Linear, Structure
from hyperspan.structures.staircase import END, NO_START, START, STAY, STEP, node_name

MIN_EXPECTED = 0.05
"""The minimum probability at which other edges than the chosen ones are shown."""


def hypergraph_data(
    structure: Structure,
    tokens: Sequence[str],
    encoding: Iterable[tuple[int, int]],
    *,
    expected: NDArray[np.float64] | None = None,
    min_expected: float = MIN_EXPECTED,
) -> dict[str, Any]:
    """Return the hypergraph (or the tags) of a sentence as plain data.

    Parameters
    ----------
    structure : Structure
    tokens : sequence of str
    encoding : iterable of (word, label)
        The chosen edges or tags, from `encode` or a distribution's ``best().edges``.
    expected : float64 array of shape (n_words, n_labels), optional
        The expected count of each edge, from ``marginals().edges``: over encodings and tag sequences, its probability.
    min_expected : float
        The minimum expected count at which other edges than the chosen ones are included.

    Returns
    -------
    dict
        For hypergraphs: ``structure``, ``tokens``, ``blocks`` (each with ``type``, ``n_parts`` if structures are split
        by it, otherwise None, and ``rows``, the names of its nodes), ``nodes`` (``id``, ``name``, ``word``, ``block``
        or None, ``is_chosen``), ``edges`` (``parent``, ``children``, ``word``, ``block``, ``label``, ``is_chosen``,
        ``expected`` or None) and ``n_left_out``, how many blocks had nothing to show. For tags: ``structure``,
        ``tokens`` and ``tags``, for each word a list of ``tag``, ``type`` (None for O), ``is_chosen`` and ``expected``,
        the chosen ones first. For segments: see `hyperspan.render.prefix_tree.tree_data`.

    Raises
    ------
    StructureError
        If the encoding or the expected counts do not fit the structure and sentence.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> from hyperspan.structures import structure
    >>> shared = structure("shared", ["Finding", "Drug"])
    >>> encoded = shared.encode([Mention("Finding", [(0, 1)])], n_words=2)
    >>> data = hypergraph_data(shared, ["fever", "today"], encoded.encoding)
    >>> [edge["label"] for edge in data["edges"] if edge["block"] is not None]
    ['T→B0', 'B0→X', 'T→X']
    >>> data["n_left_out"]
    1
    """
    check = _CHECK_OF_KIND.get(structure.kind, _checked_encoding)
    chosen = check(structure, len(tokens), encoding)
    if expected is not None:
        expected = _checked_expected(structure, len(tokens), expected)
    return _DATA_OF_KIND[structure.kind](structure, tokens, chosen, expected, min_expected)


def _checked_encoding(structure: Structure, n_words: int, encoding: Iterable[tuple[int, int]]) -> Encoding:
    chosen = tuple(sorted({(int(word), int(label)) for word, label in encoding}))
    for word, label in chosen:
        if not (0 <= word < n_words and 0 <= label < structure.n_labels):
            raise StructureError(
                f"the encoding has label {label} at word {word}; expected one of the {structure.n_labels} labels "
                f"of {structure.name!r} at one of {n_words} words"
            )
    return chosen


def _checked_expected(structure: Structure, n_words: int, expected: NDArray[np.float64]) -> NDArray[np.float64]:
    expected = np.asarray(expected, dtype=np.float64)
    if expected.shape != (n_words, structure.n_labels):
        raise StructureError(
            f"expected counts have shape {expected.shape}, but there are {n_words} words and {structure.n_labels} "
            f"labels of {structure.name!r}"
        )
    if not np.all(np.isfinite(expected)) or np.any(expected < -1e-9):
        raise StructureError("expected counts are finite and not negative, but some of these are not")
    return expected


def _tags_data(
    structure: Linear,
    tokens: Sequence[str],
    chosen: Encoding,
    expected: NDArray[np.float64] | None,
    min_expected: float,
) -> dict[str, Any]:
    labels: dict[int, set[int]] = {}
    for word, label in chosen:
        labels.setdefault(word, set()).add(label)
    words = []
    for word in range(len(tokens)):
        here = labels.get(word, set())
        shown = set(here)
        if expected is not None:
            shown.update(int(label) for label in np.flatnonzero(expected[word] >= min_expected))
        tags: list[dict[str, Any]] = []
        for label in shown:
            meaning = structure.meanings[label]
            tags.append(
                {
                    "tag": structure.label_name(label),
                    "type": None if meaning is None else meaning.type,
                    "is_chosen": label in here,
                    "expected": None if expected is None else float(expected[word, label]),
                }
            )
        tags.sort(key=lambda tag: (not tag["is_chosen"], -(tag["expected"] or 0.0), tag["tag"]))
        words.append(tags)
    return {"structure": structure.name, "tokens": list(tokens), "tags": words}


def _graph_data(
    structure: Hypergraph,
    tokens: Sequence[str],
    chosen: Encoding,
    expected: NDArray[np.float64] | None,
    min_expected: float,
) -> dict[str, Any]:
    n_words = len(tokens)
    is_chosen = set(chosen)
    wanted = _wanted(structure, is_chosen, expected, min_expected)
    shown = [block for block in structure.blocks if any(label != NO_START for _, label in wanted[block.first_label])]
    graph = _Graph()
    for word in range(n_words):
        is_last = word + 1 == n_words
        onward = [("E", f"E:{word}")] if is_last else [("E", f"E:{word}"), ("A", f"A:{word + 1}")]
        graph.add_edge(word, None, ("A", f"A:{word}"), onward, "A→E" if is_last else "A→E,A")
        tees = [("T", f"{number}:T:{word}") for number in range(len(shown))]
        graph.add_edge(word, None, ("E", f"E:{word}"), tees, "E→T")
    for number, block in enumerate(shown):
        for word, label in wanted[block.first_label]:
            full_label = block.first_label + label
            parent, children = _ends(block, number, word, label, n_words)
            graph.add_edge(
                word,
                number,
                parent,
                children,
                block.staircase.label_name(label),
                is_chosen=(word, full_label) in is_chosen,
                expected=None if expected is None else float(expected[word, full_label]),
            )
    return {
        "structure": structure.name,
        "tokens": list(tokens),
        "blocks": [
            {
                "type": block.type,
                "n_parts": block.staircase.n_parts if block.staircase.exact else None,
                "rows": ["T", *map(node_name, range(_n_rows(block, wanted[block.first_label])))],
            }
            for block in shown
        ],
        "nodes": list(graph.nodes.values()),
        "edges": graph.edges,
        "n_left_out": len(structure.blocks) - len(shown),
    }


_DATA_OF_KIND: dict[str, Callable[..., dict[str, Any]]] = {
    "staircase": _graph_data,
    "chain": _tags_data,
    "segments": tree_data,
}
"""The function that makes the data of each kind of structure."""

_CHECK_OF_KIND: dict[str, Callable[..., Encoding]] = {"segments": check_tree}
"""Checks for encodings whose order matters."""


def _wanted(
    structure: Hypergraph, chosen: set[tuple[int, int]], expected: NDArray[np.float64] | None, min_expected: float
) -> dict[int, list[tuple[int, int]]]:
    """Return the edges to show of each block, as word and label in the block."""
    edges = set(chosen)
    if expected is not None:
        edges.update((int(word), int(label)) for word, label in np.argwhere(expected >= max(min_expected, 1e-9)))
    wanted: dict[int, list[tuple[int, int]]] = {block.first_label: [] for block in structure.blocks}
    block_of = {
        label: block
        for block in structure.blocks
        for label in range(block.first_label, block.first_label + block.staircase.n_labels)
    }
    for word, label in sorted(edges):
        first_label = block_of[label].first_label
        wanted[first_label].append((word, label - first_label))
    return wanted


def _n_rows(block: Block, wanted: Iterable[tuple[int, int]]) -> int:
    """Return how many B and O nodes are needed to show these edges."""
    most = 1
    for _, label in wanted:
        if label > START:
            node, children = block.staircase.edges[label - 2]
            most = max(most, node + 1 + bool(children & STEP))
    return most


def _ends(
    block: Block, number: int, word: int, label: int, n_words: int
) -> tuple[tuple[str, str], list[tuple[str, str]]]:
    """Return the parent and the children of an edge, each as name and id."""
    if label <= START:
        child = ("B0", f"{number}:B0:{word}") if label == START else ("X", f"{number}:X:T:{word}")
        return ("T", f"{number}:T:{word}"), [child]
    node, bits = block.staircase.edges[label - 2]
    name = node_name(node)
    if word + 1 == n_words and bits != END:
        raise StructureError(
            f"the edge {block.staircase.label_name(label)} at the last word leads beyond it; expected one that ends"
        )
    children = []
    if bits & STAY:
        children.append((name, f"{number}:{name}:{word + 1}"))
    if bits & STEP:
        children.append((node_name(node + 1), f"{number}:{node_name(node + 1)}:{word + 1}"))
    if bits & END:
        children.append(("X", f"{number}:X:{name}:{word}"))
    return (name, f"{number}:{name}:{word}"), children


class _Graph:
    """Collects nodes and edges."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.edges: list[dict[str, Any]] = []

    def add_edge(
        self,
        word: int,
        block: int | None,
        parent: tuple[str, str],
        children: Sequence[tuple[str, str]],
        label: str,
        *,
        is_chosen: bool = True,
        expected: float | None = None,
    ) -> None:
        for name, id in (parent, *children):
            at = int(id.rsplit(":", 1)[1])
            of_block = None if name in "AE" else int(id.split(":", 1)[0])
            node = {"id": id, "name": name, "word": at, "block": of_block, "is_chosen": False}
            self.nodes.setdefault(id, node)["is_chosen"] |= is_chosen
        self.edges.append(
            {
                "parent": parent[1],
                "children": [id for _, id in children],
                "word": word,
                "block": block,
                "label": label,
                "is_chosen": is_chosen,
                "expected": expected,
            }
        )


def hypergraph_text(data: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """Write the chosen edges or tags of each word as text.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> from hyperspan.structures import structure
    >>> shared = structure("shared", ["Finding"])
    >>> encoded = shared.encode([Mention("Finding", [(0, 1), (2, 3)])], n_words=3)
    >>> print(hypergraph_text(hypergraph_data(shared, ["laceration", "distal", "esophagus"], encoded.encoding)))
    laceration  Finding: T→B0 B0→O1
    distal      Finding: T→X O1→B1
    esophagus   Finding: T→X B1→X
    """
    if "parts" in data:
        return tree_text(data, ascii_only=ascii_only)
    shown = [visible(token, ascii_only=ascii_only) for token in data["tokens"]]
    column = max(map(cell_len, shown), default=0)
    arrow = "->" if ascii_only else "→"
    lines = []
    for token, names in zip(shown, _names_of_words(data), strict=True):
        what = (
            visible("  ".join(names), ascii_only=ascii_only)
            if "tags" in data
            else "  ".join(
                f"{visible(block, ascii_only=ascii_only)}: {' '.join(labels).replace('→', arrow)}"
                for block, labels in names.items()
            )
        )
        lines.append(f"{token}{' ' * (column - cell_len(token))}  {what}".rstrip())
    return "\n".join(lines)


def _names_of_words(data: Mapping[str, Any]) -> list[dict[str, list[str]]]:
    """Return the chosen edges of each word by block, or its chosen tags."""
    if "tags" in data:
        return [{tag["tag"]: [] for tag in tags if tag["is_chosen"]} for tags in data["tags"]]
    names: list[dict[str, list[str]]] = [{} for _ in data["tokens"]]
    for edge in data["edges"]:
        if edge["block"] is not None and edge["is_chosen"]:
            block = block_name(data["blocks"][edge["block"]])
            names[edge["word"]].setdefault(block, []).append(edge["label"])
    return names


def block_name(block: Mapping[str, Any]) -> str:
    """Name a block: its type, and the number of parts if structures are split by it."""
    if block["n_parts"] is None:
        return str(block["type"])
    return f"{block['type']}, {block['n_parts']} part{'s' if block['n_parts'] > 1 else ''}"
