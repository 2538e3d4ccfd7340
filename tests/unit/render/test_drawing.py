"""What `render` returns."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from examples import EXAMPLES, INFARCTIONS
from hyperspan import Corpus, Document, Mention, Sentence
from hyperspan.errors import CorpusError
from hyperspan.render import Drawing, draw_svg, draw_text, render


def test_one_sentence():
    drawing = render(INFARCTIONS)
    assert str(drawing) == draw_text(INFARCTIONS).plain
    assert drawing._repr_svg_() == drawing.svg == draw_svg(INFARCTIONS)
    assert repr(drawing) == "<Drawing of 1 sentence with 3 mentions>"


def test_a_notebook_gets_html_with_its_own_style_and_paper():
    html = render(INFARCTIONS)._repr_html_()
    ElementTree.fromstring(html)
    assert html.count("<style>") == 1
    assert "<script" not in html
    assert ".hs-root{color:#1b1f24;background:#ffffff}" in html


def test_a_corpus_up_to_a_limit():
    drawing = render(Corpus(EXAMPLES.values()), limit=2)
    assert len(drawing.sentences) == 2
    assert str(drawing).endswith("\n\n… the first 2 sentences; there are more")
    assert "… the first 2 sentences; there are more" in drawing.html
    assert "there are more" not in str(render(Corpus(EXAMPLES.values()), limit=5))


def test_a_document_is_split():
    document = Document("a", "No fever. Severe pain.", [Mention("Finding", [(17, 21)])])
    assert str(render(document)) == "No fever .\n\nSevere pain .\n       ━━━━ Finding"


def test_a_mention_that_fits_no_sentence():
    document = Document("a", "No fever. Severe pain.", [Mention("Finding", [(3, 21)])])
    with pytest.raises(CorpusError, match="lies in 2 sentences"):
        render(document)
    assert str(render(document, on_error="skip")) == "No fever .\n\nSevere pain ."


def test_types_fix_colours_for_all_sentences():
    drawing = render([Sentence(["a"], [Mention("B", [(0, 1)])]), Sentence(["a"], [Mention("A", [(0, 1)])])])
    assert drawing.types == ("A", "B")
    assert render(INFARCTIONS, types=["Drug"]).types == ("Drug", "Finding")
    assert isinstance(drawing, Drawing)
