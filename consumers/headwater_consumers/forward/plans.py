"""Cache of the column lineages that events cite by digest, with limited memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from headwater_schemas.events import ColumnLineage, LineageEvent
from headwater_schemas.record import KIND_HEADER

# Estimated memory of one column edge and of one dataset's name.
_EDGE_BYTES = 600
_DATASET_BYTES = 300

Key = tuple[str, str, str, str]
"""Tenant; namespace and name of the job; digest of the lineage, which is only unique within a job."""


class PlanCache:
    """Cache of column lineages by digest; the least recently cited are dropped first.

    Args:
        max_bytes: maximum estimated memory of the lineages.
        unknown: called for a citation of a lineage that isn't in the cache.
    """

    def __init__(self, max_bytes: int, unknown: Callable[[], None] = lambda: None) -> None:
        self._max_bytes = max_bytes
        self._unknown = unknown
        self._bytes = 0
        self._plans: OrderedDict[Key, tuple[ColumnLineage, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._plans)

    def remember(self, event: LineageEvent) -> None:
        """Keep the column lineage of a PLAN event."""
        plan = event.plan_event
        if plan is None or event.job is None:
            return
        key = _key(event, plan.digest)
        if key in self._plans:
            self._plans.move_to_end(key)
            return
        lineage = plan.lineage
        size = len(lineage.edges) * _EDGE_BYTES + len(lineage.datasets) * _DATASET_BYTES
        self._plans[key] = (lineage, size)
        self._bytes += size
        while self._bytes > self._max_bytes and self._plans:
            _, (_, dropped_bytes) = self._plans.popitem(last=False)
            self._bytes -= dropped_bytes

    def cited_by(self, event: LineageEvent) -> Callable[[str], ColumnLineage | None]:
        """Return a function that finds a column lineage of this event's job by digest."""

        def find(digest: str) -> ColumnLineage | None:
            key = _key(event, digest)
            found = self._plans.get(key)
            if found is None:
                self._unknown()
                return None
            self._plans.move_to_end(key)
            return found[0]

        return find


def _key(event: LineageEvent, digest: str) -> Key:
    job = event.job
    return (event.tenant, "" if job is None else job.namespace, "" if job is None else job.name, digest)


def holds_plan(headers: tuple[tuple[str, bytes | None], ...]) -> bool:
    """Return True if a record's headers show a PLAN event, or don't show the kind of event."""
    kinds = [value for name, value in headers if name == KIND_HEADER]
    return not kinds or kinds[0] == b"PLAN"
