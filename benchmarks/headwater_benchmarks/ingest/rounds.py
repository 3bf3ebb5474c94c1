"""The rounds: each contestant in turn gets an empty database; each round begins with another contestant."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater_benchmarks.ingest import hand_written
from headwater_benchmarks.ingest.floor.graph import final_graph
from headwater_benchmarks.ingest.floor.shapes import Phase
from headwater_benchmarks.ingest.floor.write import Trial, write_graph
from headwater_benchmarks.ingest.headwater import Place, drain, steady, warm_up
from headwater_benchmarks.ingest.options import Options
from headwater_benchmarks.ingest.servers import Database, Databases, relationships
from headwater_benchmarks.ingest.topic import TopicContents, Topics, in_memory
from headwater_benchmarks.ingest.turn import Turn, server_seconds, since
from headwater_benchmarks.workload.mixture import Mixture
from headwater_consumers.graph.dump import Comparison, compare, dump
from headwater_consumers.graph.oracle import oracle
from headwater_consumers.graph.schema import ensure_schema, wipe
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent


@dataclass(slots=True)
class Found:
    """The results of the rounds.

    Attributes:
        consumer: the report of the consumer's process, for each round; `relationships` are those in the graph, and
            `server_seconds` is Neo4j's processor time.
        floor, naive, sink: their turns.
        latency: the report at the steady rate, and that rate.
        same: comparison of each graph with the oracle's, where they were compared.
    """

    consumer: list[dict[str, Any]] = field(default_factory=list)
    floor: list[Turn] = field(default_factory=list)
    naive: list[Turn] = field(default_factory=list)
    sink: list[Turn] = field(default_factory=list)
    latency: tuple[float, dict[str, Any]] | None = None
    same: dict[str, Comparison] = field(default_factory=dict)


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
        floor: the statements of the fastest shape, and its trial; None without a floor.
        say: called with a description of each turn.
        found: the results so far.
    """

    options: Options
    broker: str
    topics: Topics
    contents: TopicContents
    databases: Databases
    by_hand: Databases | None
    floor: tuple[list[Phase], Trial] | None
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
        turns: list[Callable[[int], None]] = [self._consumer]
        if self.floor is not None:
            turns.append(self._floor)
        if self.by_hand is not None:
            turns.append(self._by_hand)
        return turns

    def _consumer(self, number: int) -> None:
        with self.databases.empty() as (database, new):
            self._say(number, "headwater")
            if new:
                warm_up(database, self._warm_up)
                wipe(database.driver, database.target.database)
            server = server_seconds(database)
            report = drain(Place(self.broker, self.options.prefix, f"{self.options.prefix}-{number}", database))
            report["server_seconds"] = since(database, server)
            report["relationships_created"], report["relationships"] = report["relationships"], relationships(database)
            if number >= 0:
                self.found.consumer.append(report)
            if number == 0:
                self._compare("headwater", database)
            if number == self.options.rounds - 1 and self.options.latency_seconds:
                self._latency(database)

    def _floor(self, number: int) -> None:
        assert self.floor is not None  # noqa: S101  for the type checker
        phases, best = self.floor
        with self.databases.empty() as (database, new):
            self._say(number, "floor")
            ensure_schema(database.driver, database.target.database)
            if new:
                warmed = final_graph(in_memory(self._warm_up))
                write_graph(database, best.shape.phases(warmed, best.rows), best.shape.sessions)
                wipe(database.driver, database.target.database)
                ensure_schema(database.driver, database.target.database)
            turn = write_graph(database, phases, best.shape.sessions)
            if number >= 0:
                self.found.floor.append(turn)
            if number == 0:
                self._compare("floor", database)

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
        rate = self.contents.distinct / statistics.median(report["seconds"] for report in self.found.consumer) / 2
        self.say(f"latency at {rate:,.0f} events/s")
        events = list(Mixture(self.options.seed + 2).take(round(rate * self.options.latency_seconds)))
        place = Place(self.broker, f"{self.options.prefix}.live", f"{self.options.prefix}-live", database)
        self.found.latency = rate, steady(place, self.topics, events, rate=rate)

    def _compare(self, name: str, database: Database) -> None:
        if self.contents.delta is not None and self.options.small:
            self.say(f"{name}: the graph beside the oracle's")
            self.found.same[name] = compare(
                oracle(self.contents.delta), dump(database.driver, database.target.database)
            )

    def _say(self, number: int, name: str) -> None:
        self.say(f"{'warming up' if number < 0 else f'round {number + 1} of {self.options.rounds}'}: {name}")
