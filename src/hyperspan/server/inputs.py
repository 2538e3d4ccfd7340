"""Convert requests to sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hyperspan.corpora.format import checked_mention, unique_mentions
from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import MentionError
from hyperspan.mentions import Document, Mention, Sentence
from hyperspan.server.errors import MOST_DETAILS, ApiError
from hyperspan.server.limits import Limits
from hyperspan.server.schemas import ExplainRequest, ExportRequest, GivenMention, PredictRequest, check_input
from hyperspan.text import split_document

PIECE_WORDS = 256
"""About how many words are processed before other requests have their turn."""

MOST_FINDINGS = 100


@dataclass(frozen=True, slots=True)
class Input:
    """The input of a request: sentences, their text, and their known mentions.

    ``gold`` has one entry for each sentence, or is empty if none were given. ``too_long`` says, by index, why sentences
    are left out.
    """

    sentences: list[Sentence]
    text: str | None = None
    gold: list[tuple[Mention, ...]] = field(default_factory=list)
    too_long: dict[int, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    def pieces(self) -> Iterator[slice]:
        """Split the sentences into pieces of about `PIECE_WORDS` words."""
        first, n_words = 0, 0
        for position, sentence in enumerate(self.sentences, start=1):
            n_words += len(sentence) + 1
            if n_words >= PIECE_WORDS or position == len(self.sentences):
                yield slice(first, position)
                first, n_words = position, 0


def input_of(given: PredictRequest | ExplainRequest | ExportRequest, limits: Limits) -> Input:
    """Return the sentences of a request.

    Raises
    ------
    ApiError
        If none or several of text, tokens and sentences are given, or a sentence is too long.
    """
    check_input(given)
    doc = given.doc if isinstance(given, ExportRequest) else ""
    diagnostics = Diagnostics("skip")
    gold = given.gold if isinstance(given, PredictRequest) else None
    text = given.text
    if text is not None:
        known = mentions_of(gold or (), len(text), diagnostics)
        sentences = split_document(Document(doc, text, known), diagnostics)
    elif given.tokens is not None:
        known = mentions_of(gold or (), len(given.tokens), diagnostics)
        sentences = [Sentence(tuple(given.tokens), known, doc)]
    else:
        if gold is not None:
            raise ApiError(422, "'gold' was given with 'sentences'; it goes with 'text' or with 'tokens'")
        several = getattr(given, "sentences", None) or ()
        sentences = [Sentence(tuple(tokens), (), doc) for tokens in several]
    limit = limits.explained_words if isinstance(given, ExplainRequest) else limits.words
    too_long = _too_long(sentences, limit)
    is_read = not isinstance(given, ExportRequest) or given.mentions is None
    if is_read and too_long and not getattr(given, "skip_long", False):
        raise ApiError(
            422, f"{next(iter(too_long.values()))}. Split it, or leave it out", list(too_long.values())[:MOST_DETAILS]
        )
    return Input(
        [sentence.with_mentions(()) for sentence in sentences] if gold else sentences,
        text,
        [] if gold is None else [sentence.mentions for sentence in sentences],
        too_long,
        diagnostics_of(diagnostics),
    )


def _too_long(sentences: Iterable[Sentence], limit: int) -> dict[int, str]:
    """Return the indices of sentences that are too long, with a message for each."""
    return {
        number: f"sentence {number + 1} has {len(sentence):,} words; expected at most {limit:,}"
        for number, sentence in enumerate(sentences)
        if len(sentence) > limit
    }


def mentions_of(given: Iterable[GivenMention], length: int, diagnostics: Diagnostics) -> tuple[Mention, ...]:
    """Return the given mentions; problems with them are reported."""
    found = [
        checked_mention(
            mention.type, [(start, end) for start, end in mention.spans], diagnostics, length=length, prob=mention.prob
        )
        for mention in given
    ]
    kept = [(mention, None) for mention in found if mention is not None]
    return tuple(unique_mentions(kept, diagnostics))


def diagnostics_of(diagnostics: Diagnostics) -> list[str]:
    """Return the problems as sentences, up to a readable number."""
    said = [
        diagnostic.message if diagnostic.line is None else f"line {diagnostic.line}: {diagnostic.message}"
        for diagnostic in diagnostics.items[:MOST_FINDINGS]
    ]
    if diagnostics.total > MOST_FINDINGS:
        said.append(f"and {diagnostics.total - MOST_FINDINGS:,} more")
    return said


def with_given(sentences: Sequence[Sentence], mentions: Sequence[Sequence[GivenMention]]) -> list[Sentence]:
    """Return sentences with the given mentions of each.

    Raises
    ------
    ApiError
        If they do not fit.
    """
    if len(mentions) != len(sentences):
        raise ApiError(422, f"there are mentions for {len(mentions):,} sentences, but {len(sentences):,} sentences")
    made = []
    for number, (sentence, of_sentence) in enumerate(zip(sentences, mentions, strict=True), start=1):
        try:
            made.append(sentence.with_mentions(_as_given(mention) for mention in of_sentence))
        except MentionError as error:
            raise ApiError(422, f"mentions of sentence {number}: {error}") from None
    return made


def _as_given(mention: GivenMention) -> Mention:
    return Mention.of(mention.type, [(start, end) for start, end in mention.spans], prob=mention.prob)
