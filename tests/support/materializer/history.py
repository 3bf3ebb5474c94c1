"""Random histories of the loop: two consumers, faults at every step, crashes, rebalances. One seed is one history.

cd tests && uv run python -m support.materializer.history 17        one of them, telling what happens
"""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

from headwater_consumers.materializer.errors import (
    BrokerUnavailableError,
    DeadLettersUndeliveredError,
    EventRefusedError,
    GraphUnavailableError,
    OverCapacityError,
    RetryCause,
    UndecidedError,
)
from headwater_consumers.materializer.lane import InlineLane, Outcome
from headwater_consumers.materializer.limits import BatchPolicy, DeadLetterPolicy
from headwater_consumers.materializer.metrics import Metrics
from support.materializer import events
from support.materializer.broker import FakeBroker
from support.materializer.graph import FakeGraph
from support.materializer.harness import Harness

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_consumers.materializer.dead_letter import DeadLetter

GOOD = [events.good(number) for number in range(120)]
BAD = [events.EMPTY, events.GARBAGE, events.unknown_kind(), events.truncated()]
POISON = events.event_id(7)


# Making one takes longer than a history does, and none of these looks at it.
_METRICS = Metrics()


class Crashed(BaseException):
    """The process is gone: nothing after this point was executed."""


class SlowLane(InlineLane):
    """A lane whose jobs now and then take longer than the loop cares to wait, so that rebalances fall into a write."""

    def __init__(self, dice: random.Random, *, calm: Callable[[], bool]) -> None:
        super().__init__()
        self._dice = dice
        self._calm = calm

    def take(self, timeout_seconds: float) -> Outcome | None:
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
        for number, value in enumerate(GOOD):
            self.broker.append(value, partition=number % 3)
            if self.random.random() < 0.1:
                self.broker.append(self.random.choice(BAD), partition=self.random.randrange(3))
        self.graph.refuses = self._refuses

    def run(self) -> None:
        for _ in range(120):
            self._step()
        self.calm = True
        self.tell(
            f"calm: {len(self.graph.events)} applied, {len(self.broker.letters)} letters, {self.broker.committed}"
        )
        survivor = self._join()
        for consumer in self.consumers:
            if consumer is not survivor and consumer.source.owned:
                consumer.source.revoke(*consumer.source.owned)
                consumer.rounds()
        survivor.rounds(2)
        survivor.source.assign(*(n for n in range(3) if n not in survivor.source.owned))
        survivor.settle(seconds=11)

    def _step(self) -> None:
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
            batch=BatchPolicy(max_records=self.random.choice([1, 5, 20])),
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
        elif owned := [*consumer.source.owned]:
            number = self.random.choice(owned)
            move = consumer.source.revoke if self.random.random() < 0.5 else consumer.source.lose
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
            return self.random.choice(
                [
                    GraphUnavailableError("away"),
                    GraphUnavailableError("race", cause=RetryCause.RACE),
                    UndecidedError("inside"),
                    OverCapacityError("memory") if len(delta) > 1 else GraphUnavailableError("away"),
                ]
            )
        if not self.calm and self.random.random() < 0.05:
            self.graph.events |= delta  # the commit went through, and its answer was lost
            return GraphUnavailableError("the connection broke during the commit")
        self._maybe(None)
        return EventRefusedError("refused") if POISON in delta else None

    def check(self) -> None:
        """All good events applied, all bad records dead-lettered, and nothing pending."""
        everything = {events.event_id(number) for number in range(len(GOOD))}
        assert self.graph.events - {POISON} == everything - {POISON}
        letters = {(letter.record.partition.number, letter.record.offset) for letter in self.broker.letters}
        values = {(n, record.offset): record.value for n, log in self.broker.log.items() for record in log}
        assert letters == {where for where, value in values.items() if value in BAD or value == GOOD[7]}
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
        told = History(int(argument))
        told.tell = print
        told.run()
        told.check()
