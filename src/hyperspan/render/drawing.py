"""A drawing for notebooks, terminals and files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from hyperspan.diagnostics import Diagnostics, OnError, counted
from hyperspan.mentions import Document, Sentence, Unit
from hyperspan.render.colours import TypeColours
from hyperspan.render.html import html_legend, html_sentence, html_style
from hyperspan.render.picture import svg_document
from hyperspan.render.svg import sentence_picture
from hyperspan.render.terminal import draw_text

MOST_SENTENCES = 50
"""The default limit on the sentences of a drawing."""


class Drawing:
    """Sentences ready to be displayed: notebooks use ``_repr_html_``, terminals ``str``, files `svg` and `html`.

    Created by `render`.
    """

    def __init__(
        self, sentences: Iterable[Sentence], *, types: Iterable[str] | None = None, has_more: bool = False
    ) -> None:
        self.sentences = tuple(sentences)
        self.has_more = has_more
        present = sorted({mention.type for sentence in self.sentences for mention in sentence.mentions})
        self.types = tuple(dict.fromkeys([*(types or ()), *present]))

    @property
    def html(self) -> str:
        """The drawing as an HTML fragment with its own style."""
        colours = TypeColours(self.types)
        body = "".join(html_sentence(sentence, types=colours) for sentence in self.sentences)
        legend = html_legend(self.types) if len(self.types) > 1 else ""
        more = f'<p class="hs-note">{self._more}</p>' if self.has_more else ""
        return f'<div class="hs-root" style="padding:8px"><style>{html_style()}</style>{legend}{body}{more}</div>'

    @property
    def svg(self) -> str:
        """The drawing as a standalone SVG document."""
        colours = TypeColours(self.types)
        return svg_document([sentence_picture(sentence, types=colours) for sentence in self.sentences])

    @property
    def _more(self) -> str:
        return f"… the first {len(self.sentences)} sentences; there are more"

    def _repr_html_(self) -> str:
        return self.html

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        colours = TypeColours(self.types)
        drawn = [draw_text(sentence, types=colours).plain for sentence in self.sentences]
        return "\n\n".join([*drawn, self._more] if self.has_more else drawn)

    def __repr__(self) -> str:
        n_mentions = sum(len(sentence.mentions) for sentence in self.sentences)
        return f"<Drawing of {counted(len(self.sentences), 'sentence')} with {counted(n_mentions, 'mention')}>"


def render(
    units: Unit | Iterable[Unit],
    *,
    types: Iterable[str] | None = None,
    limit: int = MOST_SENTENCES,
    on_error: OnError = "error",
) -> Drawing:
    """Draw a sentence, a document or many of them.

    Parameters
    ----------
    units : Sentence, Document, or an iterable of them such as a Corpus
        Documents are split into sentences.
    types : iterable of str, optional
        All types, which fixes their colours.
    limit : int
        The maximum number of sentences to draw; the drawing says if there are more.
    on_error : {"error", "skip", "widen"}
        What to do with mentions that do not fit a sentence or token.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> drawing = render(Sentence(["no", "fever"], [Mention("Finding", [(1, 2)])]))
    >>> print(drawing)
    no fever
       ━━━━━ Finding
    """
    from hyperspan.text import as_sentences

    given = [units] if isinstance(units, Sentence | Document) else units
    sentences = as_sentences(given, Diagnostics(on_error))
    drawn = list(islice(sentences, limit))
    has_more = next(sentences, None) is not None
    return Drawing(drawn, types=types, has_more=has_more)
