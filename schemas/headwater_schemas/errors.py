"""Errors of the contract, and what becomes of the event each is about.

    ContractError
    ├── EncodeError                       the event can't be written: the caller's bug, names the field
    ├── DecodeError                       PERMANENT: dead-letter this record, go on with the next
    │   ├── EmptyRecordError                EMPTY            no value, or one of 0 bytes
    │   ├── NotAnEventError                 NOT_AN_EVENT     neither of the two wire formats: garbage
    │   ├── TruncatedError                  TRUNCATED        the bytes end inside a field
    │   ├── MalformedError                  MALFORMED        the bytes don't follow their schema
    │   ├── TrailingBytesError              TRAILING_BYTES   bytes are left over behind the event
    │   ├── UnknownSchemaError              UNKNOWN_SCHEMA   no schema of that fingerprint or id, even after a refresh
    │   ├── IncompatibleSchemaError         INCOMPATIBLE_SCHEMA  known, but it can't be read as a LineageEvent
    │   ├── UnknownKindError                UNKNOWN_KIND     a kind of a newer version: replay it after the upgrade
    │   └── InvalidEventError               INVALID_EVENT    well-formed, but breaks a rule of the contract
    ├── TransientError                    TRANSIENT: retry, never dead-letter
    │   ├── SchemasUnreachableError         the schemas topic can't be read now
    │   ├── RegistryUnreachableError        the schema registry can't be asked now
    │   └── KafkaUnreachableError           no broker answers
    └── FatalError                        FATAL: stop; a person has to change a setting
        ├── KafkaSettingsError              no Kafka client can be made of the settings
        ├── AuthenticationError             the broker or the registry refuses the credentials
        ├── TopicError                      a topic can't be created as configured
        └── RegistryRefusedError            the registry doesn't take our schema

No message carries any of a record's payload. Transient and fatal errors name the setting or the address to look at.
"""

from __future__ import annotations

from enum import StrEnum


class DecodeReason(StrEnum):
    """Why a record can't be decoded: a closed list, fit for a metric's label and a dead letter's header."""

    EMPTY = "EMPTY"
    NOT_AN_EVENT = "NOT_AN_EVENT"
    TRUNCATED = "TRUNCATED"
    MALFORMED = "MALFORMED"
    TRAILING_BYTES = "TRAILING_BYTES"
    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    INCOMPATIBLE_SCHEMA = "INCOMPATIBLE_SCHEMA"
    UNKNOWN_KIND = "UNKNOWN_KIND"
    INVALID_EVENT = "INVALID_EVENT"


class ContractError(Exception):
    """Any error of this package."""


class EncodeError(ContractError):
    """The event can't be written.

    Attributes:
        field: path of the offending field as in `interval_event.entries[0].inputs[1].rows`; None where not known.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message if field is None else f"{field}: {message}")
        self.field = field


class DecodeError(ContractError):
    """The record can never be decoded by this version.

    Attributes:
        reason: which of the closed list.
        field: path of the offending field, where one is to blame.
        event_id: of the event, where it could be read.
        kind: of the event, where it could be read.
    """

    reason: DecodeReason

    def __init__(
        self, message: str, *, field: str | None = None, event_id: str | None = None, kind: str | None = None
    ) -> None:
        super().__init__(message if field is None else f"{field}: {message}")
        self.field = field
        self.event_id = event_id
        self.kind = kind


class EmptyRecordError(DecodeError):
    """The record has no value, or one of 0 bytes."""

    reason = DecodeReason.EMPTY


class NotAnEventError(DecodeError):
    """The value begins like neither wire format."""

    reason = DecodeReason.NOT_AN_EVENT


class TruncatedError(DecodeError):
    """The value ends inside a field."""

    reason = DecodeReason.TRUNCATED


class MalformedError(DecodeError):
    """The value doesn't follow its schema: an unknown union branch, bad UTF-8, a time that no calendar has."""

    reason = DecodeReason.MALFORMED


class TrailingBytesError(DecodeError):
    """Bytes are left over behind a complete event."""

    reason = DecodeReason.TRAILING_BYTES


class UnknownSchemaError(DecodeError):
    """No schema of that fingerprint or id is known, even after asking where newer ones are published."""

    reason = DecodeReason.UNKNOWN_SCHEMA


class IncompatibleSchemaError(DecodeError):
    """The writer's schema can't be resolved into this version's."""

    reason = DecodeReason.INCOMPATIBLE_SCHEMA


class UnknownKindError(DecodeError):
    """A kind that this version doesn't know. The event is good: replay it after the upgrade."""

    reason = DecodeReason.UNKNOWN_KIND


class InvalidEventError(DecodeError):
    """Well-formed Avro that breaks a rule of the contract: `field` says where."""

    reason = DecodeReason.INVALID_EVENT


class TransientError(ContractError):
    """Infrastructure trouble: the same call may succeed later. Never a reason to dead-letter an event."""


class SchemasUnreachableError(TransientError):
    """The schemas topic can't be read to its end now."""


class RegistryUnreachableError(TransientError):
    """The schema registry doesn't answer, or answers with a server error."""


class KafkaUnreachableError(TransientError):
    """No broker answers."""


class FatalError(ContractError):
    """Retrying can't help.

    Attributes:
        setting: the setting to look at, by the name of its environment variable.
    """

    def __init__(self, message: str, *, setting: str) -> None:
        super().__init__(f"{message} (setting: {setting})")
        self.setting = setting


class KafkaSettingsError(FatalError):
    """No Kafka client can be made of the settings: a password or a file is missing, or a property unknown."""


class AuthenticationError(FatalError):
    """The broker or the registry refuses the credentials."""


class TopicError(FatalError):
    """A topic can't be created as configured."""


class RegistryRefusedError(FatalError):
    """The registry doesn't take our schema, e.g. for its compatibility rule."""
