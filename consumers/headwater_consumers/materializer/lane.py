"""Lane: runs one job at a time on a separate thread, so that the loop can fetch, decode and fold at the same time.

A job prepares topics and graph, advances a checkpoint, or reports the progress. `settled` decides the consequence of a
job's error.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from headwater_consumers.materializer.errors import (
    GraphUnavailableError,
    GraphUnusableError,
    OverCapacityError,
    PermanentError,
    UndecidedError,
)
from headwater_schemas.errors import TransientError


class JobKind(StrEnum):
    """Job of the lane."""

    START = "START"
    CHECKPOINT = "CHECKPOINT"
    REPORT = "REPORT"


@dataclass(frozen=True, slots=True)
class LaneTask:
    """One attempt at a job."""

    kind: JobKind
    run: Callable[[], None]


def settled(job: LaneTask, error: BaseException) -> TransientError:
    """Convert a job's error to a transient error.

    A checkpoint handles errors that an event causes. Other jobs have no events: an internal error of the database may
    be temporary, but a refusal of Headwater's own statements is fatal.

    Raises:
        FatalError: the error isn't transient.
        BaseException: `error` itself, if it is a defect.
    """
    if isinstance(error, TransientError):
        return error
    if isinstance(error, UndecidedError | OverCapacityError):
        return GraphUnavailableError(str(error), code=error.code)
    if isinstance(error, PermanentError) and job.kind is not JobKind.CHECKPOINT:
        raise GraphUnusableError(str(error), setting="HEADWATER_NEO4J_URI", code=error.code) from error
    raise error


@dataclass(frozen=True, slots=True)
class JobResult:
    """Result of a job. `error` is the job's exception; None if it returned."""

    error: BaseException | None = None


class Lane(Protocol):
    """One job at a time. Only the loop's thread calls these methods."""

    @property
    def busy(self) -> bool:
        """True if a job was started and its result hasn't been taken."""

    def start(self, job: Callable[[], None]) -> None:
        """Start a job. The lane must not be busy."""

    def take(self, timeout_seconds: float) -> JobResult | None:
        """Wait for the job's result, up to the timeout; None if the job hasn't ended, or there is no job."""

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:
        """Accept no more jobs except `last`, which closes the jobs' resources. Return True if `last` ended in time.

        `last` runs in the lane, because closing a connection that another thread uses breaks both threads.
        """


class ThreadLane:
    """Lane with one daemon thread: a driver call that never returns can't keep the process from ending."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._busy = False
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """True if a job was started and its result hasn't been taken."""
        return self._busy

    def start(self, job: Callable[[], None]) -> None:
        """Start a job.

        Raises:
            RuntimeError: another job is running.
        """
        if self._busy:
            raise RuntimeError("the lane takes one job at a time")
        self._busy = True
        self._jobs.put(job)

    def take(self, timeout_seconds: float) -> JobResult | None:
        """Wait for the job's result, up to the timeout; None if the job hasn't ended, or there is no job."""
        if not self._busy:
            return None
        try:
            result = self._results.get(block=timeout_seconds > 0, timeout=timeout_seconds or None)
        except queue.Empty:
            return None
        self._busy = False
        return result

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:
        """Accept no more jobs except `last`, which waits for the current job. After the timeout both are abandoned."""
        self._jobs.put(last)
        self._jobs.put(None)
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except BaseException as error:  # noqa: BLE001 - the loop's thread decides; nothing may be lost here
                self._results.put(JobResult(error))
            else:
                self._results.put(JobResult())
