"""What a format cannot hold is noted once for each kind."""

from __future__ import annotations

from hyperspan import Document, Mention, Sentence
from hyperspan.corpora.unsupported import AllBut, note_unsupported, same_mentions
from hyperspan.diagnostics import Diagnostics

SENTENCE = Sentence(
    ["no", "fever"],
    [Mention("Finding", [(1, 2)], 0.5, {"cui": "C1"}), Mention("Drug", [(0, 1)], 0.5, {"cui": "C2"})],
    doc="n7",
    attributes={"section": "history"},
    columns={"pos": ["DET", "NOUN"]},
    offsets=[(0, 2), (3, 8)],
)


def test_every_loss_is_noted_once_for_a_sentence() -> None:
    diagnostics = Diagnostics("error")
    note_unsupported(SENTENCE, "inline", diagnostics)
    assert diagnostics.note_counts == {
        "doc-not-held": 1,
        "attributes-not-held": 1,
        "columns-not-held": 1,
        "offsets-not-held": 1,
        "mention-attributes-not-held": 1,
        "prob-not-held": 1,
    }
    assert diagnostics.notes["attributes-not-held"].message == (
        "the format 'inline' holds no attribute 'section' (document 'n7')"
    )


def test_what_is_held_is_not_noted() -> None:
    diagnostics = Diagnostics("error")
    note_unsupported(
        SENTENCE,
        "some",
        diagnostics,
        doc=True,
        attributes={"section"},
        columns={"pos"},
        mention_attributes=AllBut("type"),
        prob=True,
    )
    assert diagnostics.note_counts == {"offsets-not-held": 1}


def test_a_bare_document_loses_nothing() -> None:
    diagnostics = Diagnostics("error")
    note_unsupported(Document("", "no fever", [Mention("Finding", [(3, 8)])]), "some", diagnostics)
    assert not diagnostics.notes


def test_same_mentions_looks_at_attributes_and_probabilities() -> None:
    plain = Mention("Finding", [(1, 2)])
    assert same_mentions([plain], [Mention("Finding", [(1, 2)])])
    assert not same_mentions([plain], [Mention("Finding", [(1, 2)], attributes={"cui": "C1"})])
    assert not same_mentions([plain], [Mention("Finding", [(1, 2)], prob=0.5)])
    assert not same_mentions([plain], [])
