"""Documents that annotators share."""

from __future__ import annotations

import pytest

from hyperspan import Mention, Sentence
from hyperspan.agreement import agreement, share
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import CorpusError
from hyperspan.mentions import Document
from three_annotators import ANN, BOB, WORDS


def test_documents_that_one_side_lacks_are_named():
    more = Sentence(["fever"], [Mention("Finding", [(0, 1)])], doc="b")
    shared = share({"ann": [ANN, more], "bob": [BOB]})
    assert shared.lacking == {"ann": (), "bob": ("b",)}
    assert [each.doc for each in shared.documents] == ["a"]
    assert agreement(shared).as_dict()["lacking"] == {"ann": [], "bob": ["b"]}


def test_different_words_are_an_error_or_left_out():
    other = Sentence(["Infarct", *WORDS[1:]], doc="a")
    with pytest.raises(CorpusError, match=r"document 'a', sentence 1: token 0 is 'Infarctions' in ann, but 'Infarct'"):
        share({"ann": [ANN], "bob": [other]})
    diagnostics = Diagnostics("skip")
    assert share({"ann": [ANN], "bob": [other]}, diagnostics).documents == ()
    assert diagnostics.counts == {"different-text": 1}
    with pytest.raises(CorpusError, match="has 1 sentences in ann, but 2 in bob"):
        share({"ann": [ANN], "bob": [BOB, BOB]})


def test_a_mention_across_sentences_joins_them():
    text = "Blood. In stomach."
    ann = Document("a", text, [Mention("Finding", [(0, 5), (10, 17)])])
    (shared,) = share({"ann": [ann], "bob": [ann.with_mentions([])]}).documents
    assert [each.sentence.tokens for each in shared.sentences] == [("Blood", ".", "In", "stomach", ".")]
    assert len(share({"ann": [ann.with_mentions([])], "bob": [ann.with_mentions([])]}).documents[0].sentences) == 2
