"""Writes to Delta tables by Spark's commands: `save()`, `writeTo(…)`, CREATE TABLE AS, and its streaming sink."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any, Final

from headwater_producers.spark.connectors.catalog.tables import v1_output
from headwater_producers.spark.connectors.catalog.writes import (
    is_dynamic_overwrite,
    made_mode,
    unread_condition,
    with_replaced,
    write_made,
    write_table,
)
from headwater_producers.spark.connectors.connector_questions import JvmCommand
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.delta.tables import (
    STORAGE,
    generated_columns,
    is_made,
    latest_snapshot,
    table_path,
)
from headwater_producers.spark.jvm.paths import qualified
from headwater_producers.spark.jvm.scala import items, option, setting
from headwater_producers.spark.plan.description import PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.written import LIFECYCLES, WrittenOutputs
from headwater_schemas import naming

logger = logging.getLogger(__name__)

DYNAMIC: Final = "DeltaDynamicPartitionOverwriteCommand"
_CHECKED: Final = "spark.databricks.delta.replaceWhere.constraintCheck.enabled"
_REPLACES: Final = (WriteMode.OVERWRITE, WriteMode.REPLACE)


def to_table(command: JvmCommand) -> WrittenOutputs:
    """Describe `writeTo(…)` and INSERT to a table of a catalog."""
    # Delta has a separate command for a dynamic overwrite of partitions.
    mode = WriteMode.OVERWRITE_PARTITIONS if command.name == DYNAMIC else command.mode
    options = command.plan.writeOptions()
    written = write_table(command, _overwritten(mode, options), is_checked=_is_checked(command))
    if setting(options, "replaceWhere") is not None:
        written = replace(written, outputs=tuple(replace(each, overwritten=None) for each in written.outputs))
    table = command.plan.table().table()
    if written.staged or not is_made(table):
        return written
    try:
        return replace(written, generated=generated_columns(command.context, table, command.columns))
    except Exception as error:
        logger.debug("lineage capture: generated columns couldn't be read", exc_info=True)
        return replace(written, problem=f"the table's generated columns couldn't be read ({type(error).__name__})")


def of_query(command: JvmCommand) -> WrittenOutputs:
    """Describe CREATE TABLE … AS SELECT and similar commands; the catalog has the table by now."""
    options = command.plan.writeOptions()
    written = write_made(command, _overwritten(made_mode(command), options))
    return _with_replaced(command, written, options, table_path(command.subject))


def to_path(command: JvmCommand) -> WrittenOutputs | None:
    """Describe `save()` to a path; None without a path."""
    path, options, context = command.path(), command.options, command.context
    if not path:
        return None
    mode = _overwritten(command.mode, options, context)
    dataset = naming.path(qualified(context.session.sparkContext, path))
    output = PlanOutput(
        dataset=dataset,
        kind=SourceKind.FILE,
        type="FILE",
        mode=mode,
        format="delta",
        partition_columns=_partitioned(options),
        storage=STORAGE,
        lifecycle=LIFECYCLES.get(mode),
    )
    return _with_replaced(command, WrittenOutputs((output,)), options, path)


def to_stream(command: JvmCommand) -> WrittenOutputs:
    """Describe a streaming query's write."""
    # DeltaSink[file:/data/flights], or as the program wrote it: DeltaSink[flights]
    path = qualified(
        command.context.session.sparkContext, str(command.subject.toString()).partition("[")[2].removesuffix("]")
    )
    table = option(command.plan.catalogTable())
    output = v1_output(command.context, table, path, command.mode, "delta", STORAGE)
    return WrittenOutputs((replace(output, kind=SourceKind.TABLE),))


def _overwritten(mode: WriteMode, options: Any, context: SessionContext | None = None) -> WriteMode:
    """Return the mode of an overwrite, whole or partial, by its options, then by the session of `context`."""
    if mode not in _REPLACES:
        return mode
    is_part = setting(options, "replaceWhere") is not None or is_dynamic_overwrite(options, context)
    return WriteMode.OVERWRITE_PARTITIONS if is_part else mode


def _partitioned(options: Any) -> tuple[str, ...]:
    # Spelled as `partitionBy` passes it to a V1 source.
    columns = setting(options, "__partition_columns")
    return tuple(json.loads(columns)) if columns else ()


def _with_replaced(command: JvmCommand, written: WrittenOutputs, options: Any, path: str) -> WrittenOutputs:
    """Add the condition of `replaceWhere`, which selects the replaced rows of the table at a path."""
    if written.outputs[0].mode is not WriteMode.OVERWRITE_PARTITIONS:
        return written
    try:
        text = setting(options, "replaceWhere")
        if text is None:
            return replace(written, outputs=(replace(written.outputs[0], overwritten=()),))
        condition, columns = _parsed(text, path, command.context.session)
    except Exception as error:
        return unread_condition(written, error)
    written = with_replaced(command, written, condition, columns)
    if _is_checked(command):
        return written
    return replace(written, outputs=(replace(written.outputs[0], overwritten=None),))


def _is_checked(command: JvmCommand) -> bool:
    """Return True if Delta refuses rows for which an overwrite's condition isn't true (the default)."""
    return command.context.conf(_CHECKED) != "false"


def _parsed(text: str, path: str, session: Any) -> tuple[Any, tuple[str, ...]]:
    """Parse a condition over the table at a path; return it with the table's partition columns."""
    jvm = session._jvm
    snapshot = latest_snapshot(session, path)
    empty = session._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), snapshot.schema())
    condition = empty.where(text).queryExecution().analyzed().condition()
    return condition, tuple(str(name) for name in items(snapshot.metadata().partitionColumns()))
