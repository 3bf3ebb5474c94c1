"""Events to feed a consumer with, good and bad."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from uuid import UUID

import msgspec
from fastavro import schemaless_writer

from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC, encode
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    RunEvent,
    RunEventType,
    RunRef,
)
from headwater_schemas.events.build import lineage_event

PRODUCER = "https://headwater/tests"
START = datetime(2026, 1, 1, tzinfo=UTC)
JOB = JobRef("tests", "enrich")


def run_start(number: int, *, job: JobRef = JOB) -> LineageEvent:
    """A START of a run of its own for every number."""
    return lineage_event(
        RunEvent(type=RunEventType.START),
        job=job,
        run=RunRef(str(UUID(int=number + 1))),
        producer=PRODUCER,
        event_time=START + timedelta(seconds=number),
    )


def interval(batch_id: int, *, query: int = 0, size: int = 10) -> LineageEvent:
    """The micro-batch that read `[batch_id · size, (batch_id + 1) · size)` of one partition of a topic."""
    ranges = (OffsetRange(partition=0, from_=batch_id * size, to_exclusive=(batch_id + 1) * size),)
    return lineage_event(
        IntervalEvent(
            query_id=str(UUID(int=1_000 + query)),
            entries=(
                IntervalEntry(
                    batch_id=batch_id,
                    processing_time=START + timedelta(seconds=batch_id),
                    inputs=(
                        DatasetUse(
                            dataset=DatasetRef("kafka://tests", "flights"),
                            position=Position(kafka=KafkaRanges(topic="flights", ranges=ranges)),
                        ),
                    ),
                    outputs=(DatasetUse(dataset=DatasetRef("file", "/tests/out")),),
                    rows_in=size,
                ),
            ),
            provenance=Provenance.OBSERVED,
        ),
        job=JOB,
        run=RunRef(str(UUID(int=2_000 + query))),
        producer=PRODUCER,
        event_time=START + timedelta(seconds=batch_id),
    )


def wide_run(number: int, inputs: int, outputs: int) -> LineageEvent:
    """A run that read and wrote so many datasets."""
    body = RunEvent(type=RunEventType.COMPLETE, inputs=_many("in", inputs), outputs=_many("out", outputs))
    run = RunRef(str(UUID(int=3_000 + number)))
    return lineage_event(body, job=JobRef("tests", "wide"), run=run, producer=PRODUCER, event_time=START)


def wide_interval(batches: int, inputs: int, outputs: int) -> LineageEvent:
    """So many micro-batches, each of which read and wrote so many datasets of its own."""
    entries = tuple(
        IntervalEntry(
            batch_id=batch,
            processing_time=START + timedelta(seconds=batch),
            inputs=_many(f"{batch} in", inputs),
            outputs=_many(f"{batch} out", outputs),
        )
        for batch in range(batches)
    )
    body = IntervalEvent(query_id=str(UUID(int=4_000)), entries=entries, provenance=Provenance.OBSERVED)
    return lineage_event(body, job=JOB, run=RunRef(str(UUID(int=4_000))), producer=PRODUCER, event_time=START)


def _many(name: str, count: int) -> tuple[DatasetUse, ...]:
    return tuple(DatasetUse(dataset=DatasetRef("file", f"/{name} {number}")) for number in range(count))


def unstorable() -> LineageEvent:
    """A micro-batch whose number of rows is no 64-bit integer. `reject` would find it; the database can't hold it."""
    return interval(0, query=9, size=2**64)


def good(number: int) -> bytes:
    """The value of a good event's record."""
    return encode(run_start(number))


def event_id(number: int) -> str:
    """The id of the event in `good(number)`."""
    return run_start(number).event_id


EMPTY = b""
GARBAGE = bytes(range(40, 90))
UNKNOWN_FINGERPRINT = SINGLE_OBJECT_MAGIC + b"\xde\xad\xbe\xef\xde\xad\xbe\xef" + b"\x00" * 20


def written_anyhow(changes: dict[str, Any]) -> bytes:
    """A record that the codec would refuse to write: a good event with fields replaced."""
    datum = msgspec.to_builtins(run_start(0), builtin_types=(datetime,)) | changes
    out = BytesIO()
    schema = current_schema()
    out.write(SINGLE_OBJECT_MAGIC + schema.fingerprint)
    schemaless_writer(out, schema.parsed, datum, disable_tuple_notation=True)
    return out.getvalue()


def unknown_kind() -> bytes:
    """An event of a kind that only a later version knows."""
    return written_anyhow({"kind": "HOLOGRAM", "run_event": None})


def without_run() -> bytes:
    """A RUN event without the run it is about: a missing required field."""
    return written_anyhow({"run": None})


def truncated() -> bytes:
    """A good event, cut short."""
    return good(0)[:-5]
