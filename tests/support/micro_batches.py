"""A foreachBatch function over three micro-batches of files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def three_files(folder: Path) -> None:
    """Files of 2, 4 and 6 rows `a,k`: 0, 1, … and k0 or k1; the source takes them in this order."""
    folder.mkdir()
    for number in (1, 2, 3):
        file = folder / f"{number}.csv"
        file.write_text("".join(f"{row},k{row % 2}\n" for row in range(number * 2)))
        # The source goes by their times.
        os.utime(file, (1_700_000_000 + number,) * 2)


def run_over_files(spark: SparkSession, folder: Path, checkpoint: Path, func: Callable[[DataFrame, int], None]) -> None:
    """Runs query `fb` over the files, one a micro-batch, with the columns `b`, which is a + 1, and `k`, to its end."""
    source = spark.readStream.schema("a INT, k STRING").option("maxFilesPerTrigger", 1).csv(str(folder))
    shaped = source.select((F.col("a") + 1).alias("b"), "k")
    writer = shaped.writeStream.foreachBatch(func).queryName("fb").option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()
