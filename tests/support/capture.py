"""Support of capture's tests: a sink that records, files out of a dict, recorded progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pyspark.sql import SparkSession

from headwater_producers.spark import Capture
from headwater_producers.spark.connectors.kafka.observed_topics import AskedTopic, ObservedTopics, TopicSnapshot
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.plan import PlanDescription
from headwater_producers.spark.streaming.flow import StreamEmitter
from headwater_producers.spark.streaming.interval_events import LastEmittedStore
from headwater_schemas.codec import encode
from headwater_schemas.events import (
    EngineRef,
    FileSet,
    IntervalEntry,
    KafkaRanges,
    LineageEvent,
    Position,
    RunEvent,
    RunEventType,
    TableSnapshot,
    Versions,
)
from support.waiting import patience

# Two cores that other tests share: time to be generous with, for what normally takes a tenth of a second.
FLUSH_SECONDS = 60.0
RECORDED = Path(__file__).parents[1] / "unit" / "capture" / "recorded"


class RecordingSink:
    """An EventSink that keeps what it is given, and refuses what breaks the contract, as the publisher does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[LineageEvent] = []
        self.flushed = 0
        self.closed = False

    def publish(self, event: LineageEvent) -> None:
        encode(event)
        with self._lock:
            self._events.append(event)

    def flush(self, timeout_seconds: float) -> int:
        self.flushed += 1
        return 0

    def close(self) -> None:
        self.closed = True

    @property
    def events(self) -> list[LineageEvent]:
        with self._lock:
            return list(self._events)

    def of_kind(self, kind: str) -> list[LineageEvent]:
        return [event for event in self.events if event.kind == kind]

    def runs(self, job: str | None = None) -> list[LineageEvent]:
        """RUN events, of one job."""
        return [event for event in self.of_kind("RUN") if job is None or (event.job and event.job.name == job)]

    def run_types(self, job: str) -> list[RunEventType]:
        return [body(event).type for event in self.runs(job)]

    def last_run(self, job: str) -> RunEvent:
        return body(self.runs(job)[-1])

    def entries(self, job: str | None = None) -> list[IntervalEntry]:
        """Entries of INTERVAL events, in the order in which they were emitted."""
        return [
            entry
            for event in self.of_kind("INTERVAL")
            if job is None or (event.job and event.job.name == job)
            for entry in (event.interval_event.entries if event.interval_event else ())
        ]

    def jobs(self) -> set[str]:
        return {event.job.name for event in self.events if event.job}


@dataclass(frozen=True)
class Captured:
    """A session that is being captured."""

    spark: SparkSession
    sink: RecordingSink
    capture: Capture

    def flushed(self) -> RecordingSink:
        """The sink, when all that has happened is in it."""
        assert self.capture.flush(patience(FLUSH_SECONDS))
        status = self.capture.status()
        assert (status.failed, status.dropped, status.publish_failed) == (0, 0, 0), status.last_error
        return self.sink


def body(event: LineageEvent) -> RunEvent:
    assert event.run_event is not None
    return event.run_event


def files_of(position: Position | None) -> FileSet:
    assert position is not None
    assert position.files is not None
    return position.files


def kafka_of(position: Position | None) -> KafkaRanges:
    assert position is not None
    assert position.kafka is not None
    return position.kafka


def snapshot_of(position: Position | None) -> TableSnapshot:
    assert position is not None
    assert position.table_snapshot is not None
    return position.table_snapshot


class DictFiles:
    """TextFiles out of a dict."""

    def __init__(self, texts: dict[str, str] | None = None) -> None:
        self.texts = texts or {}
        self.asked: list[str] = []

    def read(self, path: str) -> str | None:
        self.asked.append(path)
        return self.texts.get(path)

    def names(self, folder: str) -> list[str]:
        inside = [path.removeprefix(f"{folder}/") for path in self.texts if path.startswith(f"{folder}/")]
        return sorted({path.partition("/")[0] for path in inside})


@dataclass
class FakeQuery:
    """Streaming query of a plan, with its checkpoint in `file:/cp`."""

    plan: PlanDescription
    sink: str = "ForeachBatchSink"
    planned: bool = True
    continuous: bool = False
    described: int = 0

    def is_planned(self) -> bool:
        return self.planned

    def describe(self, topics: Mapping[int, Collection[str]] | None = None) -> PlanDescription:
        self.described += 1
        return self.plan

    def checkpoint_location(self) -> str:
        return "file:/cp"

    def sink_name(self) -> str:
        return "foreachBatch"

    def event_time(self) -> dict[str, Any]:
        return {}

    def is_continuous(self) -> bool:
        return self.continuous

    def sink_snapshots(self) -> None:
        return None

    def sink_description(self) -> str:
        return self.sink


def stream_emitter(
    files: TextFiles,
    emit: Callable[[LineageEvent], bool | None],
    context: EventContext | None = None,
    store: LastEmittedStore | None = None,
) -> StreamEmitter:
    """A StreamEmitter that asks no topics."""
    return StreamEmitter(
        context=context or event_context(),
        emit=emit,
        dedup=DedupCache(),
        files=files,
        topics=ObservedTopics(NoTopics()),
        store=store,
    )


def fake_session(properties: Mapping[str, str] | None = None, *, stopped: bool = False) -> Any:
    """A classic session with properties of Headwater, and nothing else of Spark."""
    conf = [
        ("spark.app.name", "x"),
        *((f"spark.headwater.{name}", value) for name, value in (properties or {}).items()),
    ]
    jvm = SimpleNamespace(conf=lambda: SimpleNamespace(getAll=lambda: SimpleNamespace(mkString=lambda _between: "")))
    context = SimpleNamespace(
        _jsc=None if stopped else object(),
        getConf=lambda: SimpleNamespace(getAll=lambda: conf),
        applicationId="app-1",
    )
    return SimpleNamespace(_jsparkSession=jvm, sparkContext=context)


class NoTopics:
    """TopicStates of a cluster that doesn't answer."""

    def states(self, asked: Sequence[AskedTopic]) -> list[TopicSnapshot | None]:
        return [None for _ in asked]


def recorded(name: str) -> str:
    """Progress JSON of a real query, from Spark 4.0."""
    return (RECORDED / f"{name}.json").read_text(encoding="utf-8")


def event_context(app: str = "flights") -> EventContext:
    return EventContext(
        tenant="default",
        namespace="default",
        app_name=app,
        app_run_id="0b5b1f3e-0000-4000-8000-000000000001",
        producer="https://headwater/spark/test",
        versions=Versions(code="abc", engine=EngineRef("spark", "4.0.0"), capture="test"),
    )
