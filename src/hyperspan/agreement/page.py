"""Write a page of disagreements: the annotators side by side, without scripts or third-party hosts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence

from hyperspan.agreement.disagreements import Disagreement, as_csv
from hyperspan.render import TypeColours, html_head, html_heading, html_sentence, html_tail
from hyperspan.render.visible import xml_text

_STYLE = (
    "<style>.hs-sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:4px 24px}"
    ".hs-sides h3{font-size:.85rem;margin:.2em 0}.hs-sides section{min-width:0}"
    ".hs-disputed{border-collapse:collapse;font-size:13px;margin:0 0 26px}"
    ".hs-disputed th,.hs-disputed td{text-align:start;padding:1px 16px 1px 0;vertical-align:top;overflow-wrap:anywhere}"
    "</style>\n"
)
_NOTHING = "no mentions"


def page_pieces(found: Sequence[Disagreement], annotators: Sequence[str]) -> Iterator[str]:
    """Yield a page with every disagreement, in the given order, and a link to download the list.

    Examples
    --------
    >>> from hyperspan import Mention, Sentence
    >>> from hyperspan.agreement import disagreements, share
    >>> ann = Sentence(["R&D", "fever"], [Mention("Finding", [(1, 2)])], doc="a")
    >>> found = disagreements(share({"ann": [ann], "<bob>": [ann.with_mentions([])]}))
    >>> page = "".join(page_pieces(found, ["ann", "<bob>"]))
    >>> "R&amp;D" in page, "<h3>&lt;bob&gt;</h3>" in page, "<script" in page
    (True, True, False)
    """
    types = sorted({each.mention.type for one in found for each in one.disputed})
    colours = TypeColours(types)
    n_disputed = sum(len(each.disputed) for each in found)
    yield html_head("Disagreements", colours)
    yield _STYLE
    sentences = "sentence" if len(found) == 1 else "sentences"
    yield (
        f'<p class="hs-note">{xml_text(", ".join(annotators))}: {n_disputed:,} disputed mentions in {len(found):,} '
        f"{sentences}, the costliest first.</p>\n"
    )
    if found:
        table = b64encode(as_csv(found).encode("utf-8", "replace")).decode("ascii")
        yield (
            f'<p><a download="disagreements.csv" href="data:text/csv;charset=utf-8;base64,{table}">'
            "Save them as a table</a>, one mention a row, to decide on.</p>\n"
        )
    for each in found:
        yield from _disagreement(each, colours)
    yield html_tail()


def _disagreement(found: Disagreement, colours: TypeColours) -> Iterator[str]:
    shared = found.shared
    yield html_heading(f"{found.doc}, sentence {found.number}: cost {found.cost:.2f}")
    yield '<div class="hs-sides">\n'
    for annotator in shared.mentions:
        yield f"<section><h3>{xml_text(annotator)}</h3>\n"
        mentions = shared.words_of(annotator)
        yield html_sentence(shared.sentence.with_mentions(mentions), types=colours)
        yield "" if mentions else f'<p class="hs-note">{_NOTHING}</p>\n'
        yield "</section>\n"
    yield '</div>\n<table class="hs-disputed"><tr><th>type<th>words<th>by<th>not by<th>how they differ</tr>\n'
    for each in found.disputed:
        instead = "" if each.nearest is None else f": {each.nearest.type} “{shared.text_of(each.nearest)}” instead"
        cells = (
            each.mention.type,
            shared.text_of(each.mention),
            ", ".join(each.by),
            ", ".join(each.not_by),
            f"{each.kind}{instead}",
        )
        yield "<tr>" + "".join(f'<td dir="auto">{xml_text(cell)}' for cell in cells) + "</tr>\n"
    yield "</table>\n"
