"""The lane: one job at a time, on a thread of its own, so that the loop fetches, decodes and folds meanwhile."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended. `error` is what it raised; None: it returned."""

    error: BaseException | None = None


class Lane(Protocol):
    """One job at a time. Only the loop's thread calls these."""

    @property
    def busy(self) -> bool:
        """Whether a job was started whose result hasn't been taken."""

    def start(self, job: Callable[[], None]) -> None:
        """Start a job. The lane must not be busy."""

    def take(self, timeout_seconds: float) -> JobResult | None:
        """The result of the job, waiting for it so long; None where it hasn't ended or there is none."""

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:
        """No more jobs but `last`, which lets go of what the jobs used. Whether it was done in time.

        In the lane, because a connection that another thread closes in mid-use breaks for both of them.
        """


class ThreadLane:
    """A lane with one daemon thread: a driver call that never returns can't keep the process from ending."""

    def __init__(self, name: str = "writer") -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._busy = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a job was started whose result hasn't been taken."""
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
        """The result of the job, waiting for it so long; None where it hasn't ended or there is none."""
        if not self._busy:
            return None
        try:
            result = self._results.get(block=timeout_seconds > 0, timeout=timeout_seconds or None)
        except queue.Empty:
            return None
        self._busy = False
        return result

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:
        """No more jobs but `last`. A job that doesn't end in time is left behind, and `last` waits for it."""
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


class InlineLane:
    """A lane without a thread, for tests and simulations: the job runs when its result is asked for."""

    def __init__(self) -> None:
        self._job: Callable[[], None] | None = None

    @property
    def busy(self) -> bool:
        """Whether a job was started whose result hasn't been taken."""
        return self._job is not None

    def start(self, job: Callable[[], None]) -> None:
        """Keep the job until its result is asked for.

        Raises:
            RuntimeError: another one is waiting.
        """
        if self._job is not None:
            raise RuntimeError("the lane takes one job at a time")
        self._job = job

    def take(self, timeout_seconds: float) -> JobResult | None:  # noqa: ARG002 - nothing to wait for
        """Run the job and return its result."""
        if self._job is None:
            return None
        job, self._job = self._job, None
        try:
            job()
        except Exception as error:  # noqa: BLE001 - as a thread's lane does
            return JobResult(error)
        return JobResult()

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:  # noqa: ARG002 - nothing to wait for
        """Forget a waiting job; do the last."""
        self._job = None
        last()
        return True
