"""Errors between Kafka and Neo4j, and the consumer's reaction for the events in flight.

    LineageError
    ├── TransientError                 RETRY  no event is at fault: keep all events, back off, try forever
    │   ├── BrokerUnavailableError       Kafka doesn't answer, or a rebalance prevents a commit
    │   ├── SchemasUnavailableError      newer schemas can't be looked up now
    │   ├── GraphUnavailableError        the database is unavailable or read-only, or a race was lost (deadlock,
    │   │                                uniqueness); SPLIT if a healthy database fails repeatedly at one write
    │   ├── TooManyDeadLettersError      too many dead letters to be a fault of single events: pause
    │   └── DeadLettersUndeliveredError  the dead-letter topic didn't acknowledge; has the letters to send again
    ├── PermanentError                 SPLIT  an event is at fault: halve the batch until it is alone, dead-letter it
    │   ├── EventRefusedError            the database or its driver rejects the event
    │   ├── FoldFailedError              folding the event raised
    │   ├── TooManyLinksError            the event makes more relationships than a transaction may have
    │   └── OverCapacityError            too much for a transaction's memory or time; for a single event, PROBE first
    ├── UndecidedError                 PROBE  `Neo.DatabaseError.*`: SPLIT if the database is healthy, else RETRY
    └── FatalError                     STOP   a person has to change a setting; nothing in flight is committed
        ├── SettingsRefusedError         no client accepts the settings
        ├── CredentialsRefusedError      Neo4j or Kafka refuses the password, or a necessary operation
        ├── TopicsUnusableError          a topic can't be created or configured
        ├── GraphUnusableError           another version of the graph, no such database, a Neo4j too old
        └── DeadLetterLimitError         like TooManyDeadLettersError, for a consumer that ends once it has caught up

Errors unrelated to the graph and dead letters are in `headwater_schemas.errors`; DeadLettersUndeliveredError is in
`dead_letters.topic`.

No message contains a record's payload: Neo4j's messages may quote values, so only their code is kept.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from headwater_consumers.kafka.notices import RetryCause
from headwater_graph.limits import MOST_LINKS
from headwater_schemas.errors import FatalError, LineageError, TransientError


class DeadLetterReason(StrEnum):
    """Reason why a record can't be applied: with the same code, schemas and bytes, another try fails, too.

    Temporary faults (an unreachable database, a full disk) aren't in this list, because they never cause dead letters.
    The first nine are `headwater_schemas.errors.DecodeReason`, name for name.
    """

    EMPTY = "EMPTY"
    """The value is null or has 0 bytes."""

    NOT_AN_EVENT = "NOT_AN_EVENT"
    """The first bytes don't belong to a known wire format: garbage, or JSON."""

    TRUNCATED = "TRUNCATED"
    """The bytes end inside a field."""

    MALFORMED = "MALFORMED"
    """The bytes don't follow their schema."""

    TRAILING_BYTES = "TRAILING_BYTES"
    """Bytes follow after a complete event."""

    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    """A well-formed header names a schema that is neither shipped nor published."""

    INCOMPATIBLE_SCHEMA = "INCOMPATIBLE_SCHEMA"
    """The schema is known, but its records can't be read as events."""

    UNKNOWN_KIND = "UNKNOWN_KIND"
    """This release doesn't know the event's kind; replay it after the upgrade."""

    INVALID_EVENT = "INVALID_EVENT"
    """The event is well-formed, but breaks a rule of the contract: a required field is missing, or fields contradict
    each other."""

    UNSTORABLE_VALUE = "UNSTORABLE_VALUE"
    """The graph can't store a value: an integer over 64 bits, a lone surrogate."""

    FOLD_FAILED = "FOLD_FAILED"
    """Folding only this event raised: a defect of the materializer, which the event triggered."""

    WRITE_REFUSED = "WRITE_REFUSED"
    """A healthy database rejects this event, even alone."""

    TOO_LARGE = "TOO_LARGE"
    """A healthy database lacks the memory or time to write this event, even alone; the event makes more relationships
    than one transaction may have; or the record exceeds the maximum length."""

    UNFETCHABLE = "UNFETCHABLE"
    """The brokers have these offsets, but no client can read their batch: it can't be decompressed with limited memory,
    its checksum is wrong, or its codec is unknown. The letter has coordinates, and no bytes."""

    SKIPPED = "SKIPPED"
    """A person skipped the record by `headwater dlq skip`, or consumers ended repeatedly while they processed it."""


class GraphUnavailableError(TransientError):
    """Neo4j can't accept the write now.

    Attributes:
        broke: True if there was no connection, or the connection broke: the write may have crashed the database.
    """

    def __init__(
        self, message: str, *, code: str = "", cause: RetryCause = RetryCause.GRAPH, broke: bool = False
    ) -> None:
        super().__init__(message, code=code)
        self.cause = cause
        self.broke = broke


class PermanentError(LineageError):
    """An event in flight is at fault: repeating doesn't help."""

    reason: ClassVar[DeadLetterReason]


class EventRefusedError(PermanentError):
    """The database or its driver refuses the data of one of the events."""

    reason = DeadLetterReason.WRITE_REFUSED


class FoldFailedError(PermanentError):
    """Folding one of the events raised: a defect of Headwater."""

    reason = DeadLetterReason.FOLD_FAILED


class OverCapacityError(PermanentError):
    """The events need more memory or time than one transaction has."""

    reason = DeadLetterReason.TOO_LARGE


class TooManyLinksError(PermanentError):
    """The events have more relationships than one transaction may have (`MOST_LINKS`)."""

    reason = DeadLetterReason.TOO_LARGE

    def __init__(self) -> None:
        super().__init__(f"More than {MOST_LINKS:,} relationships between datasets: too many for one transaction.")


class UndecidedError(LineageError):
    """The database reports an internal error: the cause may be a full disk, or an event that triggers a bug."""


class GraphUnusableError(FatalError):
    """This release doesn't write to a graph or database of that version."""


class TooManyDeadLettersError(TransientError):
    """Too large a share of the last records is dead letters: the consumer pauses until a person decides."""


class DeadLetterLimitError(FatalError):
    """Too large a share of the last records is dead letters, for a consumer that ends once it has caught up."""
