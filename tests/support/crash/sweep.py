"""A sweep of kills, each moment drawn from the seed, each followed by a start from the same checkpoints.

at a start       while Spark starts, or the queries begin to go on
catching up      within a second after the queries were started: what was lost is being emitted
running          some time after everything was emitted
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from headwater_schemas.events import LineageEvent
from support.crash.broker import LineageBroker
from support.crash.check import (
    check_chain,
    check_commits,
    check_no_gap,
    check_nothing_blanked,
    check_rows,
    intervals,
    reconciled,
)
from support.crash.draw import QUERIES, Life, draw, last
from support.crash.driver import Driver, Orders
from support.crash.emitted import in_files, in_outboxes, on_topic
from support.crash.truth import Truth
from support.waiting import patience, stays


class Feed:
    """New input for the queries: a file, and records."""

    def __init__(self, folder: Path, brokers: str, topic: str) -> None:
        self._folder = folder
        self._topic = topic
        self._count = len(list((folder / "in").glob("*.json")))
        self._next = 0.0
        self._producer = Producer({"bootstrap.servers": brokers, "log_level": 2})

    def __call__(self) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.3
        self._count += 1
        at = datetime.fromtimestamp(1_700_000_000 + 5 * self._count, UTC).isoformat()
        hidden = self._folder / "in" / f".{self._count}"
        hidden.parent.mkdir(exist_ok=True)
        hidden.write_text("".join(json.dumps({"id": each % 3, "at": at}) + "\n" for each in range(4)))
        os.utime(hidden, (1_700_000_000 + self._count,) * 2)
        hidden.rename(hidden.with_name(f"{self._count:06}.json"))
        for each in range(10):
            self._producer.produce(self._topic, value=f"{self._count}-{each}", partition=each % 2)
        assert self._producer.flush(patience(30)) == 0


@dataclass
class Sweep:
    """The history of one folder.

    Attributes:
        lineage: the Kafka that lineage goes to; it may be `brokers`, where nothing stops it.
        topics: what the names of its topics, `in`, `out` and the lineage's, begin with.
        lives: one document a kill. They are kept in the folder, too: a sweep that was cut off is gone on with.
    """

    folder: Path
    brokers: str
    lineage: LineageBroker
    seed: int
    topics: str = ""
    lives: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._feed = Feed(self.folder, self.brokers, f"{self.topics}in")
        self._truth = Truth(self.folder, self.topics)
        self._kept = self.folder / "lives"
        for line in self._kept.read_text().splitlines() if self._kept.exists() else ():
            draw(self._random)
            self.lives.append(json.loads(line))

    def kill_once(self, **given: Any) -> None:
        """A start, a kill, and the checks; raises AssertionError where one fails.

        Args:
            given: of the `Life` that is drawn.
        """
        life = draw(self._random, **given)
        before = {name: self._truth.committed(name) for name in life.queries if name in self._truth.queries}
        self.lineage.begin(life.broker)
        try:
            driver = self._start(life, f"{len(self.lives):03}")
            try:
                if life.phase != "at a start":
                    driver.wait_for("started", self._feed)
                    self.lineage.change(life.broker)
                if life.phase == "running":
                    driver.wait_for("caught-up", self._feed)
                self._wait(life.seconds)
            finally:
                driver.kill(python_alone=life.python_alone)
        finally:
            self.lineage.end()
        caught_up = (self.folder / f"caught-up-{driver.life}").exists()
        self.lives.append(life.emitted() | self._check(before if caught_up else {}))
        with self._kept.open("a") as kept:
            kept.write(f"{json.dumps(self.lives[-1])}\n")

    def end_well(self, queries: Sequence[str] = QUERIES) -> None:
        """A last start that is stopped properly: then capture alone has emitted everything, and Kafka has all of it."""
        driver = self._start(last(queries), "last")
        try:
            driver.wait_for("caught-up", self._feed)
        except BaseException:
            driver.kill()
            raise
        driver.end()
        self._check({})
        assert in_outboxes(self.folder) == []
        # No query has lived for the hundred micro-batches after which Spark forgets: so the last start has emitted all.
        events = self._on_topic()
        for name in self._truth.queries:
            check_chain(events, self._truth, name)
        check_no_gap(events)

    def document(self) -> dict[str, Any]:
        """Report of the sweep."""
        events = self._emitted()
        provenance = Counter(
            str(interval.variants[interval.winner].registers["provenance"][1])
            for query_id in self._truth.queries.values()
            for interval in intervals(events, query_id).values()
        )
        drawn = ("phase", "sink", "broker", "coalesce")
        return {
            "seed": self.seed,
            "kills": len(self.lives),
            **{name: dict(Counter(str(life[name]) for life in self.lives)) for name in drawn},
            "python_alone": sum(life["python_alone"] for life in self.lives),
            "left_in_an_outbox": sum(life["waiting"] > 0 for life in self.lives),
            "committed_and_not_told": sum(life["lost"] > 0 for life in self.lives),
            "micro_batches": {name: len(self._truth.committed(name)) for name in sorted(self._truth.queries)},
            "known_by": dict(provenance),
            "row_counts_compared": check_rows(events, self._truth),
            "events": len(events),
            "events_on_the_topic": len(self._on_topic()),
            "lives": self.lives,
        }

    def _start(self, life: Life, name: str) -> Driver:
        return Driver(
            Orders(
                folder=str(self.folder),
                life=name,
                brokers=self.brokers,
                topics=self.topics,
                queries=life.queries,
                sink=life.sink,
                coalesce=life.coalesce,
                lineage_brokers=self.lineage.address(life.broker),
                lineage_prefix=f"{self.topics}lineage",
            )
        )

    def _on_topic(self) -> list[LineageEvent]:
        return on_topic(self.lineage.bootstrap_servers, f"{self.topics}lineage.events")

    def _emitted(self) -> list[LineageEvent]:
        """All that would reach the graph: what Kafka has, what an outbox would send, what was written to files."""
        return [*in_files(self.folder), *in_outboxes(self.folder), *self._on_topic()]

    def _wait(self, seconds: float) -> None:
        """Feed the queries until the moment of the kill."""

        def fed() -> bool:
            self._feed()
            return True

        stays(fed, seconds)

    def _check(self, caught_up: dict[str, list[int]]) -> dict[str, Any]:
        """Check the promises that hold after every kill.

        Args:
            caught_up: what was committed before a life that has reported that it has caught up.
        """
        self._truth.look()
        waiting = len(in_outboxes(self.folder))
        events = self._emitted()
        check_commits(events, self._truth)
        check_rows(events, self._truth)
        for name, batches in caught_up.items():
            if batches:
                check_chain(events, self._truth, name, upto=batches[-1])
        more = list(reconciled(self.folder, self._truth))
        check_commits([*events, *more], self._truth)
        check_rows(more, self._truth)
        for name in self._truth.queries:
            check_chain([*events, *more], self._truth, name)
        check_nothing_blanked(events, more)
        return {
            "committed": {name: len(self._truth.committed(name)) for name in sorted(self._truth.queries)},
            "lost": self._lost(events),
            "waiting": waiting,
            "caught_up": bool(caught_up),
        }

    def _lost(self, events: Sequence[LineageEvent]) -> int:
        """Number of micro-batches that are committed and not emitted yet."""
        return sum(
            len(self._truth.committed(name)) - len(intervals(events, query_id))
            for name, query_id in self._truth.queries.items()
        )


def sweep(
    folder: Path, brokers: str, lineage: LineageBroker, seed: int, kills: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Kills and checks, then ends well; the document of what happened."""
    history = Sweep(folder, brokers, lineage, seed)
    for number in range(len(history.lives), kills):
        history.kill_once()
        tell(f"{number + 1}/{kills} {json.dumps(history.lives[-1])}")
    history.end_well()
    return history.document()
