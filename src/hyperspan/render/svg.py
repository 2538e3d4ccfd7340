"""Draw sentences as SVG, with mentions on lanes below the words.

Words are set in a fixed-width font and stretched to a given width, so that bars are below their words in any font.
Right-to-left words are in their own order and not stretched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from hyperspan.mentions import Mention, Sentence
from hyperspan.render.colours import TypeColours, as_colours
from hyperspan.render.directions import directions, runs_right_to_left, visual_order
from hyperspan.render.lanes import lay_lanes, mention_label, mention_title, sentence_of_data, weight
from hyperspan.render.picture import Picture, px, svg_document
from hyperspan.render.visible import cut, visible, visible_word, xml_text

FONT = 15.0
CELL = 9.0
COLUMN = 104.0
_LABEL_FONT, _LABEL_CELL = 11.0, 6.6
_MARGIN = 14.0
_WORD_HEIGHT, _LANE_HEIGHT, _LINE_SPACE = 22.0, 25.0, 12.0
_LONGEST_LABEL = 40
_LEFT, _LONGEST_WORD = 30.0, 24


def draw_svg(
    sentence: Sentence | Mapping[str, Any],
    *,
    width: int = 100,
    types: Iterable[str] | TypeColours | None = None,
) -> str:
    """Draw a sentence as a standalone SVG document.

    Each part of a mention is a bar below its words, and gaps are thin lines; the type, and the probability if there is
    one, are below the bar. The less probable a mention, the thinner and paler its bars.

    Parameters
    ----------
    sentence : Sentence, or what `sentence_data` returns
    width : int
        The width in columns; longer sentences are wrapped together with their lanes.
    types : iterable of str, optional
        All types, which fixes their colours; the types of the sentence if not given.

    Examples
    --------
    >>> svg = draw_svg(Sentence(["R&D", "fever"], [Mention("Finding", [(1, 2)])]))
    >>> "R&amp;D" in svg, "<title>Finding: fever</title>" in svg
    (True, True)
    """
    return svg_document([sentence_picture(sentence, width=width, types=types)])


def sentence_picture(
    sentence: Sentence | Mapping[str, Any],
    *,
    width: int = 100,
    types: Iterable[str] | TypeColours | None = None,
) -> Picture:
    """Draw a sentence for use in a document; the parameters are those of `draw_svg`."""
    if not isinstance(sentence, Sentence):
        sentence = sentence_of_data(sentence)
    colours = as_colours(types, (mention.type for mention in sentence.mentions))
    body: list[str] = []
    top, right = _MARGIN / 2, 0.0
    for line in _lines(sentence, width):
        extents = {stroke.mention: stroke.extent for stroke in line.strokes}
        lanes = lay_lanes(extents, extents.__getitem__)
        lane_of = {mention: number for number, lane in enumerate(lanes) for mention in lane}
        baseline = top + FONT
        body.extend(word_text(word.text, word.x + word.width / 2, baseline) for word in line.words)
        for stroke in sorted(line.strokes, key=lambda stroke: (lane_of[stroke.mention], stroke.mention)):
            lane_top = top + _WORD_HEIGHT + lane_of[stroke.mention] * _LANE_HEIGHT
            body.extend(_stroke(sentence, stroke, lane_top, colours.index(stroke.mention.type)))
        ends = [word.x + word.width for word in line.words] + [stroke.extent[1] for stroke in line.strokes]
        right = max(right, *ends)
        top += _WORD_HEIGHT + len(lanes) * _LANE_HEIGHT + _LINE_SPACE
    titles = [mention_title(sentence, mention) for mention in sentence.mentions]
    return Picture(
        right + _MARGIN,
        max(top - _LINE_SPACE, _MARGIN) + _MARGIN / 2,
        tuple(body),
        " ".join(sentence.tokens) or "an empty sentence",
        "; ".join(titles) if titles else "no mentions",
    )


@dataclass(frozen=True, slots=True)
class _Word:
    position: int
    text: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class _Stroke:
    """The part of a mention on one line, from left to right."""

    mention: Mention
    bars: list[tuple[float, float]]
    line: tuple[float, float]
    label: str
    label_x: float
    extent: tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Line:
    words: list[_Word]
    strokes: list[_Stroke]


def _lines(sentence: Sentence, width: int) -> Iterator[_Line]:
    shown = [visible_word(token, keep_joiners=True) for token in sentence.tokens]
    widths = [cell_len(token) * CELL for token in shown]
    base, word_directions = directions(sentence.tokens)
    spans = list(_wrapped(widths, width * CELL))
    full = max((sum(widths[first:last]) + CELL * (last - first - 1) for first, last in spans), default=0.0)
    for first, last in spans:
        used = sum(widths[first:last]) + CELL * (last - first - 1)
        x = _MARGIN + (full - used if base else 0.0)
        words = {}
        for offset in visual_order(base, word_directions[first:last]):
            position = first + offset
            words[position] = _Word(position, shown[position], x, widths[position])
            x += widths[position] + CELL
        here = [mention for mention in sentence.mentions if mention.start < last and first < mention.end]
        strokes = [_stroke_of(mention, words, first, last, base) for mention in here]
        yield _Line([words[position] for position in range(first, last)], strokes)


def _wrapped(widths: Sequence[float], limit: float) -> Iterator[tuple[int, int]]:
    first, used = 0, 0.0
    for position, width in enumerate(widths):
        used += width + (CELL if position > first else 0.0)
        if used > limit and position > first:
            yield first, position
            first, used = position, width
    if first < len(widths):
        yield first, len(widths)


def _stroke_of(mention: Mention, words: dict[int, _Word], first: int, last: int, base: bool) -> _Stroke:
    bars: list[tuple[float, float]] = []
    covered = [words[position] for position in mention.words() if first <= position < last]
    before: _Word | None = None
    for word in sorted(covered, key=lambda word: word.x):
        if before is not None and abs(word.position - before.position) == 1 and _touch(before, word):
            bars[-1] = (bars[-1][0], word.x + word.width)
        else:
            bars.append((word.x, word.x + word.width))
        before = word
    reached = [words[position] for position in range(max(first, mention.start), min(last, mention.end))]
    left = min(word.x for word in reached)
    right = max(word.x + word.width for word in reached)
    goes_on, came_from = mention.end > last, mention.start < first
    if base:
        goes_on, came_from = came_from, goes_on
    left -= CELL if came_from else 0.0
    right += CELL if goes_on else 0.0
    label = cut(visible(mention_label(mention), keep_joiners=True), _LONGEST_LABEL) if bars else ""
    label_x = bars[0][0] if bars else left
    return _Stroke(
        mention,
        bars,
        (left, right),
        f"…{label}" if label and mention.start < first else label,
        label_x,
        (left, max(right, label_x + (cell_len(label) + 1) * _LABEL_CELL) + CELL / 2),
    )


def _touch(left: _Word, right: _Word) -> bool:
    return right.x - left.x - left.width <= CELL * 1.01


def word_text(token: str, middle: float, baseline: float) -> str:
    """Draw a word centred at a position, as wide as its cells.

    Right-to-left words keep their natural width, which is narrower: stretched, they would be hard to read.
    """
    is_stretched = not runs_right_to_left(token)
    length = f' textLength="{px(cell_len(token) * CELL)}" lengthAdjust="spacingAndGlyphs"' if is_stretched else ""
    return (
        f'<text class="hs-word" x="{px(middle)}" y="{px(baseline)}" font-size="{px(FONT)}" text-anchor="middle"'
        f"{length}>{xml_text(token)}</text>"
    )


def _stroke(sentence: Sentence, stroke: _Stroke, top: float, colour: int) -> Iterator[str]:
    heavy = weight(stroke.mention)
    thickness = 2.0 + 4.0 * heavy
    middle = top + 3.0
    yield f'<g class="hs-c{colour}">'
    yield f"<title>{xml_text(cut(mention_title(sentence, stroke.mention)))}</title>"
    yield f'<g opacity="{px(0.45 + 0.55 * heavy)}">'
    if len(stroke.bars) != 1 or stroke.bars[0] != stroke.line:
        left, right = stroke.line
        yield f'<path class="hs-line" d="M{px(left)} {px(middle)}H{px(right)}" stroke-width="1.4"/>'
    for left, right in stroke.bars:
        yield (
            f'<rect class="hs-bar" x="{px(left)}" y="{px(middle - thickness / 2)}" width="{px(right - left)}" '
            f'height="{px(thickness)}" rx="{px(thickness / 2)}"/>'
        )
    yield "</g>"
    if stroke.label:
        yield (
            f'<text class="hs-c{colour}" x="{px(stroke.label_x)}" y="{px(top + 16)}" '
            f'font-size="{px(_LABEL_FONT)}">{xml_text(stroke.label)}</text>'
        )
    yield "</g>"


def word_columns(tokens: Sequence[str]) -> tuple[list[str], list[float], float]:
    """Return the words as displayed, the middle of each column, and where the last one ends."""
    shown = [cut(visible_word(token, keep_joiners=True), _LONGEST_WORD) for token in tokens]
    columns, x = [], _LEFT
    for token in shown:
        width = max(COLUMN, cell_len(token) * CELL + 22)
        columns.append(x + width / 2)
        x += width
    return shown, columns, x + _LEFT
