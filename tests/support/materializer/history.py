"""Random histories of the loop: two consumers, faults at every step, crashes, rebalances. One seed is one history.

cd tests && uv run python -m support.materializer.history 17        one of them, telling what happens
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeAlias

from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.materializer.checkpoint import TRIES_ALONE
from headwater_consumers.materializer.dead_letters.letter import DeadLetter
from headwater_consumers.materializer.dead_letters.topic import DeadLettersUndeliveredError
from headwater_consumers.materializer.errors import (
    EventRefusedError,
    GraphUnavailableError,
    OverCapacityError,
    UndecidedError,
)
from headwater_consumers.materializer.lane import JobResult
from headwater_consumers.materializer.limits import BatchPolicy, DeadLetterPolicy
from headwater_consumers.materializer.metrics import Metrics
from headwater_schemas.errors import BrokerUnavailableError
from support.materializer import events
from support.materializer.broker import FakeBroker
from support.materializer.graph import FakeGraph
from support.materializer.harness import Harness
from support.materializer.lane import InlineLane

GOOD = [events.good(number) for number in range(120)]
BAD = [events.EMPTY, events.GARBAGE, events.unknown_kind(), events.truncated()]
POISON = events.event_id(7)


# Making one takes longer than a history does, and none of these looks at it.
_METRICS = Metrics()


Where: TypeAlias = tuple[Partition, int]
"""A record's partition, of one incarnation of the topic, and its offset."""


class Crashed(BaseException):
    """The process is gone: nothing after this point was executed."""


class SlowLane(InlineLane):
    """A lane whose jobs now and then take longer than the loop cares to wait, so that rebalances fall into a write."""

    def __init__(self, dice: random.Random, *, calm: Callable[[], bool]) -> None:
        super().__init__()
        self._dice = dice
        self._calm = calm

    def take(self, timeout_seconds: float) -> JobResult | None:
        if self._calm() or self._dice.random() < 0.5:
            return super().take(timeout_seconds)
        return None


class History:
    """One seed's world: a broker, a graph, and up to two consumers that come and go."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.broker = FakeBroker(partitions=3)
        self.graph = FakeGraph()
        self.calm = False
        self.tell: Callable[[str], object] = lambda _: None
        self.consumers: list[Harness] = []
        self.waiting = list(reversed(range(len(GOOD) // 2, len(GOOD))))
        self.published: dict[Where, bytes] = {}
        self.expired: set[Where] = set()
        self.undecided: Counter[frozenset[str]] = Counter()
        if self.random.random() < 0.3:
            self._expire_all(self.random.randrange(1, 50))  # a topic older than the group, begun at another offset
        for number in range(len(GOOD) // 2):
            self._publish(number)
        self.graph.refuses = self._refuses

    def run(self) -> None:
        for _ in range(120):
            self._step()
            assert [consumer.unaccounted for consumer in self.consumers] == [0] * len(self.consumers)
        while self.waiting:
            self._publish(self.waiting.pop())
        self.calm = True
        self.tell(
            f"calm: {len(self.graph.events)} applied, {len(self.broker.letters)} letters, {self.broker.committed}"
        )
        survivor = self._join()
        for consumer in self.consumers:
            if consumer is not survivor and consumer.source.owned:
                theirs = [n for n in consumer.source.owned if self.broker.owners.get(n) is consumer.source]
                consumer.source.revoke(*theirs)
                consumer.source.lose(*(n for n in consumer.source.owned if n not in theirs))
                consumer.rounds()
        survivor.rounds(2)
        survivor.source.assign(*(n for n in range(3) if n not in survivor.source.owned))
        survivor.settle(seconds=11)
        assert (survivor.unaccounted, survivor.loop._in_flight.held) == (0, 0)

    def _publish(self, number: int) -> None:
        """One good event, perhaps a bad record, and perhaps offsets that nobody is given."""
        self._append(GOOD[number], number % 3)
        if self.random.random() < 0.1:
            self._append(self.random.choice(BAD), self.random.randrange(3))
        if self.random.random() < 0.1:
            self.broker.leave_out(self.random.randrange(1, 4), partition=self.random.randrange(3))

    def _append(self, value: bytes, partition: int) -> None:
        record = self.broker.append(value, partition=partition)
        self.published[record.partition, record.offset] = value

    def _expire_all(self, before: int) -> None:
        for number in range(3):
            self.broker.leave_out(before, partition=number)
            self.broker.expire(before, partition=number)

    def _topic_changes(self, roll: float) -> None:
        """More is published; retention moves on, past what is not consumed too; rarely the topic is made anew."""
        if roll < 0.96:
            if self.waiting:
                self._publish(self.waiting.pop())
        elif roll < 0.995:
            number = self.random.randrange(3)
            begin, end = self.broker.begins.get(number, 0), self.broker.ends.get(number, 0)
            self._expired(self.broker.expire(self.random.randint(begin, min(end, begin + 10)), partition=number))
        elif self.broker.topic_id == "first":
            self.tell("the topic is made anew")
            self._expired(record for log in self.broker.log.values() for record in log)
            self.broker.recreate("second")

    def _expired(self, records: Iterable[FetchedRecord]) -> None:
        """Note expired records: those deleted before they were committed may never have been read by anybody."""
        for record in records:
            if record.offset >= self.broker.committed.get(record.partition, 0):
                self.expired.add((record.partition, record.offset))

    def _step(self) -> None:
        if self.random.random() < 0.6:
            self._topic_changes(self.random.random())
        roll = self.random.random()
        if len(self.consumers) < 2 and roll < 0.3:
            self._join()
        elif self.consumers and roll < 0.4:
            self._rebalance()
        elif self.consumers:
            consumer = self.random.choice(self.consumers)
            try:
                consumer.rounds(seconds=self.random.choice([0, 0.1, 1, 12]))
            except Crashed:
                self.tell("crashed")
                self.consumers.remove(consumer)

    def _join(self) -> Harness:
        consumer = Harness(
            broker=self.broker,
            graph=self.graph,
            batch=BatchPolicy(
                max_records=self.random.choice([1, 5, 20]), max_bytes=self.random.choice([400, 16 << 20])
            ),
            dead_letter_policy=DeadLetterPolicy(max_ratio=1),
            metrics=_METRICS,
            lane=SlowLane(self.random, calm=lambda: self.calm),
        )
        consumer.source.first = ()
        commit, send = consumer.source.commit_now, consumer.dead_letters.send

        def commit_now(offsets: object) -> None:
            self._maybe(BrokerUnavailableError("no coordinator"))
            commit(offsets)  # type: ignore[arg-type]
            self._maybe(BrokerUnavailableError("committed, but the answer was lost"))

        def send_some(letters: list[DeadLetter]) -> None:
            taken = self.random.randint(0, len(letters)) if self._fault() else len(letters)
            send(letters[:taken])
            self._maybe(None)
            if letters[taken:]:
                raise DeadLettersUndeliveredError("full", remaining=letters[taken:])

        consumer.source.commit_now = commit_now  # type: ignore[method-assign]
        consumer.dead_letters.send = send_some  # type: ignore[method-assign, assignment]
        self.consumers.append(consumer)
        self.tell("a consumer joined")
        return consumer

    def _free(self) -> tuple[int, ...]:
        taken = {number for consumer in self.consumers for number in consumer.source.owned}
        return tuple(number for number in range(3) if number not in taken)

    def _rebalance(self) -> None:
        consumer = self.random.choice(self.consumers)
        if not consumer.source.subscribed:
            return
        if free := self._free():
            consumer.source.assign(*free)
        elif len(self.consumers) == 2 and self.random.random() < 0.3:
            # The other one was away for longer than a session: until it polls, both take the partition for theirs.
            other = self.consumers[1 - self.consumers.index(consumer)]
            if not other.source.owned:
                return
            number = self.random.choice([*other.source.owned])
            self.tell(f"partition {number} gets a new owner, which its old one doesn't know yet")
            consumer.source.assign(number)
            other.source.lose(number, after_polls=self.random.randrange(1, 6))
        elif owned := [*consumer.source.owned]:
            number = self.random.choice(owned)
            is_owner = self.broker.owners.get(number) is consumer.source
            move = consumer.source.revoke if is_owner and self.random.random() < 0.5 else consumer.source.lose
            self.tell(f"{move.__name__} of partition {number}")
            move(number)
        else:
            return
        polls = consumer.source.polls
        try:
            while consumer.source.polls == polls:  # it happens within a poll
                consumer.rounds()
        except Crashed:
            self.consumers.remove(consumer)

    def _fault(self) -> bool:
        return not self.calm and self.random.random() < 0.2

    def _maybe(self, error: Exception | None) -> None:
        """Nothing, a crash, or this error."""
        if self._fault():
            if error is None or self.random.random() < 0.5:
                raise Crashed
            self.tell(f"fault: {error}")
            raise error

    def _refuses(self, delta: frozenset[str]) -> Exception | None:
        if self._fault():
            error = self.random.choice(
                [
                    GraphUnavailableError("away"),
                    GraphUnavailableError("race", cause=RetryCause.RACE),
                    UndecidedError("inside"),
                    OverCapacityError("memory") if len(delta) > 1 else GraphUnavailableError("away"),
                ]
            )
            # One that fails so often alone, in a database that is well, is taken for refused.
            self.undecided[delta] += isinstance(error, UndecidedError)
            return error if self.undecided[delta] < TRIES_ALONE else GraphUnavailableError("away")
        if not self.calm and self.random.random() < 0.05:
            self.graph.events |= delta  # the commit went through, and its answer was lost
            return GraphUnavailableError("the connection broke during the commit")
        self._maybe(None)
        return EventRefusedError("refused") if POISON in delta else None

    def check(self) -> None:
        """All good events applied, all bad records dead-lettered, and nothing pending, but for what was deleted."""
        good = {where: events.event_id(GOOD.index(value)) for where, value in self.published.items() if value in GOOD}
        applied = self.graph.events - {POISON}
        assert applied <= {*good.values()}
        assert applied >= {event for where, event in good.items() if where not in self.expired} - {POISON}
        letters = {(letter.record.partition, letter.record.offset) for letter in self.broker.letters}
        bad = {where for where, value in self.published.items() if value in BAD or value == GOOD[7]}
        assert bad - self.expired <= letters <= bad
        assert all(position.pending == 0 for position in self.broker.positions())


def run_history(seed: int) -> None:
    """Run one and check it.

    Raises:
        AssertionError: it doesn't hold; with the command that runs this seed again.
    """
    history = History(seed)
    try:
        history.run()
        history.check()
    except Exception as error:
        raise AssertionError(
            f"seed {seed}: {error}\nagain: cd tests && uv run python -m support.materializer.history {seed}"
        ) from error


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        reported = History(int(argument))
        reported.tell = print
        reported.run()
        reported.check()
