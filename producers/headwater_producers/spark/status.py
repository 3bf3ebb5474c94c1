"""CaptureStatus: what capture has done so far, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureStatus:
    """A snapshot of one session's capture.

    Attributes:
        enabled: whether callbacks are being taken.
        queued: callbacks that wait for the worker.
        received: callbacks taken since `attach`.
        dropped: callbacks turned away because the queue was full. A dropped micro-batch leaves a gap in its chain.
        failed: callbacks that could not be made into events; the first of each kind of error is logged.
        published: events handed to the sink.
        publish_failed: events the sink refused.
        last_error: the last failure, redacted.
    """

    enabled: bool
    queued: int
    received: int
    dropped: int
    failed: int
    published: int
    publish_failed: int
    last_error: str | None

    @classmethod
    def nothing(cls) -> CaptureStatus:
        """Of a capture that is turned off."""
        return cls(
            enabled=False,
            queued=0,
            received=0,
            dropped=0,
            failed=0,
            published=0,
            publish_failed=0,
            last_error=None,
        )
