"""Why a record is dead-lettered: a closed list, for the `headwater.reason` header and for metric labels."""

from __future__ import annotations

from enum import StrEnum


class DeadLetterReason(StrEnum):
    """What is wrong with a record, for good: trying again with the same code, schemas and bytes ends the same.

    Trouble that may pass (an unreachable database, a full disk) has no reason here, because it never dead-letters.
    """

    EMPTY_VALUE = "EMPTY_VALUE"
    """The value is null or has 0 bytes."""

    UNKNOWN_FORMAT = "UNKNOWN_FORMAT"
    """The first bytes are of no wire format that a reader takes: garbage, or JSON."""

    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    """A well-formed header names a schema that is neither shipped nor on the schemas topic."""

    MALFORMED_VALUE = "MALFORMED_VALUE"
    """The bytes after the header are not what its schema says, or something follows them."""

    UNKNOWN_KIND = "UNKNOWN_KIND"
    """The event is of a kind that this release doesn't know; replay it after the upgrade."""

    INVALID_EVENT = "INVALID_EVENT"
    """A required field is missing, or fields contradict each other (another body than `kind` names)."""

    UNSTORABLE_VALUE = "UNSTORABLE_VALUE"
    """A value that the graph can't hold: an integer over 64 bits, a lone surrogate."""

    FOLD_FAILED = "FOLD_FAILED"
    """Folding this event alone raised: a defect of the materializer, which the event brought to light."""

    WRITE_REFUSED = "WRITE_REFUSED"
    """A healthy database refuses this event, written alone, as wrong."""

    TOO_LARGE = "TOO_LARGE"
    """A healthy database has not the memory or time to write this event, even alone."""
