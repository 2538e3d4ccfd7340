"""Find mentions in Arrow record batches: under Spark, Ray Data, or with pyarrow alone.

>>> from hyperspan.arrow import finder  # doctest: +SKIP
>>> find = finder("notes.model", text="note_text", doc="note_id")  # doctest: +SKIP
>>> notes.mapInArrow(find, find.spark_schema)  # doctest: +SKIP
"""

from hyperspan.integrations.arrow import Finder, finder

__all__ = ["Finder", "finder"]
