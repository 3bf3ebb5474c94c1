"""A sweep of kills, each moment drawn from the seed, each followed by a start from the same checkpoints.

at a start       while Spark starts, or the queries begin to go on
catching up      within a second after the queries were started: what was lost is being told
running          some time after everything was told
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from support.crash.check import check_chain, check_commits, check_nothing_blanked, intervals, reconciled, told
from support.crash.driver import Driver
from support.crash.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater_schemas.events import LineageEvent

PHASES = ("at a start", "catching up", "running")
QUERIES = ("copy", "files", "split")


class Feed:
    """New input for the queries: a file, and records."""

    def __init__(self, folder: Path, brokers: str, topic: str) -> None:
        self._folder = folder
        self._topic = topic
        self._count = 0
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
        self._producer.flush(10)


@dataclass
class Sweep:
    """The history of one folder.

    Attributes:
        topics: what the names of its topics, `in` and `out`, begin with.
        lives: one document a kill.
    """

    folder: Path
    brokers: str
    seed: int
    topics: str = ""
    lives: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._feed = Feed(self.folder, self.brokers, f"{self.topics}in")
        self._truth = Truth(self.folder)

    def kill_once(self, phase: str | None = None, queries: Sequence[str] = ()) -> None:
        """A start, a kill, and the checks; raises AssertionError where one fails."""
        phase = phase or self._random.choice(PHASES)
        alone = self._random.random() < 0.25
        delay = self._random.uniform(
            *{"at a start": (0.2, 9.0), "catching up": (0.0, 1.0), "running": (0.0, 8.0)}[phase]
        )
        # One query a life: Spark's start is most of what a kill costs.
        chosen = queries or (self._random.choice(QUERIES),)
        before = {name: self._truth.committed(name) for name in chosen if name in self._truth.queries}
        driver = Driver(self.folder, f"{len(self.lives):03}", self.brokers, chosen, self.topics)
        try:
            if phase != "at a start":
                driver.wait_for("started" if phase == "catching up" else "caught-up", self._feed)
            self._wait(delay)
        finally:
            driver.kill(python_alone=alone)
        life = {"queries": chosen, "phase": phase, "seconds": round(delay, 3), "python_alone": alone}
        caught_up = (self.folder / f"caught-up-{driver.life}").exists()
        self.lives.append(life | self._check(before if caught_up else {}))

    def end_well(self, queries: Sequence[str] = QUERIES) -> None:
        """A last start that is stopped properly: then capture alone has told everything."""
        driver = Driver(self.folder, "last", self.brokers, queries, self.topics)
        try:
            driver.wait_for("caught-up", self._feed)
        except BaseException:
            driver.kill()
            raise
        driver.end()
        self._check({})
        events = told(self.folder)
        for name in self._truth.queries:
            check_chain(events, self._truth, name)

    def document(self) -> dict[str, Any]:
        """What happened."""
        events = told(self.folder)
        provenance = Counter(
            str(interval.variants[interval.winner].registers["provenance"][1])
            for query_id in self._truth.queries.values()
            for interval in intervals(events, query_id).values()
        )
        return {
            "seed": self.seed,
            "kills": len(self.lives),
            "phases": dict(Counter(life["phase"] for life in self.lives)),
            "python_alone": sum(life["python_alone"] for life in self.lives),
            "micro_batches": {name: len(self._truth.committed(name)) for name in sorted(self._truth.queries)},
            "known_by": dict(provenance),
            "events": len(events),
            "lives": self.lives,
        }

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._feed()
            time.sleep(min(0.05, max(0.0, until - time.monotonic())))

    def _check(self, caught_up: dict[str, list[int]]) -> dict[str, Any]:
        """What holds after every kill.

        Args:
            caught_up: what was committed before a life that has told of itself that it has caught up.
        """
        self._truth.look()
        events = told(self.folder)
        check_commits(events, self._truth)
        for name, batches in caught_up.items():
            if batches:
                check_chain(events, self._truth, name, upto=batches[-1])
        more = list(reconciled(self.folder, self._truth))
        check_commits([*events, *more], self._truth)
        for name in self._truth.queries:
            check_chain([*events, *more], self._truth, name)
        check_nothing_blanked(events, more)
        return {
            "committed": {name: len(self._truth.committed(name)) for name in sorted(self._truth.queries)},
            "lost": self._lost(events),
            "caught_up": bool(caught_up),
        }

    def _lost(self, events: Sequence[LineageEvent]) -> int:
        """How many micro-batches are committed and not told yet."""
        return sum(
            len(self._truth.committed(name)) - len(intervals(events, query_id))
            for name, query_id in self._truth.queries.items()
        )


def sweep(folder: Path, brokers: str, seed: int, kills: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Kills and checks, then ends well; the document of what happened."""
    history = Sweep(folder, brokers, seed)
    for number in range(kills):
        history.kill_once()
        tell(f"{number + 1}/{kills} {json.dumps(history.lives[-1])}")
    history.end_well()
    return history.document()
