"""brat standoff: writing then reading is the identity, whatever the text and the mentions."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperspan import Document, Mention, corpora
from strategies import documents, words

TYPES = ("Finding", "Drug", "T1", "ADR:x", "*", "#", "Ünïcode🤒", "a;b")
PLAIN_NAMES = words.filter(lambda name: name not in ("cui", "normalisations") and name.split() == [name])

values = words.filter(lambda word: word.split() == [word])
attributes = st.fixed_dictionaries(
    {},
    optional={
        "cui": values | st.lists(values, min_size=2, max_size=3, unique=True).map(tuple),
        "normalisations": st.lists(values | st.builds("{}:{}".format, values, values), min_size=1, unique=True).map(
            tuple
        ),
        "Negated": st.just(True),
    },
) | st.dictionaries(PLAIN_NAMES, values | st.just(True), max_size=3)


@st.composite
def rich_documents(draw: st.DrawFn) -> Document:
    """A document whose mentions have attributes and probabilities."""
    document = draw(documents(types=TYPES))
    return document.with_mentions([draw(enriched(mention)) for mention in document.mentions])


@st.composite
def enriched(draw: st.DrawFn, mention: Mention) -> Mention:
    return replace(mention, attributes=draw(attributes), prob=draw(st.none() | st.floats(0.0, 1.0)))


def written_and_read(document: Document) -> tuple[Document, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        corpora.write([document], Path(folder) / "out", format="brat")
        (again,) = corpora.stream(Path(folder) / "out", format="brat")
        assert isinstance(again, Document)
        return again, (Path(folder) / "out" / f"{document.doc}.ann").read_bytes()


def everything(document: Document) -> list[tuple[Mention, float | None, dict[str, object]]]:
    return [(mention, mention.prob, dict(mention.attributes)) for mention in document.mentions]


@given(rich_documents())
def test_writing_then_reading_is_the_identity(document):
    again, annotations = written_and_read(document)
    assert again == document
    assert everything(again) == everything(document)
    assert written_and_read(again)[1] == annotations


@settings(max_examples=60)
@given(st.data())
def test_a_changed_document_is_written_as_it_is_now(data):
    before, _ = written_and_read(data.draw(rich_documents()))
    kept = [mention for mention in before.mentions if data.draw(st.booleans())]
    changed = [data.draw(st.just(mention) | enriched(mention)) for mention in kept]
    others = data.draw(rich_documents()).mentions
    added = [mention for mention in others if mention not in changed and mention.end <= len(before.text)]
    after = before.with_mentions([*changed, *added])
    again, _ = written_and_read(after)
    assert again == after
    assert everything(again) == everything(after)
