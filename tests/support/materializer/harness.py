"""A loop with stand-ins all around it, driven step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headwater_consumers.kafka.notices import Notices
from headwater_consumers.materializer.batch import BatchPreparation
from headwater_consumers.materializer.checkpoint import CheckpointContext
from headwater_consumers.materializer.health import Health
from headwater_consumers.materializer.lane import Lane
from headwater_consumers.materializer.limits import BatchLimit, BatchPolicy, DeadLetterLimit, DeadLetterPolicy
from headwater_consumers.materializer.loop import Loop, LoopParts, LoopPolicy
from headwater_consumers.materializer.metrics import Metrics
from headwater_consumers.materializer.reporting import ConsumerTally, ConsumerTotals, DeadLetterLog
from headwater_schemas.codec import Decoder
from support.materializer.broker import FakeBroker, FakeDeadLetters, FakeSource
from support.materializer.clock import FakeClock
from support.materializer.events import event_id
from support.materializer.graph import FakeGraph, fold_ids
from support.materializer.lane import InlineLane
from support.waiting import eventually


class Harness:
    """One consumer on a fake broker and graph. Pass those of another harness to see a second process."""

    def __init__(
        self,
        *,
        broker: FakeBroker | None = None,
        graph: FakeGraph | None = None,
        lane: Lane | None = None,
        batch: BatchPolicy | None = None,
        dead_letter_policy: DeadLetterPolicy | None = None,
        policy: LoopPolicy | None = None,
        decoder: Any = None,
        metrics: Metrics | None = None,
        fold: Callable[..., Any] = fold_ids,
        reject: Callable[..., Any] = lambda _: None,
    ) -> None:
        self.clock = FakeClock()
        self.broker = broker or FakeBroker()
        self.graph = graph or FakeGraph()
        self.source = FakeSource(self.broker)
        self.dead_letters = FakeDeadLetters(self.broker)
        self.metrics = metrics or Metrics()
        self.health = Health(self.metrics, self.clock)
        self.logged: list[str] = []
        self.totals = ConsumerTotals()
        self.limit = BatchLimit(batch or BatchPolicy())
        tally = ConsumerTally(self.totals, self.metrics, DeadLetterLog(self.clock))
        checkpoint_context = CheckpointContext(
            graph=self.graph,
            dead_letters=self.dead_letters,
            fold=fold,
            limit=DeadLetterLimit(dead_letter_policy or DeadLetterPolicy()),
            observer=tally,
            clock=self.clock,
        )
        self.parts = LoopParts(
            source=self.source,
            lane=lane or InlineLane(),
            checkpoint_context=checkpoint_context,
            preparation=BatchPreparation(decoder or Decoder(), reject, fold, self.metrics.timed, self.clock),
            limit=self.limit,
            start=self.graph.prepare,
            finish=self.graph.close,
            health=self.health,
            metrics=self.metrics,
            notices=Notices(self.logged.append, self.clock),
            totals=self.totals,
            committed=tally.committed,
            watch=lambda: None,
            group="headwater",
        )
        self.policy = policy or LoopPolicy()
        self.loop = Loop(self.parts, self.policy, clock=self.clock, random=lambda: 0.5)

    def rounds(self, count: int = 1, *, seconds: float = 0.0) -> None:
        """So many rounds of the loop, the clock going on before each."""
        for _ in range(count):
            self.clock.advance(seconds)
            self.loop.run_once()

    def settle(self, *, seconds: float = 0.0, limit: int = 400) -> None:
        """Rounds until everything on the topic is committed."""
        for _ in range(limit):
            self.rounds(seconds=seconds)
            if all(position.pending == 0 for position in self.broker.positions()):
                return
        raise AssertionError(f"not settled after {limit} rounds: {self.broker.committed}, logged {self.logged}")

    def settle_with_thread(self) -> None:
        """Run rounds until everything on the topic is committed, while a thread writes."""

        def settled() -> bool:
            self.rounds()
            return all(position.pending == 0 for position in self.broker.positions())

        eventually(settled, every=0.001, expecting="everything is committed")

    @property
    def unaccounted(self) -> int:
        """Records consumed that are in none of the totals and not in flight either."""
        totals, held = self.totals, self.loop._in_flight.held
        return totals.consumed - totals.applied - totals.dead_lettered.total() - totals.released - held

    def metric(self, name: str, **labels: str) -> float:
        value = self.metrics.registry.get_sample_value(f"headwater_materializer_{name}", labels)
        assert value is not None, f"no series {name} {labels}"
        return value


def ids(numbers: Iterable[int]) -> set[str]:
    return {event_id(number) for number in numbers}
