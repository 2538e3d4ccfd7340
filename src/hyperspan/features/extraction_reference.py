"""The readable reference implementation of feature extraction: one text per feature.

`hyperspan.features.extraction` computes their hashes, in the same order, without ever building a text.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import product

from hyperspan.features.columns import (
    ClusterPaths,
    Column,
    SemanticCategories,
    Source,
    Values,
    boundary,
    hash_text,
    keys_of,
)
from hyperspan.features.templates import Template
from hyperspan.mentions import Sentence

_BAR = re.compile(r"((?:[^\\|]|\\.)*)(?:\||\Z)", re.DOTALL)
_WORD_SIZE = 2**64 - 1


def features_reference(
    templates: Iterable[Template],
    sentence: Sentence,
    clusters: ClusterPaths | None = None,
    lexicon: SemanticCategories | None = None,
    known: dict[str, dict[Hashable, Values]] | None = None,
) -> list[list[str]]:
    """Return the features of each token, in the order of the templates.

    A template gives one feature for each combination of its parts' values. Beyond the ends of the sentence, every
    column that the sentence has takes the value `boundary`. ``known``, if given, caches the values of words from one
    sentence to the next.

    Examples
    --------
    >>> from hyperspan.features.templates import TemplateSet
    >>> templates = TemplateSet.parse('[words]\\nhere = "lower[0]"\\npair = "word[-1] word[0]"')
    >>> for features in features_reference(templates, Sentence(["Hiatal", "hernia"])):
    ...     print(*features)
    lower[0]=hiatal word[-1]=<s-1>|word[0]=Hiatal
    lower[0]=hernia word[-1]=Hiatal|word[0]=hernia
    """
    known = {} if known is None else known
    keys: dict[Source, Sequence[Hashable] | None] = {}
    values: dict[str, list[Values]] = {}
    features: list[list[str]] = [[] for _ in sentence.tokens]
    for template in templates:
        for part in template.parts:
            column = part.column
            if column.source not in keys:
                keys[column.source] = keys_of(column.source, sentence, lexicon)
            of_source = keys[column.source]
            if column.name not in values and of_source is not None:
                values[column.name] = _values(column, of_source, clusters, known.setdefault(column.name, {}))
        if any(part.column.name not in values for part in template.parts):
            continue
        parts = [(f"{part}=", values[part.column.name], part.offset) for part in template.parts]
        for token, of_token in enumerate(features):
            texts = [[label + value for value in _at(of_column, token + offset)] for label, of_column, offset in parts]
            of_token.extend(texts[0] if len(texts) == 1 else map("|".join, product(*texts)))
    return features


def _values(
    column: Column, keys: Sequence[Hashable], clusters: ClusterPaths | None, known: dict[Hashable, Values]
) -> list[Values]:
    for key in keys:
        if key not in known:
            known[key] = column.values_of(key, clusters)
    return [known[key] for key in keys]


def _at(column: list[Values], position: int) -> Values:
    if 0 <= position < len(column):
        return column[position]
    return (boundary(position if position < 0 else position - len(column) + 1),)


def hash_feature_reference(feature: str) -> int:
    """Return the hash of a feature from its text: the hashes of its template and values, mixed one after another.

    Examples
    --------
    >>> hash_feature_reference("word[0]=hernia") == hash_feature_reference("lower[0]=hernia")
    False
    """
    parts = [part.split("=", 1) for part in _split(feature)]
    bits = hash_text(" ".join(label for label, _ in parts))
    for _, value in parts:
        bits = mix_reference(bits ^ hash_text(value))
    return bits or 1


def mix_reference(bits: int) -> int:
    """Scatter 64 bits, as ``mix_kernel`` does."""
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _WORD_SIZE
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _WORD_SIZE
    return bits ^ (bits >> 31)


def _split(feature: str) -> list[str]:
    """Split at the bars that have no backslash before them."""
    parts = []
    position = 0
    while position <= len(feature):
        found = _BAR.match(feature, position)
        assert found is not None
        parts.append(found[1])
        position = found.end() + (found.end() == found.end(1))
    return parts
