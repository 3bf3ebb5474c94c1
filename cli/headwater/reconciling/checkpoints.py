"""Access to the files of a checkpoint or table, on this machine or through a Spark session."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from headwater.console import console
from headwater.errors import HeadwaterError, InputError, UnreachableError
from headwater_producers.spark.jvm.files import LocalTextFiles, TextFiles, is_local
from headwater_schemas.redaction import redact

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def location(text: str) -> str:
    """Resolve a checkpoint like Spark: `cp` ⇒ `file:/work/cp`; a URI stays unchanged."""
    return text.rstrip("/") if _URI.match(text) else f"file:{Path(text).absolute()}"


@contextlib.contextmanager
def reading(locations: Sequence[str]) -> Iterator[TextFiles]:
    """Open file access for all these locations. If a location isn't local, a Spark session is started.

    The session has the usual configuration: `spark-defaults.conf`, `PYSPARK_SUBMIT_ARGS` with packages and
    `spark.hadoop.…`.
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


NAME_THE_FOLDER: Final = "Name the folder that was the query's checkpointLocation."
# Classes of Hadoop and Java, by the last part of their names.
_NO_SUCH_STORE: Final = {"ClassNotFoundException", "NoClassDefFoundError", "UnsupportedFileSystemException"}
_UNREACHABLE: Final = {
    "ConnectException",
    "ConnectTimeoutException",
    "NoRouteToHostException",
    "SocketTimeoutException",
    "UnknownHostException",
}
_LONGEST_CHAIN: Final = 20


@contextlib.contextmanager
def unreadable_as_errors(location: str) -> Iterator[None]:
    """Convert errors of reading a checkpoint within the block to errors of the command.

    Raises:
        InputError: the location is a file, may not be read, or Spark lacks a library for it.
        UnreachableError: the host doesn't answer.
    """
    try:
        yield
    except NotADirectoryError as error:
        raise InputError(f"{location} is a file, not a folder.", fix=NAME_THE_FOLDER) from error
    except OSError as error:
        raise InputError(f"{location} can't be read: {error.strerror or error}.", fix=NAME_THE_FOLDER) from error
    except Exception as error:
        # PySpark turns some of the JVM's exceptions into its own.
        thrown = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        if thrown is None:
            raise
        raise _of_the_jvm(location, _chain(thrown)) from error


def _chain(thrown: Any) -> list[tuple[str, str]]:
    """Names and messages of a Java exception and its causes."""
    chain: list[tuple[str, str]] = []
    while thrown is not None and len(chain) < _LONGEST_CHAIN:
        chain.append((str(thrown.getClass().getName()), str(thrown.getMessage() or "")))
        thrown = thrown.getCause()
    return chain


def _of_the_jvm(location: str, chain: list[tuple[str, str]]) -> HeadwaterError:
    name, message = chain[-1]
    message_text = redact(" ".join(message.split()) or name)
    names = {each.rpartition(".")[2] for each, _ in chain}
    if names & _UNREACHABLE:
        return UnreachableError(
            f"{location} can't be reached: {message_text}.",
            fix="Check its host and port, and the network from here.",
        )
    if names & _NO_SUCH_STORE:
        scheme = location.partition(":")[0]
        package = "org.apache.hadoop:hadoop-aws:VERSION" if scheme == "s3a" else "GROUP:ARTIFACT:VERSION"
        return InputError(
            f"Spark here has no package for {scheme}: {message_text}.",
            fix=f'Add the package: PYSPARK_SUBMIT_ARGS="--packages {package} pyspark-shell".',
        )
    return InputError(f"{location} can't be read: {name.rpartition('.')[2]}: {message_text}.", fix=NAME_THE_FOLDER)
