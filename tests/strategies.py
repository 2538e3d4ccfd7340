"""Small random mentions, sentences and documents for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from hyperspan import Document, Mention, Sentence

TYPES = ("Finding", "Drug")

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6)
names = st.text(st.sampled_from("abcXYZ019_-"), min_size=1, max_size=8)


@st.composite
def mentions(draw: st.DrawFn, length: int, types: tuple[str, ...] = TYPES, max_parts: int = 3) -> Mention:
    """A mention within ``length`` positions, of at most ``max_parts`` parts."""
    boundaries = sorted(
        draw(st.sets(st.integers(0, length), min_size=2, max_size=max(2, min(2 * max_parts, length + 1))))
    )
    if len(boundaries) % 2:
        boundaries.pop()
    parts = list(zip(boundaries[::2], boundaries[1::2], strict=True))
    return Mention(draw(st.sampled_from(types)), parts)


@st.composite
def sentences(draw: st.DrawFn, max_tokens: int = 8, max_mentions: int = 5, types: tuple[str, ...] = TYPES) -> Sentence:
    """A sentence with any mentions at all: overlapping, nested, discontiguous."""
    tokens = draw(st.lists(words, min_size=1, max_size=max_tokens))
    found = draw(st.sets(mentions(len(tokens), types), max_size=max_mentions))
    return Sentence(tokens, found, doc=draw(names))


@st.composite
def documents(draw: st.DrawFn, max_mentions: int = 5, types: tuple[str, ...] = TYPES) -> Document:
    """A document of any Unicode text with any mentions at all."""
    text = draw(st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=60))
    found = draw(st.sets(mentions(len(text), types), max_size=max_mentions)) if text else set()
    return Document(draw(names), text, found)
