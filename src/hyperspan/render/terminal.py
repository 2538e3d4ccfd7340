"""Sentences drawn with characters, for terminals and text files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from hyperspan.mentions import Mention, Sentence
from hyperspan.render.lanes import lay_lanes

_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_black")
_PART, _GAP = "━", "╌"
_ASCII_PART, _ASCII_GAP = "=", "-"


def draw_text(
    sentence: Sentence, *, width: int = 100, types: Sequence[str] | None = None, ascii_only: bool = False
) -> Text:
    """Draw a sentence with its mentions on lanes below the words.

    Parts are heavy lines, gaps dotted ones; the type (and the probability, if there is one) stands behind the last
    part. Mentions that share a word are on lanes of their own. Long sentences are wrapped, lanes included.

    Parameters
    ----------
    sentence : Sentence
    width : int
        Columns to use.
    types : sequence of str, optional
        Fixes which colour a type has; the types of the sentence if not given.
    ascii_only : bool
        Draw with ``=`` and ``-``.

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
    shown = [_visible(token) for token in sentence.tokens]
    known = list(types) if types is not None else sorted({mention.type for mention in sentence.mentions})
    part, gap = (_ASCII_PART, _ASCII_GAP) if ascii_only else (_PART, _GAP)
    drawing = Text()
    for first, last in _blocks(shown, width):
        columns = _columns(shown[first:last])
        here = [mention for mention in sentence.mentions if mention.start < last and first < mention.end]
        drawing.append(" ".join(shown[first:last]) + "\n")

        extents = {mention: _extent(mention, first, last, columns) for mention in here}
        for lane in lay_lanes(here, extents.__getitem__):
            line, at = Text(), 0
            for mention in lane:
                style = _COLOURS[known.index(mention.type) % len(_COLOURS)] if mention.type in known else ""
                start = extents[mention][0]
                line.append(" " * (start - at))
                bar = _bar(mention, first, last, columns, part, gap)
                line.append(bar, style=style)
                at = start + len(bar)
                if mention.end <= last:
                    label = f" {_label(mention)}"
                    line.append(label, style=style)
                    at += len(label)
            drawing.append(line).append("\n")
    drawing.rstrip()
    return drawing


def _extent(mention: Mention, first: int, last: int, columns: list[int]) -> tuple[int, int]:
    """Return the columns that a mention takes in the block of tokens from first to last, label included."""
    start = columns[max(mention.start, first) - first]
    end = columns[min(mention.end, last) - first] - 1
    return start, end + (len(_label(mention)) + 2 if mention.end <= last else 1)


def _label(mention: Mention) -> str:
    return _visible(mention.type) if mention.prob is None else f"{_visible(mention.type)} {mention.prob:.2f}"


def _bar(mention: Mention, first: int, last: int, columns: list[int], part: str, gap: str) -> str:
    bar, at = [], None
    for start, end in mention.parts:
        if end <= first or start >= last:
            continue
        left, right = columns[max(start, first) - first], columns[min(end, last) - first] - 1
        if at is None:
            at = columns[max(mention.start, first) - first]
        bar.append(gap * (left - at) + part * (right - left))
        at = right
    if at is None:  # this block lies wholly within a gap
        at = 0
    if mention.end > last:
        bar.append(gap * (columns[last - first] - 1 - at))
    return "".join(bar)


def _columns(shown: Sequence[str]) -> list[int]:
    """Return the column where each token starts, and one past the last as if another followed."""
    columns = [0]
    for token in shown:
        columns.append(columns[-1] + cell_len(token) + 1)
    return columns


def _blocks(shown: Sequence[str], width: int) -> Iterator[tuple[int, int]]:
    """Cut the tokens into lines, each with at least one token."""
    first, used = 0, 0
    for position, token in enumerate(shown):
        used += cell_len(token) + (1 if position > first else 0)
        if used > width and position > first:
            yield first, position
            first, used = position, cell_len(token)
    if first < len(shown):
        yield first, len(shown)


def _visible(text: str) -> str:
    return "".join(character if character.isprintable() else "·" for character in text)
