"""Capture: the handle that `attach` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from headwater_producers.spark.status import CaptureStatus


class Capture:
    """One session's capture."""

    def flush(self, timeout_seconds: float | None = None) -> bool:
        """Waits until everything that has happened so far is delivered. False: the time was over first."""
        raise NotImplementedError

    def close(self) -> None:
        """Flushes, ends the application's run as COMPLETE, and stops capturing. Idempotent."""
        raise NotImplementedError

    def status(self) -> CaptureStatus:
        """What has been captured so far."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
