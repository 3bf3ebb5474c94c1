"""Kafka topics: `kafka://{brokers}` or `kafka://{cluster name}`, and the topic."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_schemas.events.common import DatasetRef

DEFAULT_PORT = 9092


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic of a cluster.

    Attributes:
        cluster: the cluster's name, or its bootstrap servers in canonical order, joined by commas.
        topic: the topic's name.
    """

    cluster: str
    topic: str

    @property
    def ref(self) -> DatasetRef:
        """E.g. `kafka://broker-1:9092,broker-2:9092`, `flights.departed`."""
        return DatasetRef(f"kafka://{self.cluster}", self.topic)


def kafka_topic(bootstrap_servers: str, topic: str, cluster_name: str | None = None) -> DatasetRef:
    """A topic's identity, whatever order the brokers are listed in.

    Two jobs that list different brokers of one cluster name different datasets, unless both have the cluster's name.

    Args:
        bootstrap_servers: as Kafka clients take them: `host:port,…`, a listener's name before a host allowed.
        topic: its name.
        cluster_name: stands for the broker list where it is set.
    """
    return KafkaTopic(cluster_name or _canonical(bootstrap_servers), topic).ref


def _canonical(bootstrap_servers: str) -> str:
    servers = {_server(text) for part in bootstrap_servers.split(",") if (text := part.strip())}
    return ",".join(sorted(servers))


def _server(text: str) -> str:
    # SASL_SSL://Host ⇒ host:9092. An IPv6 address is in brackets, and its colons are no port.
    address = text.rpartition("://")[2].lower().rstrip("/")
    has_port = ":" in address.rpartition("]")[2]
    return address if has_port else f"{address}:{DEFAULT_PORT}"
