"""Paths as Hadoop completes them."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote

# Complete paths: with a scheme and a host, or local. hdfs:/data and hdfs:///data lack the host: Hadoop adds it.
_WHOLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]|file:/")


def of_uri(uri: Any) -> str:
    """Return a JVM `URI` as Hadoop's `Path` prints it: catalogs keep locations percent-encoded, `/a%20%5Bb%5D`."""
    return unquote(str(uri.toString()))


def qualified(spark_context: Any, path: str) -> str:
    """Complete a path of a program: `out` is relative to the user's folder, `/out` is on the default file system.

    Sources with a path option have the path in the plan exactly as in the program. Takes about five round trips, none
    for a complete path.

    Raises:
        Py4JJavaError: the text is no path, or Hadoop doesn't know its file system.
    """
    if _WHOLE.match(path):
        return path
    hadoop_path = spark_context._jvm.org.apache.hadoop.fs.Path(path)
    file_system = hadoop_path.getFileSystem(spark_context._jsc.hadoopConfiguration())
    return str(file_system.makeQualified(hadoop_path).toString())
