"""Shared by the outbox's tests: records by number, publishers without a broker."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from headwater_producers.outbox.metrics import OutboxMetrics
from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.publisher.metrics import PublisherMetrics
from headwater_schemas.record import Record
from support.fake_producer import FakeCluster

EVENTS = "lineage.events"


def record(name: str, size: int = 100) -> Record:
    return Record(name, "INTERVAL", b"job", name.encode() + b"|" + b"." * size)


def name_of(value: bytes) -> str:
    return value.partition(b"|")[0].decode()


def publisher(cluster: FakeCluster) -> Publisher:
    return Publisher(
        PublisherSettings(bootstrap_servers="localhost:9092", create_topics=False, linger_milliseconds=0),
        metrics=PublisherMetrics(CollectorRegistry()),
        make_producer=cluster.producer,
    )


def metrics() -> OutboxMetrics:
    return OutboxMetrics(CollectorRegistry())


def delivered(cluster: FakeCluster) -> list[str]:
    return [name_of(value) for value in cluster.delivered.get(EVENTS, [])]
