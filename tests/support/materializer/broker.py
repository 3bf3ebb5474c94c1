"""A broker in memory: one events topic, one consumer group, one dead-letter topic."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import FetchedRecord, Headers, Partition
from headwater_consumers.kafka.source import Polled, SourceListener
from headwater_consumers.materializer.dead_letters.letter import DeadLetter
from headwater_consumers.materializer.dead_letters.topic import DeadLettersUndeliveredError
from headwater_schemas.errors import BrokerUnavailableError


@dataclass
class FakeBroker:
    """Broker and group state that outlive a consumer. `topic_id` changes when the topic is created again.

    Attributes:
        log: the records of each partition by ascending offset, which may leave offsets out.
        begins, ends: the first offset that is kept, and the one that the next record gets; 0 where they aren't there.
        owners: the member that each partition was assigned to last. A member that doesn't know yet that it isn't the
            owner any more has its commits refused, as those of an earlier generation of the group are.
    """

    topic: str = "lineage.events"
    partitions: int = 2
    topic_id: str = "first"
    log: dict[int, list[FetchedRecord]] = field(default_factory=dict)
    begins: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    owners: dict[int, FakeSource] = field(default_factory=dict)
    committed: dict[Partition, int] = field(default_factory=dict)
    letters: list[DeadLetter] = field(default_factory=list)

    def partition(self, number: int = 0) -> Partition:
        return Partition(self.topic, number, self.topic_id)

    def append(
        self,
        value: bytes | None,
        *,
        partition: int = 0,
        key: bytes | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
    ) -> FetchedRecord:
        offset = self.ends.get(partition, 0)
        record = FetchedRecord(self.partition(partition), offset, value, key, headers, timestamp_ms)
        self.log.setdefault(partition, []).append(record)
        self.ends[partition] = offset + 1
        return record

    def extend(self, values: Iterable[bytes | None], *, partition: int = 0) -> None:
        for value in values:
            self.append(value, partition=partition)

    def leave_out(self, count: int, *, partition: int = 0) -> None:
        """Offsets that no consumer is given: markers of transactions, records that were aborted or compacted away."""
        self.ends[partition] = self.ends.get(partition, 0) + count

    def expire(self, before: int, *, partition: int = 0) -> list[FetchedRecord]:
        """Retention: what lies below an offset is gone. Returns the records."""
        log = self.log.get(partition, [])
        self.begins[partition] = max(self.begins.get(partition, 0), min(before, self.ends.get(partition, 0)))
        self.log[partition] = [record for record in log if record.offset >= before]
        return [record for record in log if record.offset < before]

    def recreate(self, topic_id: str) -> None:
        """Delete the topic and create it again. As with a real one, the group's offsets of it are gone."""
        for of_partition in (self.log, self.begins, self.ends, self.committed):
            of_partition.clear()
        self.topic_id = topic_id

    def positions(self) -> list[PartitionOffsets]:
        return [
            PartitionOffsets(
                partition, self.begins.get(number, 0), self.ends.get(number, 0), self.committed.get(partition)
            )
            for number in range(self.partitions)
            for partition in [self.partition(number)]
        ]


class FakeSource:
    """A member of the group. Rebalances happen when the test says so, within the next poll, as with a real one.

    Attributes:
        commits: what was committed, in order.
        commit_errors: raised by the next commits, one each; None lets one through.
        poll_errors: likewise for polls.
        polling: called with how long a poll may take before each.
        first: the partitions that it is assigned when it joins.
    """

    def __init__(self, broker: FakeBroker) -> None:
        self.broker = broker
        self.commits: list[dict[Partition, int]] = []
        self.commit_errors: deque[Exception | None] = deque()
        self.poll_errors: deque[Exception | None] = deque()
        self.polling: Callable[[float], object] = lambda _: None
        self.polls = 0
        self.first: tuple[int, ...] = tuple(range(broker.partitions))
        self.paused = False
        self.closed = False
        self.reachable = True
        self.owned: dict[int, Partition] = {}
        self._position: dict[int, int] = {}
        self._end_met: dict[int, int] = {}
        self._generation: dict[int, int] = {}
        self._listener: SourceListener | None = None
        self._pending: deque[Callable[[], None]] = deque()
        self._later: list[tuple[int, tuple[int, ...]]] = []

    @property
    def listener(self) -> SourceListener:
        assert self._listener is not None, "nobody has subscribed"
        return self._listener

    @property
    def subscribed(self) -> bool:
        return self._listener is not None

    def subscribe(self, listener: SourceListener) -> None:
        self._listener = listener
        self.assign(*self.first)

    def assign(self, *numbers: int) -> None:
        self._pending.append(lambda: self._assign(numbers))

    def revoke(self, *numbers: int) -> None:
        self._pending.append(lambda: self._revoke(numbers))

    def lose(self, *numbers: int, after_polls: int = 0) -> None:
        """Partitions are another's; this member learns it that many polls later, and takes them for its own until."""
        self._later.append((self.polls + after_polls, numbers))

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        self.polls += 1
        self.polling(timeout_seconds)
        if self.poll_errors and (error := self.poll_errors.popleft()) is not None:
            raise error
        while self._pending:
            self._pending.popleft()()
        due = [numbers for at, numbers in self._later if at < self.polls]
        self._later = [(at, numbers) for at, numbers in self._later if at >= self.polls]
        for numbers in due:
            self._lose(numbers)
        self._notice_a_new_topic()
        records: list[FetchedRecord] = []
        reached: dict[Partition, int] = {}
        if self.paused:
            return Polled()
        size = 0
        for number, partition in sorted(self.owned.items()):
            log, end = self.broker.log.get(number, []), self.broker.ends.get(number, 0)
            # Out of range is where the partition begins: `auto.offset.reset=earliest`.
            position = max(self._position[number], self.broker.begins.get(number, 0))
            for record in log[bisect_left(log, position, key=lambda each: each.offset) :]:
                if len(records) >= max_records or size >= max_bytes:
                    break
                records.append(replace(record, partition=partition))
                size += record.size
                position = record.offset + 1
            else:
                # As librdkafka with `enable.partition.eof`: once for each end, behind all that lies before it.
                position = max(position, end)
                if self._end_met.get(number) != end:
                    self._end_met[number] = reached[partition] = end
            self._position[number] = position
        return Polled(tuple(records), reached)

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        sent, generation = dict(offsets), dict(self._generation)
        self._pending.append(lambda: self._answer(sent, generation))

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        if self.commit_errors and (error := self.commit_errors.popleft()) is not None:
            raise error
        ours = {
            p: offset
            for p, offset in offsets.items()
            if self.owned.get(p.number) == p == self.broker.partition(p.number)
        }
        if any(self.broker.owners.get(p.number) is not self for p in ours):
            raise BrokerUnavailableError("The group is in another generation.")
        self.commits.append(ours)
        for partition, offset in ours.items():
            before = self.broker.committed.get(partition, 0)
            assert offset >= before, f"the commit of {partition} goes back from {before} to {offset}"
        self.broker.committed.update(ours)

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def positions(self) -> list[PartitionOffsets]:
        return self.broker.positions()

    def standing(self) -> list[PartitionOffsets]:
        return [each for each in self.broker.positions() if each.partition in self.owned.values()]

    def close(self) -> None:
        if self.owned:
            self._revoke(tuple(self.owned))
        self.closed = True

    def _answer(self, offsets: Mapping[Partition, int], generation: Mapping[int, int]) -> None:
        if any(generation.get(p.number) != self._generation.get(p.number) for p in offsets):
            self.listener.committed(BrokerUnavailableError("It was sent in another generation."))
            return
        try:
            self.commit_now(offsets)
        except BrokerUnavailableError as error:
            self.listener.committed(error)
        else:
            self.listener.committed(None)

    def _assign(self, numbers: tuple[int, ...]) -> None:
        # A member that comes back to the group is called with what it has lost before it gets any of that again.
        self._lose(numbers)
        self._later = [(at, tuple(n for n in lost if n not in numbers)) for at, lost in self._later]
        for number in numbers:
            partition = self.broker.partition(number)
            self.owned[number] = partition
            self._generation[number] = self._generation.get(number, 0) + 1
            self.broker.owners[number] = self
            self._position[number] = self.broker.committed.get(partition, 0)
            self._end_met.pop(number, None)
        self.listener.assigned(frozenset(self.owned[number] for number in numbers))

    def _revoke(self, numbers: tuple[int, ...]) -> None:
        self.listener.revoked(frozenset(self.owned[number] for number in numbers))
        for number in numbers:
            del self.owned[number]

    def _notice_a_new_topic(self) -> None:
        """Leave the group like the real one, and join it with a client that knows nothing of the topic."""
        numbers = tuple(n for n, partition in self.owned.items() if partition != self.broker.partition(n))
        if numbers:
            ours = [n for n in numbers if self.broker.owners.get(n) is self]
            self._lose(numbers)
            self.listener.committed(None)
            self._assign(tuple(ours))

    def _lose(self, numbers: tuple[int, ...]) -> None:
        gone = frozenset(self.owned.pop(number) for number in numbers if number in self.owned)
        if gone:
            self.listener.lost(gone)


class FakeDeadLetters:
    """The dead-letter topic. `errors` are met by the next sends, one each; None lets one through."""

    def __init__(self, broker: FakeBroker) -> None:
        self.broker = broker
        self.errors: deque[Exception | None] = deque()
        self.accepts: int | None = None
        self.closed = False

    def send(self, letters: Iterable[DeadLetter]) -> None:
        letters = list(letters)
        if self.errors and (error := self.errors.popleft()) is not None:
            raise error
        taken = len(letters) if self.accepts is None else self.accepts
        self.broker.letters += letters[:taken]
        self.accepts = None
        if letters[taken:]:
            raise DeadLettersUndeliveredError("The topic is full.", remaining=letters[taken:])

    def close(self) -> None:
        self.closed = True
