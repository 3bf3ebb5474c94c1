"""File access to a checkpoint: this machine's own files, or all that Hadoop reads, through a Spark session."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from headwater.console import console
from headwater_producers.spark.jvm.files import LocalTextFiles, TextFiles, is_local

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def location(text: str) -> str:
    """A checkpoint as Spark resolves it: `cp` ⇒ `file:/work/cp`; a URI stays what it is."""
    return text.rstrip("/") if _URI.match(text) else f"file:{Path(text).absolute()}"


@contextlib.contextmanager
def reading(locations: Sequence[str]) -> Iterator[TextFiles]:
    """Open file access that reads all of these. A Spark session is only started if one isn't local.

    It is set up as any other: `spark-defaults.conf`, `PYSPARK_SUBMIT_ARGS` with packages and `spark.hadoop.…`.
    """
    if all(map(is_local, locations)):
        yield LocalTextFiles()
        return
    from pyspark.sql import SparkSession

    from headwater_producers.spark.jvm.files import JvmFiles

    with console.status("Starting Spark to read the checkpoint"):
        builder = SparkSession.builder.master("local[1]").appName("headwater-reconcile")
        spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    try:
        yield JvmFiles(spark.sparkContext)
    finally:
        spark.stop()
