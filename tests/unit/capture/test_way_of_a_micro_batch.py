"""The way of one micro-batch, from the listener's callback to the outbox: its files, and how often it comes back."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Self
from unittest.mock import MagicMock

import pytest

import headwater_producers
from headwater_producers.outbox import Outbox
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics
from headwater_producers.spark.driver.dispatch import Dispatch
from headwater_producers.spark.driver.engine import DrainRequest, EventPublisher, Worker
from headwater_producers.spark.driver.listeners import Inbox, SessionListeners, SignalTarget, StreamListener
from headwater_producers.spark.driver.signals import Signal
from headwater_producers.spark.events.application import UncheckedWrites
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.left_writes.left_tables import KeptWrites
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, PlanSettings, SourceKind
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.interval import parse_progress
from headwater_producers.spark.streaming.interval_events import LastEmittedStore
from headwater_producers.spark.streaming.stream_run import StreamRun
from headwater_schemas.events import ColumnLineage, DatasetRef
from headwater_schemas.record import Record
from support.capture import DictFiles, FakeQuery, NoTopics, event_context, recorded, stream_emitter
from support.fake_producer import FakeCluster
from support.outbox import metrics, publisher

FILES_AT_MOST = 12
RETURNS_BELOW = 10
PRODUCERS = Path(headwater_producers.__file__).parent
IN = DatasetRef("kafka://broker:9092", "in")
PROGRESS = recorded("kafka_next_batch")
BATCH = json.loads(PROGRESS)["batchId"]
FILES = {
    "file:/cp/sources/0/0": 'v1\n{"in":{"0":0,"1":0}}',
    f"/out/_spark_metadata/{BATCH}": 'v1\n{"path":"file:/out/part-0","size":3,"action":"add"}',
}


class Way:
    """Files of the producers up to the outbox, in the order in which functions in them are called on this thread.

    Calls of functions in one file, one after the other, are a stay in that file; coming again to a file is a return.
    """

    def __init__(self) -> None:
        self.stays: list[str] = []

    @property
    def files(self) -> set[str]:
        return set(self.stays)

    @property
    def returns(self) -> int:
        return len(self.stays) - len(self.files)

    def __enter__(self) -> Self:
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(PRODUCERS)):
            name = str(Path(file).relative_to(PRODUCERS))
            if self.stays[-1:] != [name]:
                self.stays.append(name)
            if frame.f_code is Outbox.put.__code__:
                sys.setprofile(None)


class RecordingOutbox(Outbox):
    """Keeps the kinds of what is put into it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, publisher(FakeCluster()), metrics=metrics())
        self.kinds: list[str] = []

    def put(self, record: Record) -> None:
        super().put(record)
        self.kinds.append(record.kind)


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[RecordingOutbox]:
    with RecordingOutbox(tmp_path / "outbox") as made:
        yield made


@pytest.mark.parametrize(
    ("output", "sink"),
    [
        (PlanOutput(dataset=DatasetRef("file", "/out"), kind=SourceKind.FILE), "FileSink[/out]"),
        (PlanOutput(dataset=DatasetRef("kafka://broker:9092", "out"), kind=SourceKind.KAFKA), "KafkaTable"),
    ],
    ids=["files", "kafka"],
)
def test_a_micro_batch_goes_through_few_files_and_seldom_back(
    outbox: RecordingOutbox, tmp_path: Path, output: PlanOutput, sink: str
) -> None:
    context, notes = event_context(), LastEmittedStore(tmp_path / "queries")
    read = PlanInput(dataset=IN, kind=SourceKind.KAFKA, source_index=0, type="TOPIC")
    plan = PlanDescription(inputs=(read,), outputs=(output,), lineage=ColumnLineage())
    published = EventPublisher(outbox)
    emitter = stream_emitter(DictFiles(FILES), published.emit, context, notes)
    streams = StreamFlow(emitter, wait_seconds=5.0, store=notes)
    dispatch = Dispatch(
        spark=MagicMock(),
        context=context,
        streams=streams,
        emit=published.emit,
        failed=published.failed,
        dedup=DedupCache(),
        settings=PlanSettings(),
        heartbeat_seconds=60.0,
        statements=False,
        kept=KeptWrites(),
        topics=ObservedTopics(NoTopics()),
        unchecked=UncheckedWrites(),
    )
    inbox: Inbox[Signal | DrainRequest] = Inbox(10)
    worker = Worker(inbox, published, MagicMock(), dispatch, streams)
    first = parse_progress(PROGRESS)
    streams.started(
        StreamRun(
            query_id=first.query_id,
            run_id=first.run_id,
            name="enrich",
            started_at=datetime.now(UTC),
            query=FakeQuery(plan, sink),
        )
    )
    streams.announce_planned()
    listeners = SessionListeners()
    listeners.target = SignalTarget(inbox, MagicMock())
    progress = SimpleNamespace(json=lambda: f'{{"progress":{PROGRESS}}}')

    with Way() as way:
        StreamListener(listeners).onQueryProgress(progress)
        signal = inbox.take(0)
        assert signal is not None
        assert not isinstance(signal, DrainRequest)
        worker._handle(signal)

    assert published.tally.failed == 0, published.tally.last_error
    assert outbox.kinds[-1] == "INTERVAL"
    assert {"spark/driver/listeners.py", "spark/streaming/interval.py", "outbox/outbox.py"} <= way.files
    assert len(way.files) <= FILES_AT_MOST, "\n".join(way.stays)
    assert way.returns < RETURNS_BELOW, "\n".join(way.stays)
