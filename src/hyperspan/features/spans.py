"""Features of whole spans of up to five words: parts and gaps of mentions, for the structure ``segments``.

The templates are in a template file, with positions such as ``lower[span]`` (see `hyperspan.features.templates`). The
spans of a word are consecutive, the shortest first: the span of l words from word w has the number
``SPAN_WORDS * w + l - 1``, and is empty if the sentence ends before.

Only features that occur in the training data as a part or a gap are known: all others could only lower a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperspan.compiled.kernel import kernel
from hyperspan.features.codes import Batch, CodeTable
from hyperspan.features.columns import (
    ClusterPaths,
    Entries,
    SemanticCategories,
    Values,
    boundary,
    hash_text,
    keys_of,
    shown,
)
from hyperspan.features.extraction import Extractor, FeatureBlock, HashBlock, Skipped
from hyperspan.features.extraction_reference import mix_reference
from hyperspan.features.index import FeatureIndex, Hashes, find_one_kernel
from hyperspan.features.kernels import mix_kernel
from hyperspan.features.templates import ENTRY_PLACES, PLACES, Part, Template, TemplateSet
from hyperspan.mentions import Sentence

SPAN_WORDS = 5
"""The number of words of the longest span with features."""

_SPAN, _FIRST, _LAST, _LEFT, _RIGHT, _WHOLE, _JOINED = range(len(PLACES))
_NONE, _LEAST = np.uint64(0), np.uint64(1)


class SpanPlan(NamedTuple):
    """Templates as flat arrays: template t has the parts ``first_part[t]:first_part[t + 1]``.

    A part has a column and a position, a column has a source and a cell there. ``before`` and ``after`` are the values
    beyond the ends of a sentence.
    """

    template_hash: Hashes
    first_part: npt.NDArray[np.int32]
    column: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]
    column_source: npt.NDArray[np.int32]
    column_cell: npt.NDArray[np.int32]
    before: np.uint64
    after: np.uint64

    @classmethod
    def of(cls, templates: Sequence[Template], table: CodeTable) -> SpanPlan:
        """Convert templates to flat arrays."""
        columns = [
            (source, cell, column)
            for source, of_source in enumerate(table.columns)
            for cell, column in enumerate(of_source)
        ]
        number = {column: position for position, (_, _, column) in enumerate(columns)}
        parts = [part for template in templates for part in template.parts]
        return cls(
            np.array([hash_text(template.pattern) for template in templates], np.uint64),
            np.cumsum([0, *(len(template.parts) for template in templates)]).astype(np.int32),
            np.array([number[part.column] for part in parts], np.int32),
            np.array([PLACES.index(part.place) for part in parts], np.int32),
            np.array([source for source, _, _ in columns], np.int32),
            np.array([cell for _, cell, _ in columns], np.int32),
            np.uint64(hash_text(boundary(-1))),
            np.uint64(hash_text(boundary(1))),
        )


class SpanBatch(NamedTuple):
    """Words as codes, and the categories that a lexicon has for spans.

    Attributes
    ----------
    words : Batch
    entry : uint64 array of shape (2, n_tokens, SPAN_WORDS), or (0, 0, 0)
        The hashes of categories: of the entry that a span is, and of the entry that it interrupts; 0 for none.
    """

    words: Batch
    entry: Hashes


class SpanExtractor(Extractor):
    """Turns sentences into the features of their spans: an `Extractor` whose tokens are spans.

    The parameters are those of `Extractor`. Only templates for spans are used; if there are none, ``segments.toml``.

    Examples
    --------
    >>> from hyperspan.features import TemplateSet
    >>> extractor = SpanExtractor(TemplateSet.parse('[whole]\\nwords = "lower[span]"'))
    >>> sentence = Sentence("blood in stomach".split())
    >>> block = extractor.fit_spans([sentence], np.array([0, 0]), np.array([1, 3])).transform([sentence])
    >>> names = extractor.names([sentence])
    >>> [names[id] for id in block.feature.tolist()]
    ['lower[span]=blood', 'lower[span]=blood in stomach']
    """

    def __init__(
        self,
        templates: TemplateSet | str | Path = "default",
        clusters: ClusterPaths | None = None,
        lexicon: SemanticCategories | None = None,
        *,
        threads: int = 2,
    ) -> None:
        of_words = templates if isinstance(templates, TemplateSet) else TemplateSet.load(templates)
        super().__init__(of_words.of_spans(), clusters, lexicon, threads=threads)

    def _own_templates(self) -> Iterator[Template]:
        return iter(self.templates)

    def _without_resource(self) -> Iterator[Skipped]:
        yield from super()._without_resource()
        if self.lexicon is not None and not isinstance(self.lexicon, Entries):
            for template in self._own_templates():
                if template.asks_for_entries:
                    yield Skipped(template, "the lexicon does not say which spans are entries")

    def _make_plan(self) -> None:
        self._span_plan = SpanPlan.of(self.active, self._table)

    def _encode(self, sentences: Sequence[Sentence], index: FeatureIndex | None) -> SpanBatch:
        entry = np.empty((0, 0, 0), np.uint64)
        if any(template.asks_for_entries for template in self.active):
            assert isinstance(self.lexicon, Entries)
            names = [max(hash_text(shown(name)), 1) for name in self.lexicon.categories]
            found = self.lexicon.entries([sentence.tokens for sentence in sentences], SPAN_WORDS)
            entry = np.array([*names, 0], np.uint64)[np.stack(found)]  # 0 for the index -1
        return SpanBatch(super()._encode(sentences, index), entry)

    def fit_spans(
        self,
        sentences: Sequence[Sentence],
        first_word: npt.NDArray[np.int64],
        length: npt.NDArray[np.int64],
        *,
        min_count: int = 1,
    ) -> SpanExtractor:
        """Learn the index of the features of some spans.

        Parameters
        ----------
        sentences : sequence of Sentence
        first_word, length : int64 arrays of shape (n_spans,)
            The spans; words are numbered through all sentences.
        min_count : int
            Features that occur in fewer of these spans are dropped.
        """
        wanted = np.sort(SPAN_WORDS * first_word + length - 1)
        index, first = FeatureIndex(), 0
        for block in self.hash_blocks(self._watched(sentences)):
            begin, end = np.searchsorted(wanted, (first, first + len(block.first_feature) - 1))
            for span in (wanted[begin:end] - first).tolist():
                index.add(block.hash[block.first_feature[span] : block.first_feature[span + 1]])
            first += len(block.first_feature) - 1
        self._fitted(index.at_least(min_count)[0] if min_count > 1 else index)
        return self

    def transform_blocks(self, sentences: Iterable[Sentence]) -> Iterator[FeatureBlock]:
        """Yield the features of spans chunk by chunk; those that `fit_spans` has not seen are dropped."""
        index = self._index()

        def work(batch: SpanBatch) -> FeatureBlock:
            value, first_token = self._values(batch.words), batch.words.first_token
            first_feature = np.zeros(SPAN_WORDS * value.shape[1] + 1, np.int64)
            ids = np.empty(SPAN_WORDS * value.shape[1] * len(self.active), np.int32)
            with np.errstate(over="ignore"):  # NumPy would warn without the compiler: products are to wrap around
                n_ids = find_spans_kernel(
                    self._span_plan, first_token, value, batch.entry, *index.slots, first_feature, ids
                )
            return FeatureBlock(SPAN_WORDS * first_token, first_feature, ids[:n_ids].copy())

        return self._blocks(sentences, work, index)

    def hash_blocks(self, sentences: Iterable[Sentence], *, with_group_keys: bool = False) -> Iterator[HashBlock]:
        """Yield the hashes of all features of spans chunk by chunk; no index is needed."""

        def work(batch: SpanBatch) -> HashBlock:
            value, first_token = self._values(batch.words), batch.words.first_token
            first_feature = np.zeros(SPAN_WORDS * value.shape[1] + 1, np.int64)
            hashes = np.empty(SPAN_WORDS * value.shape[1] * len(self.active), np.uint64)
            with np.errstate(over="ignore"):
                n_hashes = hash_spans_kernel(self._span_plan, first_token, value, batch.entry, first_feature, hashes)
            return HashBlock(SPAN_WORDS * first_token, first_feature, hashes[:n_hashes].copy())

        return self._blocks(sentences, work)

    def _values(self, batch: Batch) -> Hashes:
        value = np.empty((len(self._span_plan.column_source), batch.code.shape[1]), np.uint64)
        span_values_kernel(self._span_plan, batch, value)
        return value

    def describe(self, sentence: Sentence) -> list[list[str]]:
        """Return the readable names of the features of each span, in the order of the templates."""
        described = spans_reference(self.active, sentence, self)
        return [[name for name, _ in of_span] for of_span in described]


@kernel
def span_values_kernel(plan, batch, value):
    """Fill ``value[column, token]`` with the hash of the value, the last of several, or 0 where there is none."""
    for column in range(value.shape[0]):
        for token in range(value.shape[1]):
            first_cell = batch.code[plan.column_source[column], token]
            value[column, token] = _NONE
            if first_cell >= 0:
                cell = first_cell + plan.column_cell[column]
                if batch.first_value[cell + 1] > batch.first_value[cell]:
                    value[column, token] = max(batch.value[batch.first_value[cell + 1] - 1], _LEAST)


@kernel
def span_hash_kernel(plan, value, entry, begin, end, word, n_words, template):
    """Return the hash of the feature that a template gives a span, or 0 if it gives none."""
    bits = plan.template_hash[template]
    for part in range(plan.first_part[template], plan.first_part[template + 1]):
        of_column, place = value[plan.column[part]], plan.place[part]
        if place >= _WHOLE:
            category = entry[place - _WHOLE, word, n_words - 1]
            if category == _NONE:
                return _NONE
            bits = mix_kernel(bits ^ category)
            continue
        first = word if place <= _FIRST else (word + n_words - 1 if place == _LAST else 0)
        last = word + n_words if place == _SPAN else first + 1
        if place >= _LEFT:
            first = word - 1 if place == _LEFT else word + n_words
            last = first + 1
            if of_column[word] == _NONE:
                return _NONE
            if first < begin or first >= end:
                bits = mix_kernel(bits ^ (plan.before if first < begin else plan.after))
                continue
        for token in range(first, last):
            if of_column[token] == _NONE:
                return _NONE
            bits = mix_kernel(bits ^ of_column[token])
    return max(bits, _LEAST)


@kernel
def hash_spans_kernel(plan, first_token, value, entry, first_feature, hashes):
    """Fill in the hashes of the features of every span; return how many there are."""
    n_hashes, span = 0, 0
    for sentence in range(first_token.shape[0] - 1):
        begin, end = first_token[sentence], first_token[sentence + 1]
        for word in range(begin, end):
            for n_words in range(1, SPAN_WORDS + 1):
                for template in range(plan.template_hash.shape[0] if word + n_words <= end else 0):
                    bits = span_hash_kernel(plan, value, entry, begin, end, word, n_words, template)
                    if bits != _NONE:
                        hashes[n_hashes] = bits
                        n_hashes += 1
                span += 1
                first_feature[span] = n_hashes
    return n_hashes


@kernel
def find_spans_kernel(plan, first_token, value, entry, key, id, first_feature, ids):
    """Fill in the ids of the known features of every span; return how many there are."""
    n_ids, span = 0, 0
    for sentence in range(first_token.shape[0] - 1):
        begin, end = first_token[sentence], first_token[sentence + 1]
        for word in range(begin, end):
            for n_words in range(1, SPAN_WORDS + 1):
                for template in range(plan.template_hash.shape[0] if word + n_words <= end else 0):
                    bits = span_hash_kernel(plan, value, entry, begin, end, word, n_words, template)
                    if bits != _NONE:
                        found = find_one_kernel(key, id, bits)
                        if found >= 0:
                            ids[n_ids] = found
                            n_ids += 1
                span += 1
                first_feature[span] = n_ids
    return n_ids


def spans_reference(
    templates: Sequence[Template], sentence: Sentence, resources: Extractor
) -> list[list[tuple[str, int]]]:
    """Return the features of each span as text with their hashes: what the kernels do, written to be read."""
    values: dict[str, list[str]] = {}
    for part in (part for template in templates for part in template.parts):
        keys = keys_of(part.column.source, sentence, resources.lexicon)
        if keys is not None:
            of_words: Iterable[Values] = (part.column.values_of(key, resources.clusters) for key in keys)
            values[part.column.name] = [several[-1] if several else "" for several in of_words]
    found: list[list[tuple[str, int]]] = []
    for word in range(len(sentence)):
        for end in range(word + 1, word + SPAN_WORDS + 1):
            of_span: list[tuple[str, int]] = []
            for template in templates if end <= len(sentence) else ():
                parts = [
                    (
                        part,
                        _entries_at(part, sentence.tokens, word, end, resources.lexicon)
                        if part.place in ENTRY_PLACES
                        else _values_at(part, values.get(part.column.name), word, end),
                    )
                    for part in template.parts
                ]
                if all(all(here) and here for _, here in parts):
                    bits = hash_text(template.pattern)
                    for _, here in parts:
                        for value in here:
                            bits = mix_reference(bits ^ hash_text(value))
                    of_span.append(("|".join(f"{part}={' '.join(here)}" for part, here in parts), bits or 1))
            found.append(of_span)
    return found


def _values_at(part: Part, values: list[str] | None, word: int, end: int) -> list[str]:
    """Return the values of a part of a template for a span."""
    if values is None or not values[word]:
        return []  # the column has no value for this sentence, or for this word
    first, last = {
        "span": (word, end),
        "first": (word, word + 1),
        "last": (end - 1, end),
        "left": (word - 1, word),
        "right": (end, end + 1),
    }[part.place]
    if first < 0 or first >= len(values):
        return [boundary(-1 if first < 0 else 1)]
    return values[first:last]


def _entries_at(
    part: Part, tokens: Sequence[str], word: int, end: int, lexicon: SemanticCategories | None
) -> list[str]:
    """Return the category of the entry that a span is, or of the longest that it interrupts, the leftmost of several.

    A span at the beginning or the end of a sentence has words on one side only, so it interrupts nothing.
    """
    assert isinstance(lexicon, Entries)
    if part.place == "whole":
        candidates = [tuple(tokens[word:end])]
    else:
        before = [tokens[first:word] for first in range(max(0, word - SPAN_WORDS), word)]
        after = [tokens[end:last] for last in range(end + 1, min(len(tokens), end + SPAN_WORDS) + 1)]
        candidates = sorted(((*left, *right) for left in before for right in after), key=len, reverse=True)
    found = (lexicon.entry_of(candidate) for candidate in candidates)
    return next(([shown(lexicon.categories[id])] for id in found if id >= 0), [])
