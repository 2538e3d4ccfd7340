"""Draw the prefix tree of a sentence's mentions, as encoded by ``segments``: plain data, text and SVG.

Words are columns. Every part of the tree has its own row, below the part that it follows. A dashed line is the gap
between them, and a dot after a part means that a mention ends with it. Mentions that begin with the same parts share
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperspan.errors import StructureError
from hyperspan.render.colours import TypeColours, as_colours
from hyperspan.render.picture import Picture, px
from hyperspan.render.svg import FONT, word_columns, word_text
from hyperspan.render.visible import visible, xml_text
from hyperspan.structures import Segments
from hyperspan.structures.segments import END, GAP, PART

_ROW, _TOP, _BAR = 26.0, 30.0, 8.0


def tree_data(
    structure: Segments,
    tokens: Sequence[str],
    encoding: Sequence[tuple[int, int]],
    expected: NDArray[np.float64] | None,
    min_expected: float,
) -> dict[str, Any]:
    """Return the prefix tree as plain data.

    Returns
    -------
    dict
        ``structure``, ``tokens`` and ``parts``: each has ``type``, ``level`` (from 0), ``span`` (start and end),
        ``after`` (the number of the part that it follows, or None), ``is_end`` (a mention ends with it), ``is_chosen``
        and ``expected`` (how often it is used on average, or None). Parts that are not chosen come last, without
        ``after``.

    Raises
    ------
    StructureError
        If the encoding is not a prefix tree.
    """
    structure.decode(tuple(encoding), "all")  # raises an error if it is not a prefix tree
    parts: list[dict[str, Any]] = []
    path: dict[tuple[int, int], int] = {}
    for word, label in encoding:
        segment = structure.segment_of(label)
        above = path.get((segment.type_id, segment.level - 1)) if segment.level else None
        if segment.what == PART:
            path[segment.type_id, segment.level] = len(parts)
            is_end = segment.level == structure.max_components - 1
            parts.append(_part(structure, word, label, above, is_end, True, expected))
        elif segment.what == END:
            parts[path[segment.type_id, segment.level]]["is_end"] = True
    if expected is not None:
        chosen = set(encoding)
        for word, label in np.argwhere(expected >= max(min_expected, 1e-9)).tolist():
            if (word, label) not in chosen and structure.segment_of(label).what == PART:
                parts.append(_part(structure, word, label, None, False, False, expected))
    return {"structure": structure.name, "tokens": list(tokens), "parts": parts}


def _part(
    structure: Segments,
    word: int,
    label: int,
    after: int | None,
    is_end: bool,
    is_chosen: bool,
    expected: NDArray[np.float64] | None,
) -> dict[str, Any]:
    segment = structure.segment_of(label)
    return {
        "type": structure.types[segment.type_id],
        "level": segment.level,
        "span": [word, word + segment.length],
        "after": after,
        "is_end": is_end,
        "is_chosen": is_chosen,
        "expected": None if expected is None else float(expected[word, label]),
    }


def check_tree(structure: Segments, n_words: int, encoding: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return an encoding in its own order, or raise an error if it leaves the sentence."""
    edges = tuple((int(word), int(label)) for word, label in encoding)
    for word, label in edges:
        known = 0 <= word < n_words and 0 <= label < structure.n_labels
        segment = structure.segment_of(label) if known else None
        if segment is None or word + segment.length + 2 * (segment.what == GAP) > n_words:
            raise StructureError(
                f"the encoding has label {label} at word {word}; expected one of the {structure.n_labels} labels "
                f"of {structure.name!r} that fits into {n_words} words"
            )
    return edges


def tree_text(data: Mapping[str, Any], *, ascii_only: bool = False) -> str:
    """Write the chosen parts as an indented tree.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> made = Segments(("Finding",))
    >>> mentions = [Mention("Finding", parts) for parts in ([(0, 1)], [(0, 1), (2, 4)])]
    >>> tokens = "Infarctions either water shed".split()
    >>> print(tree_text(tree_data(made, tokens, made.encode(mentions, 4).encoding, None, 0.05)))
    Finding: Infarctions ●
      … water shed ●
    """
    dot, dots = ("*", "...") if ascii_only else ("●", "…")
    lines = []
    for part in data["parts"]:
        if part["is_chosen"]:
            words = " ".join(visible(token, ascii_only=ascii_only) for token in data["tokens"][slice(*part["span"])])
            before = f"{visible(part['type'], ascii_only=ascii_only)}:" if part["after"] is None else dots
            lines.append(f"{'  ' * part['level']}{before} {words}{f' {dot}' if part['is_end'] else ''}")
    return "\n".join(lines)


def tree_picture(data: Mapping[str, Any], types: Iterable[str] | TypeColours | None = None) -> Picture:
    """Draw a prefix tree."""
    colours = as_colours(types, (part["type"] for part in data["parts"]))
    shown, columns, width = word_columns(data["tokens"])
    edges = [(one + other) / 2 for one, other in pairwise(columns)]
    lefts, rights = [columns[0] * 0.25 if columns else 0.0, *edges], [*edges, width - 12]
    body = [word_text(token, x, FONT + 4) for token, x in zip(shown, columns, strict=True)]
    for row, part in enumerate(data["parts"]):
        y, colour = _TOP + row * _ROW, colours.index(part["type"])
        left, right = lefts[part["span"][0]] + 6, rights[part["span"][1] - 1] - 6
        if part["after"] is not None:
            above = data["parts"][part["after"]]
            from_x, from_y = rights[above["span"][1] - 1] - 6, _TOP + part["after"] * _ROW + _BAR / 2
            body.append(
                f'<path class="hs-c{colour} hs-line" stroke-width="1.5" stroke-dasharray="3 3" '
                f'd="M{px(from_x)} {px(from_y)}V{px(y + _BAR / 2)}H{px(left)}"/>'
            )
        body.extend(_bar(data, part, left, right, y, colour))
    n_ends = sum(part["is_chosen"] and part["is_end"] for part in data["parts"])
    notes = ["A dot: a mention ends here."] if n_ends else []
    if any(not part["is_chosen"] for part in data["parts"]):
        notes.append("Pale: not chosen, with how often it is expected.")
    bottom = _TOP + len(data["parts"]) * _ROW + 14
    for line, note in enumerate(notes):
        body.append(
            f'<text class="hs-quiet" x="12" y="{px(bottom + 16 * line)}" font-size="11">{xml_text(note)}</text>'
        )
    return Picture(
        max(width, 340.0),
        bottom + 16 * len(notes) + 4,
        tuple(body),
        f"{data['structure']}, prefix tree: {' '.join(data['tokens'])}",
        f"{n_ends} mentions of {', '.join(dict.fromkeys(part['type'] for part in data['parts'])) or 'no type'}",
    )


def _bar(
    data: Mapping[str, Any], part: Mapping[str, Any], left: float, right: float, y: float, colour: int
) -> Iterable[str]:
    words = " ".join(data["tokens"][slice(*part["span"])])
    title = f"{part['type']}, part {part['level'] + 1}: {words}"
    pale = "" if part["is_chosen"] else ' opacity="0.35"'
    yield (
        f'<g{pale}><title>{xml_text(visible(title))}</title><rect class="hs-c{colour} hs-bar" x="{px(left)}" '
        f'y="{px(y)}" width="{px(right - left)}" height="{px(_BAR)}" rx="3"/></g>'
    )
    if part["is_end"]:
        yield f'<circle class="hs-c{colour}" cx="{px(right)}" cy="{px(y + _BAR / 2)}" r="6"/>'
    if not part["is_chosen"] and part["expected"] is not None:
        yield (
            f'<text class="hs-quiet hs-halo" x="{px((left + right) / 2)}" y="{px(y + _BAR + 10)}" font-size="10" '
            f'text-anchor="middle">{part["expected"]:.2f}</text>'
        )
