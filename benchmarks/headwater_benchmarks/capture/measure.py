"""The rounds: each contestant in turn does a block of micro-batches, later a few batch writes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater_benchmarks.capture.contestants import Contestant, Place
from headwater_benchmarks.capture.feed import Feed
from headwater_benchmarks.capture.link import Line
from headwater_benchmarks.capture.sent import Sent, in_file, on_topic
from headwater_benchmarks.figures import percentile


@dataclass(slots=True)
class Measured:
    """The measurements of one contestant.

    Attributes:
        triggers: for each round, the duration of each micro-batch's trigger in ms.
        writes: for each round, the seconds of each batch write.
        python_seconds, jvm_seconds: processor time of the driver and its JVM for all counted micro-batches.
        write_processor_seconds: the same for all counted writes, capture included.
        micro_batches: micro-batches of the query, including those before the first round.
        sent: events and bytes that the query sent, from its start to its end.
        plan_seconds: time from the end of the write with the large plan until its lineage was delivered.
        memory: peaks in MB.
    """

    triggers: list[list[int]] = field(default_factory=list)
    writes: list[list[float]] = field(default_factory=list)
    python_seconds: float = 0.0
    jvm_seconds: float = 0.0
    write_processor_seconds: float = 0.0
    micro_batches: int = 0
    sent: Sent | None = None
    plan_seconds: float | None = None
    memory: dict[str, float | None] = field(default_factory=dict)


@dataclass(slots=True)
class Runner:
    """A contestant with its driver."""

    contestant: Contestant
    place: Place
    line: Line
    measured: Measured = field(default_factory=Measured)

    def block(self, feed: Feed, micro_batches: int, records: int, *, counts: bool) -> None:
        """One block of micro-batches."""
        feed.fill(self.place.source, micro_batches * records)
        answer = self.line.ask("drain_query")
        batches = answer["batches"]
        # Ids begin at 0. The first micro-batch reads no records, but is committed and counts.
        self.measured.micro_batches = batches[-1]["batch"] + 1
        if counts:
            self.measured.triggers.append([batch["milliseconds"] for batch in batches])
            self.measured.python_seconds += answer["python_seconds"]
            self.measured.jvm_seconds += answer["jvm_seconds"]

    def writes(self, rows: int, columns: int, times: int, *, counts: bool) -> None:
        """A few batch writes."""
        answer = self.line.ask("write", rows=rows, columns=columns, projections=2, times=times)
        if counts:
            self.measured.writes.append(answer["seconds"])
            self.measured.write_processor_seconds += answer["processor_seconds"]

    def count_sent(self) -> None:
        """Ends the query, and counts the events and bytes that it sent."""
        self.line.ask("stop_query")
        match self.contestant.kind:
            case "headwater":
                self.measured.sent = on_topic(self.place)
            case "openlineage":
                self.measured.sent = in_file(self.place.openlineage_file)
            case "without":
                self.measured.sent = Sent()


def in_turns(
    runners: Sequence[Runner], rounds: int, warm_up: int, turn: Callable[[Runner, bool], Any], done: Callable[[], None]
) -> None:
    """Every round gives each runner one turn, and begins with another runner."""
    for number in range(-warm_up, rounds):
        for offset in range(len(runners)):
            turn(runners[(number + offset) % len(runners)], number >= 0)
            done()


def ratios(rounds: Sequence[Sequence[float]], base: Sequence[Sequence[float]], share: float) -> list[float]:
    """For each round, this contestant's percentile divided by the other's; both were measured within seconds.

    Durations are whole milliseconds; the median is interpolated among equal values.
    """

    def figure(values: Sequence[float]) -> float:
        return statistics.median_grouped(values, interval=1) if share == 0.5 else percentile(values, share)

    return [figure(ours) / figure(theirs) for ours, theirs in zip(rounds, base, strict=True)]
