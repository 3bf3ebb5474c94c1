"""Attribution of a query to the micro-batch whose thread ran it, by Spark's own record.

Spark describes the execution that runs a micro-batch by the query's id, the run's and the batch's number, and every
query run on that thread, whatever its session, has that execution for its root. Threads that inherit a thread's local
properties are part of it; others of the user's own are not. A listener doesn't get which execution its query was; so
it is sought among the last ones in the store behind Spark's UI, which is kept with the UI or without: by its metrics'
accumulators, which no other has, or where it counts nothing by the text of its plan, expression ids and all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from headwater_producers.spark.jvm.nodes import opened
from headwater_producers.spark.jvm.scala import items, option

# Executions searched, from the last one back. A micro-batch with more queries than these is rare.
_LOOKED_AT: Final = 50
# `name\nid = <query>\nrunId = <run>\nbatch = 7`: StreamExecution.getBatchDescriptionString
_DESCRIPTION: Final = re.compile(r"\bid = ([0-9a-f-]{36})\s+runId = ([0-9a-f-]{36})\s+batch = (\d+)\s*$")
# `SQLMetric(id: 7, …)` of the plan, `SQLPlanMetric(name,7,sum)` of the store.
_OF_PLAN: Final = re.compile(r"\(id: (\d+),")
_OF_STORE: Final = re.compile(r",(\d+),\w+\)")
_EXPLAIN_MODE: Final = "spark.sql.ui.explainMode"


@dataclass(frozen=True, slots=True)
class RunBatch:
    """Micro-batch as Spark describes it."""

    query_id: str
    run_id: str
    batch_id: int


def batch_of_thread(execution: Any, session: Any) -> RunBatch | None:
    """Return the micro-batch on whose thread a query ran; None for another thread, or one that Spark doesn't describe.

    Takes up to 4 round trips for each execution looked at.

    Args:
        execution: the JVM's `QueryExecution`, which has ended.
        session: a `SparkSession`.
    """
    store = execution.sparkSession().sharedState().statusStore()
    is_this = _recogniser(execution, session)
    same = [each for each in _last(store) if is_this(each)]
    if not same:
        return None
    # A frame that is written again has the same text: each is submitted at about the time when its plan is ready.
    planned_at = _planned_at(execution)
    return _described(store, min(same, key=lambda each: abs(int(each.submissionTime()) - planned_at)))


def _last(store: Any) -> Iterator[Any]:
    """Yield the newest executions, newest first."""
    count = int(store.executionsCount())
    yield from reversed(list(items(store.executionsList(max(0, count - _LOOKED_AT), _LOOKED_AT))))


def _recogniser(execution: Any, session: Any) -> Callable[[Any], bool]:
    # An adaptive plan counts in its final form; its text also differs from the one in Spark's store.
    metrics = set(_OF_PLAN.findall(str(opened(execution.executedPlan()).metrics().toString())))
    if metrics:
        return lambda each: not metrics.isdisjoint(_OF_STORE.findall(str(each.metrics().toString())))
    modes = session._jvm.org.apache.spark.sql.execution.ExplainMode
    text = str(execution.explainString(modes.fromString(session.conf.get(_EXPLAIN_MODE, "formatted"))))
    return lambda each: str(each.physicalPlanDescription()) == text


def _planned_at(execution: Any) -> int:
    """Return the time at which a plan was ready, by the JVM's clock in milliseconds."""
    planning = option(execution.tracker().phases().get("planning"))
    return int(planning.endTimeMs()) if planning is not None else 0


def _described(store: Any, execution: Any) -> RunBatch | None:
    root = option(store.execution(execution.rootExecutionId()))
    described = _DESCRIPTION.search(str(root.description())) if root is not None else None
    if described is None:
        return None
    query_id, run_id, batch_id = described.groups()
    return RunBatch(query_id, run_id, int(batch_id))
