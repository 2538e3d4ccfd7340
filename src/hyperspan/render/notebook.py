"""The HTML that displays data in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from hyperspan.diagnostics import Diagnostics, counted
from hyperspan.evaluation import Evaluation, Score
from hyperspan.mentions import Corpus, Document, Sentence
from hyperspan.render.drawing import MOST_SENTENCES, Drawing
from hyperspan.render.visible import cut, xml_text

MOST_OF_A_CORPUS = 10
"""How many sentences of a corpus are drawn."""

_VIEWS = {
    "all mentions": "all",
    "discontiguous sentences": "discontiguous_sentences",
    "discontiguous mentions": "discontiguous_mentions",
    "relaxed (a common word)": "relaxed",
    "words": "words",
}


def html_of(thing: object) -> str:
    """Return a sentence, document, corpus or evaluation as an HTML fragment.

    Examples
    --------
    >>> from hyperspan import Mention
    >>> html = html_of(Corpus([Sentence(["no", "<fever>"], [Mention("Finding", [(1, 2)])])]))
    >>> "1 sentence with 1 mention" in html, "<fever>" in html
    (True, False)
    """
    if isinstance(thing, Evaluation):
        return scores_html(thing)
    if isinstance(thing, Corpus):
        splits = f"; splits {', '.join(thing.splits)}" if thing.splits else ""
        kind = "document" if any(isinstance(unit, Document) for unit in thing) else "sentence"
        head = f"{counted(len(thing), kind)} with {counted(thing.n_mentions, 'mention')}{splits}"
        return f"<p>{xml_text(head)}</p>{_drawn(thing, MOST_OF_A_CORPUS)}"
    assert isinstance(thing, Sentence | Document)
    return _drawn(Corpus((thing,)), MOST_SENTENCES)


def _drawn(corpus: Corpus, most: int) -> str:
    from hyperspan.text import as_sentences

    diagnostics = Diagnostics("widen")
    sentences = as_sentences(corpus, diagnostics)
    drawn = list(islice(sentences, most))
    html = Drawing(drawn, has_more=next(sentences, None) is not None).html
    if diagnostics.total:
        html += f"<p>Some mentions could not be drawn exactly: {xml_text(diagnostics.summary())}</p>"
    return html


def scores_html(evaluation: Evaluation) -> str:
    """Return all scores as a table, with the counts behind them."""
    views = {name: getattr(evaluation, key) for name, key in _VIEWS.items()}
    rows = _rows(f"over {counted(evaluation.n_units, 'sentence')}", views)
    rows += _rows("by type", evaluation.by_type)
    rows += _rows("by number of parts", evaluation.by_parts)
    names = ("", "precision", "recall", "F1", "right", "spurious", "missed")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _rows(title: str, scores: Mapping[str, Score]) -> str:
    rows = [f'<tr><th scope="rowgroup" colspan="7" style="text-align:left">{xml_text(title)}</th></tr>']
    for name, score in scores.items():
        ratios = ("–",) * 3 if score.is_empty else (f"{score.precision:.3f}", f"{score.recall:.3f}", f"{score.f1:.3f}")
        cells = "".join(f"<td>{value}</td>" for value in (*ratios, *(f"{n:,}" for n in (score.tp, score.fp, score.fn))))
        rows.append(f'<tr><th scope="row" style="text-align:left">{xml_text(cut(name))}</th>{cells}</tr>')
    return "".join(rows)
