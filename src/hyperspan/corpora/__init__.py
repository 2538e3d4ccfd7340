"""Read and write corpora in many formats: one module per format, recognised automatically or named.

Examples
--------
>>> from hyperspan import corpora
>>> corpora.formats()
('bigbio', 'bioc', 'brat', 'cupt', 'inline', 'jsonl', 'knowtator', 'semeval')
"""

from hyperspan.corpora.format import Format, Item
from hyperspan.corpora.reading import find_items, format_named, formats, read, recognise, stream, stream_item
from hyperspan.corpora.writing import write, write_splits

__all__ = [
    "Format",
    "Item",
    "find_items",
    "format_named",
    "formats",
    "read",
    "recognise",
    "stream",
    "stream_item",
    "write",
    "write_splits",
]
