"""The lane: one job at a time, on a thread of its own, so that the loop fetches, decodes and folds meanwhile.

A job starts the graph, takes a checkpoint a step further, or reports the progress; `settled` decides what an error in
one comes to.
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
    """Return the transient error that a job's error amounts to.

    A checkpoint itself settles errors that an event causes. Outside of one there is no event: a database that
    fails inside may be well again later, and one that calls our own statements wrong won't.

    Raises:
        FatalError: it isn't transient.
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
    """Result of a job. `error` is what it raised; None: it returned."""

    error: BaseException | None = None


class Lane(Protocol):
    """One job at a time. Only the loop's thread calls these."""

    @property
    def busy(self) -> bool:
        """True if a job was started whose result hasn't been taken."""

    def start(self, job: Callable[[], None]) -> None:
        """Start a job. The lane must not be busy."""

    def take(self, timeout_seconds: float) -> JobResult | None:
        """Wait for the job's result, up to the timeout; None if it hasn't ended or there is none."""

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:
        """Accept no more jobs but `last`, which closes what the jobs used. Return True if it was done in time.

        In the lane, because a connection that another thread closes in mid-use breaks for both of them.
        """


class ThreadLane:
    """A lane with one daemon thread: a driver call that never returns can't keep the process from ending."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._busy = False
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """True if a job was started whose result hasn't been taken."""
        return self._busy

    def start(self, job: Callable[[], None]) -> None:
        """Start a job.

        Raises:
            RuntimeError: another one is under way.
        """
        if self._busy:
            raise RuntimeError("the lane takes one job at a time")
        self._busy = True
        self._jobs.put(job)

    def take(self, timeout_seconds: float) -> JobResult | None:
        """Wait for the job's result, up to the timeout; None if it hasn't ended or there is none."""
        if not self._busy:
            return None
        try:
            result = self._results.get(block=timeout_seconds > 0, timeout=timeout_seconds or None)
        except queue.Empty:
            return None
        self._busy = False
        return result

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:
        """Accept no more jobs but `last`. A job that doesn't end in time is left behind, and `last` waits for it."""
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
