"""Find mentions whose words need not be adjacent and may overlap."""

from hyperspan.errors import HyperspanError
from hyperspan.findings import Finding, Findings
from hyperspan.mentions import Corpus, Document, Mention, Sentence

__version__ = "0.1.0"

__all__ = ["Corpus", "Document", "Finding", "Findings", "HyperspanError", "Mention", "Sentence", "__version__"]
