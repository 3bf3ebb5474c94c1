"""Records of streaming queries' reports, and which of them a decoder reads by a template."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater_consumers.materializer.fold import Filled, TemplateDecoder
from headwater_schemas.codec import encode
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    OffsetRange,
    Position,
    Provenance,
    RunRef,
)
from headwater_schemas.events.build import lineage_event

START = datetime(2026, 1, 1, tzinfo=UTC)


def run_of(
    number: int, count: int, partitions: int = 1, facet: str = "", job: str = "j", topic: str = "t"
) -> list[bytes]:
    """Reports of one run of a query, each of the next micro-batch."""
    values = []
    for batch_id in range(count):
        ranges = tuple(OffsetRange(partition=p, from_=batch_id, to_exclusive=batch_id + 9) for p in range(partitions))
        use = DatasetUse(
            dataset=DatasetRef("kafka://b", topic),
            position=Position(kafka=KafkaRanges(topic=topic, ranges=ranges)),
            certainty=Certainty.EXACT,
            facets={"f": facet} if facet else {},
        )
        body = IntervalEvent(
            query_id=f"q{number}",
            entries=(IntervalEntry(batch_id=batch_id, inputs=(use,)),),
            provenance=Provenance.OBSERVED,
        )
        event = lineage_event(
            body, job=JobRef("n", job), run=RunRef(f"r{number}"), producer="p", event_time=START, tenant="t"
        )
        values.append(encode(event))
    return values


def are_filled(decoder: TemplateDecoder, values: list[bytes]) -> list[bool]:
    """Which of the records are read by a template."""
    return [isinstance(decoder.decode(value), Filled) for value in values]
