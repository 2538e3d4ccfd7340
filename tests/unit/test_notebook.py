"""Everything shows itself: as HTML in a notebook, and in a line elsewhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hyperspan import Corpus, Document, Mention, Recognizer, Sentence
from hyperspan.evaluation import evaluate

FINDING = Mention("Finding", [(0, 1), (2, 3)])
SENTENCE = Sentence(["Blood", "<in>", "stomach"], [FINDING], doc="note & 7")
LONG = Document("n", "No fever.\n" * 500, [Mention("Finding", [(3, 8)])])


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        (SENTENCE, "Sentence(3 words 'Blood <in> stomach', 1 mention, doc='note & 7')"),
        (Sentence([]), "Sentence(0 words '', 0 mentions)"),
        (
            LONG,
            "Document('n', 5,000 characters 'No fever.\\nNo fever.\\nNo fever.\\nNo fever.\\n…', 1 mention)",
        ),
        (Corpus([LONG] * 3), "Corpus(3 documents, 3 mentions)"),
        (Corpus([Sentence(["x"], split="dev")]), "Corpus(1 sentence, 0 mentions, splits dev)"),
        (
            evaluate([SENTENCE], [SENTENCE]),
            "Evaluation(F1 over 1 sentence: all 1.000, discontiguous_sentences 1.000, discontiguous_mentions 1.000)",
        ),
    ],
)
def test_a_repr_fits_a_line(thing, shown):
    assert repr(thing) == shown
    assert len(shown) <= 120


def test_sentences_and_documents_are_drawn():
    html = SENTENCE._repr_html_()
    assert "Finding" in html
    assert "&lt;in&gt;" in html
    assert "<in>" not in html
    assert "… the first 50 sentences; there are more" in LONG._repr_html_()
    assert "script" not in html


def test_what_cannot_be_drawn_is_said():
    crossing = Document("a", "No fever. No pain.", [Mention("Finding", [(3, 17)])])
    assert "Some mentions could not be drawn exactly: 1 problem: 1 crosses-sentence" in crossing._repr_html_()


def test_a_corpus_shows_its_size_and_its_beginning():
    html = Corpus([SENTENCE] * 30)._repr_html_()
    assert "<p>30 sentences with 30 mentions</p>" in html
    assert html.count("<li>Finding, 2 parts: Blood … stomach</li>") == 10


def test_an_evaluation_is_a_table():
    html = evaluate([SENTENCE], [SENTENCE.with_mentions([])])._repr_html_()
    assert "over 1 sentence" in html
    assert html.count("<tr>") == 2 + 1 + 1 + 5 + 1 + 4
    assert '<th scope="row" style="text-align:left">Finding</th><td>0.000</td>' in html


def test_an_explanation_has_drawing_reasons_and_hypergraph():
    recognizer = Recognizer(max_components=2).fit([Sentence(["no", "fever"], [Mention("F", [(1, 2)])])] * 20)
    explanation = recognizer.explain(Sentence(["no", "fever"]), mentions=[Mention("F", [(1, 2)], prob=0.9)])
    html = explanation._repr_html_()
    assert "hs-root" in html
    assert "<pre>F ‘fever’, probability" in html
    assert html.rstrip().endswith("</svg>")
    assert repr(explanation).startswith("Explanation(Sentence(2 words 'no fever'")


def test_drawing_is_loaded_only_when_something_is_drawn():
    code = "import hyperspan, sys; repr(hyperspan.Sentence(['x'])); print('hyperspan.render' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
