"""What `publish` can raise besides the contract's own errors.

    PublisherError
    ├── BufferFullError          the event wasn't taken: too many wait already; drop it, wait, or try again
    ├── PublisherClosedError     the event wasn't taken: `close` was called
    ├── DeliveryError            raised by `FlushReport.require_delivered` alone
    └── PublisherSettingsError   librdkafka doesn't take a setting

An event that breaks the contract is refused with `headwater_schemas.errors.EncodeError`. What happens to an event after
it was taken is never raised by `publish`: it is in the report of `flush`.
"""

from __future__ import annotations


class PublisherError(Exception):
    """Any error of the publisher."""


class BufferFullError(PublisherError):
    """The local buffer is full; the event was not taken."""


class PublisherClosedError(PublisherError):
    """The publisher is closed; the event was not taken."""


class DeliveryError(PublisherError):
    """Not every event was delivered."""


class PublisherSettingsError(PublisherError):
    """librdkafka doesn't take a setting."""
