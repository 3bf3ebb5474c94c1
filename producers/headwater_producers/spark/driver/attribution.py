"""Attribution of plans to micro-batches, with the settings for reading them."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any, Final

from headwater_producers.spark.connectors.rdd import origins, rdds_of
from headwater_producers.spark.execution import describe
from headwater_producers.spark.execution.batch_thread import batch_of_thread
from headwater_producers.spark.execution.executions import plan_key
from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.plan import KnownFrames, PlanDescription, PlanSettings, Upstream
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.links import BatchLinks, MicroBatch

logger = logging.getLogger(__name__)

# Longest wait for Spark's own listeners, which must receive an execution before it can be looked up.
_BUS_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class PlanAttribution:
    """Micro-batch that a plan is attributed to, with the arguments for reading the plan.

    Attributes:
        batch: the micro-batch in whose foreachBatch function it was made.
        upstream: lineage of that micro-batch's frame.
        settings: settings for reading the plan.
    """

    batch: MicroBatch | None
    upstream: Upstream | None
    settings: PlanSettings


class Attributor:
    """Attributor of plans to the micro-batches that they belong to.

    Args:
        links: the foreachBatch calls seen.
        streams: the application's streaming queries.
        frames: frames that live on as RDDs.
        settings: settings for reading plans.
        bus: Spark's listener bus.
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
        # Such a plan is made anew with each micro-batch: its number, or the minute, must not make another plan of it.
        return PlanAttribution(batch, self._streams.upstream(batch), replace(self._settings, numbers=False))

    def described(
        self, execution: Any, session: Any, earlier: PlanDescription | None = None, *, is_running: bool = False
    ) -> tuple[PlanAttribution, PlanDescription]:
        """Attribute an execution, and describe its plan with the settings of that attribution.

        Args:
            execution: the JVM's `QueryExecution`.
            session: the `SparkSession` that ran it.
            earlier: description made while it ran, where it was attributed to no micro-batch.
            is_running: True if it hasn't ended.

        Raises:
            Py4JError, PySparkException: it has no plan to read.
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
        """Attribute by the plan's RDDs: a frame's `.rdd` may have been handed to `createDataFrame`."""
        for rdd in rdds_of(execution.analyzed()):
            if (batch := self._links.made_of(origins(rdd, self._frames).ids)) is not None:
                return batch
        return None

    def _by_thread(self, execution: Any, session: Any) -> MicroBatch | None:
        try:
            found = batch_of_thread(execution, session) if self._bus.drained(_BUS_SECONDS) else None
        except Exception:
            # The store has another implementation, or the execution was never planned: the write is a batch run.
            logger.debug("lineage capture: the thread that ran a query is unknown", exc_info=True)
            return None
        return self._links.call(found.query_id, found.batch_id, found.run_id) if found is not None else None
