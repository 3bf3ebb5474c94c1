"""The rounds: each contestant in turn gets an empty database; each round begins with another contestant."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater_benchmarks.ingest import hand_written
from headwater_benchmarks.ingest.floor.dump import floor_dump
from headwater_benchmarks.ingest.floor.graph import final_graph
from headwater_benchmarks.ingest.floor.shapes import Phase
from headwater_benchmarks.ingest.floor.write import Trial, prepared, write_graph
from headwater_benchmarks.ingest.headwater import Place, drain, steady, warm_up
from headwater_benchmarks.ingest.options import PACK, Options
from headwater_benchmarks.ingest.servers import Database, Databases, empty, relationships
from headwater_benchmarks.ingest.topic import TopicContents, Topics, in_memory
from headwater_benchmarks.ingest.turn import Turn, server_seconds, since
from headwater_benchmarks.workload.mixture import Mixture
from headwater_graph.dump import Comparison, compare, dump
from headwater_graph.oracle import oracle
from headwater_graph.schema import ensure_schema
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent

SLOW = 100.0
"""Events per second at which latency is measured, besides half of the rate."""


@dataclass(slots=True)
class Found:
    """The results of the rounds.

    Attributes:
        consumer: the report of the consumer's process, for each round; `relationships` are those in the graph, and
            `server_seconds` is Neo4j's processor time.
        packs: the same, of the topic of packs.
        floor, segments, naive, sink: their turns; `segments` is the floor of the graph with segments.
        latency: of each steady rate, that rate and the report.
        same: comparison of each graph with the oracle's, where they were compared.
    """

    consumer: list[dict[str, Any]] = field(default_factory=list)
    packs: list[dict[str, Any]] = field(default_factory=list)
    floor: list[Turn] = field(default_factory=list)
    segments: list[Turn] = field(default_factory=list)
    naive: list[Turn] = field(default_factory=list)
    sink: list[Turn] = field(default_factory=list)
    latency: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    same: dict[str, Comparison] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Floor:
    """Phases that the floor writes.

    Attributes:
        intervals: the graph with a node for each micro-batch.
        segments: the graph with segments.
        best: the trial of the shape that both are in.
    """

    intervals: list[Phase]
    segments: list[Phase]
    best: Trial


@dataclass(slots=True)
class Rounds:
    """Runs the rounds: one turn for each contestant.

    Attributes:
        options: what to measure.
        broker: bootstrap servers of the broker.
        topics: its topics.
        contents: what is on the topic.
        databases: for the consumer and the floor.
        by_hand: for naive and sink, which have constraints of their own; None without them.
        floor: statements of both graphs in the fastest shape, and its trial; None without a floor.
        say: called with a description of each turn.
        found: the results so far.
    """

    options: Options
    broker: str
    topics: Topics
    contents: TopicContents
    databases: Databases
    by_hand: Databases | None
    floor: Floor | None
    say: Callable[[str], None]
    found: Found = field(default_factory=Found)
    _warm_up: list[LineageEvent] = field(default_factory=list)

    def run(self) -> Found:
        """Run all rounds. If contestants share servers, a first round, in which these are cold, doesn't count.

        Raises:
            HeadwaterError: a server or the consumer failed.
        """
        self._warm_up = list(Mixture(self.options.seed + 1).take(self.options.warm_up))
        turns = self.turns
        for number in range(-1 if self.options.small else 0, self.options.rounds):
            for offset in range(len(turns)):
                turns[(number + offset) % len(turns)](number)
        return self.found

    @property
    def turns(self) -> Sequence[Callable[[int], None]]:
        """A function for each contestant. Its argument is the number of the round, negative if it doesn't count."""
        turns: list[Callable[[int], None]] = [self._consumer, self._packs]
        if self.floor is not None:
            turns += [self._floor, self._floor_of_segments]
        if self.by_hand is not None:
            turns.append(self._by_hand)
        return turns

    def _consumer(self, number: int) -> None:
        with self.databases.empty() as (database, new):
            self._say(number, "headwater")
            if new:
                warm_up(database, self._warm_up)
                empty(database)
            report = self._drain(number, self.options.prefix, database)
            if number >= 0:
                self.found.consumer.append(report)
            if number == 0:
                self._compare("headwater", database)
            if number == self.options.rounds - 1 and self.options.latency_seconds:
                self._latency(database)

    def _packs(self, number: int) -> None:
        with self.databases.empty() as (database, new):
            self._say(number, f"packs of {PACK}")
            if new:
                warm_up(database, self._warm_up)
                empty(database)
            report = self._drain(number, self.options.packs_prefix, database)
            if number >= 0:
                self.found.packs.append(report)

    def _drain(self, number: int, prefix: str, database: Database) -> dict[str, Any]:
        server = server_seconds(database)
        report = drain(Place(self.broker, prefix, f"{prefix}-{number}", database))
        report["server_seconds"] = since(database, server)
        report["relationships_created"], report["relationships"] = report["relationships"], relationships(database)
        return report

    def _floor(self, number: int) -> None:
        assert self.floor is not None  # noqa: S101  for the type checker
        self._write(number, "floor", self.floor.intervals, self.found.floor)

    def _floor_of_segments(self, number: int) -> None:
        assert self.floor is not None  # noqa: S101  for the type checker
        self._write(number, "floor of segments", self.floor.segments, self.found.segments)

    def _write(self, number: int, name: str, phases: list[Phase], found: list[Turn]) -> None:
        assert self.floor is not None  # noqa: S101  for the type checker
        best = self.floor.best
        with self.databases.empty() as (database, new), prepared(database):
            self._say(number, name)
            if new:
                warmed = final_graph(in_memory(self._warm_up))
                write_graph(database, best.shape.phases(warmed, best.rows), best.shape.sessions)
                empty(database)
                ensure_schema(database.driver, database.target.database)
            turn = write_graph(database, phases, best.shape.sessions)
            if number >= 0:
                found.append(turn)
            if number == 0:
                self._compare(name, database)
            if self.options.small:
                empty(database)

    def _by_hand(self, number: int) -> None:
        assert self.by_hand is not None  # noqa: S101  for the type checker
        turns = (("naive", hand_written.NAIVE, self.found.naive), ("sink", hand_written.SINK, self.found.sink))
        for name, size, found in turns:
            with self.by_hand.empty() as (database, new), hand_written.prepared(database):
                self._say(number, name)
                if new:
                    hand_written.write_events(database, [encode(event) for event in self._warm_up], size)
                took = hand_written.write_events(database, self.contents.values, size)
            if number >= 0:
                found.append(took)

    def _latency(self, database: Database) -> None:
        half = self.contents.distinct / statistics.median(report["seconds"] for report in self.found.consumer) / 2
        for number, rate in enumerate((half, SLOW)):
            self.say(f"latency at {rate:,.0f} events/s")
            events = list(Mixture(self.options.seed + 2 + number).take(round(rate * self.options.latency_seconds)))
            name = f"{self.options.prefix}.live-{number}"
            place = Place(self.broker, name, name, database)
            self.found.latency.append((rate, steady(place, self.topics, events, rate=rate)))

    def _compare(self, name: str, database: Database) -> None:
        if self.contents.delta is not None and self.options.small:
            self.say(f"{name}: the graph beside the oracle's")
            read = floor_dump if name == "floor" else dump
            self.found.same[name] = compare(
                oracle(self.contents.delta), read(database.driver, database.target.database)
            )

    def _say(self, number: int, name: str) -> None:
        self.say(f"{'warming up' if number < 0 else f'round {number + 1} of {self.options.rounds}'}: {name}")
