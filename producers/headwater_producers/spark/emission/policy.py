"""EmissionPolicy: what becomes of a job whose lineage can't be made durable."""

from __future__ import annotations

from enum import StrEnum


class EmissionPolicy(StrEnum):
    """What a pipeline asks for. Durable is what would survive the process: in its outbox, or acknowledged by Kafka.

    Attributes:
        WARN: what isn't delivered when the job ends is lost, with a warning. No outbox, unless a path is given.
        RETRY: what isn't delivered waits in the outbox, for the next start if need be.
        FAIL_JOB: as RETRY; and `close()` raises, or the process exits with 1, where not all lineage is durable.
        FAIL_CLOSED: as FAIL_JOB; and no streaming query runs on without the lineage of what it has committed.
    """

    WARN = "warn"
    RETRY = "retry"
    FAIL_JOB = "fail_job"
    FAIL_CLOSED = "fail_closed"

    @property
    def fails(self) -> bool:
        """Whether lineage that isn't durable fails the job."""
        return self in {EmissionPolicy.FAIL_JOB, EmissionPolicy.FAIL_CLOSED}
