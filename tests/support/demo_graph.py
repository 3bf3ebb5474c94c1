"""The demo's lineage, recorded: the events that a real `headwater demo` put on its topic, one JSON document a line.

So that questions about the demo's graph can be tested, and worked examples be shown, without running Spark for minutes.
To record anew (the demo's own folder, because its paths are in the events):

    HEADWATER_DATA_DIR=/tmp/headwater headwater demo --keep     (of a clean checkout of main: events name both)
    HEADWATER_DATA_DIR=/tmp/headwater/demo python -m support.demo_graph --record     (in tests/)
    HEADWATER_DATA_DIR=/tmp/headwater headwater down
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from headwater_analysis.declaring.files import read_file
from headwater_analysis.incidents.actions import PRODUCER
from headwater_schemas.events import (
    DatasetRef,
    IncidentAction,
    IncidentEvent,
    IncidentScope,
    IncidentSeverity,
    IncidentType,
    LineageEvent,
    OffsetRange,
    RunContext,
    RunEventType,
    RunRef,
)
from headwater_schemas.events.build import lineage_event
from support.graph.writing import store
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

RECORDING = Path(__file__).parents[1] / "recordings" / "demo" / "events.jsonl"
DECLARED = Path(__file__).parents[2] / "docs" / "examples" / "declare" / "flights.yaml"
_DECLARED_AT = datetime(2026, 11, 26, 12, tzinfo=UTC)
_OPENED_AT = datetime(2026, 11, 27, 9, tzinfo=UTC)
_READ_SECONDS = 10.0


@cache
def demo_events() -> tuple[LineageEvent, ...]:
    """Recorded events, partition by partition, in order of offset."""
    decoder = msgspec.json.Decoder(LineageEvent)
    return tuple(decoder.decode(line) for line in RECORDING.read_bytes().splitlines())


def load_demo(driver: Driver) -> None:
    """Write the demo's graph into an empty database."""
    store(driver, demo_events())


def declare_demo(driver: Driver) -> None:
    """Write what the example declares of the demo's pipeline, beside the demo's graph."""
    declared = read_file(DECLARED.name, DECLARED.read_text(encoding="utf-8"))
    store(driver, declared.events(1, tenant="default", event_time=_DECLARED_AT))


DEMO_INCIDENT = "INC-7f3a9c02b1"


def open_demo(driver: Driver) -> None:
    """Write an incident of the demo's pipeline: bad records of its first topic, acknowledged."""
    part = IncidentScope(
        dataset=DatasetRef("kafka://embedded", "flights.departed"), offsets=(OffsetRange(0, 100, 120),)
    )
    opened = IncidentEvent(
        incident=DEMO_INCIDENT,
        by="ann",
        action=IncidentAction.OPENED,
        title="Negative delays",
        severity=IncidentSeverity.SEV2,
        type=IncidentType.BAD_RECORDS,
        cause="the unit of delays",
        scope=(part,),
    )
    acknowledged = IncidentEvent(
        incident=DEMO_INCIDENT, by="ann", action=IncidentAction.ACKNOWLEDGED, reason="Looking at the source."
    )
    store(
        driver,
        [
            lineage_event(body, producer=PRODUCER, event_time=_OPENED_AT + timedelta(minutes=minutes))
            for minutes, body in ((0, opened), (5, acknowledged))
        ],
    )


def restate_demo(driver: Driver) -> None:
    """Write a rerun of the demo's last job, after the incident was opened and as a campaign with its id."""
    began, ended = (_OPENED_AT + timedelta(minutes=minutes) for minutes in (30, 31))
    store(driver, [rerun_of_report(DEMO_INCIDENT, began, ended)])


def rerun_of_report(campaign: str, began: datetime, ended: datetime) -> LineageEvent:
    """End of a rerun of the demo's last job, which overwrites its output."""
    [report] = [
        event
        for event in demo_events()
        if event.run_event is not None
        and event.run_event.type is RunEventType.COMPLETE
        and event.job is not None
        and event.job.name == "flights.daily_report"
    ]
    assert report.run_event is not None
    context = RunContext(campaign=campaign)
    body = msgspec.structs.replace(report.run_event, started_at=began, ended_at=ended, context=context)
    run = RunRef("5f1c7a52-6f0e-7c1c-9d0f-2b6c0d8f4e11")
    return lineage_event(body, job=report.job, run=run, producer=report.producer, event_time=ended)


def record() -> int:
    """Read the events topic of the demo's stack that is up, to its end; how many events are in the recording."""
    from headwater_schemas.codec import Decoder
    from headwater_schemas.errors import DecodeError

    decoder, lines = Decoder(), []
    for value in _values():
        try:
            lines.append(msgspec.json.encode(decoder.decode(value)))
        except DecodeError as error:
            # The three broken records that the demo feeds in.
            sys.stderr.write(f"left out: {error}\n")
    RECORDING.parent.mkdir(parents=True, exist_ok=True)
    RECORDING.write_bytes(b"\n".join(lines) + b"\n")
    return len(lines)


def _values() -> Iterator[bytes | None]:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    from headwater.settings import load_settings, running_stack

    settings = load_settings(running=running_stack())
    topic = settings.topic.names().events
    client = settings.kafka.client_config()
    consumer = Consumer({**client, "group.id": "headwater-recording", "enable.auto.commit": False})
    try:
        for number in sorted(consumer.list_topics(topic, timeout=patience(_READ_SECONDS)).topics[topic].partitions):
            where = TopicPartition(topic, number, OFFSET_BEGINNING)
            _, end = consumer.get_watermark_offsets(where, timeout=patience(_READ_SECONDS))
            consumer.assign([where])
            reached = 0
            while reached < end:
                message = consumer.poll(patience(_READ_SECONDS))
                if message is None:
                    raise TimeoutError(f"nothing more from {topic}[{number}] at {reached} of {end}")
                reached = (message.offset() or 0) + 1
                yield message.value()
    finally:
        consumer.close()


if __name__ == "__main__" and sys.argv[1:] == ["--record"]:
    sys.stdout.write(f"{record()} events in {RECORDING}\n")
