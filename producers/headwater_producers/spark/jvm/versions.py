"""Differences between the versions of Spark that capture runs on: PySpark's modules, and the JVM's methods.

The rest of capture is written for Spark 4.0, and calls these functions. The plan reader needs no such functions: plans
never contain operators or expressions that their version lacks, and an unknown class makes a description incomplete
(`plan.operators`).
"""

from __future__ import annotations

import functools
import importlib
import logging
import re
from typing import Any, Final

import pyspark
from py4j.java_collections import JavaArray
from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JError, Py4JJavaError

from headwater_producers.spark.jvm.scala import class_name, items, kept, option, private, statics

logger = logging.getLogger(__name__)

TRIED: Final = ("3.5", "4.0", "4.1", "4.2", "4.3")
"""Minor versions that the tests were run on, oldest first."""

MORE_COMMANDS: Final = frozenset({"file source write"})
"""Names of commands in listeners, in addition to those of Spark 4.0: the write within CREATE TABLE AS, since 4.2."""


WRAPPING_COMMANDS: Final = frozenset({"SaveAsV1TableCommand"})
"""Commands that only run another command, which is reported separately: `saveAsTable`, since 4.2."""

_EXECUTIONS: Final = "org.apache.spark.sql.execution.SQLExecution$"


def warn_of_unknown(version: str) -> None:
    """Log a warning, once a process, for a Spark version that capture was never tried on.

    Its jobs are captured nevertheless.
    """
    found = re.match(r"\d+\.\d+", version)
    if (name := found[0] if found else version) not in TRIED:
        _warn(name)


@functools.cache
def _warn(name: str) -> None:
    logger.warning(
        "lineage capture was tried on Spark %s, not on %s: unknown parts of plans are recorded as incomplete, "
        "and the job runs as ever",
        ", ".join(TRIED),
        name,
    )


def plan_text(plan: Any, fields: int) -> str:
    """Render a plan as Spark does: a line for each operator, with a limited number of its fields.

    Since 4.1 `TreeNode.treeString` has a fifth argument: True to list columns separately.
    """
    since_4_1 = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 1)
    verbose = suffix = operator_ids = listed_apart = False
    return str(plan.treeString(verbose, suffix, fields, operator_ids, *([listed_apart] if since_4_1 else [])))


def selected_directories(scan: Any) -> str:
    """Return the directories of a `FileSourceScanExec` with their chosen files, as text; since 4.0 in a listing."""
    selected = scan.selectedPartitions()
    directories = selected if isinstance(selected, JavaArray) else private(selected, "partitionDirectories")
    # One round trip for the whole array; py4j would fetch its elements one by one.
    return str(JavaClass("scala.Predef", scan._gateway_client).genericWrapArray(directories).mkString("\n"))


def rdd_class() -> Any:
    """Return PySpark's RDD: `pyspark.core.rdd` since 4.0, `pyspark.rdd` before."""
    return importlib.import_module("pyspark").RDD


def frame_class() -> Any:
    """Return the class of a classic session's frames: since 4.0 `DataFrame` is also Spark Connect's base."""
    return _first_module("pyspark.sql.classic.dataframe", "pyspark.sql.dataframe").DataFrame


def frame_rdd(frame_class: Any) -> Any:
    """Return the function behind `DataFrame.rdd`, which is a `cached_property` since 4.0, and was a `property`."""
    accessor = vars(frame_class)["rdd"]
    return accessor.fget if isinstance(accessor, property) else accessor.func


def jvm_sessions(jvm: Any) -> Any:
    """Return the companion of the JVM's `SparkSession`, which became `classic` in 4.0."""
    sql = jvm.org.apache.spark.sql
    return sql.classic.SparkSession if _has("pyspark.sql.classic.dataframe") else sql.SparkSession


def jvm_frames(jvm: Any) -> Any:
    """Return the companion of the JVM's `Dataset`, which became `classic` in 4.0."""
    sql = jvm.org.apache.spark.sql
    return sql.classic.Dataset if _has("pyspark.sql.classic.dataframe") else sql.Dataset


def column_of(session: Any, expression: Any) -> Any:
    """Build a PySpark column from a JVM expression: until 4.0, columns were based on expressions."""
    if _has("pyspark.sql.classic.dataframe"):
        made = statics(session, "org.apache.spark.sql.classic.ExpressionUtils").column(expression)
    else:
        made = statics(session, "org.apache.spark.sql.Column")(expression)
    return _first_module("pyspark.sql.classic.column", "pyspark.sql.column").Column(made)


def expression_of(session: Any, column: Any) -> Any:
    """Return the JVM's expression of a PySpark column."""
    if _has("pyspark.sql.classic.dataframe"):
        return session._jsparkSession.expression(column._jc)
    return column._jc.expr()


def running_executions(session: Any) -> Any:
    """Return Spark's own map of running queries: `QueryExecution` by number. Its accessor is private in 3.5."""
    companion = getattr(statics(session, _EXECUTIONS), "MODULE$")
    return private(companion, "executionIdToQueryExecution")


def declared_streams(query: Any) -> dict[int, Any]:
    """Return a running query's V2 sources as declared, by the expression id of their first column; empty since 4.0.

    Before 4.0 the leaves of its plan lack the table that is read.
    """
    if _has("pyspark.sql.classic.dataframe"):
        return {}
    leaves = (leaf for leaf in items(query.analyzedPlan().collectLeaves()) if not leaf.output().isEmpty())
    declared = (leaf for leaf in leaves if class_name(leaf) == "StreamingRelationV2")
    return {int(leaf.output().head().exprId().id()): leaf for leaf in declared}


def streamed_relation(plan: Any) -> Any | None:
    """Return the relation of a V2 sink's table in a micro-batch; None if the plan has only the table.

    Until 4.1 a `WriteToMicroBatchDataSource` has a relation only if a catalog has the table; since 4.2 always.
    For a catalog's table the relation is then a reference, by which each micro-batch looks up the table: so the catalog
    is asked.
    """
    found = plan.relation()
    match class_name(found):
        case "Some" | "None":
            return option(found)
        case "V2TableReference":
            return found.toRelation(found.catalog().loadTable(found.identifier()))
    return found


def streamed_table(plan: Any) -> Any:
    """Return the table of a V2 sink, which is only in the relation since 4.2."""
    table = kept(plan, "table")
    if class_name(table) not in ("DataSourceV2Relation", "V2TableReference"):
        return table
    return kept(streamed_relation(plan), "table")


def if_there(value: Any, accessor: str) -> Any:
    """Call a method without arguments; None if this version's class has no such method."""
    try:
        return getattr(value, accessor)()
    except Py4JError as error:
        if isinstance(error, Py4JJavaError) or "does not exist" not in str(error):
            raise
        return None


def _first_module(new: str, old: str) -> Any:
    return importlib.import_module(new if _has(new) else old)


@functools.cache
def _has(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    return True
