"""Draw hypergraphs and tags as SVG, after the figure of the paper.

Words are columns; A, E and then T, B and O of each type are rows. Chosen edges are drawn bold, others dashed, with
their probabilities. An arc across the links of a node marks them as one hyperedge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from hyperspan.render.colours import TypeColours, as_colours
from hyperspan.render.hypergraph import block_name
from hyperspan.render.picture import Picture, px, svg_document
from hyperspan.render.prefix_tree import tree_picture
from hyperspan.render.svg import CELL, COLUMN, FONT, word_columns, word_text
from hyperspan.render.visible import cut, visible, visible_word, xml_text

_ROW, _TOP = 66.0, 20.0
_RADIUS, _SMALL = 15.0, 9.0
_HEADING = 26.0
_X_RIGHT, _X_UP = 36.0, 25.0
_ARC = 24.0
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_LONGEST_WORD = 24

Point = tuple[float, float]


def draw_hypergraph_svg(data: Mapping[str, Any], *, types: Iterable[str] | TypeColours | None = None) -> str:
    """Draw what `hypergraph_data` returns as a standalone SVG document.

    Parameters
    ----------
    data : dict
    types : iterable of str, optional
        All types, which fixes their colours; the types that are shown if not given.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> from hyperspan.render.hypergraph import hypergraph_data
    >>> from hyperspan.structures import structure
    >>> shared = structure("shared", ["Finding"])
    >>> encoded = shared.encode([Mention("Finding", [(0, 1), (2, 3)])], n_words=3)
    >>> data = hypergraph_data(shared, ["laceration", "distal", "esophagus"], encoded.encoding)
    >>> "<title>B0→O1 at laceration</title>" in draw_hypergraph_svg(data)
    True
    """
    return svg_document([hypergraph_picture(data, types=types)])


def hypergraph_picture(data: Mapping[str, Any], *, types: Iterable[str] | TypeColours | None = None) -> Picture:
    """Draw a hypergraph or tags for use in a document; the parameters are those of `draw_hypergraph_svg`."""
    if "parts" in data:
        return tree_picture(data, types)
    return _tags_picture(data, types) if "tags" in data else _graph_picture(data, types)


def _graph_picture(data: Mapping[str, Any], types: Iterable[str] | TypeColours | None) -> Picture:
    colours = as_colours(types, (block["type"] for block in data["blocks"]))
    shown, columns, width = word_columns(data["tokens"])
    tops, y = [], _TOP + 2 * _ROW
    for block in data["blocks"]:
        tops.append(y + _HEADING)
        y += _HEADING + len(block["rows"]) * _ROW
    bottom = y - _ROW / 2 + 8
    places = {node["id"]: _place(node, data["blocks"], columns, tops) for node in data["nodes"]}
    body: list[str] = []
    for number, block in enumerate(data["blocks"]):
        body.extend(_backdrop(block, tops[number], columns, width, colours.index(block["type"])))
    body.extend(_frame_links(data, places))
    links, arcs = _links(data, places, shown, colours)
    body.extend(links)
    body.extend(arcs)
    body.extend(_nodes(data, places, colours))
    body.extend(word_text(token, x, bottom + FONT) for token, x in zip(shown, columns, strict=True))
    notes = _notes(data)
    for line, note in enumerate(notes):
        body.append(_small(12, bottom + FONT + 30 + 16 * line, note, "hs-quiet", anchor="start"))
    least = max((len(note) * 6.7 + 24 for note in notes), default=0.0)
    n_edges = sum(edge["is_chosen"] and edge["block"] is not None for edge in data["edges"])
    return Picture(
        max(width, least),
        bottom + FONT + 16 + 16 * len(notes) + 8,
        tuple(body),
        f"{data['structure']} hypergraph: {' '.join(data['tokens'])}",
        f"{n_edges} chosen edges of {', '.join(block_name(block) for block in data['blocks']) or 'no type'}",
    )


def _place(
    node: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], columns: Sequence[float], tops: Sequence[float]
) -> Point:
    x = columns[node["word"]]
    if node["block"] is None:
        return x, _TOP + (_ROW if node["name"] == "E" else 0.0)
    rows, top = blocks[node["block"]]["rows"], tops[node["block"]]
    if node["name"] == "X":
        parent = node["id"].split(":")[2]
        y = top + rows.index(parent) * _ROW
        return (x + _X_RIGHT, y) if parent == "T" else (x + _X_RIGHT - 4, y - _X_UP)
    return x, top + rows.index(node["name"]) * _ROW


def _backdrop(
    block: Mapping[str, Any], top: float, columns: Sequence[float], width: float, colour: int
) -> Iterator[str]:
    """Draw a block's heading, and a dot for each possible node."""
    name = xml_text(cut(block_name(block), 60))
    yield f'<path class="hs-faint" d="M12 {px(top - 38)}H{px(width - 12)}" stroke-dasharray="1 4"/>'
    yield (
        f'<text class="hs-c{colour} hs-halo" x="12" y="{px(top - 34)}" font-size="12" font-weight="bold">{name}</text>'
    )
    for row in range(len(block["rows"])):
        for x in columns:
            yield f'<circle class="hs-ghost" cx="{px(x)}" cy="{px(top + row * _ROW)}" r="2.5"/>'


def _frame_links(data: Mapping[str, Any], places: Mapping[str, Point]) -> Iterator[str]:
    """Draw the links of A and of E, which are in every encoding."""
    for edge in data["edges"]:
        if edge["block"] is not None:
            continue
        (x, y), is_fork = places[edge["parent"]], len(edge["children"]) > 1
        for child in edge["children"]:
            to_x, to_y = places[child]
            css = "hs-frame"
            if x == to_x and to_y - y > 2 * _ROW:  # past the blocks in between, along a rail beside the column
                rail, css = x - COLUMN / 2 + 10, "hs-faint"
                path = f"M{px(x)} {px(y)}L{px(rail)} {px(y + 30)}V{px(to_y - 30)}L{px(to_x)} {px(to_y)}"
            else:
                path = f"M{px(x)} {px(y)}L{px(to_x)} {px(to_y)}"
            yield f'<path class="{css}" d="{path}" stroke-width="1.2"/>'
        if is_fork and edge["parent"][0] == "A":
            yield f'<path class="hs-frame" d="{_arc((x, y), [0.0, math.pi / 2])}" stroke-width="1.2"/>'


def _links(
    data: Mapping[str, Any], places: Mapping[str, Point], shown: Sequence[str], colours: TypeColours
) -> tuple[list[str], list[str]]:
    """Draw every link once, bold if a chosen edge has it, and an arc for every chosen edge with several links."""
    chosen: dict[tuple[str, str], bool] = {}
    expected: dict[tuple[str, str], float] = {}
    labels: dict[tuple[str, str], list[str]] = {}
    block_of: dict[str, int] = {}
    arcs: list[str] = []
    n_arcs: dict[str, int] = {}
    for edge in data["edges"]:
        if edge["block"] is None:
            continue
        parent = edge["parent"]
        block_of[parent] = edge["block"]
        for child in edge["children"]:
            link = (parent, child)
            chosen[link] = chosen.get(link, False) or edge["is_chosen"]
            if edge["expected"] is not None:
                expected[link] = expected.get(link, 0.0) + edge["expected"]
            if edge["is_chosen"] or not chosen[link]:
                labels.setdefault(link, []).append(f"{edge['label']} at {shown[edge['word']]}")
        if edge["is_chosen"] and len(edge["children"]) > 1:
            angles = [_angle(places[parent], places[child]) for child in edge["children"]]
            radius = _ARC + 4 * n_arcs.setdefault(parent, 0)
            n_arcs[parent] += 1
            colour = colours.index(data["blocks"][edge["block"]]["type"])
            arcs.append(
                f'<path class="hs-c{colour} hs-line" d="{_arc(places[parent], angles, radius)}" stroke-width="1.8"/>'
            )
    links, numbers = [], []
    for link, is_chosen in sorted(chosen.items(), key=lambda item: item[1]):
        parent, child = link
        colour = colours.index(data["blocks"][block_of[parent]]["type"])
        is_quiet = parent.split(":")[1] == "T" and child.split(":")[1] == "X"
        links.append(_link(link, places, colour, is_chosen, is_quiet, labels[link]))
        if link in expected:
            numbers.append(_number(places[parent], places[child], expected[link], colour, is_quiet))
    return links, arcs + numbers


def _link(
    link: tuple[str, str],
    places: Mapping[str, Point],
    colour: int,
    is_chosen: bool,
    is_quiet: bool,
    labels: Sequence[str],
) -> str:
    start, end = places[link[0]], places[link[1]]
    if is_quiet:
        style = 'class="hs-frame" stroke-width="1"' if is_chosen else 'class="hs-faint" stroke-dasharray="3 3"'
    elif is_chosen:
        style = f'class="hs-c{colour} hs-line" stroke-width="2.6"'
    else:
        style = f'class="hs-c{colour} hs-line" stroke-width="1" stroke-dasharray="4 3" stroke-opacity="0.7"'
    path = f"M{px(start[0])} {px(start[1])}L{px(end[0])} {px(end[1])}"
    title = xml_text(cut("; ".join(labels)))
    return f'<path {style} data-link="{link[0]} {link[1]}" d="{path}"><title>{title}</title></path>'


def _number(start: Point, end: Point, expected: float, colour: int, is_quiet: bool) -> str:
    (x, y), (to_x, to_y) = start, end
    along = 0.4 if to_x - x > _X_RIGHT and abs(to_y - y) > 1 else 0.5
    at_x, at_y = x + (to_x - x) * along, y + (to_y - y) * along
    if is_quiet:
        at_x, at_y = to_x, to_y + _SMALL + 10
    elif abs(to_x - x) < 1:
        at_x -= 16
    elif to_y < y - 1:  # an X above its parent
        at_x, at_y = to_x + _SMALL + 14, to_y
    elif abs(to_y - y) < 1:
        at_y -= 9
    else:
        at_x, at_y = at_x + 10, at_y - 7
    return _small(at_x, at_y + 3.5, f"{expected:.2f}", "hs-quiet" if is_quiet else f"hs-c{colour}", size=10)


def _angle(start: Point, end: Point) -> float:
    return math.atan2(end[1] - start[1], end[0] - start[0])


def _arc(centre: Point, angles: Sequence[float], radius: float = _ARC) -> str:
    first, last = min(angles), max(angles)
    x, y = centre
    return (
        f"M{px(x + radius * math.cos(first))} {px(y + radius * math.sin(first))}"
        f"A{px(radius)} {px(radius)} 0 0 1 {px(x + radius * math.cos(last))} {px(y + radius * math.sin(last))}"
    )


def _nodes(data: Mapping[str, Any], places: Mapping[str, Point], colours: TypeColours) -> Iterator[str]:
    for node in data["nodes"]:
        x, y = places[node["id"]]
        radius = _SMALL if node["name"] == "X" else _RADIUS
        if node["block"] is None:
            stroke, text = "hs-frame", ""
        else:
            stroke = f"hs-c{colours.index(data['blocks'][node['block']]['type'])}"
            text = f' class="{stroke}"'
            if node["name"] == "T" or node["id"].split(":")[1:3] == ["X", "T"]:
                stroke, text = "hs-frame", ' class="hs-quiet"'
        line = "" if node["is_chosen"] else ' stroke-dasharray="3 3"'
        size = 9 if node["name"] == "X" else 12
        yield f'<circle class="hs-node" cx="{px(x)}" cy="{px(y)}" r="{px(radius)}"/>'
        yield (
            f'<circle class="{stroke} hs-open" cx="{px(x)}" cy="{px(y)}" r="{px(radius)}" '
            f'stroke-width="{1.8 if node["is_chosen"] else 1}"{line}/>'
        )
        yield (
            f'<text{text} x="{px(x)}" y="{px(y + size * 0.36)}" font-size="{size}" text-anchor="middle">'
            f"{node['name'].translate(_SUBSCRIPTS)}</text>"
        )


def _small(x: float, y: float, text: str, css: str, *, anchor: str = "middle", size: int = 11) -> str:
    return (
        f'<text class="{css} hs-halo" x="{px(x)}" y="{px(y)}" font-size="{size}" text-anchor="{anchor}">'
        f"{xml_text(text)}</text>"
    )


def _notes(data: Mapping[str, Any]) -> list[str]:
    notes = []
    if any(edge["is_chosen"] and edge["block"] is not None and len(edge["children"]) > 1 for edge in data["edges"]):
        notes.append("An arc joins the links of one hyperedge.")
    if any(not edge["is_chosen"] for edge in data["edges"]):
        notes.append("Dashed: not chosen, with its probability.")
    if data["n_left_out"]:
        many = "s" if data["n_left_out"] > 1 else ""
        what = f"block{many} (a type and a number of parts)" if data["structure"] == "split" else f"type{many}"
        notes.append(f"Left out: {data['n_left_out']} {what} with nothing to show.")
    return notes


def _tags_picture(data: Mapping[str, Any], types: Iterable[str] | TypeColours | None) -> Picture:
    present = (tag["type"] for tags in data["tags"] for tag in tags if tag["type"] is not None)
    colours = as_colours(types, present)
    widest = max((cell_len(tag["tag"]) for tags in data["tags"] for tag in tags), default=1)
    shown, columns, width = _tag_columns(data["tokens"], widest)
    body: list[str] = []
    box_top = _TOP + 14
    most = max((len(tags) for tags in data["tags"]), default=1)
    body.extend(word_text(token, x, _TOP + 2) for token, x in zip(shown, columns, strict=True))
    centres = [x for x, tags in zip(columns, data["tags"], strict=True) if tags]
    if centres:
        middle = px(box_top + 14)
        body.append(f'<path class="hs-faint" d="M{px(centres[0])} {middle}H{px(centres[-1])}" stroke-width="1.5"/>')
    for token, x, tags in zip(shown, columns, data["tags"], strict=True):
        for row, tag in enumerate(tags):
            body.extend(_tag(tag, token, x, box_top + row * 44, widest * 8 + 18, colours))
    has_numbers = any(tag["expected"] is not None for tags in data["tags"] for tag in tags)
    height = box_top + 30 + 44 * (most - 1) + (16 if has_numbers else 0) + 10
    chosen = [tag["tag"] for tags in data["tags"] for tag in tags if tag["is_chosen"]]
    title = f"tags: {' '.join(data['tokens'])}"
    return Picture(width, height, tuple(body), title, " ".join(chosen))


def _tag_columns(tokens: Sequence[str], widest: int) -> tuple[list[str], list[float], float]:
    shown, columns, x = [cut(visible_word(token, keep_joiners=True), _LONGEST_WORD) for token in tokens], [], 10.0
    for token in shown:
        width = max(widest * 8 + 30, cell_len(token) * CELL + 16)
        columns.append(x + width / 2)
        x += width
    return shown, columns, x + 10


def _tag(tag: Mapping[str, Any], token: str, x: float, top: float, width: float, colours: TypeColours) -> Iterator[str]:
    is_outside = tag["type"] is None
    css = "hs-frame" if is_outside else f"hs-c{colours.index(tag['type'])}"
    text = "hs-quiet" if is_outside else css
    line = "" if tag["is_chosen"] else ' stroke-dasharray="3 3"'
    thick = (1.0 if is_outside else 2.2) if tag["is_chosen"] else 1.0
    box = f'x="{px(x - width / 2)}" y="{px(top)}" width="{px(width)}" height="28" rx="6"'
    yield "<g>"
    yield f"<title>{xml_text(tag['tag'] + ' at ' + token)}</title>"
    yield f'<rect class="hs-node" {box}/>'
    yield f'<rect class="{css} hs-open" {box} stroke-width="{px(thick)}"{line}/>'
    name = xml_text(visible(tag["tag"], keep_joiners=True))
    yield f'<text class="{text}" x="{px(x)}" y="{px(top + 18.5)}" font-size="13" text-anchor="middle">{name}</text>'
    if tag["expected"] is not None:
        yield _small(x, top + 39, f"{tag['expected']:.2f}", text, size=10)
    yield "</g>"
