"""Draw sentences as HTML without scripts: words that wrap with the window, and lanes below them.

A page is written in pieces (`html_head`, `html_heading`, `html_sentence`, `html_tail`), so that a corpus of any size
needs only the memory of one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from hyperspan.mentions import Mention, Sentence
from hyperspan.render.colours import DARK, FAINT, INK, LIGHT, PAPER, QUIET, TypeColours, as_colours
from hyperspan.render.directions import directions, equal_runs
from hyperspan.render.lanes import lay_lanes, mention_label, mention_title, sentence_of_data, weight
from hyperspan.render.picture import MONOSPACE
from hyperspan.render.visible import cut, visible, visible_word, xml_text

CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_MOST_IN_LEGEND = 100
_LONGEST_LABEL = 40
_LABEL_CELL = 0.74
_STEPS = 10


def html_pieces(
    sentences: Iterable[Sentence], *, title: str = "Mentions", types: Iterable[str] | TypeColours = ()
) -> Iterator[str]:
    """Yield a whole page, piece by piece: sentences under the headings of their documents.

    Parameters
    ----------
    sentences : iterable of Sentence
        Read one at a time.
    title : str
    types : iterable of str
        All types, which fixes their colours and adds a legend at the top; further types get colours as they occur.

    Examples
    --------
    >>> page = "".join(html_pieces([Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])], doc="note 7")]))
    >>> page.count("<h2"), "<script" in page
    (1, False)
    """
    colours = as_colours(types, ())
    yield html_head(title, colours)
    n_in_legend = len(colours.types)
    doc = ""
    for sentence in sentences:
        if sentence.doc != doc:
            doc = sentence.doc
            yield html_heading(doc)
        yield html_sentence(sentence, types=colours)
    yield html_tail(colours if len(colours.types) > n_in_legend else ())


def html_head(title: str = "Mentions", types: Iterable[str] | TypeColours = ()) -> str:
    """Return the beginning of a page, with a legend if types are given."""
    colours = as_colours(types, ())
    legend = f"{html_legend(colours.types)}\n" if colours.types else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{xml_text(title)}</title>\n<style>{html_style()}{_PAGE_STYLE}</style>\n</head>\n"
        f'<body class="hs-root">\n<main>\n<h1>{xml_text(title)}</h1>\n{legend}'
    )


def html_heading(doc: str) -> str:
    """Return the heading of a document; a rule for one without a name."""
    return f'<h2 dir="auto">{xml_text(cut(doc))}</h2>\n' if doc else "<hr>\n"


def html_tail(types: Iterable[str] | TypeColours = ()) -> str:
    """Return the end of a page, with a legend of the types that occurred."""
    colours = as_colours(types, ())
    legend = f"<footer>{html_legend(colours.types)}</footer>\n" if colours.types else ""
    return f"</main>\n{legend}</body>\n</html>\n"


def html_legend(types: Sequence[str]) -> str:
    """Return the types, each in its colour."""
    colours = TypeColours(types)
    items = [
        f'<li class="hs-c{colours.index(type)}"><span class="hs-key"></span>{xml_text(cut(type))}</li>'
        for type in types[:_MOST_IN_LEGEND]
    ]
    if len(types) > _MOST_IN_LEGEND:
        items.append(f"<li>and {len(types) - _MOST_IN_LEGEND:,} more</li>")
    return f'<ul class="hs-legend" aria-label="Types">{"".join(items)}</ul>'


def html_sentence(sentence: Sentence | Mapping[str, Any], *, types: Iterable[str] | TypeColours | None = None) -> str:
    """Return a sentence with its mentions on lanes under the words.

    The words wrap with the window, together with their lanes. Each mention is also an item of a list for screen readers
    only. The page must include `html_style`.

    Parameters
    ----------
    sentence : Sentence, or what `sentence_data` returns
    types : iterable of str, optional
        All types, which fixes their colours; the types of the sentence if not given.

    Examples
    --------
    >>> html = html_sentence(Sentence(["R&D", "<fever>"], [Mention("Finding", [(1, 2)])]))
    >>> "R&amp;D" in html, "<li>Finding: &lt;fever&gt;</li>" in html
    (True, True)
    """
    if not isinstance(sentence, Sentence):
        sentence = sentence_of_data(sentence)
    colours = as_colours(types, (mention.type for mention in sentence.mentions))
    shown = [visible_word(token, keep_joiners=True) for token in sentence.tokens]
    cells = _cells(sentence, shown, colours)
    base, word_directions = directions(sentence.tokens)
    pieces = [f'<div class="hs-sentence" dir="{_dir(base)}"><p class="hs-words">']
    for first, last in equal_runs(word_directions):
        is_other = word_directions[first] != base
        if is_other:
            pieces.append(f'<span dir="{_dir(not base)}">')
        for position in range(first, last):
            # The blank after the last word of a run against the sentence's direction is outside the run.
            is_edge = is_other and position == last - 1
            css, blank = ("hs-w hs-z", "") if is_edge else ("hs-w", " ")
            word = f'<bdi class="hs-t">{xml_text(shown[position])}</bdi>{blank}'
            pieces.append(f'<span class="{css}">{word}{"".join(cells[position])}</span>')
        if is_other:
            pieces.append("</span> ")
    pieces.append("</p>")
    if sentence.mentions:
        items = "".join(f"<li>{xml_text(mention_title(sentence, mention))}</li>" for mention in sentence.mentions)
        pieces.append(f'<ul class="hs-spoken" aria-label="Mentions">{items}</ul>')
    pieces.append("</div>\n")
    return "".join(pieces)


def _dir(right_to_left: bool) -> str:
    return "rtl" if right_to_left else "ltr"


def _cells(sentence: Sentence, shown: Sequence[str], colours: TypeColours) -> list[list[str]]:
    """Return what is below each word: a piece of each lane, down to the last that is not empty."""
    columns = [0.0]
    for token in shown:
        columns.append(columns[-1] + cell_len(token) + 1)
    labels = {mention: _labels(mention, columns) for mention in sentence.mentions}

    def extent(mention: Mention) -> tuple[float, float]:
        ends = [columns[start] + _label_width(label) for start, label in labels[mention].items()]
        return columns[mention.start], max(columns[mention.end], *ends)

    cells: list[list[str]] = [[] for _ in shown]
    for number, lane in enumerate(lay_lanes(sentence.mentions, extent)):
        for mention in lane:
            kinds = f"hs-c{colours.index(mention.type)} hs-p{round(weight(mention) * _STEPS)}"
            title = xml_text(cut(mention_title(sentence, mention)))
            covered = set(mention.words())
            for position in range(mention.start, mention.end):
                empty = number - len(cells[position])
                cells[position].extend(['<span class="hs-l"></span>'] * empty)
                label = labels[mention].get(position, "")
                cells[position].append(_cell(position, covered, mention.end, kinds, title, label))
    return cells


def _labels(mention: Mention, columns: Sequence[float]) -> dict[int, str]:
    """Return the label of each part by its first word: in full for the first, short for others with enough space."""
    label = cut(visible(mention_label(mention), keep_joiners=True), _LONGEST_LABEL)
    labels = {mention.start: label}
    again = cut(f"…{visible(mention.type, keep_joiners=True)}", _LONGEST_LABEL)
    for index, (start, _) in enumerate(mention.parts[1:], start=1):
        is_last = index + 1 == len(mention.parts)
        if is_last or columns[start] + _label_width(again) <= columns[mention.parts[index + 1][0]]:
            labels[start] = again
    return labels


def _label_width(label: str) -> float:
    return cell_len(label) * _LABEL_CELL + 1


def _cell(position: int, covered: set[int], end: int, kinds: str, title: str, label: str) -> str:
    if position not in covered:
        return f'<span class="hs-l hs-g {kinds}" aria-hidden="true"></span>'
    kinds += " hs-j" if position + 1 in covered else " hs-e hs-k" if position + 1 < end else " hs-e"
    if position - 1 in covered:
        return f'<span class="hs-l hs-b {kinds}" aria-hidden="true"></span>'
    name = f'<span class="hs-n">{xml_text(label)}</span>' if label else ""
    return f'<span class="hs-l hs-b hs-s {kinds}" title="{title}" aria-hidden="true">{name}</span>'


def html_style() -> str:
    """Return the style of sentences. Every class begins with ``hs``, so that it can be used in any page."""
    return f"{_rules(0, LIGHT)}@media screen and (prefers-color-scheme:dark){{{_rules(1, DARK)}}}{_STYLE}{_weights()}"


def _rules(scheme: int, colours: Sequence[str]) -> str:
    rules = f".hs-root{{color:{INK[scheme]};background:{PAPER[scheme]}}}.hs-root hr{{border-color:{FAINT[scheme]}}}"
    rules += f".hs-root h2,.hs-note{{color:{QUIET[scheme]}}}"
    return rules + "".join(f".hs-root .hs-c{index}{{color:{colour}}}" for index, colour in enumerate(colours))


def _weights() -> str:
    return "".join(
        f".hs-p{step}::before{{height:{2 + 4 * step / _STEPS:g}px;opacity:{0.45 + 0.55 * step / _STEPS:.2g}}}"
        for step in range(_STEPS + 1)
    )


_STYLE = (
    f".hs-words{{font:15px/1.4 {MONOSPACE};margin:0;padding-inline-end:6ch}}"
    ".hs-sentence{margin:0 0 14px;break-inside:avoid;print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".hs-w{display:inline-block;vertical-align:top;white-space:pre;max-width:100%;margin-bottom:4px}"
    ".hs-t{overflow-wrap:anywhere;white-space:pre-wrap}"
    ".hs-l{display:block;height:23px;position:relative;user-select:none;-webkit-user-select:none}"
    ".hs-b::before,.hs-b.hs-k::after,.hs-g::after{content:'';position:absolute;background:currentColor;"
    "inset-inline:0;top:4px;transform:translateY(-50%)}"
    ".hs-b.hs-j::before{inset-inline-end:-.5px}"
    ".hs-b.hs-s::before{border-start-start-radius:3px;border-end-start-radius:3px}"
    ".hs-b.hs-e::before{inset-inline-end:1ch;border-start-end-radius:3px;border-end-end-radius:3px}"
    ".hs-g::after,.hs-b.hs-k::after{height:1.5px;opacity:.75}"
    ".hs-b.hs-k::after{inset-inline-start:auto;width:1ch}"
    ".hs-z .hs-b.hs-e::before{inset-inline-end:0}.hs-z .hs-k::after{display:none}"
    ".hs-n{position:absolute;top:8px;inset-inline-start:0;font-size:11px;line-height:13px;white-space:nowrap}"
    ".hs-spoken{position:absolute;width:1px;height:1px;margin:-1px;padding:0;overflow:hidden;clip-path:inset(50%);"
    "white-space:nowrap}"
    ".hs-legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 18px;padding:0;margin:0 0 18px;font-size:13px}"
    ".hs-key{display:inline-block;width:22px;height:6px;border-radius:3px;background:currentColor;margin-inline-end:7px;"
    "vertical-align:middle;print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".hs-figure{overflow-x:auto;margin:0 0 18px}"
)

_PAGE_STYLE = (
    "body{margin:0;font:15px/1.5 system-ui,sans-serif}main,footer{max-width:70rem;margin:0 auto;padding:8px 18px}"
    "h1{font-size:1.35rem;margin:.6em 0}h2{font-size:1rem;margin:1.6em 0 .7em;break-after:avoid;overflow-wrap:anywhere}"
    "hr{border:0;border-top:1px solid}"
    "@media print{body{font-size:11pt}main,footer{max-width:none;padding:0}}"
)
