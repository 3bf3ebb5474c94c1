"""The bridge against a broker in memory: at least once, whatever fails, and nothing committed too early."""

from __future__ import annotations

import threading
import time

import pytest
from prometheus_client import CollectorRegistry

from headwater_consumers.bridge import bridge as module
from headwater_consumers.bridge.bridge import Bridge, BridgeParts, BridgeThread
from headwater_consumers.bridge.metrics import BridgeMetrics
from headwater_consumers.kafka import membership
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.materializer.dead_letters.letter import BRIDGE, letter_of
from headwater_consumers.materializer.dead_letters.topic import DeadLettersUndeliveredError
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_openlineage.intake.sink import Undeliverable
from headwater_schemas.errors import BrokerUnavailableError, CredentialsRefusedError
from support.materializer.broker import FakeBroker, FakeDeadLetters, FakeSource
from support.openlineage import FakeSink, run_data, run_id
from support.waiting import eventually, patience, stays

TOPIC = "openlineage.events"


class World:
    def __init__(
        self,
        *,
        broker: FakeBroker | None = None,
        until_caught_up: bool = True,
        drain_seconds: float = 0.2,
        document_max_bytes: int = 1 << 20,
    ) -> None:
        self.broker = broker or FakeBroker(topic=TOPIC)
        self.source = FakeSource(self.broker)
        self.sink = FakeSink()
        self.letters = FakeDeadLetters(self.broker)
        self.registry = CollectorRegistry()
        self.warnings: list[str] = []
        parts = BridgeParts(
            source=self.source,
            sink=self.sink,
            dead_letters=self.letters,
            metrics=BridgeMetrics(self.registry),
            notices=Notices(self.warnings.append, time.monotonic),
            tenant="acme",
            document_max_bytes=document_max_bytes,
            drain_seconds=drain_seconds,
            clock=time.monotonic,
        )
        self.bridge = Bridge(parts, until_caught_up=until_caught_up)

    def put(self, *values: bytes | None, partition: int = 0) -> None:
        self.broker.extend(values, partition=partition)

    @property
    def runs(self) -> list[str]:
        return [event.run.run_id for event in self.sink.taken if event.kind == "RUN" and event.run is not None]

    def committed(self, number: int = 0) -> int:
        return self.broker.committed.get(self.broker.partition(number), 0)

    def metric(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(f"headwater_bridge_{name}", labels) or 0.0


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(membership, "_POSITIONS_SECONDS", 0.0)


def started(world: World) -> threading.Thread:
    thread = threading.Thread(target=world.bridge.run)
    thread.start()
    return thread


def test_documents_become_events_of_the_tenant_and_offsets_are_committed() -> None:
    world = World()
    world.put(*map(run_data, range(3)))
    world.put(run_data(3), partition=1)
    totals = world.bridge.run()
    assert set(world.runs) == {run_id(number) for number in range(4)}
    assert {event.tenant for event in world.sink.taken} == {"acme"}
    assert (world.committed(0), world.committed(1)) == (3, 1)
    assert totals.document() == {"consumed": 4, "events": len(world.sink.taken), "dead_lettered": 0}
    assert world.metric("records_consumed_total") == 4
    assert world.metric("events_published_total") == len(world.sink.taken)
    assert world.source.closed
    assert world.letters.closed


def test_what_is_no_event_is_dead_lettered_as_it_is_and_the_others_go_on() -> None:
    world = World()
    bad = [b"nonsense", None, b"", run_data(run={}), b"[" * 1_000 + b"]" * 1_000, b"x" * 2_000_000]
    for number, value in enumerate(bad):
        world.put(run_data(number), value)
    world.put(run_data(99))
    world.bridge.run()
    assert len(set(world.runs)) == len(bad) + 1
    assert world.committed() == 2 * len(bad) + 1
    assert [letter.record.value for letter in world.broker.letters] == bad
    reasons = [letter.reason.value for letter in world.broker.letters]
    assert reasons == ["NOT_AN_EVENT", "EMPTY", "EMPTY", "INVALID_EVENT", "NOT_AN_EVENT", "NOT_AN_EVENT"]
    assert "/run/runId" in world.broker.letters[3].message
    assert world.metric("dead_letters_total", reason="NOT_AN_EVENT") == 3


def test_a_letter_names_where_it_was_read_and_goes_back_there() -> None:
    world = World()
    world.put(b"nonsense")
    world.bridge.run()
    (letter,) = world.broker.letters
    headers = letter.headers(group="g-openlineage")
    stored = letter_of(FetchedRecord(Partition("lineage.events.dlq", 0), 7, letter.record.value, headers=headers))
    assert stored.by == BRIDGE
    assert stored.source is not None
    assert (stored.source.partition.topic, stored.source.offset) == (TOPIC, 0)
    assert stored.back_to("lineage.events") == TOPIC


def test_nothing_is_committed_before_everything_is_acknowledged() -> None:
    world = World()
    world.sink.holding = True
    world.put(run_data(1), b"nonsense")
    thread = started(world)
    eventually(lambda: world.sink.taken)
    stays(lambda: world.committed() == 0 and world.broker.letters == [], 0.1)
    world.sink.holding = False
    world.sink.release()
    thread.join(patience(10))
    assert world.committed() == 2
    assert len(world.broker.letters) == 1


def test_events_that_kafka_doesnt_take_now_are_sent_again() -> None:
    world = World()
    world.sink.failure = Undeliverable("id", "TOPIC_AUTHORIZATION_FAILED", for_good=False)
    world.put(run_data(1))
    thread = started(world)
    eventually(lambda: world.runs.count(run_id(1)) >= 3)
    assert world.committed() == 0
    world.sink.failure = None
    thread.join(patience(10))
    assert world.committed() == 1
    assert world.broker.letters == []
    assert world.warnings
    assert world.metric("retries_total") >= 2


def test_an_event_too_large_for_its_topic_makes_its_record_a_letter() -> None:
    world = World()
    world.sink.failure = Undeliverable("id", "MSG_SIZE_TOO_LARGE", for_good=True)
    world.put(run_data(1))
    world.bridge.run()
    assert [(letter.record.value, letter.reason.value) for letter in world.broker.letters] == [
        (run_data(1), "TOO_LARGE")
    ]
    assert world.committed() == 1


def test_a_full_sink_is_waited_for() -> None:
    world = World()
    world.sink.room = 1
    world.put(run_data(1), run_data(2))
    thread = started(world)
    eventually(lambda: world.warnings)
    assert world.committed() == 0
    world.sink.room = None
    thread.join(patience(10))
    assert set(world.runs) == {run_id(1), run_id(2)}
    assert world.committed() == 2


def test_letters_that_arent_acknowledged_hold_the_commit_up_and_are_sent_again() -> None:
    world = World()
    world.put(b"nonsense", run_data(1))
    (lost,) = [world.broker.log[0][0]]
    letter = module._letter(lost, DeadLetterReason.NOT_AN_EVENT, "", "x")
    world.letters.errors.extend([DeadLettersUndeliveredError("away", remaining=[letter])] * 3)
    world.bridge.run()
    assert len(world.broker.letters) == 1
    assert world.committed() == 2
    assert any("away" in warning for warning in world.warnings)


def test_a_commit_that_fails_is_made_up_for_by_the_next() -> None:
    world = World()
    world.put(run_data(1))
    world.source.commit_errors.extend([BrokerUnavailableError("away")] * 2)
    world.bridge.run()
    assert world.committed() == 1


def test_a_crash_before_the_commit_has_the_batch_read_again() -> None:
    world = World()
    world.put(run_data(1))
    world.source.commit_errors.append(CredentialsRefusedError("no", setting="HEADWATER_KAFKA_SASL_USERNAME"))
    with pytest.raises(CredentialsRefusedError):
        world.bridge.run()
    again = World(broker=world.broker)
    again.bridge.run()
    assert [event.event_id for event in again.sink.taken] == [event.event_id for event in world.sink.taken]
    assert again.committed() == 1


def test_what_went_to_another_member_is_not_committed() -> None:
    world = World(until_caught_up=False)
    world.sink.holding = True
    world.put(run_data(1))
    world.put(run_data(2), partition=1)
    thread = started(world)
    eventually(lambda: len(set(world.runs)) == 2)
    world.source.revoke(0)
    eventually(lambda: 0 not in world.source.owned)
    world.sink.release()
    eventually(lambda: world.committed(1) == 1)
    world.bridge.stop()
    thread.join(patience(10))
    assert world.committed(0) == 0


def test_a_stop_finishes_what_is_under_way() -> None:
    world = World(until_caught_up=False, drain_seconds=patience(10))
    world.sink.holding = True
    world.put(run_data(1))
    thread = started(world)
    eventually(lambda: world.sink.taken)
    world.bridge.stop()
    stays(thread.is_alive, 0.05)
    world.sink.release()
    thread.join(patience(10))
    assert not thread.is_alive()
    assert world.committed() == 1


def test_a_stop_gives_up_what_takes_too_long_and_commits_nothing_of_it() -> None:
    world = World(until_caught_up=False, drain_seconds=0.05)
    world.sink.holding = True
    world.put(run_data(1))
    thread = started(world)
    eventually(lambda: world.sink.taken)
    world.bridge.stop()
    thread.join(patience(10))
    assert not thread.is_alive()
    assert world.committed() == 0


def test_caught_up_is_what_was_there_at_the_start_also_where_the_last_offset_holds_no_record() -> None:
    world = World()
    world.put(run_data(1))
    world.broker.leave_out(1)
    world.bridge.run()
    assert world.committed() == 2


def test_batches_are_bounded() -> None:
    world = World()
    world.put(*map(run_data, range(module.BATCH_RECORDS + 10)))
    world.bridge.run()
    assert [max(each.values()) for each in world.source.commits] == [module.BATCH_RECORDS, module.BATCH_RECORDS + 10]


def test_an_error_ends_the_thread_and_is_kept() -> None:
    world, ended = World(until_caught_up=False), threading.Event()
    world.source.poll_errors.append(CredentialsRefusedError("no", setting="HEADWATER_KAFKA_SASL_USERNAME"))
    thread = BridgeThread(world.bridge, ended.set)
    thread.start()
    assert ended.wait(patience(10))
    thread.stop()
    assert isinstance(thread.error, CredentialsRefusedError)


def test_it_is_ready_while_kafka_answers() -> None:
    world = World()
    assert world.bridge.ready
    world.source.reachable = False
    assert world.bridge.document() == {"partitions_assigned": 0, "kafka_reachable": False}


def test_the_longest_document_is_a_setting() -> None:
    world = World(document_max_bytes=4_096)
    world.put(run_data(1, producer="https://example.com/" + "x" * 4_096), run_data(2))
    world.bridge.run()
    assert world.runs == [run_id(2)]
    (letter,) = world.broker.letters
    assert "at most 4,096" in letter.message
