"""Frames of JVM plans, and plans without the operators that a review ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.scala import class_name, items, statics
from headwater_producers.spark.jvm.versions import jvm_frames

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDER_OF_ROWS: Final = frozenset({"Repartition", "RepartitionByExpression", "RebalancePartitions", "ResolvedHint"})
"""Operators that distribute rows over partitions, or are hints; they change no rows."""
# Operators whose result doesn't depend on the order of rows, unless their expressions do.
_ROW_BY_ROW: Final = frozenset({"Project", "Filter", "SubqueryAlias", "View", *ORDER_OF_ROWS})


def frame_of(session: SparkSession, plan: Any) -> DataFrame:
    """Make a frame of a JVM plan; Spark analyzes the plan."""
    from pyspark.sql import DataFrame

    return DataFrame(jvm_frames(session._jvm).ofRows(session._jsparkSession, plan), session)


def unsorted(session: SparkSession, frame: DataFrame) -> DataFrame:
    """Remove sorts that have only row-by-row operators above them.

    Files and tables have their rows in no order. A sort before a limit or `monotonically_increasing_id` stays.
    """
    plan = frame._jdf.queryExecution().analyzed()
    rest = _unsorted(session, plan)
    return frame if rest is plan else frame_of(session, rest)


def _unsorted(session: SparkSession, plan: Any) -> Any:
    kind = class_name(plan)
    if kind == "Sort":
        return _unsorted(session, plan.child())
    if kind not in _ROW_BY_ROW:
        return plan
    child = plan.child()
    rest = _unsorted(session, child)
    if rest is child or not all(expression.deterministic() for expression in items(plan.expressions())):
        return plan
    python = statics(session, "org.apache.spark.api.python.PythonUtils")
    return plan.withNewChildren(python.toSeq([rest]))
