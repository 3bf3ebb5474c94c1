"""Which rows an overwrite by a condition takes away, of a V2 table or by Delta's option `replaceWhere`."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.delta.snapshots import latest_snapshot
from headwater_producers.spark.jvm.scala import items, setting
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, WriteMode
from headwater_producers.spark.plan.replaced import replaced_by

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.command import JvmCommand, Written

logger = logging.getLogger(__name__)


def with_replaced(command: JvmCommand, written: Written, options: Any = None, path: str = "") -> Written:
    """The same, with what decides which of the table's rows go; the table is read then, too.

    Args:
        command: what writes.
        written: its only output.
        options: of a write to Delta, which may have the condition; None: the command has it itself.
        path: with `options`, where the table lies.
    """
    output = written.outputs[0]
    if output.mode is not WriteMode.OVERWRITE_PARTITIONS:
        return written
    try:
        columns = output.partition_columns
        if options is None:
            condition = command.plan.deleteExpr()
        elif (text := setting(options, "replaceWhere")) is not None:
            condition, columns = _parsed(text, path, command.context.session)
        else:
            return written
        nodes = json.loads(str(condition.toJSON()))
        replaced = replaced_by(nodes, output.dataset, columns, command.context.settings.literal_texts)
    except Exception as error:
        logger.debug("lineage capture: the condition of an overwrite couldn't be read", exc_info=True)
        return replace(written, problem=f"which rows are replaced couldn't be read ({type(error).__name__})")
    return replace(written, replaced=replaced, read=(_read(output),)) if replaced else written


def _parsed(text: str, path: str, session: Any) -> tuple[Any, tuple[str, ...]]:
    """A condition over the table at a path, and the columns that this is partitioned by."""
    jvm = session._jvm
    snapshot = latest_snapshot(session, path)
    empty = session._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), snapshot.schema())
    condition = empty.where(text).queryExecution().analyzed().condition()
    return condition, tuple(str(name) for name in items(snapshot.metadata().partitionColumns()))


def _read(output: PlanOutput) -> PlanInput:
    return PlanInput(
        dataset=output.dataset,
        kind=output.kind,
        type=output.type,
        storage=output.storage,
        symlinks=output.symlinks,
    )
