"""Repeated: what several events with one body state, folded once.

Producers repeat with every run what they know of a dataset, a plan or a job, and the decoder gives equal bodies as one
object. Such events differ in stamp and time alone: of their registers the greatest stamp counts, of their times the
first and the last. So they are joined before they are folded, which changes nothing but how long it takes.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

from headwater_schemas.events import DatasetEvent, JobEvent, JobRef, LineageEvent, PlanEvent

Body: TypeAlias = DatasetEvent | PlanEvent | JobEvent


class Repeated:
    """What is the same of some events, and what counts of the rest.

    Attributes:
        body: of all of them.
        tenant: of all of them.
        job: of all of them; None of a dataset, where it doesn't count.
        stamp: the greatest.
        first, last: event times.
    """

    __slots__ = ("body", "first", "job", "last", "stamp", "tenant")

    def __init__(self, event: LineageEvent, body: Body, job: JobRef | None, stamp: str) -> None:
        self.body = body
        self.tenant = event.tenant
        self.job = job
        self.stamp = stamp
        self.first = self.last = event.event_time

    def see(self, stamp: str, time: datetime) -> None:
        """Another event."""
        self.stamp = max(self.stamp, stamp)
        self.first = min(self.first, time)
        self.last = max(self.last, time)


def repeatable(event: LineageEvent) -> tuple[Body, JobRef | None] | None:
    """The body of an event that others may have, and the job that it is of; None of any other event.

    What happened to a dataset did so at the time of its event, which is the dataset's then.
    """
    if (plan := event.plan_event) is not None:
        return plan, event.job
    if (job := event.job_event) is not None:
        return job, event.job
    if (dataset := event.dataset_event) is not None and dataset.lifecycle is None:
        return dataset, None
    return None
