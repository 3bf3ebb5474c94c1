"""Emission policies without Spark: the fence, the watch over overruns, and the verdict at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from headwater_producers.spark.common.errors import LineageNotDurableError
from headwater_producers.spark.common.settings import EmissionPolicy
from headwater_producers.spark.common.sink import KeepingSink
from headwater_producers.spark.driver.emission import Durability, Emission, Fence
from headwater_producers.spark.driver.engine import EventPublisher
from headwater_producers.spark.driver.overrun import Overrun, OverrunWatch, RunningQueries
from headwater_producers.spark.driver.status import CaptureStatus
from headwater_schemas.events import IntervalEntry, IntervalEvent, Provenance
from support.capture import RecordingSink
from support.waiting import eventually, patience


class Answers(Durability):
    """Is secure after some times of not being."""

    closing = False

    def __init__(self, *answers: bool, lost: str | None = None) -> None:
        self.answers = list(answers)
        self._lost = lost

    def lost(self) -> str | None:
        return self._lost

    def secure(self, timeout_seconds: float) -> bool:
        return self.answers.pop(0)


class Jvm:
    """Fake JVM whose thread sleeps, or is interrupted."""

    def __init__(self, during: Callable[[], None] = lambda: None) -> None:
        self.slept = 0
        self.during = during
        self.java = SimpleNamespace(lang=SimpleNamespace(Thread=self))

    def sleep(self, milliseconds: int) -> None:
        self.slept += 1
        self.during()


class Sink(RecordingSink):
    """A DurableSink whose answer is set."""

    def __init__(self) -> None:
        super().__init__()
        self.at_risk = 0
        self.lost = 0
        self.outbox = None

    def await_durable(self, timeout_seconds: float) -> int:
        return self.at_risk


class Engine:
    """Fake engine with the parts that a policy looks at."""

    def __init__(self, **counts: int) -> None:
        self.ending = False
        self.ended_in_time = True
        self._status = CaptureStatus(enabled=False, **counts)  # type: ignore[arg-type]

    def status(self, *, enabled: bool) -> CaptureStatus:
        return self._status

    def take_in(self, timeout_seconds: float) -> bool:
        return True


def interval(*batches: int, query: str = "q-1", provenance: Provenance = Provenance.OBSERVED) -> IntervalEvent:
    entries = tuple(IntervalEntry(batch_id=batch) for batch in batches)
    return IntervalEvent(query_id=query, query_name="enrich", entries=entries, provenance=provenance)


def emission(policy: str, sink: Any, engine: Engine | None = None) -> Emission:
    durability = Durability(engine or Engine(), sink)  # type: ignore[arg-type]
    queries = RunningQueries(list)
    watch = OverrunWatch(sink, wait_seconds=0.05, stop=queries.stop) if policy == "fail_closed" else None
    return Emission(EmissionPolicy(policy), durability, queries, watch)


# The fence


def test_the_fence_opens_when_all_is_durable() -> None:
    jvm = Jvm()
    Fence(Answers(False, False, True)).hold(jvm, 7)
    assert jvm.slept == 2


def test_the_fence_opens_when_capture_is_closed() -> None:
    intake = Answers(False, False)

    def close() -> None:
        intake.closing = True

    Fence(intake).hold(Jvm(close), 7)
    assert intake.answers == [False]


def test_the_fence_refuses_when_lineage_is_lost() -> None:
    with pytest.raises(LineageNotDurableError, match=r"micro-batch 7 is not begun.*1 events refused"):
        Fence(Answers(lost="1 events refused")).hold(Jvm(), 7)


def test_stopping_the_query_ends_the_waiting() -> None:
    def interrupt() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        Fence(Answers(False, False)).hold(Jvm(interrupt), 7)


def test_a_stopped_query_is_seen_where_its_interruption_does_not_get_through() -> None:
    with pytest.raises(LineageNotDurableError, match="micro-batch 7 is not begun: the query was stopped"):
        Fence(Answers(False, False)).hold(Jvm(), 7, lambda: True)


def test_the_fence_says_every_ten_seconds_that_it_waits(caplog: pytest.LogCaptureFixture) -> None:
    times = iter([0.0, 5.0, 11.0, 12.0, 22.0])
    Fence(Answers(False, False, False, False, True), clock=lambda: next(times)).hold(Jvm(), 7)
    assert [record.args for record in caplog.records] == [(7, 11.0), (7, 22.0)]


def test_the_first_micro_batch_follows_none_and_the_others_wait() -> None:
    sink = Sink()
    sink.at_risk = 1
    made = emission("fail_closed", sink)
    asleep = Jvm(lambda: setattr(sink, "at_risk", 0))
    session = SimpleNamespace(sparkContext=SimpleNamespace(_jvm=asleep))
    frame = SimpleNamespace(sparkSession=session)
    made.hold(frame, "q-1", 0)
    assert asleep.slept == 0
    made.hold(frame, "q-1", 1)
    assert asleep.slept == 1


# The watch


class Stopped:
    def __init__(self) -> None:
        self.overruns: list[Overrun] = []
        self.changed = threading.Event()

    def __call__(self, overrun: Overrun) -> None:
        self.overruns.append(overrun)
        self.changed.set()


def test_a_late_interval_stops_its_query_once_and_what_follows_is_added_to_the_report() -> None:
    sink, stopped = Sink(), Stopped()
    sink.at_risk = 1
    watch = OverrunWatch(sink, wait_seconds=0.02, stop=stopped)
    watch.start()
    watch.watch(interval(4, 5))
    assert stopped.changed.wait(patience(20))
    watch.watch(interval(6))
    watch.end()
    assert stopped.overruns == [Overrun("q-1", "enrich", 4, 5)]
    assert [str(one) for one in watch.overruns] == [
        "query enrich: micro-batches 4..7 were committed, and the lineage isn't durable"
    ]


def test_a_refused_interval_stops_its_query_though_nothing_waits() -> None:
    stopped = Stopped()
    watch = OverrunWatch(Sink(), wait_seconds=3_600, stop=stopped)
    watch.start()
    watch.watch(interval(4), refused=True)
    assert stopped.changed.wait(patience(20))
    watch.end()
    assert [str(one) for one in watch.overruns] == [
        "query enrich: micro-batch 4 was committed, and the lineage isn't durable"
    ]


def test_what_is_durable_held_back_or_only_reconstructed_stops_nothing() -> None:
    sink, stopped = Sink(), Stopped()
    watch = OverrunWatch(sink, wait_seconds=0.0, stop=stopped)
    watch.fence("q-2")
    watch.watch(interval(1))
    watch.watch(interval(1, query="q-2"))
    watch.watch(interval(2, query="q-2"), refused=True)
    watch.watch(interval(1, query="q-3", provenance=Provenance.RECONCILED), refused=True)
    watch.start()
    eventually(lambda: not watch._waiting)
    watch.end()
    assert stopped.overruns == []


# The verdict


@pytest.mark.parametrize("policy", ["warn", "retry"])
def test_some_policies_have_no_verdict(policy: str) -> None:
    sink = Sink()
    sink.at_risk = 3
    assert emission(policy, sink, Engine(publish_failed=1)).verdict(delivered=False) is None


@pytest.mark.parametrize("policy", ["fail_job", "fail_closed"])
def test_what_is_durable_is_enough(policy: str) -> None:
    """Delivered or not: the outbox keeps it."""
    made = emission(policy, Sink())
    assert made.verdict(delivered=False) is None
    assert made.verdict(delivered=True) is None


LOSSES: list[tuple[dict[str, int], int, int, bool, str]] = [
    ({}, 3, 0, True, "3 events are neither acknowledged by Kafka nor in an outbox"),
    ({}, 0, 2, True, "2 given up"),
    ({"dropped": 1}, 0, 0, True, "1 callbacks dropped"),
    ({"failed": 1}, 0, 0, True, "1 not made into events"),
    ({"publish_failed": 1}, 0, 0, True, "1 events refused"),
    ({}, 0, 0, False, "were processed in time"),
]


def test_anything_less_is_not(subtests: pytest.Subtests) -> None:
    for counts, at_risk, lost, in_time, says in LOSSES:
        with subtests.test(counts=counts, at_risk=at_risk):
            sink, engine = Sink(), Engine(**counts)
            sink.at_risk, sink.lost, engine.ended_in_time = at_risk, lost, in_time
            problem = emission("fail_job", sink, engine).verdict(delivered=False)
            assert problem is not None
            assert says in str(problem)
            assert "The data is written, and stays" in str(problem)


def test_a_sink_of_ones_own_is_durable_where_it_says_delivered() -> None:
    made = emission("fail_job", RecordingSink())
    assert made.verdict(delivered=True) is None
    assert "not all lineage was delivered" in str(made.verdict(delivered=False))


def test_at_the_end_a_sink_that_keeps_its_events_is_asked_whether_kafka_moves() -> None:
    class Keeping(Sink):
        def flush_while_moving(self, timeout_seconds: float, *, stall_seconds: float) -> int:
            return int(stall_seconds)

        def flush(self, timeout_seconds: float) -> int:
            raise AssertionError("waits for the whole time")

    assert isinstance(Keeping(), KeepingSink)
    assert EventPublisher(Keeping()).flush(15, stall_seconds=4) == 4
    assert EventPublisher(Sink()).flush(15, stall_seconds=4) == 0
