"""Walking a physical plan of the JVM, through what stands for another plan in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.scala import class_name, items

if TYPE_CHECKING:
    from collections.abc import Iterator

# Nodes that stand for another plan: the accessor that leads to it.
_INSIDE: Final = {
    "AdaptiveSparkPlanExec": "executedPlan",
    "ResultQueryStageExec": "plan",
    "ShuffleQueryStageExec": "plan",
    "BroadcastQueryStageExec": "plan",
    "TableCacheQueryStageExec": "plan",
    "CommandResultExec": "commandPhysicalPlan",
}
# A plan of more leaves (a union of thousands of files) isn't worth so many round trips.
_MAX_LEAVES: Final = 200


def opened(node: Any) -> Any:
    """The node that a plan's root stands for, where that is a wrapper of Spark's, such as adaptive execution's."""
    while (accessor := _INSIDE.get(class_name(node))) is not None:
        node = getattr(node, accessor)()
    return node


def leaves(node: Any) -> Iterator[Any]:
    """The leaves of a plan, adaptive stages opened; no more of them than are worth it."""
    waiting = [opened(node)]
    seen = 0
    while waiting and seen < _MAX_LEAVES:
        for leaf in items(waiting.pop().collectLeaves()):
            seen += 1
            if class_name(leaf) in _INSIDE:
                waiting.append(opened(leaf))
            else:
                yield leaf
