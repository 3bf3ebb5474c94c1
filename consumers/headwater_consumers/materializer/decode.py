"""Decode: records to events, and what is wrong with the others. Pure but for the look-up of newer schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from headwater_consumers.materializer.dead_letter import DeadLetter, Stage
from headwater_consumers.materializer.reasons import DeadLetterReason
from headwater_consumers.materializer.records import Decoded
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import LineageEvent

if TYPE_CHECKING:
    from headwater_consumers.materializer.records import Record


class Decoder(Protocol):
    """The part of `headwater_schemas.codec.Decoder` that is called here."""

    def decode(self, value: bytes | None) -> LineageEvent:
        """The event in a record's value.

        Raises:
            DecodeError: this version can never decode it.
            SchemasUnavailableError: its schema can't be looked up now.
        """


class RejectionLike(Protocol):
    """Why a well-formed event can't be folded (`fold.Rejection`)."""

    @property
    def reason(self) -> DeadLetterReason:
        """Which of the closed list."""

    @property
    def message(self) -> str:
        """What is wrong, naming the field, without its value."""


Reject = Callable[[LineageEvent], RejectionLike | None]


def decode_one(record: Record, decoder: Decoder, reject: Reject) -> Decoded | DeadLetter:
    """Decode one record.

    Args:
        record: any.
        decoder: of its value. It looks a new fingerprint up before it calls it unknown.
        reject: finds what of a decoded event the graph can't hold.

    Raises:
        SchemasUnavailableError: a schema can't be looked up now; call again with the same record.
        FatalError: schemas can't be looked up as things are configured.
    """
    try:
        event = decoder.decode(record.value)
    except DecodeError as error:
        return _undecodable(record, error)
    return _rejected(record, event, reject) or Decoded(record, event)


def _undecodable(record: Record, error: DecodeError) -> DeadLetter:
    return DeadLetter(
        record,
        DeadLetterReason(error.reason.value),
        Stage.DECODE,
        error=f"{type(error).__module__}.{type(error).__name__}",
        message=str(error),
        event_id=error.event_id or "",
    )


def _rejected(record: Record, event: LineageEvent, reject: Reject) -> DeadLetter | None:
    try:
        rejection = reject(event)
    except Exception as error:  # noqa: BLE001 - a defect that one event brings to light must not stop the others
        name = type(error).__name__
        return DeadLetter(record, DeadLetterReason.FOLD_FAILED, Stage.APPLY, name, f"Checking it raised {name}.")
    if rejection is None:
        return None
    error_class = type(rejection)
    return DeadLetter(
        record,
        rejection.reason,
        Stage.APPLY,
        error=f"{error_class.__module__}.{error_class.__name__}",
        message=rejection.message,
        event_id=event.event_id,
    )
