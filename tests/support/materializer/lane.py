"""A lane without a thread: the job runs on the caller's, when its result is asked for."""

from __future__ import annotations

from collections.abc import Callable

from headwater_consumers.materializer.lane import JobResult


class InlineLane:
    """A `Lane` for tests and simulations."""

    def __init__(self) -> None:
        self._job: Callable[[], None] | None = None

    @property
    def busy(self) -> bool:
        """True while a started job's result hasn't been taken."""
        return self._job is not None

    def start(self, job: Callable[[], None]) -> None:
        """Keep the job until its result is asked for.

        Raises:
            RuntimeError: another one is waiting.
        """
        if self._job is not None:
            raise RuntimeError("the lane takes one job at a time")
        self._job = job

    def take(self, timeout_seconds: float) -> JobResult | None:
        """Run the job and return its result."""
        if self._job is None:
            return None
        job, self._job = self._job, None
        try:
            job()
        except Exception as error:  # noqa: BLE001 - as a thread's lane does
            return JobResult(error)
        return JobResult()

    def close(self, last: Callable[[], None], timeout_seconds: float) -> bool:
        """Forget a waiting job; do the last."""
        self._job = None
        last()
        return True
