"""Find mentions in Arrow record batches of texts, with a picklable function.

It does not depend on an engine: Spark calls it with an iterator of batches, Ray Data with a table, and pyarrow users
with either.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperspan.diagnostics import quoted
from hyperspan.errors import MissingExtraError, ModelError, UsageError
from hyperspan.mentions import Document

if TYPE_CHECKING:
    import pyarrow as pa

    from hyperspan.recognizer import Recognizer

__all__ = ["LONGEST_TEXT", "SPARK_SCHEMA", "Finder", "finder"]

_LOG = logging.getLogger(__name__)

LONGEST_TEXT = 5_000_000
"""The maximum number of characters in a text; a longer one becomes an error, so that it cannot hold up a stage."""

SPARK_SCHEMA = (
    "doc string, "
    "mentions array<struct<type: string, spans: array<struct<start: int, `end`: int>>, text: string, prob: double>>, "
    "error string"
)
"""The output schema in Spark SQL."""

_OPTIONS = ("decode", "threshold")

_loaded: dict[tuple[int, str], Recognizer] = {}
"""The models of this process; a forked process loads its own."""


def finder(
    model: str | Path, text: str = "text", doc: str | None = "doc", *, longest: int = LONGEST_TEXT, **options: Any
) -> Finder:
    """Return a function that finds mentions in Arrow record batches.

    Parameters
    ----------
    model : path
        A model file written by ``hyperspan train``. Every process reads it once, with its first batch; it must exist at
        this path, or have been shipped with Spark's ``addFile``.
    text : str
        The column of texts.
    doc : str, optional
        The column of document names, of any type; None if there is none.
    longest : int
        The maximum number of characters in a text; a longer one becomes an error.
    **options
        ``decode`` and ``threshold`` of `Recognizer.find`.

    Raises
    ------
    UsageError
        If an option is unknown.
    MissingExtraError
        If pyarrow is not installed.
    """
    _pyarrow()
    if unknown := [name for name in options if name not in _OPTIONS]:
        raise UsageError(f"there is no option {unknown[0]!r} here; expected one of {', '.join(_OPTIONS)}")
    return Finder(str(model), text, doc, longest, options)


class Finder:
    """Finds mentions in Arrow record batches. Created by `finder`.

    A text that cannot be read becomes a row with an ``error``; the others of its batch are not affected.
    """

    def __init__(self, model: str, text: str, doc: str | None, longest: int, options: dict[str, Any]) -> None:
        self.model = model
        self.text = text
        self.doc = doc
        self.longest = longest
        self.options = options

    spark_schema = SPARK_SCHEMA

    @property
    def schema(self) -> pa.Schema:
        """The output schema: ``doc``, ``mentions`` and ``error``."""
        pa = _pyarrow()
        span = pa.struct([("start", pa.int32()), ("end", pa.int32())])
        mention = pa.struct(
            [("type", pa.string()), ("spans", pa.list_(span)), ("text", pa.string()), ("prob", pa.float64())]
        )
        return pa.schema([("doc", pa.string()), ("mentions", pa.list_(mention)), ("error", pa.string())])

    def __repr__(self) -> str:
        return f"Finder({self.model!r}, text={self.text!r}, doc={self.doc!r})"

    def __call__(self, given: Any) -> Any:
        """Return a table for a table, a batch for a batch, or an iterator for an iterable of batches."""
        pa = _pyarrow()
        if isinstance(given, pa.RecordBatch):
            return self.find(given)
        if isinstance(given, pa.Table):
            return pa.Table.from_batches([self.find(batch) for batch in given.to_batches()], schema=self.schema)
        return map(self.find, given)

    def find(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a row for every row of a batch, in the same order."""
        pa = _pyarrow()
        names, texts = self._column(batch, self.doc), self._column(batch, self.text)
        recognizer = _recognizer(self.model)
        rows: list[tuple[list[dict[str, Any]] | None, str | None]] = [(None, None)] * batch.num_rows
        documents: list[tuple[int, Document]] = []
        docs = [_name(names, number) for number in range(batch.num_rows)]
        for number, doc in enumerate(docs):
            try:
                documents.append((number, self._document(doc or "", texts(number))))
            except _Unreadable as error:
                rows[number] = (None, str(error))
        for number, found, problem in self._find_all(recognizer, documents):
            rows[number] = (None if found is None else _records(found), problem)
        columns = [docs, [mentions for mentions, _ in rows], [error for _, error in rows]]
        return pa.RecordBatch.from_arrays(
            [pa.array(column, type=field.type) for column, field in zip(columns, self.schema, strict=True)],
            schema=self.schema,
        )

    def _column(self, batch: pa.RecordBatch, name: str | None) -> Callable[[int], Any]:
        """Return a function from a row to the value of a column; it raises an error for a value that is not UTF-8."""
        if name is None:
            return lambda number: None
        if batch.schema.get_field_index(name) < 0:
            there = ", ".join(map(quoted, batch.schema.names))
            raise UsageError(
                f"the record batch has no column {name!r}, but {there or 'none at all'}; name it with text= or doc="
            )
        column = batch.column(name)
        return lambda number: _value(column, number)

    def _document(self, doc: str, text: Any) -> Document:
        if not isinstance(text, str):
            raise _Unreadable(f"the text is {quoted(text)}; expected a string")
        if len(text) > self.longest:
            raise _Unreadable(f"the text has {len(text):,} characters; expected at most {self.longest:,}")
        return Document(doc, text)  # the name may imply the kind of note

    def _find_all(
        self, recognizer: Recognizer, documents: Sequence[tuple[int, Document]]
    ) -> Iterator[tuple[int, Document | None, str | None]]:
        """Yield each document with its mentions; if some fail, bisect until the bad ones are found."""
        if not documents:
            return
        try:
            found = list(recognizer.annotate([document for _, document in documents], **self.options))
        except Exception as error:
            if isinstance(error, UsageError):
                raise  # an invalid option is not the text's fault
            if len(documents) == 1:
                yield documents[0][0], None, f"{type(error).__name__}: {error}"
                return
            half = len(documents) // 2
            yield from self._find_all(recognizer, documents[:half])
            yield from self._find_all(recognizer, documents[half:])
            return
        for (number, _), made in zip(documents, found, strict=True):
            assert isinstance(made, Document)
            yield number, made, None


class _Unreadable(Exception):
    """A text that cannot be read; the message says why."""


def _value(column: Any, number: int) -> Any:
    try:
        return column[number].as_py()
    except UnicodeDecodeError as error:
        raise _Unreadable(f"the text is not UTF-8: byte {error.start} ({error.reason})") from None


def _name(names: Callable[[int], Any], number: int) -> str | None:
    try:
        value = names(number)
    except _Unreadable:
        return None
    return None if value is None else str(value)


def _records(document: Document) -> list[dict[str, Any]]:
    return [
        {
            "type": mention.type,
            "spans": [{"start": start, "end": end} for start, end in mention.parts],
            "text": document.text_of(mention),
            "prob": mention.prob,
        }
        for mention in document.mentions
    ]


def _recognizer(model: str) -> Recognizer:
    """Return the recognizer of this process, with one thread, since engines run one process per core."""
    key = (os.getpid(), model)
    if key not in _loaded:
        _make_cache_writable()
        from hyperspan.recognizer import Recognizer

        _loaded[key] = Recognizer.load(_found_file(model), n_threads=1)
    return _loaded[key]


def _found_file(model: str) -> Path:
    path = Path(model)
    if path.is_file():
        return path
    if "pyspark" in sys.modules:
        from pyspark import SparkFiles

        with suppress(Exception):  # if Spark is imported but not running, nothing was shipped
            shipped = Path(SparkFiles.get(path.name))
            if shipped.is_file():
                return shipped
    raise ModelError(
        f"there is no model file {model!r} on this machine; put it where every worker sees it, or ship it with "
        "spark.sparkContext.addFile(...)"
    )


def _make_cache_writable() -> None:
    """Set a folder for compiled code if the default is not writable: otherwise numba fails.

    Nobody else can write to it, since its content is executed; it disappears with the machine's temporary files.
    """
    if "numba" in sys.modules or os.environ.get("NUMBA_CACHE_DIR"):
        return
    here = Path(__file__).parent.parent / "compiled"
    candidates = [here / "__pycache__" if (here / "__pycache__").exists() else here, Path.home() / ".cache"]
    if not any(_is_writable(folder) for folder in candidates):
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="hyperspan-numba-")
        _LOG.warning(
            "There is no folder for compiled code that this process may write to, so it compiles for itself, which "
            "takes 10 to 30 s. Set NUMBA_CACHE_DIR to one that all workers of the machine share."
        )


def _is_writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("Reading Arrow record batches", "pyarrow", "arrow") from None
    return pyarrow
