"""Find mentions under Spark in local mode, in a separate process: ``python -m benchmarks.spark_process JSON``.

The clock starts when the session is running and every worker has loaded the model. The timed part reads Parquet, finds
mentions and counts them.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from hyperspan.arrow import finder


def measure(model: str, texts: str, executors: int, rounds: int, longest: int) -> dict[str, Any]:
    """Return the seconds of each round, and the counts of rows, errors and mentions."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as of

    spark = (
        SparkSession.builder.master(f"local[{executors}]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    find = finder(model, longest=longest)
    notes = spark.read.parquet(texts).repartition(2 * executors).cache()
    notes.count()
    seconds = []
    for _ in range(rounds + 1):
        # A new query each time: for the same one, Spark would reuse the data that it has shuffled before.
        found = notes.mapInArrow(find, find.spark_schema).agg(
            of.count_distinct("doc").alias("rows"),
            of.count("error").alias("errors"),
            of.sum(of.when(of.col("mentions").isNull(), 0).otherwise(of.size("mentions"))).alias("mentions"),
        )
        begin = time.perf_counter()
        (row,) = found.collect()
        seconds.append(time.perf_counter() - begin)
    spark.stop()
    return {"seconds": seconds[1:], "rows": row["rows"], "errors": row["errors"], "mentions": row["mentions"]}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
