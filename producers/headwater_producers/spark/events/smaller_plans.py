"""Smaller plans: a column lineage in an event that isn't too large for the topic.

The first that fits:

    1. as it is
    2. without the longest texts of expressions, no more of them than need be; their ids stay, and so does the digest
    3. each output field from whole inputs, UNKNOWN; incomplete
    4. each output from whole inputs, UNKNOWN; incomplete
    5. no event
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from headwater_schemas.codec import encode
from headwater_schemas.events import ColumnEdge, LineageEvent, TransformationKind, TransformationType
from headwater_schemas.identity import canonical_lineage, record_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater_schemas.events import ColumnLineage

# What a record has beside its key and value: three headers and Kafka's own fields, some 250 bytes.
_RECORD_BYTES: Final = 512
_CONSTANT: Final = TransformationKind.CONSTANT


@dataclass(frozen=True, slots=True)
class Fitted:
    """A lineage's event, made to fit.

    Attributes:
        event: the event; None: not even the datasets' names fit.
        left_out: what it lacks, for people; None: nothing.
    """

    event: LineageEvent | None
    left_out: str | None = None


def fitted(lineage: ColumnLineage, event_of: Callable[[ColumnLineage], LineageEvent], max_bytes: int) -> Fitted:
    """The event of as much of a lineage as a record of `max_bytes`, uncompressed, has room for.

    Equal lineages give equal events, so that a job's digest stays the same from start to start.
    """
    event = event_of(lineage)
    excess = _size(event) - max_bytes
    if excess <= 0:
        return Fitted(event)
    textless = _without_texts(event, excess)
    event = event_of(textless)
    if _size(event) <= max_bytes:
        gone = len(lineage.expressions) - len(textless.expressions)
        return Fitted(event, f"{gone} of {len(lineage.expressions)} expressions are sent without their text")
    for smaller, left_out in _smaller(lineage, max_bytes):
        event = event_of(smaller)
        if _size(event) <= max_bytes:
            return Fitted(event, left_out)
    return Fitted(None, "no column lineage is sent")


def _size(event: LineageEvent) -> int:
    return _RECORD_BYTES + len(record_key(event)) + len(encode(event))


def _without_texts(event: LineageEvent, excess: int) -> ColumnLineage:
    if event.plan_event is None:
        raise ValueError(f"an event of kind {event.kind} has no lineage")
    # Of the event: what is redacted has another length.
    lineage = event.plan_event.lineage
    longest_first = sorted(lineage.expressions, key=lambda each: (-len(each.text), each.id))
    gone = set()
    for expression in longest_first:
        if excess <= 0:
            break
        gone.add(expression.id)
        excess -= len(expression.text.encode("utf-8", "surrogatepass")) + len(expression.id)
    return msgspec.structs.replace(lineage, expressions=tuple(e for e in lineage.expressions if e.id not in gone))


def _smaller(lineage: ColumnLineage, max_bytes: int) -> Iterator[tuple[ColumnLineage, str]]:
    reason = f"its plan event would be larger than topic_max_message_bytes, {max_bytes} bytes"
    reasons = "; ".join(filter(None, (lineage.incomplete_reason, reason)))
    for by_field, left_out in (
        (True, "each output field is recorded as derived from every field of its inputs"),
        (False, "each output is recorded as derived from every field of its inputs"),
    ):
        edges = {_coarse(edge, by_field=by_field) for edge in lineage.edges if by_field or edge.kind is not _CONSTANT}
        coarse = msgspec.structs.replace(
            lineage, edges=tuple(edges), expressions=(), complete=False, incomplete_reason=reasons
        )
        # A set has no order, and an event's bytes have.
        yield canonical_lineage(coarse), left_out


def _coarse(edge: ColumnEdge, *, by_field: bool) -> ColumnEdge:
    if edge.kind is _CONSTANT:
        return msgspec.structs.replace(edge, expression=None)
    return ColumnEdge(
        output=edge.output,
        output_field=edge.output_field if by_field else None,
        input=edge.input,
        type=TransformationType.DIRECT,
        kind=TransformationKind.UNKNOWN,
    )
