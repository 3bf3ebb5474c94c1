"""Scans that run once more than the query needs them, so that their row counter is too high.

To cut rows into ranges (`orderBy`, `repartitionByRange`, a table's write order) Spark first runs what is below the
exchange to sample it, and a third time for partitions that turn out to be large. The counters of its scans go on
counting. What is below another exchange isn't run again: its result is there already. See `RangePartitioner` in
https://github.com/apache/spark/blob/v4.0.0/core/src/main/scala/org/apache/spark/Partitioner.scala
"""

from __future__ import annotations

from typing import Any, Final

from headwater_producers.spark.jvm.nodes import opened
from headwater_producers.spark.jvm.scala import class_name, items

_EXCHANGES: Final = frozenset({"ShuffleExchangeExec", "BroadcastExchangeExec"})
# Two or three round trips each.
_MAX_NODES: Final = 1_000


def sampled_scans(executed_plan: Any) -> frozenset[int] | None:
    """The ids of the leaves that were sampled, none in most plans; None: the plan is too large to be looked through."""
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
