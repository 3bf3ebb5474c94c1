"""The outbox against a cluster that plays failures: an event is held until it is acknowledged, whatever happens."""

from __future__ import annotations

import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError

from headwater_producers.outbox import (
    Outbox,
    OutboxClosedError,
    OutboxFullError,
    OutboxLimits,
    OutboxUnusableError,
    WhenFull,
    relay,
)
from headwater_producers.outbox.backlog import Backlog
from headwater_producers.outbox.store import Store, size_of
from support.fake_producer import FakeCluster
from support.outbox import delivered, metrics, name_of, publisher, record
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from prometheus_client import Counter, Gauge

Make = Callable[..., Outbox]


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


@pytest.fixture
def make(tmp_path: Path, cluster: FakeCluster) -> Iterator[Make]:
    made: list[Outbox] = []

    def one(limits: OutboxLimits | None = None) -> Outbox:
        outbox = Outbox(tmp_path / "outbox", publisher(cluster), limits, metrics=metrics())
        made.append(outbox)
        return outbox

    yield one
    for outbox in made:
        outbox.close()


def test_events_go_to_kafka_in_order_and_are_gone(make: Make, cluster: FakeCluster, tmp_path: Path) -> None:
    outbox = make()
    names = [f"e{number}" for number in range(1_200)]
    for name in names:
        outbox.put(record(name))
    assert outbox.await_relayed(patience(20)) == 0
    assert delivered(cluster) == names
    figures = outbox.figures()
    assert (figures.events, figures.bytes, figures.relayed, figures.dropped) == (0, 0, 1_200, 0)
    outbox.close()
    assert not (tmp_path / "outbox").exists()


def test_what_was_relayed_is_deleted_when_nothing_more_comes(make: Make) -> None:
    outbox = make()
    outbox.put(record("e1"))
    assert outbox.await_relayed(patience(20)) == 0
    eventually(lambda: outbox._backlog.store.owed == 0)


def test_an_event_wakes_only_who_has_to_do_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that is woken for nothing costs a micro-batch two switches of threads."""
    backlog, woken = Backlog(Store.create_below(tmp_path), OutboxLimits(), metrics()), list[str]()
    for name in ("to_write", "to_relay", "settled"):
        monkeypatch.setattr(getattr(backlog, name), "notify_all", partial(woken.append, name))

    def who() -> list[str]:
        found = woken.copy()
        woken.clear()
        return found

    backlog.put(record("e1"))
    assert who() == ["to_write"]
    group = backlog.unwritten(max_events=1)
    backlog.store.append(group)
    backlog.written(group)
    assert who() == ["to_relay", "settled"]
    backlog.settle(backlog.store, [number for number, _ in group], delivered=True)
    assert who() == ["settled"]
    backlog.put(record("e2"))
    backlog.note_disk_problem("no space")  # the relay takes it from memory
    assert who() == ["to_write", "to_relay"]
    backlog.put(record("e3"))
    assert who() == ["to_write", "to_relay"]
    backlog.close()


def test_outboxes_that_come_and_go_do_not_take_the_folder_from_each_other(tmp_path: Path) -> None:
    """The last to leave removes it, while the next is moving in."""
    problems: list[Exception] = []

    def come_and_go() -> None:
        cluster = FakeCluster()
        try:
            for number in range(15):
                with Outbox(tmp_path / "outbox", publisher(cluster), metrics=metrics()) as outbox:
                    outbox.put(record(f"e{number}"))
                    assert outbox.await_relayed(patience(60)) == 0
            assert len(delivered(cluster)) == 15
        except Exception as error:  # noqa: BLE001 - to be seen by the test's own thread
            problems.append(error)

    threads = [threading.Thread(target=come_and_go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert not (tmp_path / "outbox").exists()


def test_without_kafka_events_are_durable_and_the_next_outbox_relays_them(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    for part in ("a", "b"):
        outbox = make()
        outbox.put(record(f"{part}1"))
        outbox.put(record(f"{part}2"))
        assert outbox.await_durable(patience(20)) == 0
        assert outbox.await_relayed(0.01) == 2
        outbox.close()
        assert outbox.figures().unwritten == 0
    cluster.holding = False
    third = make()
    eventually(lambda: third.figures().relayed == 4)
    assert delivered(cluster) == ["a1", "a2", "b1", "b2"]
    assert third.figures().events == 0


def test_a_living_outbox_is_left_alone(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    first = make()
    first.put(record("mine"))
    assert first.await_durable(patience(20)) == 0
    second = make()
    second.put(record("other"))
    assert second.await_durable(patience(20)) == 0
    assert second.figures().events == 1
    cluster.holding = False
    assert (first.await_relayed(patience(20)), second.await_relayed(patience(20))) == (0, 0)
    assert sorted(delivered(cluster)) == ["mine", "other"]


def test_full_it_refuses_the_newest(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    outbox = make(OutboxLimits(max_bytes=3 * size_of(record("e1"))))
    for number in range(1, 4):
        outbox.put(record(f"e{number}"))
    with pytest.raises(OutboxFullError, match="outbox_max_bytes"):
        outbox.put(record("e4"))
    assert outbox.figures().dropped == 1
    cluster.holding = False
    assert outbox.await_relayed(patience(20)) == 0
    outbox.put(record("e5"))
    assert outbox.await_relayed(patience(20)) == 0
    assert delivered(cluster) == ["e1", "e2", "e3", "e5"]


def test_full_it_drops_the_oldest_if_told_to(make: Make, cluster: FakeCluster) -> None:
    cluster.holding = True
    outbox = make(OutboxLimits(max_bytes=3 * size_of(record("e1")), when_full=WhenFull.DROP_OLDEST))
    for number in range(1, 6):
        outbox.put(record(f"e{number}"))
        assert outbox.await_durable(patience(20)) == 0
    eventually(lambda: outbox.figures().dropped == 2)
    assert outbox.figures().events == 3
    outbox.close()
    cluster.holding = False
    after = make()
    eventually(lambda: after.figures().relayed == 3)
    assert delivered(cluster) == ["e3", "e4", "e5"]


def test_what_the_dead_left_counts_against_the_limit(make: Make, cluster: FakeCluster) -> None:
    """Or a job that is started again and again while Kafka is away would fill the disk."""
    cluster.holding = True
    limits = OutboxLimits(max_bytes=3 * size_of(record("e1")))
    first = make(limits)
    for number in range(1, 4):
        first.put(record(f"e{number}"))
    first.close()
    second = make(limits)
    eventually(lambda: second.figures().events == 3)
    with pytest.raises(OutboxFullError):
        second.put(record("e4"))


def test_an_event_that_kafka_finds_too_large_is_given_up_alone(
    make: Make, cluster: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(_topic: str, values: list[bytes]) -> KafkaError | None:
        return KafkaError(KafkaError.MSG_SIZE_TOO_LARGE) if b"big" in map(_name, values) else None

    cluster.answer = answer
    outbox = make()
    for name in ("e1", "big", "e2"):
        outbox.put(record(name))
    assert outbox.await_relayed(patience(20)) == 0
    assert sorted(delivered(cluster)) == ["e1", "e2"]
    assert (outbox.figures().relayed, outbox.figures().dropped) == (2, 1)
    assert "1 lineage events lost, too large for the topic" in caplog.text


def test_what_is_not_authorized_is_kept_and_tried_again(
    make: Make, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "_RETRY_SECONDS", 0.05)
    forbidden = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    cluster.answer = lambda topic, _values: forbidden if topic == "lineage.events" else None
    outbox = make()
    outbox.put(record("e1"))
    outbox.put(record("e2"))
    assert outbox.await_relayed(0.5) == 2
    assert outbox.figures().events == 2
    cluster.answer = lambda _topic, _values: None
    assert outbox.await_relayed(patience(20)) == 0
    assert delivered(cluster) == ["e1", "e2"]


def test_a_disk_that_refuses_does_not_keep_events_from_kafka(
    make: Make, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    append = Store.append

    def refuse(store: Store, records: object) -> None:
        raise OutboxUnusableError("database or disk is full")

    outbox = make()
    monkeypatch.setattr(Store, "append", refuse)
    outbox.put(record("e1"))
    outbox.put(record("e2"))
    assert outbox.await_durable(patience(20)) == 0, "Kafka has them"
    assert delivered(cluster) == ["e1", "e2"]
    assert outbox.figures().disk_problem == "database or disk is full"
    assert caplog.text.count("The outbox can't be written") == 1

    cluster.holding = True
    outbox.put(record("e3"))
    assert outbox.await_durable(0.2) == 1, "neither the disk nor Kafka has it"
    assert outbox.flush(0) == 1
    assert "1 events are neither in Kafka nor in the outbox" in caplog.text
    assert "are not delivered yet" not in caplog.text
    monkeypatch.setattr(Store, "append", append)
    assert outbox.await_durable(patience(20)) == 0
    assert outbox.figures().disk_problem is None


def test_what_neither_the_disk_nor_kafka_took_is_counted_as_lost_at_the_end(
    make: Make, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.holding = True
    outbox = make()
    outbox.put(record("e1"))
    assert outbox.await_durable(patience(20)) == 0
    monkeypatch.setattr(Store, "append", Mock(side_effect=OutboxUnusableError("database or disk is full")))
    outbox.put(record("e2"))
    outbox.put(record("e3"))
    outbox.close()
    assert "2 events are lost: neither Kafka nor the disk took them (database or disk is full)" in caplog.text


def test_a_folder_that_is_removed_while_it_is_in_use_is_made_anew(
    make: Make, cluster: FakeCluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.holding = True
    outbox = make()
    for name in ("e0", "e1"):
        outbox.put(record(name))
    assert outbox.await_durable(patience(20)) == 0
    shutil.rmtree(tmp_path / "outbox")
    outbox.put(record("e2"))
    assert outbox.await_durable(patience(20)) == 0
    assert "was removed while it was in use: its 2 events are in" in caplog.text
    outbox.close()
    # Nobody has acknowledged any of them: all are there for the next one, in order.
    cluster.holding = False
    before = len(delivered(cluster))
    assert make().figures().folder == str(tmp_path / "outbox")
    eventually(lambda: delivered(cluster)[before:] == ["e0", "e1", "e2"])


def test_a_folder_that_can_not_be_made_anew_is_a_disk_that_refuses(
    make: Make, cluster: FakeCluster, tmp_path: Path
) -> None:
    cluster.holding = True
    outbox = make()
    outbox.put(record("e0"))
    assert outbox.await_durable(patience(20)) == 0
    shutil.rmtree(tmp_path / "outbox")
    (tmp_path / "outbox").write_text("a file where the folder should be")
    outbox.put(record("e1"))
    eventually(lambda: outbox.figures().disk_problem is not None)
    assert outbox.await_durable(0.1) == 1
    (tmp_path / "outbox").unlink()
    assert outbox.await_durable(patience(20)) == 0
    assert (outbox.figures().events, outbox.figures().disk_problem) == (2, None)


def test_what_kafka_got_while_the_disk_was_writing_it_is_not_held_any_more(tmp_path: Path) -> None:
    backlog = Backlog(Store.create(tmp_path), OutboxLimits(), metrics())
    backlog.put(record("e1"))
    backlog.put(record("e2"))
    group = backlog.unwritten(max_events=10)
    backlog.store.append(group)
    backlog.settle(backlog.store, [1], delivered=True)
    backlog.written(group)
    assert (backlog.events, backlog.relayed) == (1, 1)
    assert [number for number, _ in backlog.store.read(0, max_events=10, max_bytes=10_000)] == [2]
    assert backlog.bytes == size_of(record("e2"))
    backlog.close()


def test_of_a_damaged_file_what_can_be_read_is_relayed_and_it_is_kept_aside(
    make: Make, cluster: FakeCluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.holding = True
    bad = make()
    for number in range(100):
        bad.put(record(f"bad{number}", size=1_000))
    bad.close()
    good = make()
    good.put(record("good"))
    good.close()
    path = min((tmp_path / "outbox").glob("*.outbox"))
    page = path.stat().st_size // 4096 // 2
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(b"\xff" * 4096)
    cluster.holding = False
    after = make()
    eventually(lambda: (tmp_path / "outbox" / f"{path.name}.damaged").exists() and "good" in delivered(cluster))
    readable = len(delivered(cluster)) - 1
    assert 0 < readable < 100
    assert delivered(cluster) == [*(f"bad{number}" for number in range(readable)), "good"]
    assert "Outbox damaged" in caplog.text
    eventually(lambda: after.figures().events == 0)


def test_a_file_without_a_readable_event_is_left_alone(
    make: Make, cluster: FakeCluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "outbox").mkdir()
    (tmp_path / "outbox" / "x.outbox").write_bytes(b"no database" * 100)
    after = make()
    after.put(record("e1"))
    assert after.await_relayed(patience(20)) == 0
    assert f"Outbox unreadable, skipped: {tmp_path / 'outbox' / 'x.outbox'}" in caplog.text
    assert (tmp_path / "outbox" / "x.outbox").exists()


def test_closed_it_takes_nothing(make: Make) -> None:
    outbox = make()
    outbox.close()
    outbox.close()
    with pytest.raises(OutboxClosedError):
        outbox.put(record("e1"))


def test_its_folder_and_its_files_are_its_owners_alone(make: Make, cluster: FakeCluster, tmp_path: Path) -> None:
    cluster.holding = True
    outbox, folder = make(), tmp_path / "outbox"
    outbox.put(record("e1"))
    assert outbox.await_durable(patience(20)) == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_an_unusable_folder_is_named(tmp_path: Path, cluster: FakeCluster) -> None:
    (tmp_path / "file").touch()
    sender = publisher(cluster)
    with pytest.raises(OutboxUnusableError, match="file"):
        Outbox(tmp_path / "file" / "outbox", sender, metrics=metrics())
    sender.close(0)


def test_metrics_say_what_is_held(tmp_path: Path, cluster: FakeCluster) -> None:
    counted = metrics()
    cluster.holding = True
    with Outbox(tmp_path, publisher(cluster), metrics=counted) as outbox:
        outbox.put(record("e1"))
        assert outbox.await_durable(patience(20)) == 0
        assert _value(counted.events) == 1
        assert _value(counted.bytes) == size_of(record("e1"))
        cluster.holding = False
        assert outbox.await_relayed(patience(20)) == 0
        assert _value(counted.events) == 0
        assert _value(counted.relayed) == 1


def _name(value: bytes) -> bytes:
    return name_of(value).encode()


def _value(metric: Counter | Gauge) -> float:
    return next(iter(metric.collect())).samples[0].value
