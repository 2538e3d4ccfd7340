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
    with pytest.raises(CorpusError) as raised:
        share({"ann": [ANN], "bob": [other]})
    said = "document 'a', sentence 1: token 0 is 'Infarctions' in ann, but 'Infarct' in bob; expected the same words of"
    assert f"{said} all annotators. Correct it, or read with on_error=" in str(raised.value)
    diagnostics = Diagnostics("skip")
    assert share({"ann": [ANN], "bob": [other]}, diagnostics).documents == ()
    assert diagnostics.counts == {"different-text": 1}
    with pytest.raises(CorpusError, match="has 1 sentence in ann, but 2 in bob; expected the same of all"):
        share({"ann": [ANN], "bob": [BOB, BOB]})


def test_names_like_that_of_the_file_are_names_if_others_have_them():
    of_split = Sentence(["fever"], doc="test-00000", place="notes/test.jsonl:1")
    predicted = Sentence(["fever"], doc="test-00000", place="found.jsonl:1")
    assert [each.doc for each in share({"ann": [of_split], "bob": [predicted]}).documents] == ["test-00000"]
    made_up = [Sentence(["fever"], doc=f"{name}-00000", place=f"{name}.jsonl:1") for name in ("ann", "bob")]
    assert [each.doc for each in share({"ann": made_up[:1], "bob": made_up[1:]}).documents] == ["-00000"]
    splits = [Sentence([name], doc=f"{name}-00000", place=f"notes/{name}.jsonl:1") for name in ("train", "test")]
    assert [each.doc for each in share({"ann": splits, "bob": splits[::-1]}).documents] == ["train-00000", "test-00000"]


def test_a_mention_across_sentences_joins_them():
    text = "Blood. In stomach."
    ann = Document("a", text, [Mention("Finding", [(0, 5), (10, 17)])])
    (shared,) = share({"ann": [ann], "bob": [ann.with_mentions([])]}).documents
    assert [each.sentence.tokens for each in shared.sentences] == [("Blood", ".", "In", "stomach", ".")]
    assert len(share({"ann": [ann.with_mentions([])], "bob": [ann.with_mentions([])]}).documents[0].sentences) == 2
