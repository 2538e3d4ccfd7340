"""Find mentions whose words need not be adjacent and may overlap."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hyperspan.diagnostics import Diagnostic, Diagnostics
from hyperspan.errors import HyperspanError
from hyperspan.mentions import Corpus, Document, Mention, Sentence
from hyperspan.mentions.notebook import draw_with

if TYPE_CHECKING:
    from hyperspan.recognizer import Recognizer

__version__ = "0.2.0"

__all__ = [
    "Corpus",
    "Diagnostic",
    "Diagnostics",
    "Document",
    "HyperspanError",
    "Mention",
    "Recognizer",
    "Sentence",
    "__version__",
]


draw_with(lambda thing: str(import_module("hyperspan.render.notebook").html_of(thing)))


def __getattr__(name: str) -> Any:
    if name == "Recognizer":  # imports compiled code, so it is loaded on first use
        return import_module("hyperspan.recognizer").Recognizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
