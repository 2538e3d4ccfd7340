"""Write a page of doubts: gold annotations beside the model's, without scripts or third-party hosts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperspan.annotation.audit import Doubt
from hyperspan.mentions import Sentence
from hyperspan.render import TypeColours, html_head, html_heading, html_sentence, html_tail
from hyperspan.render.visible import xml_text


def described(doubt: Doubt, sentence: Sentence) -> str:
    """Describe in one line what is doubted, and what would replace it.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> doubt = Doubt("missing", Mention("Finding", [(1, 2)], 0.97), 0, 0.97, Mention("Drug", [(1, 2)]))
    >>> described(doubt, Sentence(["no", "fever"]))
    'missing 0.97: Finding “fever”, in place of Drug “fever”'
    """
    what = f"{doubt.kind} {doubt.mention.prob or 0.0:.2f}: {doubt.mention.type} “{sentence.text_of(doubt.mention)}”"
    if doubt.instead is None:
        return what
    rival = f"{doubt.instead.type} “{sentence.text_of(doubt.instead)}”"
    if doubt.kind == "missing":
        return f"{what}, in place of {rival}"
    return f"{what}; the model has {rival} with {doubt.instead.prob or 0.0:.2f}"


def doubt_pieces(doubts: Sequence[Doubt], sentences: Sequence[Sentence]) -> Iterator[str]:
    """Yield a page with every doubt, in the given order: the annotated sentence, then what is doubted."""
    colours = TypeColours(sorted({each.mention.type for each in doubts}))
    yield html_head("Doubtful annotations", colours)
    for number, doubt in enumerate(doubts, 1):
        sentence = sentences[doubt.sentence]
        yield html_heading(f"{number}. {sentence.doc}")
        yield f'<p dir="auto">{xml_text(described(doubt, sentence))}</p>\n'
        yield html_sentence(sentence, types=colours)
        shown = [doubt.mention, *([doubt.instead] if doubt.instead is not None else [])]
        yield html_sentence(sentence.with_mentions(shown), types=colours)
    yield html_tail()
