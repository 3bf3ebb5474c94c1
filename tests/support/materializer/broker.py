"""A broker in memory: one events topic, one consumer group, one dead-letter topic."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headwater_consumers.materializer.dead_letter import DeadLetter
from headwater_consumers.materializer.errors import BrokerUnavailableError, DeadLettersUndeliveredError
from headwater_consumers.materializer.offsets import Position
from headwater_consumers.materializer.records import Headers, Partition, Record
from headwater_consumers.materializer.source import Polled, SourceListener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass
class FakeBroker:
    """What lives longer than a consumer. `topic_id` changes when the topic is created again."""

    topic: str = "lineage.events"
    partitions: int = 2
    topic_id: str = "first"
    log: dict[int, list[Record]] = field(default_factory=dict)
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
    ) -> Record:
        records = self.log.setdefault(partition, [])
        record = Record(self.partition(partition), len(records), value, key, headers, timestamp_ms)
        records.append(record)
        return record

    def extend(self, values: Iterable[bytes | None], *, partition: int = 0) -> None:
        for value in values:
            self.append(value, partition=partition)

    def recreate(self, topic_id: str) -> None:
        """Delete the topic and create it again. As with a real one, the group's offsets of it are gone."""
        self.log.clear()
        self.committed.clear()
        self.topic_id = topic_id

    def positions(self) -> list[Position]:
        return [
            Position(partition, 0, len(self.log.get(number, [])), self.committed.get(partition))
            for number in range(self.partitions)
            for partition in [self.partition(number)]
        ]


class FakeSource:
    """A member of the group. Rebalances happen when the test says so, within the next poll, as with a real one.

    Attributes:
        commits: what was committed, in order.
        commit_errors: raised by the next commits, one each; None lets one through.
        poll_errors: likewise for polls.
        first: the partitions that it is assigned when it joins.
    """

    def __init__(self, broker: FakeBroker) -> None:
        self.broker = broker
        self.commits: list[dict[Partition, int]] = []
        self.commit_errors: deque[Exception | None] = deque()
        self.poll_errors: deque[Exception | None] = deque()
        self.polls = 0
        self.first: tuple[int, ...] = tuple(range(broker.partitions))
        self.paused = False
        self.closed = False
        self.reachable = True
        self.owned: dict[int, Partition] = {}
        self._position: dict[int, int] = {}
        self._listener: SourceListener | None = None
        self._pending: deque[Callable[[], None]] = deque()

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

    def lose(self, *numbers: int) -> None:
        self._pending.append(lambda: self._lose(numbers))

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        self.polls += 1
        if self.poll_errors and (error := self.poll_errors.popleft()) is not None:
            raise error
        while self._pending:
            self._pending.popleft()()
        records: list[Record] = []
        if self.paused:
            return Polled()
        size = 0
        for number in sorted(self.owned):
            log = self.broker.log.get(number, [])
            while self._position[number] < len(log) and len(records) < max_records and size < max_bytes:
                record = replace(log[self._position[number]], partition=self.owned[number])
                records.append(record)
                size += record.size
                self._position[number] += 1
        return Polled(tuple(records))

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        sent = dict(offsets)
        self._pending.append(lambda: self._answer(sent))

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        if self.commit_errors and (error := self.commit_errors.popleft()) is not None:
            raise error
        ours = {p: offset for p, offset in offsets.items() if self.owned.get(p.number) == p}
        self.commits.append(ours)
        for partition, offset in ours.items():
            before = self.broker.committed.get(partition, 0)
            assert offset >= before, f"the commit of {partition} goes back from {before} to {offset}"
        self.broker.committed.update(ours)

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def positions(self) -> list[Position]:
        return self.broker.positions()

    def lag(self) -> Mapping[Partition, int]:
        committed = self.broker.committed
        return {p: len(self.broker.log.get(n, [])) - committed.get(p, 0) for n, p in self.owned.items()}

    def close(self) -> None:
        if self.owned:
            self._revoke(tuple(self.owned))
        self.closed = True

    def _answer(self, offsets: Mapping[Partition, int]) -> None:
        try:
            self.commit_now(offsets)
        except BrokerUnavailableError as error:
            self.listener.committed(error)
        else:
            self.listener.committed(None)

    def _assign(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            partition = self.broker.partition(number)
            self.owned[number] = partition
            self._position[number] = self.broker.committed.get(partition, 0)
        self.listener.assigned(frozenset(self.owned[number] for number in numbers))

    def _revoke(self, numbers: tuple[int, ...]) -> None:
        self.listener.revoked(frozenset(self.owned[number] for number in numbers))
        for number in numbers:
            del self.owned[number]

    def _lose(self, numbers: tuple[int, ...]) -> None:
        gone = frozenset(self.owned.pop(number) for number in numbers)
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
