"""Errors that `publish` can raise, besides those of the contract and of Kafka in `headwater_schemas.errors`.

    LineageError
    └── PublisherError
        ├── BufferFullError          retryable: the event wasn't accepted, too many wait already
        ├── PublisherClosedError     the event wasn't accepted: `close` was called
        └── DeliveryError            raised only by `FlushReport.require_delivered`

An event that breaks the contract is refused with `EncodeError`. Settings that librdkafka doesn't accept are refused
with `SettingsRefusedError`. The failure of an accepted event is in the report of `flush`; `publish` never raises it.
"""

from __future__ import annotations

from headwater_schemas.errors import LineageError


class PublisherError(LineageError):
    """Base of the publisher's errors."""


class BufferFullError(PublisherError):
    """Full local buffer; the event was not accepted."""

    retryable = True


class PublisherClosedError(PublisherError):
    """Closed publisher; the event was not accepted."""


class DeliveryError(PublisherError):
    """Incomplete delivery of events."""
