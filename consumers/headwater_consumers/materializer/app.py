"""Wiring of a consumer from its settings. `assemble` shows the flow from top to bottom."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from headwater_consumers.kafka.backoff import BackoffPolicy
from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.kafka.source import RecordSource
from headwater_consumers.materializer.batch import BatchPreparation
from headwater_consumers.materializer.checkpoint import CheckpointContext
from headwater_consumers.materializer.dead_letters.topic import KafkaDeadLetters
from headwater_consumers.materializer.graph import Neo4jGraph, writing_driver
from headwater_consumers.materializer.health import Companion, Health, HealthServer
from headwater_consumers.materializer.lane import ThreadLane
from headwater_consumers.materializer.limits import BatchLimit, DeadLetterLimit
from headwater_consumers.materializer.loop import Loop, LoopParts, LoopPolicy
from headwater_consumers.materializer.metrics import Metrics
from headwater_consumers.materializer.reporting import ConsumerTally, ConsumerTotals, DeadLetterLog
from headwater_consumers.materializer.settings import MaterializerSettings
from headwater_graph.connection import Neo4jTarget
from headwater_graph.fold import disjoint, fold, reject_decoded
from headwater_graph.write import GraphWriter, PartsWriter, PreparedDelta, prepare_delta
from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import making_clients
from headwater_schemas.registry import RegistryClient, RegistrySettings
from headwater_schemas.schema_store import SchemaStore
from headwater_schemas.topics import TopicNames, TopicSpec, ensure_topics, topic_specs

Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ConsumerTarget:
    """Kafka cluster and Neo4j database of one consumer, with its topics.

    Attributes:
        kafka: librdkafka settings with the bootstrap servers and the credentials (secrets included: never shown).
        neo4j: the graph.
        topics: names of the three topics.
        specs: settings for creating missing topics; by default from `topic_specs`.
        registry: schema registry for records in Confluent's wire format, if it has a URL.
    """

    kafka: Mapping[str, Any]
    neo4j: Neo4jTarget
    topics: TopicNames
    specs: tuple[TopicSpec, ...] = ()
    registry: RegistrySettings = field(default_factory=RegistrySettings)

    @property
    def servers(self) -> str:
        """Bootstrap servers, for messages."""
        return str(self.kafka.get("bootstrap.servers", ""))

    def __repr__(self) -> str:
        return f"Target({self.servers!r}, {self.neo4j!r}, {self.topics!r})"


class Materializer:
    """Assembled consumer. `run` blocks; `stop` makes `run` write and commit the records in flight, and return."""

    def __init__(self, loop: Loop, server: HealthServer, totals: ConsumerTotals, close: Callable[[], None]) -> None:
        self._loop = loop
        self._server = server
        self._close = close
        self.totals = totals

    @property
    def port(self) -> int:
        """Port of /metrics, /livez and /readyz."""
        return self._server.port

    def run(self) -> ConsumerTotals:
        """Consume until stopped, or, with `until_caught_up`, until the group has caught up.

        Raises:
            FatalError: a person has to change a setting. Earlier commits stay.
        """
        try:
            self._loop.run()
        finally:
            self._close()
            self._server.close()
        return self.totals

    def stop(self) -> None:
        """Ask `run` to write and commit the records in flight, and return. Safe from signal handlers and threads."""
        self._loop.stop()


def assemble(
    target: ConsumerTarget,
    settings: MaterializerSettings,
    *,
    until_caught_up: bool = False,
    warn: Log,
    info: Log | None = None,
    watch: Callable[[ConsumerTotals], None] = lambda _: None,
    source: RecordSource | None = None,
    metrics: Metrics | None = None,
    companion: Companion | None = None,
) -> Materializer:
    """Assemble a consumer. It doesn't connect yet, but the port for metrics and health is open.

    Args:
        target: Kafka cluster and database.
        until_caught_up: True: stop when the group has committed all records that were on the topic at the start.
        warn: function that logs the beginning of a fault, and repeats the line while it lasts.
        info: function that logs the end of a fault; default: `warn`.
        watch: called twice a second with the totals.
        source: source of the records; None: the events topic.
        metrics: metrics of every step, if the caller also reads them.
        companion: another service of the process, whose health is also shown.

    Raises:
        FatalError: an address is invalid, or librdkafka refuses the settings.
        OSError: the port is taken.
    """
    clock = time.monotonic
    kafka = quiet(target.kafka)
    metrics, totals = metrics or Metrics(), ConsumerTotals()
    tally = ConsumerTally(totals, metrics, DeadLetterLog(clock))
    health = Health(metrics, clock, companion)
    notices = Notices(warn, clock, info=info)

    reads_topic = source is None

    # source → decode → fold → write → checkpoint, rejections to dead letters.
    with making_clients(target.servers):
        source = source or KafkaSource(
            SourceConfig(
                kafka,
                target.topics.events,
                settings.group,
                settings.queued_max_kilobytes,
                record_max_bytes=settings.record_max_bytes,
            ),
            clock=clock,
            notices=notices,
        )
    schemas = SchemaStore(kafka, target.topics.schemas)
    registry = RegistryClient(target.registry) if target.registry.url else None
    decoder = Decoder(schemas, registry)
    folded = partial(_folded, sessions=settings.write_sessions)
    preparation = BatchPreparation(
        decoder,
        reject_decoded,
        folded,
        timed=metrics.timed,
        clock=clock,
        future_max_seconds=settings.future_max_seconds,
    )
    driver = writing_driver(target.neo4j, sessions=settings.write_sessions)
    writers = [
        GraphWriter(driver, target.neo4j.database, timeout_seconds=settings.write_timeout_seconds)
        for _ in range(settings.write_sessions)
    ]
    graph = Neo4jGraph(target.neo4j, driver, PartsWriter(writers))
    dead_letters = KafkaDeadLetters(kafka, topic=target.topics.dead_letters, group=settings.group)
    checkpoint_context = CheckpointContext(
        graph=graph,
        dead_letters=dead_letters,
        fold=folded,
        limit=DeadLetterLimit(settings.dead_letter_policy()),
        observer=tally,
        clock=clock,
    )

    def start() -> None:
        graph.prepare()
        _ensure_topics(kafka, target.specs or topic_specs(target.topics), warn)

    def finish() -> None:
        dead_letters.close()
        graph.close()

    parts = LoopParts(
        source=source,
        lane=ThreadLane(),
        checkpoint_context=checkpoint_context,
        preparation=preparation,
        limit=BatchLimit(settings.batch_policy()),
        start=start,
        finish=finish,
        health=health,
        metrics=metrics,
        notices=notices,
        totals=totals,
        committed=tally.committed,
        watch=lambda: watch(totals),
        group=settings.group,
    )
    policy = LoopPolicy(
        backoff=BackoffPolicy(cap_seconds=settings.retry_max_seconds),
        drain_seconds=settings.drain_seconds,
        until_caught_up=until_caught_up,
        reads_topic=reads_topic,
    )
    loop = Loop(parts, policy, clock=clock, random=random.random)
    server = HealthServer(health, metrics.registry, port=settings.http_port, host=settings.http_host)
    return Materializer(loop, server, totals, schemas.close)


def _folded(events: Sequence[LineageEvent], *, sessions: int) -> list[PreparedDelta]:
    return [prepare_delta(fold(part)) for part in disjoint(events, sessions)]


def _ensure_topics(kafka: Mapping[str, Any], specs: Sequence[TopicSpec], warn: Log) -> None:
    """Create the missing topics, and warn of settings that differ from what Headwater would set."""
    for found in ensure_topics(kafka, specs, timeout_seconds=10.0).differences:
        warn(
            f"Topic {found.topic} has {found.setting}={found.actual}, which Headwater doesn't change. "
            f"Set it to {found.wanted}."
        )
