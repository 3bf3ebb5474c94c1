"""Tree of Headwater's errors; `retryable` is True if the same call may succeed later.

    LineageError
    ├── ContractError                     an event or a record breaks the contract
    │   ├── EncodeError                     the event can't be written: the caller's bug, names the field
    │   └── DecodeError                     dead-letter this record, continue with the next
    │       ├── EmptyRecordError              EMPTY            no value, or one of 0 bytes
    │       ├── NotAnEventError               NOT_AN_EVENT     neither of the two wire formats: garbage
    │       ├── TruncatedError                TRUNCATED        the bytes end inside a field
    │       ├── MalformedError                MALFORMED        the bytes don't follow their schema
    │       ├── TrailingBytesError            TRAILING_BYTES   bytes follow after the event
    │       ├── UnknownSchemaError            UNKNOWN_SCHEMA   no schema of that fingerprint or id, even after a refresh
    │       ├── IncompatibleSchemaError       INCOMPATIBLE_SCHEMA  the schema can't be read as a LineageEvent
    │       ├── UnknownKindError              UNKNOWN_KIND     a newer version's kind: replay it after the upgrade
    │       └── InvalidEventError             INVALID_EVENT    well-formed, but breaks a rule of the contract
    ├── TransientError                    retryable; never a reason to dead-letter
    │   ├── BrokerUnavailableError          Kafka doesn't answer, or a rebalance is in the way of a commit
    │   └── SchemasUnavailableError         the schemas topic or the registry can't be reached now
    └── FatalError                        stop; a person has to change a setting
        ├── SettingsRefusedError            no client accepts the settings
        ├── CredentialsRefusedError         wrong password, or a permission that Headwater needs is missing
        ├── TopicsUnusableError             a topic can't be created or used as configured
        └── RegistryRefusedError            the registry doesn't accept our schema

Subclasses are in `headwater_consumers.materializer.errors`, `headwater_producers.publisher.errors` and
`headwater_producers.outbox.errors`; no error is translated into another. librdkafka's errors become part of the tree in
`headwater_schemas.kafka.errors.kafka_failure`.

No message carries any of a record's payload. Transient and fatal errors name the setting or the address to check.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class DecodeReason(StrEnum):
    """Reason why a record can't be decoded: a closed list, fit for a metric's label and a dead letter's header."""

    EMPTY = "EMPTY"
    NOT_AN_EVENT = "NOT_AN_EVENT"
    TRUNCATED = "TRUNCATED"
    MALFORMED = "MALFORMED"
    TRAILING_BYTES = "TRAILING_BYTES"
    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    INCOMPATIBLE_SCHEMA = "INCOMPATIBLE_SCHEMA"
    UNKNOWN_KIND = "UNKNOWN_KIND"
    INVALID_EVENT = "INVALID_EVENT"


class LineageError(Exception):
    """Base of the errors of Headwater's libraries.

    Attributes:
        retryable: True if the same call may succeed later without a change of settings, code or data.
        code: the server's or library's name of the error (`Neo.ClientError.Statement.TypeError`, `_TRANSPORT`), or the
            class of the causing exception; empty if there is neither.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class ContractError(LineageError):
    """An event or a record breaks the contract."""


class EncodeError(ContractError):
    """The event can't be written.

    Attributes:
        field: path of the offending field, `interval_event.entries[0].inputs[1].rows`; None if unknown.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message if field is None else f"{field}: {message}")
        self.field = field


class DecodeError(ContractError):
    """The record can never be decoded by this version.

    Attributes:
        reason: reason why the record can't be decoded; each subclass sets its own.
        field: path of the offending field, if any.
        event_id: id of the event, if it could be read.
        kind: kind of the event, if it could be read.
    """

    reason: DecodeReason

    def __init__(
        self, message: str, *, field: str | None = None, event_id: str | None = None, kind: str | None = None
    ) -> None:
        super().__init__(message if field is None else f"{field}: {message}")
        self.field = field
        self.event_id = event_id
        self.kind = kind


class UnreadableRecordError(DecodeError):
    """The record's bytes are missing: its batch can't be read, or the record exceeds the size limit."""

    reason = DecodeReason.EMPTY


class EmptyRecordError(DecodeError):
    """The record has no value, or one of 0 bytes."""

    reason = DecodeReason.EMPTY


class NotAnEventError(DecodeError):
    """The value doesn't begin like either wire format."""

    reason = DecodeReason.NOT_AN_EVENT


class TruncatedError(DecodeError):
    """The value ends inside a field."""

    reason = DecodeReason.TRUNCATED


class MalformedError(DecodeError):
    """The value doesn't follow its schema: an unknown union branch, bad UTF-8, a time that no calendar has."""

    reason = DecodeReason.MALFORMED


class TrailingBytesError(DecodeError):
    """Bytes follow after a complete event."""

    reason = DecodeReason.TRAILING_BYTES


class UnknownSchemaError(DecodeError):
    """No schema has the record's fingerprint or id, not even a newly published schema."""

    reason = DecodeReason.UNKNOWN_SCHEMA


class IncompatibleSchemaError(DecodeError):
    """The writer's schema can't be resolved into this version's schema."""

    reason = DecodeReason.INCOMPATIBLE_SCHEMA


class UnknownKindError(DecodeError):
    """The event's kind is unknown to this version. The event is valid: replay it after the upgrade."""

    reason = DecodeReason.UNKNOWN_KIND


class InvalidEventError(DecodeError):
    """Well-formed Avro that breaks a rule of the contract: `field` is the path of the violation."""

    reason = DecodeReason.INVALID_EVENT


class TransientError(LineageError):
    """A service is unavailable or busy: the same call may succeed later. Never a reason to dead-letter an event."""

    retryable = True


class BrokerUnavailableError(TransientError):
    """Kafka doesn't answer, or can't serve or commit now."""


class SchemasUnavailableError(TransientError):
    """A schema can't be looked up or registered now: the schemas topic or the schema registry doesn't answer."""


class FatalError(LineageError):
    """Error that retrying can't help: a person has to change a setting.

    Attributes:
        message: the fault, without the setting.
        setting: name of the environment variable to check; empty if there is none.
    """

    def __init__(self, message: str, *, setting: str = "", code: str = "") -> None:
        super().__init__(f"{message} (setting: {setting})" if setting else message, code=code)
        self.message = message
        self.setting = setting


class SettingsRefusedError(FatalError):
    """No client accepts the settings: something is missing, malformed or unknown."""


class CredentialsRefusedError(FatalError):
    """The user or password is wrong, or the user lacks a permission that Headwater needs."""


class TopicsUnusableError(FatalError):
    """A topic can't be created or used as configured."""


class RegistryRefusedError(FatalError):
    """The registry doesn't accept our schema, e.g. because of its compatibility rule."""
