"""Paths as Hadoop completes them."""

from __future__ import annotations

from typing import Any


def qualified(spark_context: Any, path: str) -> str:
    """A path as it is written to: `out` is a folder of the user's, `/out` on the default file system.

    Plans of sources that take their path as an option have it as the program wrote it. Some five round trips.

    Raises:
        Py4JJavaError: it is no path, or of no file system that Hadoop knows.
    """
    hadoop_path = spark_context._jvm.org.apache.hadoop.fs.Path(path)
    file_system = hadoop_path.getFileSystem(spark_context._jsc.hadoopConfiguration())
    return str(file_system.makeQualified(hadoop_path).toString())
