"""Application run: the parent of all its writes and queries."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from headwater_producers.spark.events.batch import heartbeat_facet, job_events
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_schemas.events import LineageEvent, ProcessingType, RunError, RunEvent, RunEventType

CAPTURE_FACET: Final = "headwater_capture"
"""Run facet of an application with callbacks that didn't become events: `{"dropped": 3, "failed": 0}`."""

UNCHECKED_FACET: Final = "headwater_uncheckedInputs"
"""Run facet of an application with writes whose inputs weren't checked for bad data: `{"writes": 3, "reason": "…"}`."""


class UncheckedWrites:
    """Writes of one application that went on although their inputs couldn't be checked for bad data.

    Safe to use from many threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writes = 0
        self._reason = ""

    def add(self, reason: str) -> None:
        """Count a write.

        Args:
            reason: reason for the missing check; the latest one is reported.
        """
        with self._lock:
            self._writes += 1
            self._reason = reason

    def facets(self, producer: str) -> dict[str, str]:
        """Build the run facet; empty: all checks were made."""
        with self._lock:
            facet = {"_producer": producer, "writes": self._writes, "reason": self._reason}
        return {UNCHECKED_FACET: json.dumps(facet, sort_keys=True)} if facet["writes"] else {}


def application_started(context: EventContext, at: datetime, dedup: DedupCache) -> Iterator[LineageEvent]:
    """Build the application's job, and START of its run."""
    yield from job_events(context, context.app_job, ProcessingType.UNKNOWN, "APPLICATION", at, dedup)
    yield _state(context, RunEventType.START, at, started_at=at)


def application_running(
    context: EventContext, at: datetime, seconds: float, unchecked: UncheckedWrites
) -> LineageEvent:
    """Build a RUNNING of the application's run, with the seconds until the next heartbeat."""
    facets = heartbeat_facet(seconds, context.producer) | unchecked.facets(context.producer)
    return _state(context, RunEventType.RUNNING, at, run_facets=facets)


def application_ended(
    context: EventContext,
    kind: RunEventType,
    started_at: datetime,
    at: datetime,
    error: RunError | None,
    *,
    unchecked: UncheckedWrites,
    dropped: int = 0,
    failed: int = 0,
) -> LineageEvent:
    """Build the end of the application's run: COMPLETE, FAIL or ABORT.

    Args:
        unchecked: writes without a check of their inputs so far.
        dropped: callbacks that were turned away, since too many waited.
        failed: callbacks whose events couldn't all be built. The event records both counts.
    """
    missed = {"_producer": context.producer, "dropped": dropped, "failed": failed}
    facets = {CAPTURE_FACET: json.dumps(missed)} if dropped or failed else {}
    facets |= unchecked.facets(context.producer)
    return _state(context, kind, at, started_at=started_at, ended_at=at, error=error, run_facets=facets)


def _state(context: EventContext, kind: RunEventType, at: datetime, **fields: Any) -> LineageEvent:
    by = context.started_by
    body = RunEvent(type=kind, versions=context.versions, parent=by.parent, root=by.root, **fields)
    return context.run(body, job=context.app_job, run_id=context.app_run_id, at=at)
