"""Small text files of a checkpoint or sink, wherever Spark keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class JvmFiles:
    """Reads local files as such, and all others through Hadoop's file systems, as the job itself is set up for them."""

    def __init__(self, spark_context: Any) -> None:
        self._jvm = spark_context._jvm
        self._configuration = spark_context._jsc.hadoopConfiguration()

    def read(self, path: str) -> str | None:
        """The file's text in UTF-8; None where there is no such file.

        Raises:
            OSError, Py4JError: it is there and can't be read.
        """
        if path.startswith(("/", "file:")):
            return _read_local(path)
        hadoop_path = self._jvm.org.apache.hadoop.fs.Path(path)
        file_system = hadoop_path.getFileSystem(self._configuration)
        if not file_system.exists(hadoop_path):
            return None
        stream = file_system.open(hadoop_path)
        try:
            text: str = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return text


def _read_local(path: str) -> str | None:
    # Spark writes `file:/x` as well as `file:///x`, and doesn't escape what is in it.
    plain = "/" + path.removeprefix("file:").lstrip("/")
    try:
        return Path(plain).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
