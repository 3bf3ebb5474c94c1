"""Folds events that share a body once per batch.

Producers repeat a dataset, plan or job with every run, and the decoder returns equal bodies as one
object. Such events differ only in stamp and time: the greatest stamp counts for their registers, the first and the last
time for their spans. Joining them before the fold only makes it faster.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from headwater_schemas.events import DatasetEvent, JobEvent, JobRef, LineageEvent, PlanEvent

Body: TypeAlias = DatasetEvent | PlanEvent | JobEvent


class Repeated:
    """Events that share a body, with the values that the fold needs.

    Attributes:
        body: common body.
        tenant: common tenant.
        job: common job; None for a dataset's events, whose jobs may differ.
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
    """Return the body of an event if others may share it, and the job that it describes; None for any other event.

    A dataset event with a lifecycle change isn't repeatable: its time is the time of the change.
    """
    if (plan := event.plan_event) is not None:
        return plan, event.job
    if (job := event.job_event) is not None:
        return job, event.job
    if (dataset := event.dataset_event) is not None and dataset.lifecycle is None:
        return dataset, None
    return None
