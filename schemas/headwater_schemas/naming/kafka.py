"""Names of Kafka topics in `kafka://{brokers}` or `kafka://{cluster name}`; a TOPIC symlink has the cluster id instead.

Two jobs may list different brokers of one cluster, or have different names for it. All brokers of a cluster report the
same cluster id, so this id shows that `kafka://b1:9092` and `kafka://b2:9092` are one cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater_schemas.events.common import DatasetRef
from headwater_schemas.events.dataset import Symlink

DEFAULT_PORT = 9092
SYMLINK_TOPIC = "TOPIC"
EVERY_CLUSTER = "*"
"""Key among declared names for all clusters without a name of their own."""


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic of a cluster.

    Attributes:
        cluster: the cluster's name, or its bootstrap servers in canonical order, joined by commas.
    """

    cluster: str
    topic: str

    @property
    def ref(self) -> DatasetRef:
        """E.g. `kafka://broker-1:9092,broker-2:9092`, `flights.departed`."""
        return DatasetRef(f"kafka://{self.cluster}", self.topic)


def kafka_topic(bootstrap_servers: str, topic: str, cluster_name: str | None = None) -> DatasetRef:
    """Return the identity of a topic, independent of the order of the brokers.

    Two jobs that list different brokers of one cluster name different datasets, unless both have the cluster's name.

    Args:
        bootstrap_servers: servers in the form of Kafka clients: `host:port,…`; a listener's name before a host is
            allowed.
        cluster_name: replaces the broker list, if set.
    """
    return KafkaTopic(cluster_name or _canonical(bootstrap_servers), topic).ref


def kafka_symlink(cluster_id: str, topic: str) -> Symlink:
    """A topic by its cluster's id, as brokers report it: `kafka://MkU3OEVBNTcwNTJENDM2Qk`, `flights.departed`."""
    return Symlink(f"kafka://{cluster_id}", topic, SYMLINK_TOPIC)


def declared_cluster(names: Mapping[str, str], bootstrap_servers: str, cluster_id: str | None = None) -> str | None:
    """Return the declared name of a cluster; None if there is none.

    Args:
        names: names by cluster id, by brokers (`host:port,…`, of which one has to be among `bootstrap_servers`), or by
            `*` for every other cluster. An id takes precedence over brokers.
        bootstrap_servers: the job's bootstrap servers.
        cluster_id: id that the brokers report; None if unknown.
    """
    if cluster_id is not None and cluster_id in names:
        return names[cluster_id]
    servers = set(_canonical(bootstrap_servers).split(","))
    for brokers in sorted(names.keys() - {EVERY_CLUSTER}):
        if servers & set(_canonical(brokers).split(",")):
            return names[brokers]
    return names.get(EVERY_CLUSTER)


def is_declared_cluster(namespace: str) -> bool:
    """Return True if a namespace names a Kafka cluster by a chosen name: brokers always have a port."""
    return namespace.startswith("kafka://") and ":" not in namespace.removeprefix("kafka://").rpartition("]")[2]


def _canonical(bootstrap_servers: str) -> str:
    servers = {_server(text) for part in bootstrap_servers.split(",") if (text := part.strip())}
    return ",".join(sorted(servers))


def _server(text: str) -> str:
    # SASL_SSL://Host ⇒ host:9092. An IPv6 address is in brackets, and its colons are no port.
    address = text.rpartition("://")[2].lower().rstrip("/")
    has_port = ":" in address.rpartition("]")[2]
    return address if has_port else f"{address}:{DEFAULT_PORT}"
