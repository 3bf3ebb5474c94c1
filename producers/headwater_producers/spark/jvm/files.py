"""Text files of a checkpoint or a table's log, on this machine or in Spark's file systems."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from py4j.java_gateway import JavaClass


class TextFiles(Protocol):
    """Reader of small text files on any file system."""

    def read(self, path: str) -> str | None:
        """Return the file's text in UTF-8; None if the file doesn't exist."""

    def names(self, folder: str) -> list[str]:
        """List the names in a folder, unordered; empty if the folder doesn't exist."""


@dataclass(frozen=True, slots=True)
class TextFolder:
    """Folder of small text files: a checkpoint, a folder in a checkpoint, or a table."""

    path: str
    files: TextFiles

    def at(self, name: str) -> str:
        """Return the path of a name below the folder."""
        return f"{self.path.rstrip('/')}/{name}"

    def folder(self, name: str) -> TextFolder:
        """Return a folder below this one."""
        return TextFolder(self.at(name), self.files)

    def read(self, name: str) -> str | None:
        """Return the text of a file below the folder; None if the file doesn't exist."""
        return self.files.read(self.at(name))

    def names(self, name: str) -> list[str]:
        """List the names in a subfolder, unordered; empty if the subfolder doesn't exist."""
        return self.files.names(self.at(name))

    def logged_json(self, name: str) -> Any:
        """Read the JSON object after the version line of one of Spark's log files.

        None if the file is missing, or has no JSON object there.

        Raises:
            ValueError: the line begins like a JSON object, and isn't valid JSON.
        """
        _, _, body = (self.read(name) or "").partition("\n")
        line = body.strip().partition("\n")[0]
        return json.loads(line) if line.startswith("{") else None


class LocalTextFiles:
    """Reader of local text files, without a JVM. Paths are plain, or URIs with the scheme `file`, as in Spark."""

    def read(self, path: str) -> str | None:
        """Return the file's text in UTF-8; None if the file doesn't exist.

        Raises:
            OSError: the file exists and can't be read.
        """
        try:
            return plain(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        """List the names in a folder, unordered; empty if the folder doesn't exist.

        Raises:
            OSError: the folder exists and can't be read.
        """
        try:
            return [each.name for each in plain(folder).iterdir()]
        except FileNotFoundError:
            return []


def is_local(path: str) -> bool:
    """Return True if a path, as Spark resolved it, is on this machine."""
    return path.startswith(("/", "file:"))


def plain(path: str) -> Path:
    """Return the plain path of a local URI: Spark writes `file:/x` as well as `file:///x`, and escapes nothing."""
    return Path("/" + path.removeprefix("file:").lstrip("/"))


class JvmFiles:
    """Reader of text files through Hadoop's file systems, with the job's settings; local files are read directly."""

    def __init__(self, spark_context: Any) -> None:
        self._local = LocalTextFiles()
        self._client = spark_context._gateway._gateway_client
        self._configuration = spark_context._jsc.hadoopConfiguration()

    def read(self, path: str) -> str | None:
        """Return the file's text in UTF-8; None if the file doesn't exist.

        Raises:
            OSError, Py4JError: the file exists and can't be read.
        """
        if is_local(path):
            return self._local.read(path)
        file_system, hadoop_path = self._file_system_and_path(path)
        if not file_system.exists(hadoop_path):
            return None
        stream = file_system.open(hadoop_path)
        try:
            text: str = self._to_text(stream, "UTF-8")
        finally:
            stream.close()
        return text

    def names(self, folder: str) -> list[str]:
        """List the names in a folder, unordered; empty if the folder doesn't exist.

        Takes one request to the file system, and some round trips for each name.

        Raises:
            OSError, Py4JError: the folder exists and can't be read.
        """
        if is_local(folder):
            return self._local.names(folder)
        file_system, hadoop_path = self._file_system_and_path(folder)
        if not file_system.exists(hadoop_path):
            return []
        return [str(status.getPath().getName()) for status in file_system.listStatus(hadoop_path)]

    def _file_system_and_path(self, path: str) -> tuple[Any, Any]:
        hadoop_path = self._path(path)
        return hadoop_path.getFileSystem(self._configuration), hadoop_path

    # For a cached class py4j makes no further round trips; `jvm.org.apache.…` makes one for each part of the name.

    @cached_property
    def _path(self) -> Any:
        return JavaClass("org.apache.hadoop.fs.Path", self._client)

    @cached_property
    def _to_text(self) -> Any:
        return JavaClass("org.apache.commons.io.IOUtils", self._client).toString
