"""Folds events that share a body once per batch.

Producers repeat a dataset, plan or job with every run, and the decoder returns equal bodies as one object. Such events
differ only in stamp and time: the greatest stamp counts for registers, the first and last time for spans. Joining the
events before the fold saves time, and doesn't change the result.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from headwater_schemas.events import DatasetEvent, JobEvent, JobRef, LineageEvent, PlanEvent

Body: TypeAlias = DatasetEvent | PlanEvent | JobEvent


class Repeated:
    """Events that share a body, with the values that the fold needs.

    Attributes:
        body: the common body.
        tenant: the common tenant.
        job: the common job; None for events of a dataset, whose jobs may differ.
        stamp: greatest stamp.
        first, last: the earliest and the latest event time.
    """

    __slots__ = ("body", "first", "job", "last", "stamp", "tenant")

    def __init__(self, event: LineageEvent, body: Body, job: JobRef | None, stamp: str) -> None:
        self.body = body
        self.tenant = event.tenant
        self.job = job
        self.stamp = stamp
        self.first = self.last = event.event_time

    def see(self, stamp: str, time: datetime) -> None:
        """Add another event."""
        self.stamp = max(self.stamp, stamp)
        self.first = min(self.first, time)
        self.last = max(self.last, time)


def repeatable(event: LineageEvent) -> tuple[Body, JobRef | None] | None:
    """Return the body of an event and the job that it describes; None if other events can't share the body.

    A dataset event with a lifecycle change isn't repeatable: its time is the time of the change.
    """
    if (plan := event.plan_event) is not None:
        return plan, event.job
    if (job := event.job_event) is not None:
        return job, event.job
    if (dataset := event.dataset_event) is not None and dataset.lifecycle is None:
        return dataset, None
    return None
