"""What can go wrong between Kafka and Neo4j, and what becomes of the events in flight.

    LineageError
    ├── TransientError                 RETRY  no event is to blame: keep them, back off, try for ever
    │   ├── BrokerUnavailableError       Kafka doesn't answer, or a rebalance is in the way of a commit
    │   ├── SchemasUnavailableError      newer schemas can't be looked up now
    │   ├── GraphUnavailableError        the database is away, is read-only, or lost a race (deadlock, uniqueness)
    │   └── DeadLettersUndeliveredError  the dead-letter topic didn't acknowledge; carries what is still to be sent
    ├── PermanentError                 SPLIT  an event is to blame: halve until it stands alone, dead-letter it
    │   ├── EventRefusedError            the database or its driver calls it wrong
    │   ├── FoldFailedError              folding it raised
    │   └── OverCapacityError            too much for a transaction's memory or time; alone, first ask the probe
    ├── UndecidedError                 PROBE  `Neo.DatabaseError.*`: a healthy database means SPLIT, a sick one RETRY
    └── FatalError                     STOP   a person has to change a setting; nothing in flight is committed
        ├── SettingsRefusedError         no client can be made of the settings
        ├── CredentialsRefusedError      Neo4j or Kafka refuses the password, or what the materializer must do
        ├── TopicsUnusableError          a topic can't be created or configured
        ├── GraphUnusableError           another version of the graph, no such database, a Neo4j too old
        └── DeadLetterLimitError         so much is dead-lettered that the fault is hardly the events'

Those that have nothing to do with the graph or dead letters are in `headwater_schemas.errors`.

No message holds any of a record's payload: those of Neo4j may quote values, so only its code is kept.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from headwater_consumers.materializer.reasons import DeadLetterReason
from headwater_schemas.errors import FatalError, LineageError, SchemasUnavailableError, TransientError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.materializer.dead_letter import DeadLetter


class RetryCause(StrEnum):
    """What a retry waits for: the closed label of the retry metrics."""

    GRAPH = "GRAPH"
    RACE = "RACE"
    BROKER = "BROKER"
    SCHEMAS = "SCHEMAS"
    DEAD_LETTERS = "DEAD_LETTERS"

    @property
    def label(self) -> str:
        """For people, as the subject of a sentence."""
        return _LABELS[self]


_LABELS = {
    RetryCause.GRAPH: "Neo4j",
    RetryCause.RACE: "Writing beside another consumer",
    RetryCause.BROKER: "Kafka",
    RetryCause.SCHEMAS: "The look-up of schemas",
    RetryCause.DEAD_LETTERS: "The dead-letter topic",
}


class GraphUnavailableError(TransientError):
    """Neo4j can't take the write now."""

    def __init__(self, message: str, *, code: str = "", cause: RetryCause = RetryCause.GRAPH) -> None:
        super().__init__(message, code=code)
        self.cause = cause


class DeadLettersUndeliveredError(TransientError):
    """The dead-letter topic didn't acknowledge every letter.

    Attributes:
        remaining: the letters still to be sent.
    """

    def __init__(self, message: str, *, remaining: Sequence[DeadLetter], code: str = "") -> None:
        super().__init__(message, code=code)
        self.remaining = remaining


class PermanentError(LineageError):
    """One of the events in flight is to blame, whoever tries and however often."""

    reason: ClassVar[DeadLetterReason]


class EventRefusedError(PermanentError):
    """The database or its driver refuses the data of one of the events."""

    reason = DeadLetterReason.WRITE_REFUSED


class FoldFailedError(PermanentError):
    """Folding raised on one of the events: a defect of ours."""

    reason = DeadLetterReason.FOLD_FAILED


class OverCapacityError(PermanentError):
    """More than one transaction may hold in memory, or write in its time."""

    reason = DeadLetterReason.TOO_LARGE


class UndecidedError(LineageError):
    """The database blames itself, which is true of a full disk and of an event that trips over a bug in it."""


class GraphUnusableError(FatalError):
    """The graph or its database isn't one that this release writes to."""


class DeadLetterLimitError(FatalError):
    """Too large a share of the last records is dead letters."""


def retry_cause(error: TransientError) -> RetryCause:
    """What a retry after this error waits for."""
    if isinstance(error, GraphUnavailableError):
        return error.cause
    if isinstance(error, DeadLettersUndeliveredError):
        return RetryCause.DEAD_LETTERS
    return RetryCause.SCHEMAS if isinstance(error, SchemasUnavailableError) else RetryCause.BROKER
