from __future__ import annotations

import math
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater_producers.spark.common.sink import EventSink
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics
from headwater_producers.spark.driver.dispatch import Dispatch
from headwater_producers.spark.driver.engine import DrainRequest, EventPublisher, Worker
from headwater_producers.spark.driver.listeners import Inbox
from headwater_producers.spark.driver.signals import QueryProgressed, Signal
from headwater_producers.spark.events.application import application_started
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.streaming.flow import StreamEmitter, StreamFlow
from support.capture import DictFiles, NoTopics, RecordingSink, event_context
from support.waiting import eventually, patience

if TYPE_CHECKING:
    import pytest


NOW = datetime(2026, 11, 21, tzinfo=UTC)


class FakeBus(ListenerBus):
    """A bus that hands over what is on it when it is drained."""

    def __init__(self) -> None:
        self.held: list[Callable[[], object]] = []
        self.works = True

    def drained(self, timeout_seconds: float) -> bool:
        for deliver in self.held:
            deliver()
        self.held.clear()
        return self.works


class FakeHandler(Dispatch):
    def __init__(self) -> None:
        self.seen: list[object] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()

    def handle(self, signal: Signal) -> None:
        assert self.gate.wait(patience(30))
        self.threads.add(threading.current_thread().name)
        assert isinstance(signal, QueryProgressed)
        if isinstance(signal.event, Exception):
            raise signal.event
        self.seen.append(signal.event)

    def look_around(self, *, at_once: bool = False) -> None:
        pass

    def close(self) -> None:
        pass


class LongRequest(DrainRequest):
    """Request with time enough, however slow the machine is."""

    def remaining(self) -> float:
        return patience(30)


class Stage:
    def __init__(self, sink: EventSink | None = None, limit: int = 100, flow: type[StreamFlow] = StreamFlow) -> None:
        self.sink = sink or RecordingSink()
        self.inbox: Inbox[Signal | DrainRequest] = Inbox(limit)
        self.bus = FakeBus()
        self.handler = FakeHandler()
        self.publisher = EventPublisher(self.sink)
        emitter = StreamEmitter(
            context=event_context(),
            emit=self.publisher.emit,
            dedup=DedupCache(),
            files=DictFiles(),
            topics=ObservedTopics(NoTopics()),
        )
        streams = flow(emitter, wait_seconds=1)
        self.worker = Worker(self.inbox, self.publisher, self.bus, self.handler, streams)
        self.worker.start()

    def put(self, event: object) -> bool:
        return self.inbox.put(QueryProgressed(event, None, NOW))

    def order(self, *, last: bool = False, action: Callable[[], None] | None = None) -> bool:
        return self.worker.carry_out(LongRequest(math.inf, action=action, last=last))


def test_everything_that_has_happened_is_handled_before_an_order() -> None:
    stage = Stage()
    for number in range(5):
        stage.put(number)
    # Still on Spark's bus when the order comes.
    stage.bus.held.append(lambda: stage.put("late"))
    assert stage.order(last=True, action=lambda: stage.handler.seen.append("action"))
    assert stage.handler.seen == [0, 1, 2, 3, 4, "late", "action"]
    assert stage.handler.threads == {"headwater-capture"}
    assert isinstance(stage.sink, RecordingSink)
    assert stage.sink.flushed == 1
    assert stage.sink.closed


def test_an_error_of_ours_is_counted_logged_once_and_redacted(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage()
    for _ in range(3):
        stage.put(ValueError("password=hunter2"))
    stage.put("good")
    assert stage.order(last=True)
    assert stage.handler.seen == ["good"]
    assert stage.publisher.tally.failed == 3
    assert stage.publisher.tally.last_error == "QueryProgressed: ValueError: password=[redacted]"
    assert len([record for record in caplog.records if "hunter2" not in record.getMessage()]) == 1
    assert "hunter2" not in caplog.text


def test_an_error_with_a_plan_or_a_stack_trace_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage()
    stage.put(ValueError("[MISSING] No column `a`; line 1 pos 7;\n'Project ['a]\n+- Relation [secret#1] csv\n"))
    stage.put(
        OSError("An error occurred while calling o7.table.\n: java.io.IOException: gone\n\tat a.B.c(B.scala:1)\n")
    )
    assert stage.order(last=True)
    assert [record.getMessage().partition(" (further")[0] for record in caplog.records] == [
        "lineage capture: QueryProgressed: ValueError: [MISSING] No column `a`; line 1 pos 7;",
        "lineage capture: QueryProgressed: OSError: java.io.IOException: gone",
    ]


def test_a_sink_that_refuses_is_counted() -> None:
    class Refusing(RecordingSink):
        def publish(self, event: object) -> None:
            raise BufferError("full")

    stage = Stage(Refusing())
    for event in application_started(event_context(), NOW, DedupCache()):
        stage.publisher.emit(event)
    assert stage.order(last=True)
    assert stage.publisher.tally.publish_failed == 2
    assert stage.publisher.tally.published == 0


def test_what_is_not_delivered_is_emitted() -> None:
    class Stuck(RecordingSink):
        def flush(self, timeout_seconds: float) -> int:
            return 1

    class Broken(RecordingSink):
        def flush(self, timeout_seconds: float) -> int:
            raise RuntimeError("no credentials")

    assert not Stage(Stuck()).order(last=True)
    broken = Stage(Broken())
    assert not broken.order(last=True)
    assert broken.publisher.tally.last_error == "ending: RuntimeError: no credentials"


def test_a_jvm_that_is_gone_does_not_keep_events_back() -> None:
    stage = Stage()
    stage.bus.works = False
    stage.put("before")
    assert stage.order(last=True)
    assert stage.handler.seen == ["before"]


def test_an_order_overtakes_a_long_queue_but_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.handler.gate.clear()
    for number in range(50):
        stage.put(number)
    put_urgent = stage.inbox.put_urgent

    def put_and_open(item: Signal | DrainRequest) -> None:
        put_urgent(item)
        stage.handler.gate.set()

    monkeypatch.setattr(stage.inbox, "put_urgent", put_and_open)
    assert stage.order()
    assert stage.handler.seen == list(range(50))
    assert stage.order(last=True)


def test_a_full_inbox_drops() -> None:
    stage = Stage(limit=3)
    stage.handler.gate.clear()
    results = [stage.put(number) for number in range(10)]
    assert not all(results)
    stage.handler.gate.set()
    assert stage.order(last=True)
    assert len(stage.handler.seen) == results.count(True)
    assert stage.inbox.dropped == results.count(False)


class Buffering(StreamFlow):
    """Streams in which micro-batches wait for others, a quarter of a second more at first."""

    sent = False

    def overdue_in(self) -> float:
        return math.inf if self.sent else 0.25

    def send_overdue(self) -> None:
        self.sent = True


def test_the_worker_wakes_when_micro_batches_have_waited_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    take = Inbox.take

    def record(inbox: Inbox[Signal | DrainRequest], timeout_seconds: float) -> Signal | DrainRequest | None:
        waited.append(timeout_seconds)
        return take(inbox, 0.0)

    monkeypatch.setattr(Inbox, "take", record)
    stage = Stage(flow=Buffering)
    eventually(lambda: 1.0 in waited, 30)
    assert waited[0] == 0.25
    assert stage.order(last=True)


class Troubled(StreamFlow):
    """Streams in which whatever is asked of them goes wrong."""

    def settle(self, batches: object, at: datetime) -> None:
        raise OSError("slow down")

    def send_all(self, reason: object) -> None:
        raise OSError("slow down")


def test_the_end_is_emitted_and_delivered_whatever_goes_wrong_with_a_query() -> None:
    ended: list[str] = []
    stage = Stage(flow=Troubled)
    assert not stage.order(action=lambda: ended.append("flushed")), "somebody is to look at it"
    assert not stage.order(last=True, action=lambda: ended.append("ended"))
    assert ended == ["flushed", "ended"]
    assert isinstance(stage.sink, RecordingSink)
    assert (stage.sink.flushed, stage.sink.closed) == (2, True)
    assert stage.publisher.tally.failed == 4
    assert stage.publisher.tally.last_error == "ending: OSError: slow down"
