"""Draw sentences with characters, for terminals and text files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from hyperspan.mentions import Mention, Sentence
from hyperspan.render.colours import TypeColours, as_colours
from hyperspan.render.lanes import lay_lanes, mention_label
from hyperspan.render.visible import visible, visible_word

_COLOURS = ("blue", "yellow", "green", "magenta", "cyan", "bright_magenta", "red", "bright_black")
_PART, _FAINT_PART, _GAP = "━", "─", "╌"
_ASCII_PART, _ASCII_GAP = "=", "-"
_FAINT_BELOW = 0.5


def draw_text(
    sentence: Sentence,
    *,
    width: int = 100,
    types: Iterable[str] | TypeColours | None = None,
    ascii_only: bool = False,
) -> Text:
    """Draw a sentence with its mentions on lanes below the words.

    Parts are heavy lines (light ones below a probability of one half), and gaps dotted ones; the type (and the
    probability, if there is one) follows the last part. Mentions that share a word are on different lanes. Long
    sentences are wrapped together with their lanes. Control characters are made visible.

    Parameters
    ----------
    sentence : Sentence
    width : int
        The width in columns.
    types : iterable of str, optional
        All types, which fixes their colours; the types of the sentence if not given.
    ascii_only : bool
        Draw with ``=`` and ``-``, and write other characters as escapes.

    Examples
    --------
    >>> sentence = Sentence(
    ...     "Infarctions either water shed or embolic".split(),
    ...     [Mention("Finding", [(0, 1)]), Mention("Finding", [(0, 1), (2, 4)]), Mention("Finding", [(0, 1), (5, 6)])],
    ... )
    >>> print(draw_text(sentence, ascii_only=True))
    Infarctions either water shed or embolic
    ===========----------------------======= Finding
    ===========--------========== Finding
    =========== Finding
    """
    shown = [visible_word(token, ascii_only=ascii_only) for token in sentence.tokens]
    colours = as_colours(types, (mention.type for mention in sentence.mentions))
    longest_label = max(8, width // 3)
    labels = {mention: _label(mention, longest_label, ascii_only) for mention in sentence.mentions}
    room = max((cell_len(label) + 1 for label in labels.values()), default=0)
    drawing = Text()
    for first, last in _blocks(shown, width, room):
        columns = _columns(shown[first:last])
        here = [mention for mention in sentence.mentions if mention.start < last and first < mention.end]
        drawing.append(" ".join(shown[first:last]) + "\n")

        extents = {mention: _extent(mention, first, last, columns, labels[mention]) for mention in here}
        for lane in lay_lanes(here, extents.__getitem__):
            line, at = Text(), 0
            for mention in lane:
                style = _COLOURS[colours.index(mention.type)]
                start = extents[mention][0]
                line.append(" " * (start - at))
                bar = _bar(mention, first, last, columns, *_strokes(mention, ascii_only))
                line.append(bar, style=style)
                at = start + len(bar)
                if mention.end <= last:
                    line.append(f" {labels[mention]}", style=style)
                    at += 1 + cell_len(labels[mention])
            drawing.append(line).append("\n")
    drawing.rstrip()
    return drawing


def _strokes(mention: Mention, ascii_only: bool) -> tuple[str, str]:
    if ascii_only:
        return _ASCII_PART, _ASCII_GAP
    return _FAINT_PART if mention.prob is not None and mention.prob < _FAINT_BELOW else _PART, _GAP


def _label(mention: Mention, longest: int, ascii_only: bool) -> str:
    label = visible(mention_label(mention), ascii_only=ascii_only)
    if cell_len(label) <= longest:
        return label
    dots = "..." if ascii_only else "…"
    return set_cell_size(label, longest - len(dots)) + dots


def _extent(mention: Mention, first: int, last: int, columns: list[int], label: str) -> tuple[int, int]:
    """Return the columns that a mention takes in the block of tokens from first to last, including its label."""
    start = columns[max(mention.start, first) - first]
    end = columns[min(mention.end, last) - first] - 1
    return start, end + (cell_len(label) + 2 if mention.end <= last else 1)


def _bar(mention: Mention, first: int, last: int, columns: list[int], part: str, gap: str) -> str:
    bar, at = [], columns[max(mention.start, first) - first]
    for start, end in mention.parts:
        if end <= first or start >= last:
            continue
        left, right = columns[max(start, first) - first], columns[min(end, last) - first] - 1
        bar.append(gap * (left - at) + part * (right - left))
        at = right
    if mention.end > last:
        bar.append(gap * (columns[last - first] - 1 - at))
    return "".join(bar)


def _columns(shown: Sequence[str]) -> list[int]:
    """Return the column where each token starts, and one past the last as if another followed."""
    columns = [0]
    for token in shown:
        columns.append(columns[-1] + cell_len(token) + 1)
    return columns


def _blocks(shown: Sequence[str], width: int, room: int) -> Iterator[tuple[int, int]]:
    """Break the tokens into lines of at least one token, with space for a label after the last."""
    width -= room
    first, used = 0, 0
    for position, token in enumerate(shown):
        used += cell_len(token) + (1 if position > first else 0)
        if used > width and position > first:
            yield first, position
            first, used = position, cell_len(token)
    if first < len(shown):
        yield first, len(shown)
