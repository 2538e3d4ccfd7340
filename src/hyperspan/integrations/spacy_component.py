"""The implementation of the spaCy component: prediction in batches of Docs, training and serialization."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import ensure_path, filter_spans, minibatch

from hyperspan.diagnostics import Diagnostics
from hyperspan.errors import LearningError, ModelError, UsageError
from hyperspan.integrations.spacy_docs import as_document, cut_docs, read_mentions, write_mentions
from hyperspan.mentions import Document, Mention, Sentence
from hyperspan.recognizer import Recognizer
from hyperspan.text import as_sentences

_LOG = logging.getLogger(__name__)

_MODEL = "model"
"""The model file in the component's folder of a pipeline."""


class SpacyComponent(Pipe):
    """Finds mentions in Docs; see `hyperspan.integrations.spacy.make_component` for the parameters."""

    def __init__(
        self,
        name: str = "hyperspan",
        *,
        model: str | None = None,
        spans_key: str = "hyperspan",
        words: str = "spacy",
        decode: str | None = None,
        threshold: float | None = None,
        set_ents: bool = False,
        training: dict[str, Any] | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        if words not in ("spacy", "ours"):
            raise UsageError(f"words is {words!r}; expected 'spacy' for its tokens, or 'ours' for those of 'hyperspan'")
        self.name = name
        self.cfg: dict[str, Any] = {
            "model": model,
            "spans_key": spans_key,
            "words": words,
            "decode": decode,
            "threshold": threshold,
            "set_ents": set_ents,
            "training": dict(training or {}),
        }
        self.scorer = scorer
        self._recognizer: Recognizer | None = None
        self._has_told = False

    @property
    def recognizer(self) -> Recognizer:
        """The recognizer, read from the file on first use."""
        if self._recognizer is None:
            path = self.cfg["model"]
            if path is None:
                raise ModelError(
                    f"the component {self.name!r} has no model; give one with config={{'model': 'notes.model'}}, or "
                    "train it with nlp.initialize(...) or 'spacy train'"
                )
            self._recognizer = Recognizer.load(path, n_threads=1)
        return self._recognizer

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of mentions; empty before the model has been read.

        spaCy uses this while reading a pipeline, when the configured file may be on another machine.
        """
        return () if self._recognizer is None else self._recognizer.types_

    # Finding

    def __call__(self, doc: Doc) -> Doc:
        error_handler = self.get_error_handler()
        try:
            self._annotate([doc])
        except Exception as error:
            error_handler(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Yield Docs with their mentions, processed in batches."""
        error_handler = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            try:
                self._annotate(docs)
                yield from docs
            except Exception as error:
                error_handler(self.name, self, docs, error)

    def _annotate(self, docs: Sequence[Doc]) -> None:
        find = self._find_in_ours if self.cfg["words"] == "ours" else self._find_in_tokens
        for doc, mentions in zip(docs, find(docs), strict=True):
            write_mentions(doc, mentions, self.cfg["spans_key"])
            if self.cfg["set_ents"]:
                _set_ents(doc, mentions)

    def _how(self) -> dict[str, Any]:
        return {"decode": self.cfg["decode"], "threshold": self.cfg["threshold"]}

    def _find_in_tokens(self, docs: Sequence[Doc]) -> Iterator[list[Mention]]:
        cut = cut_docs(docs)
        found = self.recognizer.find([sentence for each in cut for sentence in each.sentences], **self._how())
        for each in cut:
            here = enumerate(islice(found, len(each.sentences)))
            yield [each.in_doc(mention, number) for number, prediction in here for mention in prediction.mentions]

    def _find_in_ours(self, docs: Sequence[Doc]) -> Iterator[list[Mention]]:
        documents = [Document("", doc.text) for doc in docs]
        for doc, document in zip(docs, self.recognizer.annotate(documents, **self._how()), strict=True):
            yield list(dict.fromkeys(self._in_tokens(doc, mention) for mention in document.mentions))

    def _in_tokens(self, doc: Doc, mention: Mention) -> Mention:
        """Convert a mention of the text to spaCy's tokens, widened to whole tokens."""
        spans = [doc.char_span(start, end, alignment_mode="expand") for start, end in mention.parts]
        is_same = all((span.start_char, span.end_char) == part for span, part in zip(spans, mention.parts, strict=True))
        if not is_same and not self._has_told:
            self._has_told = True
            ours = " … ".join(doc.text[start:end] for start, end in mention.parts)
            theirs = " … ".join(span.text for span in spans)
            _LOG.warning(
                "The mention %r does not end where spaCy's tokens do, and was widened to %r. Our words and spaCy's "
                "differ there; this is reported once. A model trained on spaCy's tokens (words='spacy') has no such "
                "cases.",
                ours,
                theirs,
            )
        return Mention.of(mention.type, [(span.start, span.end) for span in spans], prob=mention.prob)

    # Learning

    def initialize(self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None) -> None:
        """Train on the mentions of examples, unless there is a model file.

        ``nlp.initialize`` and ``spacy train`` call this. Gold mentions are the spans of the group, with the same id for
        one mention; a span without an id is a mention of its own.

        Raises
        ------
        LearningError
            If no example has a mention.
        """
        if self.cfg["model"] is not None:
            self._recognizer = Recognizer.load(self.cfg["model"], n_threads=1)
            return
        docs = [example.reference for example in get_examples()]
        if not any(read_mentions(doc, self.cfg["spans_key"]) for doc in docs):
            raise LearningError(
                f"no mention in the {len(docs):,} training documents of the component {self.name!r}; expected spans in "
                f"doc.spans[{self.cfg['spans_key']!r}], the parts of one mention under one id "
                "(hyperspan.integrations.spacy.set_mentions writes them)"
            )
        recognizer = Recognizer().set_params(**self.cfg["training"])
        self._recognizer = recognizer.fit(self._gold(docs))

    def _gold(self, docs: Sequence[Doc]) -> list[Sentence]:
        key = self.cfg["spans_key"]
        if self.cfg["words"] == "ours":
            diagnostics = Diagnostics("widen")
            sentences = list(as_sentences([as_document(doc, key) for doc in docs], diagnostics))
            if diagnostics.total:
                _LOG.warning("Gold mentions that do not fit our words or sentences: %s", diagnostics.summary())
            return sentences
        sentences, n_lost = [], 0
        for doc, cut in zip(docs, cut_docs(docs), strict=True):
            here, lost = cut.with_mentions(read_mentions(doc, key))
            sentences += here
            n_lost += len(lost)
        if n_lost:
            _LOG.warning("%d gold mentions lie in no single sentence, and were left out of training", n_lost)
        return sentences

    # Keeping

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model to the pipeline's folder."""
        folder = ensure_path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if self._recognizer is not None or self.cfg["model"] is not None:
            self.recognizer.save(folder / _MODEL)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpacyComponent:
        """Read the model from the pipeline's folder; it replaces the configured file."""
        file = ensure_path(path) / _MODEL
        if file.is_file():
            self._recognizer = Recognizer.load(file, n_threads=1)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model as bytes; empty without a model."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            file = Path(folder) / _MODEL
            return file.read_bytes() if file.is_file() else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpacyComponent:
        """Read the model from what `to_bytes` returned."""
        if data:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / _MODEL).write_bytes(data)
                self.from_disk(folder)
        return self

    def __reduce__(self) -> tuple[Callable[..., SpacyComponent], tuple[Any, ...]]:
        return _remade, (self.name, self.cfg, self.scorer, self.to_bytes())


def _remade(name: str, cfg: dict[str, Any], scorer: Callable[..., dict[str, Any]], data: bytes) -> SpacyComponent:
    return SpacyComponent(name, scorer=scorer, **cfg).from_bytes(data)


def _set_ents(doc: Doc, mentions: Iterable[Mention]) -> None:
    """Write mentions with one part to ``doc.ents``, replacing its content; of overlapping ones, the longest."""
    whole = [mention for mention in mentions if not mention.is_discontiguous]
    chosen = filter_spans([Span(doc, mention.start, mention.end, label=mention.type) for mention in whole])
    taken = {token for span in chosen for token in range(span.start, span.end)}
    doc.ents = [*chosen, *(ent for ent in doc.ents if taken.isdisjoint(range(ent.start, ent.end)))]
