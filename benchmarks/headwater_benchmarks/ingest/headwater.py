"""Headwater in the benchmark: one consumer in a process of its own, on a full topic or at a steady rate."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError
from headwater_benchmarks.ingest.consumer import LATENCIES, UNTIL_CAUGHT_UP
from headwater_benchmarks.ingest.servers import Database
from headwater_benchmarks.ingest.topic import Topics
from headwater_benchmarks.soak.consumer import ConsumerProcess
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key

PROGRAM = ("-m", "headwater_benchmarks.ingest.consumer")
_WARM_UP_BATCH = 500
_HOUR = 3_600.0
_SETTLE_SECONDS = 300.0
_TURN_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Place:
    """The topic and the database of a consumer.

    Attributes:
        bootstrap_servers: the broker.
        prefix: prefix of its topics.
        group: the consumer group; a new group begins at the topic's beginning.
        database: the graph.
    """

    bootstrap_servers: str
    prefix: str
    group: str
    database: Database

    def variables(self) -> dict[str, str]:
        """The consumer's variables. It inherits other `HEADWATER_MATERIALIZER_…` variables from this process."""
        target = self.database.target
        return {
            "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": self.bootstrap_servers,
            "HEADWATER_NEO4J_URI": target.uri,
            "HEADWATER_NEO4J_USER": target.user,
            "HEADWATER_NEO4J_PASSWORD": target.password,
            "HEADWATER_NEO4J_DATABASE": target.database,
            "HEADWATER_TOPIC_PREFIX": self.prefix,
            "HEADWATER_MATERIALIZER_GROUP": self.group,
            "HEADWATER_MATERIALIZER_HTTP_PORT": "0",
        }


def warm_up(database: Database, events: Sequence[LineageEvent]) -> None:
    """Write a few events with the consumer's statements, so that a fresh JVM has compiled and planned them."""
    writer = GraphWriter(database.driver, database.target.database)
    writer.ensure_schema()
    for at in range(0, len(events), _WARM_UP_BATCH):
        writer.apply(fold(events[at : at + _WARM_UP_BATCH]))


def drain(place: Place) -> dict[str, Any]:
    """Run a consumer until it has caught up with the topic; returns its report.

    Raises:
        HeadwaterError: it failed, or didn't apply everything.
    """
    with _process(place, UNTIL_CAUGHT_UP) as process:
        status = process.wait(_HOUR)
        if status != 0:
            raise HeadwaterError(f"The consumer ended with {status}. Its stderr: {process.stderr}")
        report = process.document
    if report["dead_lettered"] or report["applied"] != report["consumed"]:
        raise HeadwaterError(
            f"{report['applied']} of {report['consumed']} records were applied. Its stderr: {process.stderr}"
        )
    return report


def steady(place: Place, topics: Topics, events: Sequence[LineageEvent], *, rate: float) -> dict[str, Any]:
    """Send events at a steady rate to a consumer that has caught up; returns its report, with `latencies`.

    Raises:
        HeadwaterError: it failed, or didn't apply everything.
    """
    topic = topics.create(place.prefix)
    records = [(encode(event), record_key(event)) for event in events]
    producer = topics.producer()
    with _process(place, LATENCIES) as process:
        process.until(process.ready, "readiness", seconds=_SETTLE_SECONDS)
        begun = time.monotonic()
        for number, (value, key) in enumerate(records):
            ahead = begun + number / rate - time.monotonic()
            if ahead > 0:
                producer.poll(0)
                # Don't wake for each event: a thousand times a second would cost processor time of the others.
                time.sleep(max(ahead, _TURN_SECONDS))
            producer.produce(topic, value, key)
        producer.flush(_SETTLE_SECONDS)
        process.until(
            lambda: process.metric("events_applied_total") >= len(records), "end of events", seconds=_SETTLE_SECONDS
        )
        if (status := process.stop(seconds=_SETTLE_SECONDS)) != 0:
            raise HeadwaterError(f"The consumer ended with {status}. Its stderr: {process.stderr}")
        return process.document


@contextlib.contextmanager
def _process(place: Place, mode: str) -> Iterator[ConsumerProcess]:
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        variables: Mapping[str, str] = place.variables()
        process = ConsumerProcess(variables, Path(folder), mode, program=PROGRAM)
        try:
            yield process
        finally:
            process.end()
