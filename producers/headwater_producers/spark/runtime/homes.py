"""Which micro-batch a plan belongs to, and what that says of how to read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.jvm.execution import plan_key
from headwater_producers.spark.plan import PlanSettings, Upstream
from headwater_producers.spark.streaming.links import BatchLinks, MicroBatch

if TYPE_CHECKING:
    from headwater_producers.spark.streaming.flow import StreamFlow


@dataclass(frozen=True, slots=True)
class PlanHome:
    """What a plan belongs to, which is needed to read it.

    Attributes:
        batch: the micro-batch in whose foreachBatch function it was made.
        upstream: what that batch's frame comes from.
        settings: for reading it.
    """

    batch: MicroBatch | None
    upstream: Upstream | None
    settings: PlanSettings


class Homes:
    """Finds out which micro-batch a plan belongs to.

    Args:
        links: the foreachBatch calls seen.
        streams: the application's streaming queries.
        settings: for reading plans.
    """

    def __init__(self, links: BatchLinks, streams: StreamFlow, settings: PlanSettings) -> None:
        self._links = links
        self._streams = streams
        self._settings = settings

    def of(self, execution: Any) -> PlanHome:
        """Of a JVM `QueryExecution`."""
        # Most applications have no foreachBatch: they needn't pay for the look.
        batch = self._links.owner(plan_key(execution)) if self._links else None
        if batch is None:
            return PlanHome(None, None, self._settings)
        # Made anew with each micro-batch: the batch's number, or the minute, makes no other plan of it.
        return PlanHome(batch, self._streams.upstream(batch.query_id), replace(self._settings, numbers=False))
