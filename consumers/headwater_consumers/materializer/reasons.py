"""Why a record is dead-lettered: a closed list, for the `headwater.reason` header and for metric labels."""

from __future__ import annotations

from enum import StrEnum


class DeadLetterReason(StrEnum):
    """What is wrong with a record, for good: trying again with the same code, schemas and bytes ends the same.

    Trouble that may pass (an unreachable database, a full disk) has no reason here, because it never dead-letters.
    The first nine are `headwater_schemas.errors.DecodeReason`, name for name.
    """

    EMPTY = "EMPTY"
    """The value is null or has 0 bytes."""

    NOT_AN_EVENT = "NOT_AN_EVENT"
    """The first bytes are of no wire format that a reader takes: garbage, or JSON."""

    TRUNCATED = "TRUNCATED"
    """The bytes end inside a field."""

    MALFORMED = "MALFORMED"
    """The bytes don't follow their schema."""

    TRAILING_BYTES = "TRAILING_BYTES"
    """Bytes are left over behind a complete event."""

    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    """A well-formed header names a schema that is neither shipped nor published."""

    INCOMPATIBLE_SCHEMA = "INCOMPATIBLE_SCHEMA"
    """The schema is known, but what it describes can't be read as an event."""

    UNKNOWN_KIND = "UNKNOWN_KIND"
    """The event is of a kind that this release doesn't know; replay it after the upgrade."""

    INVALID_EVENT = "INVALID_EVENT"
    """Well-formed, but it breaks a rule of the contract: a required field is missing, fields contradict each other."""

    UNSTORABLE_VALUE = "UNSTORABLE_VALUE"
    """A value that the graph can't hold: an integer over 64 bits, a lone surrogate."""

    FOLD_FAILED = "FOLD_FAILED"
    """Folding this event alone raised: a defect of the materializer, which the event brought to light."""

    WRITE_REFUSED = "WRITE_REFUSED"
    """A healthy database refuses this event, written alone, as wrong."""

    TOO_LARGE = "TOO_LARGE"
    """A healthy database has not the memory or time to write this event, even alone."""
