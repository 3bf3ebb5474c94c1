"""Errors between Kafka and Neo4j, and what the consumer does with the events in flight.

    LineageError
    ├── TransientError                 RETRY  no event is to blame: keep them, back off, try forever
    │   ├── BrokerUnavailableError       Kafka doesn't answer, or a rebalance is in the way of a commit
    │   ├── SchemasUnavailableError      newer schemas can't be looked up now
    │   ├── GraphUnavailableError        the database is away, is read-only, or lost a race (deadlock, uniqueness);
    │   │                                if it was healthy just before, and repeatedly, SPLIT
    │   ├── TooManyDeadLettersError      so much is dead-lettered that the fault is hardly the events': pause
    │   └── DeadLettersUndeliveredError  the dead-letter topic didn't acknowledge; carries what is still to be sent
    ├── PermanentError                 SPLIT  an event is to blame: halve the batch until it is alone, dead-letter it
    │   ├── EventRefusedError            the database or its driver rejects it
    │   ├── FoldFailedError              folding it raised
    │   ├── TooManyLinksError            it makes more relationships than a transaction may have
    │   └── OverCapacityError            too much for a transaction's memory or time; alone, first ask the probe
    ├── UndecidedError                 PROBE  `Neo.DatabaseError.*`: a healthy database means SPLIT, a sick one RETRY
    └── FatalError                     STOP   a person has to change a setting; nothing in flight is committed
        ├── SettingsRefusedError         no client accepts the settings
        ├── CredentialsRefusedError      Neo4j or Kafka refuses the password, or what the materializer must do
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
    """Reason why a record can never be applied: with the same code, schemas and bytes, another try fails too.

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
    """Bytes follow after a complete event."""

    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    """A well-formed header names a schema that is neither shipped nor published."""

    INCOMPATIBLE_SCHEMA = "INCOMPATIBLE_SCHEMA"
    """The schema is known, but its records can't be read as events."""

    UNKNOWN_KIND = "UNKNOWN_KIND"
    """This release doesn't know the event's kind; replay it after the upgrade."""

    INVALID_EVENT = "INVALID_EVENT"
    """Well-formed, but it breaks a rule of the contract: a required field is missing, fields contradict each other."""

    UNSTORABLE_VALUE = "UNSTORABLE_VALUE"
    """A value that the graph can't hold: an integer over 64 bits, a lone surrogate."""

    FOLD_FAILED = "FOLD_FAILED"
    """Folding this event alone raised: a defect of the materializer, which the event brought to light."""

    WRITE_REFUSED = "WRITE_REFUSED"
    """A healthy database refuses this event, even alone, as wrong."""

    TOO_LARGE = "TOO_LARGE"
    """A healthy database lacks the memory or time to write this event, even alone; it makes more relationships than
    one transaction may have; or the record is longer than any that is decoded."""

    UNFETCHABLE = "UNFETCHABLE"
    """The brokers have these offsets, but no client can read their batch: it doesn't decompress, or within no bounded
    memory, its checksum is wrong, or its codec isn't known. The letter has coordinates, and no bytes."""

    SKIPPED = "SKIPPED"
    """Somebody had it set aside: `headwater dlq skip`."""


class GraphUnavailableError(TransientError):
    """Neo4j can't take the write now.

    Attributes:
        cause: cause of the retry.
        broke: True if there was no connection, or it broke: the write may have crashed the database.
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
    """Folding raised on one of the events: a defect of ours."""

    reason = DeadLetterReason.FOLD_FAILED


class OverCapacityError(PermanentError):
    """More than one transaction can hold in memory, or write in time."""

    reason = DeadLetterReason.TOO_LARGE


class TooManyLinksError(PermanentError):
    """The events have more relationships than one transaction may have (`MOST_LINKS`)."""

    reason = DeadLetterReason.TOO_LARGE

    def __init__(self) -> None:
        super().__init__(f"Over {MOST_LINKS:,} relationships between datasets come of it: too many for a transaction.")


class UndecidedError(LineageError):
    """The database blames itself, which is true of a full disk and of an event that trips over a bug in it."""


class GraphUnusableError(FatalError):
    """This release doesn't write to a graph or database of that version."""


class TooManyDeadLettersError(TransientError):
    """Too large a share of the last records is dead letters: the consumer pauses until a person decides."""


class DeadLetterLimitError(FatalError):
    """Too large a share of the last records is dead letters, and the consumer was to end once it has caught up."""
