"""Whether an overwrite replaces all that was there, or some partitions or rows of it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.scala import class_name, setting
from headwater_producers.spark.plan.description import WriteMode

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.context import Context
    from headwater_schemas.events import DatasetRef

logger = logging.getLogger(__name__)

_REPLACES: Final = (WriteMode.OVERWRITE, WriteMode.REPLACE)
_DYNAMIC: Final = "partitionOverwriteMode"


def of_files(
    plan: Any, mode: WriteMode, dataset: DatasetRef, context: Context, *, static: bool, partitioned: bool
) -> WriteMode:
    """Of an `InsertIntoHadoopFsRelationCommand`: named partitions, those that get rows, or a folder of the dataset.

    Args:
        plan: the command.
        mode: its own.
        dataset: that its path is, or is a part of.
        context: of the plan.
        static: whether it names a partition.
        partitioned: whether it has partition columns.
    """
    if mode is not WriteMode.OVERWRITE:
        return mode
    if static and plan.ifPartitionNotExists():
        return WriteMode.IGNORE
    ran = _as_run(context.execution)
    is_dynamic = bool(ran.dynamicPartitionOverwrite()) if ran is not None else _is_dynamic(plan.options(), context)
    # A partition's own folder is named like the dataset that it is a part of.
    is_whole = str(plan.outputPath().toUri().getPath()).endswith(f"/{dataset.name.strip('/')}")
    return WriteMode.OVERWRITE_PARTITIONS if static or (is_dynamic and partitioned) or not is_whole else mode


def of_delta(mode: WriteMode, options: Any, context: Context | None = None) -> WriteMode:
    """Of a write to a Delta table, by its options, and the session's where a `context` is given."""
    if mode not in _REPLACES:
        return mode
    is_part = setting(options, "replaceWhere") is not None or _is_dynamic(options, context)
    return WriteMode.OVERWRITE_PARTITIONS if is_part else mode


def by_condition(plan: Any) -> WriteMode:
    """Of an `OverwriteByExpression`: all rows go only where the condition is `true`."""
    condition = plan.deleteExpr()
    is_all = class_name(condition) == "Literal" and str(condition.toString()) == "true"
    return WriteMode.OVERWRITE if is_all else WriteMode.OVERWRITE_PARTITIONS


def _as_run(execution: Any) -> Any | None:
    """The command of an executed plan: it holds what it has read from the session, which may have changed since."""
    try:
        node = execution.executedPlan()
        node = node.executedPlan() if class_name(node) == "AdaptiveSparkPlanExec" else node
        return node.cmd() if class_name(node) == "DataWritingCommandExec" else None
    except Exception:
        logger.debug("lineage capture: a command has no executed plan", exc_info=True)
        return None


def _is_dynamic(options: Any, context: Context | None) -> bool:
    chosen = setting(options, _DYNAMIC)
    if chosen is None and context is not None:
        chosen = context.conf(f"spark.sql.sources.{_DYNAMIC}")
    return (chosen or "").lower() == "dynamic"
