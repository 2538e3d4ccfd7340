"""Read and write BigBIO rows in Parquet; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from hyperspan.errors import MissingExtraError

MAGIC = b"PAR1"

_ROWS = 256
"""How many rows are in memory at a time."""


def read_parquet(path: Path) -> Iterator[Any]:
    """Yield the rows of a file as plain data."""
    pyarrow = _pyarrow()
    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS):
            yield from batch.to_pylist()


def column_names(path: Path) -> list[str] | None:
    """Return the names of the columns; None if pyarrow is missing."""
    try:
        pyarrow = _pyarrow()
        names: list[str] = pyarrow.parquet.read_schema(path).names
        return names
    except MissingExtraError:
        return None
    except (OSError, ValueError):
        return []


def write_parquet(rows: Iterable[dict[str, Any]], file: IO[bytes]) -> None:
    """Write rows in batches."""
    pa = _pyarrow()
    schema = _schema(pa)
    names = set(schema.names)
    with pa.parquet.ParquetWriter(file, schema) as writer:
        rest = iter(rows)
        while some := list(islice(rest, _ROWS)):
            known = [{key: value for key, value in row.items() if key in names} for row in some]
            writer.write_table(pa.Table.from_pylist(known, schema=schema))


def _schema(pa: Any) -> Any:
    texts, offsets = pa.list_(pa.string()), pa.list_(pa.list_(pa.int32()))
    normalized = pa.list_(pa.struct([("db_name", pa.string()), ("db_id", pa.string())]))

    def entries(**fields: Any) -> Any:
        return pa.list_(pa.struct([("id", pa.string()), *fields.items()]))

    trigger = pa.struct([("text", texts), ("offsets", offsets)])
    argument = pa.struct([("role", pa.string()), ("ref_id", pa.string())])
    return pa.schema(
        [
            ("id", pa.string()),
            ("document_id", pa.string()),
            ("passages", entries(type=pa.string(), text=texts, offsets=offsets)),
            ("entities", entries(type=pa.string(), text=texts, offsets=offsets, normalized=normalized)),
            ("events", entries(type=pa.string(), trigger=trigger, arguments=pa.list_(argument))),
            ("coreferences", entries(entity_ids=texts)),
            (
                "relations",
                entries(type=pa.string(), arg1_id=pa.string(), arg2_id=pa.string(), normalized=normalized),
            ),
        ]
    )


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet", "pyarrow", "arrow") from None
    return pyarrow
