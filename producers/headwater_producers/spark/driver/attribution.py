"""Attribution of plans to micro-batches, with the settings for reading them.

A query whose plan shows no micro-batch is attributed by the thread that ran it, from Spark's own record. Spark
describes the execution that runs a micro-batch by the query's id, the run's id and the batch's number. Every query on
that thread, in any session, has this execution as its root. Threads that inherit the thread's local properties count as
the same thread; other threads of the user don't. A listener doesn't get the id of its query's execution. So the
execution is searched among the newest executions in the store behind Spark's UI (which exists even without the UI): by
the accumulators of its metrics, which are unique; without metrics, by the text of its plan, including expression ids.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from headwater_producers.spark.connectors.rdd import origins, rdds_of
from headwater_producers.spark.execution import describe
from headwater_producers.spark.execution.executions import plan_key
from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.jvm.nodes import opened
from headwater_producers.spark.jvm.scala import items, option
from headwater_producers.spark.plan import KnownFrames, PlanDescription, PlanSettings, Upstream
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.links import BatchLinks, MicroBatch

logger = logging.getLogger(__name__)

# Maximum wait for Spark's own listeners, which must receive an execution before it can be looked up.
_BUS_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class PlanAttribution:
    """Micro-batch that a plan is attributed to, with the arguments for reading the plan.

    Attributes:
        batch: micro-batch in whose foreachBatch function the write was made.
        upstream: lineage of that micro-batch's frame.
    """

    batch: MicroBatch | None
    upstream: Upstream | None
    settings: PlanSettings


class Attributor:
    """Attributor of plans to their micro-batches.

    Args:
        links: the foreachBatch calls seen.
        streams: the application's streaming queries.
        frames: cache of frames whose rows continue in an RDD or a new plan.
    """

    def __init__(
        self, links: BatchLinks, streams: StreamFlow, frames: KnownFrames, settings: PlanSettings, bus: ListenerBus
    ) -> None:
        self._links = links
        self._streams = streams
        self._frames = frames
        self._settings = settings
        self._bus = bus

    def of(self, execution: Any, session: Any) -> PlanAttribution:
        """Attribute a JVM `QueryExecution`, which a `SparkSession` ran."""
        # Most applications have no foreachBatch: they needn't pay for the lookup.
        batch = self._batch(execution, session) if self._links else None
        if batch is None:
            return PlanAttribution(None, None, self._settings)
        # Inside foreachBatch a plan is built for each micro-batch. Plans that differ only in a number, such as the
        # batch's, count as one plan.
        return PlanAttribution(batch, self._streams.upstream(batch), replace(self._settings, numbers=False))

    def described(
        self, execution: Any, session: Any, earlier: PlanDescription | None = None, *, is_running: bool = False
    ) -> tuple[PlanAttribution, PlanDescription]:
        """Attribute an execution, and describe its plan with the settings of that attribution.

        Args:
            execution: the JVM's `QueryExecution`.
            session: the `SparkSession` that ran it.
            earlier: description that was read while the execution ran; used if no micro-batch is attributed.
            is_running: True if the execution hasn't ended.

        Raises:
            Py4JError, PySparkException: the execution has no readable plan.
        """
        attribution = self.of(execution, session)
        description = describe(
            execution,
            session=session,
            upstream=attribution.upstream,
            frames=self._frames,
            settings=attribution.settings,
            earlier=earlier if attribution.batch is None else None,
            is_running=is_running,
        )
        return attribution, description

    def _batch(self, execution: Any, session: Any) -> MicroBatch | None:
        owner = self._links.owner(plan_key(execution))
        if owner is None and self._streams.hands_over:
            owner = self._by_rows(execution) or self._by_thread(execution, session)
        return owner

    def _by_rows(self, execution: Any) -> MicroBatch | None:
        """Attribute by the plan's RDDs: a frame's `.rdd` may have been passed to `createDataFrame`."""
        for rdd in rdds_of(execution.analyzed()):
            if (batch := self._links.made_of(origins(rdd, self._frames).ids)) is not None:
                return batch
        return None

    def _by_thread(self, execution: Any, session: Any) -> MicroBatch | None:
        try:
            found = batch_of_thread(execution, session) if self._bus.drained(_BUS_SECONDS) else None
        except Exception:
            # The store has another implementation, or the execution was never planned: the write counts as a batch run.
            logger.debug("lineage capture: the thread that ran a query is unknown", exc_info=True)
            return None
        return self._links.call(found.query_id, found.batch_id, found.run_id) if found is not None else None


# Number of executions to search, from the last one back. Micro-batches with more queries are rare.
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
    """Return the micro-batch on whose thread a query ran; None for other threads, or without Spark's description.

    Takes up to 4 round trips for each searched execution.

    Args:
        execution: the JVM's `QueryExecution`, which has ended.
        session: a `SparkSession`.
    """
    store = execution.sparkSession().sharedState().statusStore()
    is_this = _recogniser(execution, session)
    same = [each for each in _last(store) if is_this(each)]
    if not same:
        return None
    # A frame that is written again has the same text. So times are compared, too: a query is submitted at about the
    # time when its plan is ready.
    planned_at = _planned_at(execution)
    return _described(store, min(same, key=lambda each: abs(int(each.submissionTime()) - planned_at)))


def _last(store: Any) -> Iterator[Any]:
    """Yield the newest executions, newest first."""
    count = int(store.executionsCount())
    yield from reversed(list(items(store.executionsList(max(0, count - _LOOKED_AT), _LOOKED_AT))))


def _recogniser(execution: Any, session: Any) -> Callable[[Any], bool]:
    # The metrics are those of an adaptive plan's final form; its text differs from the text in Spark's store.
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
