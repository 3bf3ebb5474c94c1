"""Nodes of a physical JVM plan, including those inside Spark's wrappers of other plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from headwater_producers.spark.jvm.scala import class_name, items

# Accessor of the wrapped plan, by class of the wrapper.
_INSIDE: Final = {
    "AdaptiveSparkPlanExec": "executedPlan",
    "ResultQueryStageExec": "plan",
    "ShuffleQueryStageExec": "plan",
    "BroadcastQueryStageExec": "plan",
    "TableCacheQueryStageExec": "plan",
    "CommandResultExec": "commandPhysicalPlan",
}
_EXCHANGES: Final = frozenset({"ShuffleExchangeExec", "BroadcastExchangeExec"})
# Leaves that read the wrapped plan themselves, or wrap a node of the same plan.
_READS_ITSELF: Final = frozenset(
    {
        "FileSourceScanExec",
        "BatchScanExec",
        "RowDataSourceScanExec",
        "LocalTableScanExec",
        "RangeExec",
        "OneRowRelationExec",
        "EmptyRelationExec",
        "ReusedExchangeExec",
    }
)
# Maximum number of nodes searched for sampled scans. Two or three round trips each.
_MAX_NODES: Final = 1_000
# A plan with more leaves (a union of thousands of files) would take too many round trips.
_MAX_LEAVES: Final = 200


def opened(node: Any) -> Any:
    """Return the node inside a plan's root, if the root is one of Spark's wrappers, such as adaptive execution."""
    while (accessor := _INSIDE.get(class_name(node))) is not None:
        node = getattr(node, accessor)()
    return node


def leaves(node: Any) -> Iterator[Any]:
    """Yield the leaves of a plan, also within adaptive stages, up to a limit."""
    waiting = [opened(node)]
    seen = 0
    while waiting and seen < _MAX_LEAVES:
        for leaf in items(waiting.pop().collectLeaves()):
            seen += 1
            if class_name(leaf) in _INSIDE:
                waiting.append(opened(leaf))
            else:
                yield leaf


def reads_at_leaves_alone(executed_plan: Any, at_leaves: Sequence[Any]) -> bool:
    """Return True if a plan reads only through these leaves: not through a subquery, a cache or an RDD."""
    if len(at_leaves) >= _MAX_LEAVES or any(class_name(leaf) not in _READS_ITSELF for leaf in at_leaves):
        return False
    return "subquery" not in str(executed_plan.toString()).lower()


def sampled_scans(executed_plan: Any) -> frozenset[int] | None:
    """Return the ids of leaves that ran more often than the query needs, so that their row counters are too high.

    An empty set for most plans; None if the plan is too large to search.

    To cut rows into ranges (`orderBy`, `repartitionByRange`, a table's write order) Spark first runs the plan below the
    exchange to sample its rows, and runs partitions that turn out to be large a third time. The scans' counters count
    every run. Operators below another exchange don't run again, because the exchange keeps their result. See
    `RangePartitioner` in
    https://github.com/apache/spark/blob/v4.0.0/core/src/main/scala/org/apache/spark/Partitioner.scala
    """
    if "rangepartitioning(" not in str(executed_plan.toString()):
        return frozenset()
    found = set()
    waiting = [(executed_plan, False)]
    seen = 0
    while waiting:
        node, is_sampled = waiting.pop()
        node = opened(node)
        if (seen := seen + 1) > _MAX_NODES:
            return None
        if class_name(node) in _EXCHANGES:
            is_sampled = _is_cut_into_ranges(node)
        children = list(items(node.children()))
        if not children and is_sampled:
            found.add(int(node.id()))
        waiting += [(child, is_sampled) for child in children]
    return frozenset(found)


def _is_cut_into_ranges(exchange: Any) -> bool:
    partitioning = exchange.outputPartitioning()
    # One range needs no sample.
    return class_name(partitioning) == "RangePartitioning" and int(partitioning.numPartitions()) > 1
