"""The features of a sentence: columns, templates, clusters and lexicons.

Compiled code is loaded on the first use of a name that needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperspan.features.columns import column_named, column_names
from hyperspan.features.templates import Template, TemplateSet

if TYPE_CHECKING:
    from hyperspan.features.brown import Clusters
    from hyperspan.features.extraction import Extractor, FeatureBlock
    from hyperspan.features.index import FeatureIndex
    from hyperspan.features.lexicon import Lexicon

__all__ = [
    "Clusters",
    "Extractor",
    "FeatureBlock",
    "FeatureIndex",
    "Lexicon",
    "Template",
    "TemplateSet",
    "column_named",
    "column_names",
]

_LAZY = {
    "Clusters": "brown",
    "Extractor": "extraction",
    "FeatureBlock": "extraction",
    "FeatureIndex": "index",
    "Lexicon": "lexicon",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return __all__
