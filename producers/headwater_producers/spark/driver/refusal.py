"""Hooks of PySpark before a write, for `refuse_tainted_inputs`: they check what the write would read.

    DataFrameWriter.save, parquet, …           the frame's plan
    DataFrameWriterV2.append, create, …        the frame's plan
    DataFrame.mergeInto(…).merge               the frame's plan
    DataStreamWriter.start, toTable            the frame's plan, once for all of the query's micro-batches
    SparkSession.sql                           the statement's plan, if it writes

The first `attach` with this setting installs them. In applications that are attached without it, or whose capture has
ended, and in foreachBatch functions the methods work as before. A `TaintedInputError` is the only exception that leaves
a hook; any other exception counts as an unavailable gate.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from headwater_producers.spark.driver import sessions
from headwater_producers.spark.driver.input_gate import InputGate
from headwater_producers.spark.driver.listeners import RUNNING_BATCH
from headwater_producers.spark.jvm import versions

logger = logging.getLogger(__name__)

_GATED: Final = "_headwater_gated"
"""Attribute that marks a method with a hook."""
_SAVES: Final = ("csv", "insertInto", "jdbc", "json", "orc", "parquet", "save", "saveAsTable", "text", "xml")
_V2_WRITES: Final = ("append", "create", "createOrReplace", "overwrite", "overwritePartitions", "replace")
_STARTS: Final = ("start", "toTable")
_MERGED: Final = "_headwater_merged"
"""Attribute of a `MergeIntoWriter` with the frame that it merges."""
_MAY_WRITE: Final = re.compile(r"\b(?:insert|create|replace|merge|update|delete)\b", re.IGNORECASE)


def install() -> None:
    """Put the hooks before PySpark's methods. Idempotent."""
    from pyspark.sql import SparkSession
    from pyspark.sql.readwriter import DataFrameWriter, DataFrameWriterV2
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    if hasattr(SparkSession.sql, _GATED):
        return
    for owner, names in ((DataFrameWriter, _SAVES), (DataFrameWriterV2, _V2_WRITES), (DataStreamWriter, _STARTS)):
        for name in names:
            # PySpark 3.5 writes no XML.
            if (original := getattr(owner, name, None)) is not None:
                _put(owner, name, _checked(original, lambda writer: writer._df))
    _put(SparkSession, "sql", _checked_statement(SparkSession.sql))
    _put_before_merges()


def _put_before_merges() -> None:
    frames = versions.frame_class()
    if (merge_into := getattr(frames, "mergeInto", None)) is None:
        return
    from pyspark.sql.merge import MergeIntoWriter

    @functools.wraps(merge_into)
    def merging(self: Any, *arguments: Any, **named: Any) -> Any:
        writer = merge_into(self, *arguments, **named)
        setattr(writer, _MERGED, self)
        return writer

    _put(frames, "mergeInto", merging)
    _put(MergeIntoWriter, "merge", _checked(MergeIntoWriter.merge, lambda writer: getattr(writer, _MERGED)))


def _put(owner: Any, name: str, hook: Any) -> None:
    setattr(hook, _GATED, True)
    setattr(owner, name, hook)


def _checked(original: Callable[..., Any], frame_of: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def checked(self: Any, *arguments: Any, **named: Any) -> Any:
        if (gate := _gate_of(self._spark)) is not None:
            gate.check_frame(frame_of(self))
        return original(self, *arguments, **named)

    return checked


def _checked_statement(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def sql(self: Any, sqlQuery: str, args: Any = None, **kwargs: Any) -> Any:  # noqa: N803 - PySpark's name
        gate = _gate_of(self) if _MAY_WRITE.search(str(sqlQuery)) else None
        if gate is None:
            return original(self, sqlQuery, args, **kwargs)
        with _formatted(self, sqlQuery, kwargs) as text:
            gate.check_statement(self, text, args)
            return original(self, text, args)

    return sql


@contextlib.contextmanager
def _formatted(session: Any, text: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Fill in parameters such as `{df}` as PySpark does: frames become temporary views until the statement has run."""
    if not values:
        yield text
        return
    from pyspark.sql.sql_formatter import SQLStringFormatter

    formatter = SQLStringFormatter(session)
    try:
        yield formatter.format(text, **values)
    finally:
        formatter.clear()


def _gate_of(session: Any) -> InputGate | None:
    """Return the gate of a session's application; None without a gate, or in a foreachBatch function."""
    if RUNNING_BATCH.get() is not None:
        return None
    try:
        application = sessions.known_application(session.sparkContext)
    except Exception:
        # The method itself fails with the same reason: Spark was stopped.
        logger.debug("lineage capture: the application of a write is unknown", exc_info=True)
        return None
    target = application.target if application is not None else None
    return target.input_gate if target is not None else None
