"""Errors of the outbox.

LineageError
└── OutboxError
    ├── OutboxFullError       retryable: the event wasn't accepted, the outbox is full
    ├── OutboxClosedError     the event wasn't accepted: `close` was called
    └── OutboxUnusableError   the folder or a file in it can't be used: not writable, no space, damaged
"""

from __future__ import annotations

from headwater_schemas.errors import LineageError


class OutboxError(LineageError):
    """Base of the outbox's errors."""


class OutboxFullError(OutboxError):
    """Full outbox; the event was not accepted. Retry once Kafka has acknowledged some events."""

    retryable = True


class OutboxClosedError(OutboxError):
    """Closed outbox; the event was not accepted."""


class OutboxUnusableError(OutboxError):
    """Unusable folder or file. The text names the folder or file, and the reason."""
