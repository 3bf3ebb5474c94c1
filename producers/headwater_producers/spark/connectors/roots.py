"""Where the operators of a JVM plan are to be found: also those of plans that a command keeps to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_producers.spark.jvm.scala import class_name, items

if TYPE_CHECKING:
    from collections.abc import Iterator


def roots(plan: Any) -> list[Any]:
    """The plans that `plan` is made of: itself, or those that it has in place of children."""
    # Commands that keep their query to themselves show it as an inner child; Delta's MERGE doesn't show its two.
    if class_name(plan) == "MergeIntoCommand":
        return [plan.target(), plan.source()]
    if plan.children().isEmpty():
        return list(items(plan.innerChildren())) or [plan]
    return [plan]


def leaves_of(plan: Any) -> Iterator[Any]:
    """The leaves of all of them, and of their subqueries."""
    for root in roots(plan):
        yield from items(root.collectLeaves())
        for subquery in items(root.subqueriesAll()):
            yield from items(subquery.collectLeaves())


def rdds_of(plan: Any) -> Iterator[Any]:
    """The JVM RDDs that a plan begins with."""
    for leaf in leaves_of(plan):
        if class_name(leaf) == "LogicalRDD":
            yield leaf.rdd()
