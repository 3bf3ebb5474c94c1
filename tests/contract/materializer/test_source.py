"""Contract of sources that the loop relies on."""

from __future__ import annotations

from headwater_consumers.kafka.records import FetchedRecord, Partition, next_offsets
from headwater_consumers.kafka.source import RecordSource
from support.materializer.worlds import Listener, World, gather, patiently, until
from support.waiting import eventually


def pending(source: RecordSource, partition: Partition) -> int:
    """Offsets of a partition that aren't committed, as far as the last fetch shows."""
    return next(each.pending for each in source.standing() if each.partition == partition)


def test_records_arrive_untouched_and_in_order(world: World) -> None:
    world.put(b"one", key=b"k", headers=(("h", b"v"), ("h", b"w"), ("n", None)), timestamp_ms=1_700_000_000_123)
    world.put(b"")
    world.put(None, key=b"only a key")
    source, listener = world.source(), Listener()
    source.subscribe(listener)

    one, empty, null = gather(source, 3)

    assert (one.value, one.key, one.timestamp_ms) == (b"one", b"k", 1_700_000_000_123)
    assert one.headers == (("h", b"v"), ("h", b"w"), ("n", None))
    assert (empty.value, null.value, null.key) == (b"", None, b"only a key")
    assert [record.offset for record in (one, empty, null)] == [0, 1, 2]
    assert one.partition in listener.assigned_now


def test_what_is_committed_is_not_read_again_and_what_is_not_is(world: World) -> None:
    for number in range(4):
        world.put(b"%d" % number)
    first, listener = world.source(), Listener()
    first.subscribe(listener)
    records = gather(first, 4)
    first.commit(next_offsets(records[:2]))
    until(lambda: bool(listener.answers), first)
    assert listener.answers == [None]
    first.close()

    second = world.source()
    second.subscribe(Listener())
    if hasattr(second, "assign"):
        second.assign(0, 1)
    assert [record.value for record in gather(second, 2)] == [b"2", b"3"]


def test_offsets_can_be_committed_while_partitions_are_being_revoked(world: World) -> None:
    world.put(b"0")
    world.put(b"1")
    source, listener = world.source(), Listener()
    source.subscribe(listener)
    records = gather(source, 2)
    listener.on_revoke = lambda _: source.commit_now(next_offsets(records))
    source.close()

    (kind, partitions) = listener.reported[-1]
    assert kind == "revoked"
    assert records[0].partition in partitions
    probe = world.source()
    committed = {position.partition: position.committed for position in patiently(probe.positions)}
    assert committed[records[0].partition] == 2


def test_partitions_that_are_not_ours_are_left_out_of_a_commit(world: World) -> None:
    world.put(b"0")
    source, listener = world.source(), Listener()
    source.subscribe(listener)
    (record,) = gather(source, 1)
    stranger = Partition(record.partition.topic, 1, "of an earlier incarnation")
    source.commit({record.partition: 1, stranger: 99})
    until(lambda: bool(listener.answers), source)
    committed = {position.partition.number: position.committed for position in patiently(source.positions)}
    assert committed == {0: 1, 1: None}


def test_a_pause_brings_no_records_and_loses_none(world: World) -> None:
    world.put(b"0")
    source = world.source()
    source.subscribe(Listener())
    gather(source, 1)
    source.pause()
    for number in range(1, 4):
        world.put(b"%d" % number)
    for _ in range(20):
        assert source.poll(max_records=10, max_bytes=1_000, timeout_seconds=0.05).records == ()
    source.resume()
    source.resume()
    assert [record.value for record in gather(source, 3)] == [b"1", b"2", b"3"]


def test_a_partition_that_goes_during_a_pause_is_read_when_it_comes_back(world: World) -> None:
    for number in range(2):
        world.put(b"%d" % number, partition=number)
    one, first = world.source(), Listener()
    one.subscribe(first)
    one.commit(next_offsets(gather(one, 2)))
    until(lambda: bool(first.answers), one)
    one.pause()
    two, second = world.source(), Listener()
    two.subscribe(second)
    world.share(one, two)
    until(lambda: len(first.assigned_now) == len(second.assigned_now) == 1, one, two, seconds=60)
    one.resume()
    (gone,) = second.assigned_now

    two.close()
    if hasattr(one, "assign"):
        one.assign(gone.number)
    until(lambda: gone in first.assigned_now, one, seconds=60)
    world.put(b"new", partition=gone.number)
    assert [record.value for record in gather(one, 1)] == [b"new"]


def test_a_poll_brings_no_more_records_than_asked_for(world: World) -> None:
    for number in range(20):
        world.put(b"%d" % number)
    source = world.source()
    source.subscribe(Listener())
    seen: list[bytes | None] = []

    def all_are_seen() -> bool:
        records = source.poll(max_records=3, max_bytes=1 << 20, timeout_seconds=0.5).records
        assert len(records) <= 3
        seen.extend(record.value for record in records)
        return len(seen) >= 20

    eventually(all_are_seen)
    assert seen == [b"%d" % number for number in range(20)]


def test_positions_tell_of_every_partition_without_joining(world: World) -> None:
    world.put(b"0")
    world.put(b"1")
    positions = patiently(world.source().positions)
    assert [(p.partition.number, p.begin, p.end, p.committed, p.pending) for p in positions] == [
        (0, 0, 2, None, 2),
        (1, 0, 0, None, 0),
    ]


def test_two_members_share_the_partitions(world: World) -> None:
    for number in range(4):
        world.put(b"%d" % number, partition=number % 2)
    one, first = world.source(), Listener()
    one.subscribe(first)
    records = gather(one, 4)
    one.commit(next_offsets(records))
    until(lambda: bool(first.answers), one)

    two, second = world.source(), Listener()
    two.subscribe(second)
    world.share(one, two)
    until(lambda: len(first.assigned_now) == len(second.assigned_now) == 1, one, two, seconds=60)

    assert first.assigned_now | second.assigned_now == {record.partition for record in records}
    (given,) = second.assigned_now
    world.put(b"new", partition=given.number)
    (record,) = gather(two, 1, also=[one])
    assert (record.value, record.offset, record.partition) == (b"new", 2, given), "on from what was committed"


def test_a_topic_created_again_is_another_one_and_is_read_from_its_beginning(world: World) -> None:
    for number in range(3):
        world.put(b"%d" % number)
    first, listener = world.source(), Listener()
    first.subscribe(listener)
    before = gather(first, 3)
    first.commit(next_offsets(before))
    until(lambda: bool(listener.answers), first)
    first.close()

    world.recreate()
    for number in range(5):
        world.put(b"new %d" % number)
    second, listener = world.source(), Listener()
    second.subscribe(listener)
    if hasattr(second, "assign"):
        second.assign(0, 1)
    after = gather(second, 5)
    assert [record.value for record in after] == [b"new %d" % number for number in range(5)]
    assert after[0].partition != before[0].partition
    assert after[0].partition.topic_id != before[0].partition.topic_id


def test_a_topic_created_again_under_a_running_source_is_read_from_its_beginning(world: World) -> None:
    for number in range(3):
        world.put(b"%d" % number)
    source, listener = world.source(), Listener()
    source.subscribe(listener)
    before = gather(source, 3)

    world.recreate()
    for number in range(5):
        world.put(b"new %d" % number)
    source.commit(next_offsets(before))
    records: list[FetchedRecord] = []

    def all_are_read() -> bool:
        polled = source.poll(max_records=1_000, max_bytes=1 << 24, timeout_seconds=0.05)
        records.extend(record for record in polled.records if record.partition != before[0].partition)
        return len(records) >= 5

    eventually(all_are_read)
    assert [record.value for record in records] == [b"new %d" % number for number in range(5)]
    assert not any(position.committed for position in patiently(source.positions)), "nothing of the new topic yet"
    source.commit(next_offsets(records))
    answers = len(listener.answers)
    until(lambda: len(listener.answers) > answers, source)
    committed = {position.partition.number: position.committed for position in patiently(source.positions)}
    assert committed == {0: 5, 1: None}


def test_the_lag_is_from_what_is_committed_to_the_end_from_the_first_record_on(world: World) -> None:
    for number in range(4):
        world.put(b"%d" % number)
    source, listener = world.source(), Listener()
    source.subscribe(listener)
    records = gather(source, 4)
    assert pending(source, records[0].partition) == 4
    source.commit(next_offsets(records[:3]))
    until(lambda: bool(listener.answers), source)
    assert pending(source, records[0].partition) == 1


def test_what_lies_behind_the_last_record_is_reached_and_no_record(world: World) -> None:
    """Markers of transactions and aborted records have offsets; without them the group would never have caught up."""
    world.transact(b"0", b"1")  # and a marker: 2
    world.transact(b"never", b"seen", commit=False)  # 3, 4 and a marker: 5
    source, listener = world.source(), Listener()
    source.subscribe(listener)
    values: list[bytes | None] = []
    reached: dict[Partition, int] = {}

    def end_is_reached() -> bool:
        polled = source.poll(max_records=10, max_bytes=1 << 20, timeout_seconds=0.05)
        values.extend(record.value for record in polled.records)
        reached.update(polled.reached)
        return any(partition.number == 0 and offset == 6 for partition, offset in reached.items())

    eventually(end_is_reached)
    assert values == [b"0", b"1"]
    (partition,) = [each for each in reached if each.number == 0]
    source.commit({partition: 6})
    until(lambda: bool(listener.answers), source)
    assert patiently(source.positions)[0].pending == 0

    world.put(b"after")
    (after,) = gather(source, 1)
    assert (after.value, after.offset) == (b"after", 6)


def test_an_end_comes_after_every_record_before_it(world: World) -> None:
    """Else what is committed with it would skip records that were fetched and not written."""
    for number in range(6):
        world.put(b"%d" % number)
    source = world.source()
    source.subscribe(Listener())
    seen = 0

    def all_are_seen() -> bool:
        nonlocal seen
        polled = source.poll(max_records=2, max_bytes=1 << 20, timeout_seconds=0.05)
        seen += len(polled.records)
        assert all(offset <= seen for partition, offset in polled.reached.items() if partition.number == 0)
        return seen >= 6

    eventually(all_are_seen)


def test_records_that_expire_during_a_pause_are_passed_over(world: World) -> None:
    world.put(b"0")
    source = world.source()
    source.subscribe(Listener())
    gather(source, 1)
    source.pause()
    for number in range(1, 6):
        world.put(b"%d" % number)
    world.expire(4)
    assert patiently(source.positions)[0].begin == 4
    source.resume()
    kept = gather(source, 2)[-2:]
    assert [(record.value, record.offset) for record in kept] == [(b"4", 4), (b"5", 5)]
