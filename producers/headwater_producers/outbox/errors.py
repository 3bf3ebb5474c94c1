"""Errors of the outbox.

LineageError
└── OutboxError
    ├── OutboxFullError       retryable: the event wasn't taken, the outbox holds as much as it may
    ├── OutboxClosedError     the event wasn't taken: `close` was called
    └── OutboxUnusableError   the folder or a file in it can't be used: not writable, no space, damaged
"""

from __future__ import annotations

from headwater_schemas.errors import LineageError


class OutboxError(LineageError):
    """Any error of the outbox."""


class OutboxFullError(OutboxError):
    """There is no room for the event; it was not taken. There is again when Kafka has acknowledged some."""

    retryable = True


class OutboxClosedError(OutboxError):
    """The outbox is closed; the event was not taken."""


class OutboxUnusableError(OutboxError):
    """The folder or a file in it can't be used. The text names it, with the reason."""
