"""Split a text into sentences: spans that together cover everything but white space.

The text is first cut into blocks by the kinds of its lines (`hyperspan.text.lines`): a heading, a rule or a table row
is a block of its own, a list item starts a block, and a prose line belongs to the line before only if that line was
wrapped. Each block is then split by syntok. Only the positions where syntok's sentences begin are used, because its
tokens may lack hyphens or be rewritten. For syntok, de-identification marks are replaced by names and semicolons by
commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import Literal, get_args

from hyperspan.errors import UsageError
from hyperspan.mentions import Span
from hyperspan.text.lines import Line, ends_sentence, split_lines
from hyperspan.text.marks import mask_marks
from hyperspan.text.sections import known_headings

LineEnds = Literal["auto", "always", "never"]
"""When a line end ends a sentence: always, never inside a paragraph, or depending on the neighbouring lines."""

LARGEST_BLOCK = 200_000
"""A block with more characters is split by a simple rule instead of syntok: no prose is that long."""

NARROWEST_WRAP, WIDEST_WRAP = 60, 132
"""The range of widths in which lines count as wrapped by hand or by an editor."""

_LINE_ENDS = get_args(LineEnds)
_OPEN_BRACKETS = "([{"
_STOPS = ".!?\u203c\u203d\u2047-\u2049\u06d4\u061f\ufe52\ufe57\uff0e\uff61"
_CLOSERS = "\"'\u00bb\u2019\u201d)\\]}"
_MAY_END = re.compile(rf"[{_STOPS}][{_CLOSERS}]*(?:\s+[^\sa-z,;:]|[^\W\d_a-z])")
_FULL_STOP = re.compile(r"[\u3002\uff01\uff1f\u0964\u0965]+[\"'\u2019\u201d\u300d\u300f\uff09)\]]*")
_PLAIN_END = re.compile(r"[.!?\u06d4\u061f][\"'\u2019\u201d)\]}]*\s+")
_GOES_ON = re.compile(r"[,(\[/&]\Z|\w[-\u2010\u2011]\Z")
_WORD = re.compile(r"\S{1,200}")
_MARKER = re.compile(r"[-+*#\u2022\s]*\(?(?:\d[\d.]{0,8}|[A-Za-z]|[ivx]{2,5}|[IVX]{2,5})[.)]\s*")
_SURELY_ENDS = re.compile(r"(?<!\S)([A-Za-z][a-z]{2,}|[A-Z]{3,})\s?\.\s+(?=[A-Z])")
_HAS_WORD = re.compile(r"[^\W_]")


def split_sentences(text: str, *, line_ends: LineEnds = "auto", language: str = "en") -> list[Span]:
    """Return the spans of the sentences of a text.

    Every character that is not white space lies in exactly one sentence; none begins or ends with white space.

    Parameters
    ----------
    text : str
        Any text. Nothing is changed or normalised.
    line_ends : {"auto", "always", "never"}
        When a line end ends a sentence. ``auto`` joins wrapped lines, ``always`` treats every line separately,
        ``never`` joins all lines of a paragraph that are not headings, list items or table rows.
    language : str
        The language of the known headings.

    Examples
    --------
    >>> text = '''PLAN:
    ... - Call Dr. Smith. He will see
    ...   the patient.
    ... - Rest'''
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['PLAN:', '- Call Dr. Smith.', 'He will see\\n  the patient.', '- Rest']
    """
    masked = mask_marks(text)
    return sentences_of(masked, split_lines(masked, known_headings(language)), line_ends=line_ends)


def sentences_of(masked: str, lines: Sequence[Line], *, line_ends: LineEnds = "auto") -> list[Span]:
    """Return the sentences of a text that has its marks masked and is already split into lines."""
    if line_ends not in _LINE_ENDS:
        raise UsageError(f"line_ends is {line_ends!r}; expected one of {', '.join(_LINE_ENDS)}")
    spans: list[Span] = []
    has_full_stop = not masked.isascii() and _FULL_STOP.search(masked) is not None
    for block in _blocks(masked, lines, line_ends):
        if has_full_stop or _MAY_END.search(masked, *block):
            spans.extend(_split_block(masked, *block))
        else:
            spans.append(block)
    return spans


def _blocks(text: str, lines: Sequence[Line], line_ends: LineEnds) -> Iterator[Span]:
    """Yield the spans of blocks, without surrounding white space."""
    for paragraph in _paragraphs(lines):
        begin = paragraph[0]
        if len(paragraph) == 1:
            yield begin.start, begin.end
            continue
        width = _Width(text, paragraph)
        for before, after in pairwise(paragraph):
            if not _is_joined(text, before, after, begin, width, line_ends):
                yield begin.start, before.end
                begin = after
        yield begin.start, paragraph[-1].end


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield runs of prose and items; headings, rules and rows come alone."""
    run: list[Line] = []
    for line in lines:
        if line.kind in ("prose", "item"):
            run.append(line)
            continue
        if run:
            yield run
            run = []
        if line.kind != "blank":
            yield [line]
    if run:
        yield run


class _Width:
    """How wide the lines of a paragraph are, and whether they look wrapped."""

    def __init__(self, text: str, lines: Sequence[Line]) -> None:
        self.text = text
        self.lines = lines
        self.widest = max([_right_edge(line) for line in lines])
        self.is_wrapped = NARROWEST_WRAP <= self.widest <= WIDEST_WRAP

    @cached_property
    def mostly_full(self) -> bool:
        """Whether most prose lines follow a line that was full."""
        full = [self.is_full(before, after) for before, after in pairwise(self.lines) if after.kind == "prose"]
        return 2 * sum(full) > len(full)

    def is_full(self, line: Line, after: Line) -> bool:
        """Return whether the first word of the next line would not have fitted on this one."""
        word = _WORD.match(self.text, after.start, after.end)
        return _right_edge(line) + 1 + (len(word[0]) if word else 0) > self.widest


def _right_edge(line: Line) -> int:
    return line.indent + line.end - line.start


def _is_joined(text: str, before: Line, after: Line, begin: Line, width: _Width, line_ends: LineEnds) -> bool:
    """Return whether a line continues the sentence of the line before; ``begin`` is the first line of the block."""
    if line_ends == "always":
        return False
    if after.kind == "item":
        # "... had come down to\n2. It then rose" is not the second item: wrapping put the number there.
        return (
            width.is_wrapped
            and begin.kind == "prose"
            and text[after.start].isalnum()
            and width.is_full(before, after)
            and width.mostly_full
            and not _is_ended(text, before)
        )
    if line_ends == "never":
        return True
    if begin.kind == "item" and after.indent > begin.indent:
        return True
    if _GOES_ON.search(text, max(before.start, before.end - 2), before.end):
        return True
    if not width.is_wrapped:
        return False
    wrapped = width.is_full(before, after)
    if text[after.start].islower() and not _is_ended(text, before):
        return wrapped or 5 * _right_edge(before) >= 3 * width.widest
    return wrapped and width.mostly_full


def _is_ended(text: str, line: Line) -> bool:
    return ends_sentence(text[line.start : line.end])


def _split_block(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of one block."""
    stops = [match.end() for match in _FULL_STOP.finditer(text, start, end)]
    for piece_start, piece_end in _cut(text, start, end, stops):
        yield from _cut(text, piece_start, piece_end, _inner_starts(text, piece_start, piece_end))


def _cut(text: str, start: int, end: int, places: Iterable[int]) -> Iterator[Span]:
    """Cut a span at sorted positions so that each piece contains a word; yield the pieces trimmed.

    A piece without a word (a lone bracket, a stray full stop) stays with its neighbour.
    """
    last_word = end
    while last_word > start and not text[last_word - 1].isalnum():
        last_word -= 1
    begin = looked = start
    has_word = False
    for place in places:
        has_word = has_word or _HAS_WORD.search(text, looked, place) is not None
        looked = place
        if has_word and place < last_word:
            yield _trimmed(text, begin, place)
            begin, has_word = place, False
    yield _trimmed(text, begin, end)


def _inner_starts(text: str, start: int, end: int) -> list[int]:
    """Return where sentences after the first begin, in order."""
    first = _after_marker(text, start, end)
    if not _may_end_inside(text, start, first, end):
        return []
    block = text[start:end]
    brackets = sum(map(block.count, _OPEN_BRACKETS))
    # syntok looks 50 tokens ahead at every bracket that is not closed.
    if len(block) > LARGEST_BLOCK or (len(block) > 1000 and 20 * brackets > len(block)):
        return [match.end() for match in _PLAIN_END.finditer(text, start, end) if not _is_lower(text, match.end(), end)]
    places = (start + offset for offset in _syntok_starts(block.replace(";", ",")))
    # syntok also begins a sentence at some brackets with no full stop before them, and after "10."; we do not.
    return [place for place in places if place > first and ends_sentence(text[max(start, place - 20) : place].rstrip())]


def _after_marker(text: str, start: int, end: int) -> int:
    marker = _MARKER.match(text, start, end)
    return marker.end() if marker else start


def _may_end_inside(text: str, start: int, first: int, end: int) -> bool:
    """Return whether a sentence may end before ``end``, other than at the list marker before ``first``."""
    return _MAY_END.search(text, start if text[first : first + 1] in _CLOSERS else first, end) is not None


def _is_lower(text: str, position: int, end: int) -> bool:
    return position >= end or text[position].islower()


def _syntok_starts(block: str) -> list[int]:
    """Return where syntok begins sentences, without calling it where the answer is certain.

    It is certain after a full stop between an ordinary word (of three letters or more) and a capitalised word, unless a
    bracket is open; syntok keeps no state across such a position. So it only gets the pieces between them that may
    contain other sentence starts.
    """
    starts = []
    first = _after_marker(block, 0, len(block))
    for begin, end in pairwise([0, *_sure_starts(block), len(block)]):
        if _may_end_inside(block, begin, max(begin, first), end):
            starts += [begin + start for start in _asked_starts(block[begin:end])]
        else:
            starts.append(begin)
    return starts


def _sure_starts(block: str) -> Iterator[int]:
    known = _known_to_syntok()
    if known is None:
        return
    words, opening, bracket = known
    looked, n_open = 0, 0
    for match in _SURELY_ENDS.finditer(block):
        for sign in bracket.findall(block, looked, match.start()):
            n_open = n_open + 1 if sign in opening else max(n_open - 1, 0)
        looked = match.start()
        if not n_open and match[1] not in words:
            yield match.end()


def _asked_starts(block: str) -> list[int]:
    from syntok import segmenter
    from syntok.tokenizer import Tokenizer

    tokenizer = Tokenizer(emit_hyphen_or_underscore_sep=True, replace_not_contraction=False)
    # syntok's own offset option works by prepending blanks, which would take quadratic time.
    return [tokens[0].offset for tokens in segmenter.segment(tokenizer.tokenize(block)) if tokens[0].value]


@cache
def _known_to_syntok() -> tuple[frozenset[str], frozenset[str], re.Pattern[str]] | None:
    """Return words after which a full stop is special to syntok, its opening brackets, and a pattern for any bracket.

    They come from a private module of syntok. If it lacks them, the result is None, and syntok is called on everything.
    """
    try:
        from syntok._segmentation_states import State

        words = frozenset().union(State.abbreviations, State.months, State.roman_numerals)
        brackets = "".join(State.opening_brackets | State.closing_brackets)
        return words, State.opening_brackets, re.compile(f"[{re.escape(brackets)}]")
    except (ImportError, AttributeError):
        return None


def _trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
