"""The stream of a company's events: proportions, repeats, disorder, clocks that are off. One seed is one stream."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from headwater_benchmarks.workload.company import EPOCH, Job, Query, described_job, described_table
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import event_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportions:
    """Proportions of the event stream.

    Attributes:
        queries, jobs, tables: how many there are.
        intervals, runs: share of events that are of micro-batches, and of batch jobs' runs; the rest describes.
        pack: micro-batches in an event.
        repeated: share of events that come again, later.
        late: share of events that come after up to `late_by` others.
        late_by: how many.
        skewed: share of events whose clock is up to a day off.
    """

    queries: int = 50
    jobs: int = 200
    tables: int = 500
    intervals: float = 0.6
    runs: float = 0.3
    pack: int = 1
    repeated: float = 0.05
    late: float = 0.05
    late_by: int = 200
    skewed: float = 0.0


class Mixture:
    """An endless stream. Iterate over it, or `finish` it, which gives what was kept back.

    Args:
        seed: of everything that is drawn.
        proportions: what it is made of.
    """

    def __init__(self, seed: int, proportions: Proportions | None = None) -> None:
        self._dice = random.Random(seed)  # noqa: S311  no secret
        self._of = proportions or Proportions()
        self._queries = [Query(number, self._dice) for number in range(self._of.queries)]
        self._jobs = [Job(number, self._dice, tables=self._of.tables) for number in range(self._of.jobs)]
        self._kept: list[LineageEvent] = []
        self._made = 0

    def __iter__(self) -> Iterator[LineageEvent]:
        """Events as they arrive, some of them twice."""
        while True:
            event = self._next()
            if self._dice.random() < self._of.repeated:
                self._kept.append(event)
            if self._dice.random() < self._of.late:
                self._kept.append(event)
            else:
                yield event
            if self._kept and self._dice.random() < len(self._kept) / self._of.late_by:
                yield self._kept.pop(self._dice.randrange(len(self._kept)))

    def take(self, count: int) -> Iterator[LineageEvent]:
        """So many events, repeated ones included; or a few more, so that nothing is kept back at the end."""
        for emitted, event in enumerate(self, start=1):
            yield event
            if emitted + len(self._kept) >= count:
                break
        yield from self.finish()

    def finish(self) -> list[LineageEvent]:
        """Return the events that were kept back, so that nothing is missing."""
        kept, self._kept = self._kept, []
        self._dice.shuffle(kept)
        return kept

    def _next(self) -> LineageEvent:
        self._made += 1
        roll = self._dice.random()
        if roll < self._of.intervals:
            event = self._dice.choice(self._queries).next(self._of.pack)
        elif roll < self._of.intervals + self._of.runs:
            event = self._dice.choice(self._jobs).next()
        else:
            at = EPOCH + timedelta(seconds=self._made)
            number = self._dice.randrange(self._of.tables + self._of.jobs)
            tables = self._of.tables
            event = described_table(number, at) if number < tables else described_job(number - tables, at)
        return self._skewed(event) if self._dice.random() < self._of.skewed else event

    def _skewed(self, event: LineageEvent) -> LineageEvent:
        off = timedelta(seconds=self._dice.uniform(-86_400, 86_400))
        skewed = msgspec.structs.replace(event, event_time=event.event_time + off)
        return msgspec.structs.replace(skewed, event_id=event_id(skewed))
