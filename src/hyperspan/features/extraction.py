"""Extract the features of sentences in batches.

Sentences are first encoded, with one lookup per word. A code refers to the hashes of the word's values in every column,
which are computed when the word is first seen. The rest is compiled: each template mixes the hashes of its values into
the hash of a feature, and the index maps that to an id. `hyperspan.features.extraction_reference` does the same with
texts.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hyperspan.errors import FeatureError
from hyperspan.features.codes import Batch, CodeTable
from hyperspan.features.columns import ClusterPaths, SemanticCategories, Source, keys_of
from hyperspan.features.extraction_reference import features_reference
from hyperspan.features.index import FeatureIndex, FeatureNames, Hashes, Ids, Offsets, drop_unknown
from hyperspan.features.kernels import group_keys_of_features, hash_features, plan_of
from hyperspan.features.singles import find_features, split_plan
from hyperspan.features.state import ClusterMap
from hyperspan.features.templates import Template, TemplateSet
from hyperspan.mentions import Sentence

CHUNK_TOKENS = 16_384
"""How many tokens are processed at a time. This bounds memory and has no other effect."""

STATE_VERSION = 1

Result = TypeVar("Result")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A template without features, and the reason."""

    template: Template
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The features of each token by group, and the templates that were skipped."""

    tokens: tuple[str, ...]
    features: tuple[Mapping[str, Sequence[str]], ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class HashBlock:
    """The features of a batch of sentences, as hashes.

    Attributes
    ----------
    first_token : array of int64, (n_sentences + 1,)
        The tokens of sentence s are ``first_token[s]:first_token[s + 1]``.
    first_feature : array of int64, (n_tokens + 1,)
        The features of token t are ``first_feature[t]:first_feature[t + 1]``, in the order of the templates.
    hash : array of uint64, (n_features,)
    group_key : array of int32, (n_features,), optional
        The number of each feature's group key (see `Template.group_key`).
    """

    first_token: Offsets
    first_feature: Offsets
    hash: Hashes
    group_key: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True)
class FeatureBlock:
    """The features of a batch of sentences, as ids.

    Attributes
    ----------
    first_token : array of int64, (n_sentences + 1,)
        The tokens of sentence s are ``first_token[s]:first_token[s + 1]``.
    first_feature : array of int64, (n_tokens + 1,)
        The features of token t are ``first_feature[t]:first_feature[t + 1]``, in the order of the templates.
    feature : array of int32, (n_features,)
    """

    first_token: Offsets
    first_feature: Offsets
    feature: Ids

    @property
    def n_tokens(self) -> int:
        """How many tokens the sentences have in total."""
        return len(self.first_feature) - 1

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.first_token) - 1

    def of(self, sentence: int, token: int) -> Ids:
        """Return the features of one token of one sentence, both numbered from 0."""
        position = self.first_token[sentence] + token
        return self.feature[self.first_feature[position] : self.first_feature[position + 1]]

    def cut(self, n_pieces: int) -> list[FeatureBlock]:
        """Split into pieces of about the same number of tokens, never inside a sentence; `join` is the inverse."""
        shares = np.linspace(0, self.n_tokens, n_pieces + 1)[1:-1]
        borders = [0, *np.searchsorted(self.first_token, shares).tolist(), self.n_sentences]
        return [self.sentences(begin, end) for begin, end in pairwise(borders)]

    def sentences(self, begin: int, end: int) -> FeatureBlock:
        """Return a range of sentences as a block."""
        first_token = self.first_token[begin : end + 1]
        first_feature = self.first_feature[first_token[0] : first_token[-1] + 1]
        feature = self.feature[first_feature[0] : first_feature[-1]]
        return FeatureBlock(first_token - first_token[0], first_feature - first_feature[0], feature)

    @classmethod
    def join(cls, blocks: Iterable[FeatureBlock]) -> FeatureBlock:
        """Concatenate blocks."""
        parts = list(blocks)
        return cls(
            _joined_offsets([block.first_token for block in parts]),
            _joined_offsets([block.first_feature for block in parts]),
            np.concatenate([np.empty(0, np.int32), *(block.feature for block in parts)]),
        )


def _joined_offsets(parts: Sequence[Offsets]) -> Offsets:
    joined = np.zeros(sum(len(part) - 1 for part in parts) + 1, np.int64)
    end = 0
    for part in parts:
        joined[end + 1 : end + len(part)] = part[1:] + joined[end]
        end += len(part) - 1
    return joined


class Extractor:
    """Turns sentences into features.

    Parameters
    ----------
    templates : TemplateSet, str or path
        ``"default"``, ``"published"``, or a template file.
    clusters : Clusters, optional
        Brown clusters, for the column ``cluster``.
    lexicon : Lexicon, optional
        Semantic categories, for the column ``category``.
    threads : int
        How many threads run the compiled part. Results do not depend on it.

    Attributes
    ----------
    templates : TemplateSet
        All templates, including those that are skipped.
    skipped : tuple of Skipped
        Templates whose resource is missing. Those that need a missing column or attribute are known after `fit`.
    index_ : FeatureIndex
        The features seen by `fit`.
    group_key_ : array of int32
        After `fit_transform`: the number of each feature's group key (see `Template.group_key`).

    Examples
    --------
    >>> sentences = [Sentence("no hernia".split()), Sentence("hiatal hernia".split())]
    >>> extractor = Extractor(TemplateSet.parse('[words]\\nhere = "word[0]"\\nbefore = "word[-1]"'))
    >>> block = extractor.fit(sentences).transform(sentences)
    >>> block.first_feature.tolist(), block.feature.tolist()
    ([0, 2, 4, 6, 8], [0, 1, 2, 3, 4, 1, 2, 5])
    >>> names = extractor.names(sentences)
    >>> [names[id] for id in block.of(sentence=1, token=0)]
    ['word[0]=hiatal', 'word[-1]=<s-1>']
    """

    def __init__(
        self,
        templates: TemplateSet | str | Path = "default",
        clusters: ClusterPaths | None = None,
        lexicon: SemanticCategories | None = None,
        *,
        threads: int = 2,
    ) -> None:
        self.templates = templates if isinstance(templates, TemplateSet) else TemplateSet.load(templates)
        self.clusters = clusters
        self.lexicon = lexicon
        self.threads = threads
        self.index_: FeatureIndex | None = None
        self.group_key_: npt.NDArray[np.int32] | None = None
        self.skipped = tuple(self._without_resource())
        absent = {skipped.template for skipped in self.skipped}
        self.active = tuple(template for template in self._own_templates() if template not in absent)
        if not self.active:
            raise FeatureError(
                f"{self.templates.source}: all {len(self.templates)} templates are skipped: {self.skipped[0].reason}"
            )
        self._table = CodeTable(self.active, clusters)
        self._make_plan()

    def _make_plan(self) -> None:
        self._plan = plan_of(self.active, self._table)
        self._split_plan = split_plan(self.active, self._table)

    def _own_templates(self) -> Iterator[Template]:
        """Yield the templates that this extractor uses: those for whole parts and gaps are handled elsewhere."""
        return (template for template in self.templates if not template.is_of_spans)

    def __repr__(self) -> str:
        features = "not fitted" if self.index_ is None else f"{len(self.index_):,} features"
        return (
            f"Extractor({self.templates.source!r}, {len(self.active)} of {len(self.templates)} templates, {features})"
        )

    @property
    def needs(self) -> tuple[Source, ...]:
        """The columns and attributes of sentences that the active templates use."""
        return tuple(source for source in self._table.sources if source.kind in ("token", "sentence"))

    def fit(self, sentences: Iterable[Sentence], *, min_count: int = 1) -> Extractor:
        """Build the index of the features of sentences.

        Parameters
        ----------
        sentences : iterable of Sentence
            Read once, in chunks.
        min_count : int
            Features that occur less often are left out.
        """
        index = self._new_index(min_count)
        for block in self.hash_blocks(self._watched(sentences)):
            index.add(block.hash)
        self._fitted(index.at_least(min_count)[0] if min_count > 1 else index)
        return self

    def fit_transform(self, sentences: Iterable[Sentence], *, min_count: int = 1) -> FeatureBlock:
        """Do `fit` and `transform` together, reading the sentences only once."""
        index = self._new_index(min_count)
        blocks = []
        group_key = np.empty(0, np.int32)
        for block in self.hash_blocks(self._watched(sentences), with_group_keys=True):
            ids = index.add(block.hash)
            if len(index) > len(group_key):
                group_key = np.concatenate([group_key, np.empty(2 * len(index) - len(group_key), np.int32)])
            group_key[ids] = 0 if block.group_key is None else block.group_key
            blocks.append(FeatureBlock(block.first_token, block.first_feature, ids))
        group_key = group_key[: len(index)]
        if min_count > 1:
            index, new_id = index.at_least(min_count)
            group_key = group_key[new_id >= 0]
            blocks = [
                FeatureBlock(block.first_token, *drop_unknown(block.first_feature, new_id[block.feature]))
                for block in blocks
            ]
        self._fitted(index)
        self.group_key_ = group_key
        return FeatureBlock.join(blocks)

    def transform(self, sentences: Iterable[Sentence]) -> FeatureBlock:
        """Return the features of sentences; those that `fit` has not seen are dropped."""
        return FeatureBlock.join(self.transform_blocks(sentences))

    def transform_blocks(self, sentences: Iterable[Sentence]) -> Iterator[FeatureBlock]:
        """Yield the features of sentences chunk by chunk, in bounded memory."""
        index = self._index()

        def work(batch: Batch) -> FeatureBlock:
            return FeatureBlock(batch.first_token, *find_features(self._split_plan, batch, index))

        return self._blocks(sentences, work, index)

    def hash_blocks(self, sentences: Iterable[Sentence], *, with_group_keys: bool = False) -> Iterator[HashBlock]:
        """Yield the hashes of all features of sentences chunk by chunk; no index is needed."""

        def work(batch: Batch) -> HashBlock:
            first_feature, hashes = hash_features(self._plan, batch)
            group_key = group_keys_of_features(self._plan, batch, len(hashes)) if with_group_keys else None
            return HashBlock(batch.first_token, first_feature, hashes, group_key)

        return self._blocks(sentences, work)

    def describe(self, sentence: Sentence) -> list[list[str]]:
        """Return the readable names of the features of each token, in the order of the templates."""
        return features_reference(self.active, sentence, self.clusters, self.lexicon)

    def explain(self, sentence: Sentence) -> Explanation:
        """Return the features of a sentence in readable words, and the templates that are skipped."""
        unseen = {source for source in self.needs if not keys_of(source, sentence)}
        tokens: list[dict[str, list[str]]] = [{} for _ in sentence.tokens]
        for template in self.active:
            of_template = features_reference([template], sentence, self.clusters, self.lexicon)
            for of_token, features in zip(tokens, of_template, strict=True):
                of_token.setdefault(template.group, []).extend(features)
        return Explanation(sentence.tokens, tuple(tokens), self._skipped(unseen))

    def names(self, sentences: Iterable[Sentence]) -> FeatureNames:
        """Return the readable names of the features that occur in sentences, by id.

        Use it to inspect a model together with its training data. It is slow, because it builds texts for every token.
        """
        index = self._index()
        names = FeatureNames()
        for chunk in chunks_of(sentences):
            texts = (name for sentence in chunk for token in self.describe(sentence) for name in token)
            hashes = np.concatenate([block.hash for block in self.hash_blocks(chunk)])
            for id, text in zip(index.ids_of(hashes).tolist(), texts, strict=True):
                if id >= 0:
                    names.add(id, text)
        return names

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Return the state of this extractor as plain data and arrays.

        It includes clusters and lexicon, so that a model does not depend on other files. A lexicon of your own class is
        not included, unless it has ``to_bytes`` and `Lexicon.from_bytes` can read the result: pass it to `from_state`
        instead.
        """
        state: dict[str, Any] = {
            "version": STATE_VERSION,
            "templates": [list(row) for row in self.templates.rows()],
            "templates_source": self.templates.source,
            "skipped": [[str(skipped.template), skipped.reason] for skipped in self.skipped],
            "has_clusters": self.clusters is not None,
            "has_lexicon": self.lexicon is not None,
        }
        arrays: dict[str, npt.NDArray[Any]] = {"feature_hash": self._index().hashes}
        if self.clusters is not None:
            arrays |= ClusterMap.of(self.clusters).to_arrays()
        if (to_bytes := getattr(self.lexicon, "to_bytes", None)) is not None:
            arrays["lexicon"] = np.frombuffer(to_bytes(), np.uint8)
        return state, arrays

    @classmethod
    def from_state(
        cls,
        state: Mapping[str, Any],
        arrays: Mapping[str, npt.NDArray[Any]],
        *,
        lexicon: SemanticCategories | None = None,
        threads: int = 2,
    ) -> Extractor:
        """Restore an extractor from what `to_state` returned.

        Raises
        ------
        FeatureError
            If the state has another version or is incomplete, or the lexicon is missing.
        """
        if state.get("version") != STATE_VERSION:
            raise FeatureError(
                f"the features are of version {state.get('version')!r}; this program reads version {STATE_VERSION}"
            )
        try:
            if lexicon is None and "lexicon" in arrays:
                from hyperspan.features.lexicon import Lexicon

                lexicon = Lexicon.from_bytes(arrays["lexicon"].tobytes(), "the lexicon of the model")
            if state["has_lexicon"] != (lexicon is not None):
                raise FeatureError(
                    "these features were learned with a lexicon, and none was given"
                    if state["has_lexicon"]
                    else "these features were learned without a lexicon, but one was given"
                )
            templates = TemplateSet.of(state["templates"], state["templates_source"])
            clusters = ClusterMap.of_arrays(arrays) if state["has_clusters"] else None
            extractor = cls(templates, clusters, lexicon, threads=threads)
            reasons = dict(state["skipped"])
            extractor.skipped = tuple(
                Skipped(template, reasons[str(template)]) for template in templates if str(template) in reasons
            )
            extractor.index_ = FeatureIndex(arrays["feature_hash"])
        except KeyError as error:
            raise FeatureError(f"the features lack {error}; the model they were read from is damaged") from None
        return extractor

    def _without_resource(self) -> Iterator[Skipped]:
        for template in self._own_templates():
            needs = {part.column.needs for part in template.parts}
            if "clusters" in needs and self.clusters is None:
                yield Skipped(template, "no Brown clusters were given")
            elif "lexicon" in needs and self.lexicon is None:
                yield Skipped(template, "no lexicon was given")

    def _new_index(self, min_count: int) -> FeatureIndex:
        if min_count < 1:
            raise FeatureError(f"min_count is {min_count!r}; expected a whole number from 1")
        return FeatureIndex()

    def _watched(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Yield the sentences unchanged, recording which columns and attributes occur in them."""
        unseen = set(self.needs)
        for sentence in sentences:
            if unseen:
                unseen -= {source for source in unseen if keys_of(source, sentence)}
            yield sentence
        self.skipped = self._skipped(unseen)

    def _skipped(self, unseen: set[Source]) -> tuple[Skipped, ...]:
        reasons = {skipped.template: skipped.reason for skipped in self._without_resource()}
        for template in self.active:
            missing = [part.column.source.missing for part in template.parts if part.column.source in unseen]
            if missing:
                reasons[template] = missing[0]
        return tuple(Skipped(template, reasons[template]) for template in self._own_templates() if template in reasons)

    def _fitted(self, index: FeatureIndex) -> None:
        self.index_ = index
        if self.skipped:
            groups = dict.fromkeys((skipped.template.group, skipped.reason) for skipped in self.skipped)
            _log.info(
                "%d of %d templates are skipped: %s",
                len(self.skipped),
                len(self.templates),
                "; ".join(f"{group}, because {reason}" for group, reason in groups),
            )

    def _index(self) -> FeatureIndex:
        if self.index_ is None:
            raise FeatureError(
                "this Extractor has no index yet: call fit(sentences) or Extractor.from_state(...) first"
            )
        return self.index_

    def _encode(self, sentences: Sequence[Sentence], index: FeatureIndex | None) -> Any:
        """Return what is looked at in a chunk of sentences: a `Batch`."""
        return self._table.encode(sentences, self.lexicon, index)

    def _blocks(
        self, sentences: Iterable[Sentence], work: Callable[[Any], Result], index: FeatureIndex | None = None
    ) -> Iterator[Result]:
        """Yield the result of ``work`` for each chunk, in order; a few chunks are processed at a time."""
        if self.threads < 1:
            raise FeatureError(f"threads is {self.threads!r}; expected a whole number from 1")
        chunks = chunks_of(sentences)
        first = next(chunks, None)
        second = None if first is None else next(chunks, None)
        if first is None or second is None or self.threads == 1:
            for chunk in chain((chunk for chunk in (first, second) if chunk), chunks):
                yield work(self._encode(chunk, index))
            return
        under_way: deque[Future[Result]] = deque()
        with ThreadPoolExecutor(self.threads, "hyperspan-features") as pool:
            for chunk in chain((first, second), chunks):
                under_way.append(pool.submit(work, self._encode(chunk, index)))
                if len(under_way) > self.threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()


def chunks_of(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Split sentences into lists of about `CHUNK_TOKENS` tokens."""
    chunk: list[Sentence] = []
    n_tokens = 0
    for sentence in sentences:
        chunk.append(sentence)
        # Plus one for the sentence itself, so that empty sentences cannot make a chunk endless.
        n_tokens += len(sentence.tokens) + 1
        if n_tokens >= CHUNK_TOKENS:
            yield chunk
            chunk, n_tokens = [], 0
    if chunk:
        yield chunk
