"""KafkaTopicStates: client for a topic's id and end offsets on a job's cluster. It reads no record.

The connection is Spark's: options of Kafka's Java client, translated to librdkafka's options. Topics whose
connection needs an option without a counterpart (a trust store in Java's format, a custom login module) are left out.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.connectors.kafka.observed_topics import AskedTopic, TopicSnapshot
from headwater_producers.spark.plan import PlanInput, PlanOutput
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.naming import kafka_topic

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 1.0
"""Maximum time to read the states of one cluster's topics, all partitions together."""
PAUSE_SECONDS: Final = 30.0
"""Time during which a cluster isn't asked again after a failed request."""
_ALL_REPLICAS: Final = frozenset({"all", "-1"})
# Java's name: librdkafka's name.
_SAME: Final = {
    "bootstrap.servers": "bootstrap.servers",
    "security.protocol": "security.protocol",
    "sasl.mechanism": "sasl.mechanism",
    "ssl.endpoint.identification.algorithm": "ssl.endpoint.identification.algorithm",
}
_PEM: Final = {
    "ssl.truststore.location": "ssl.ca.location",
}
_STORE_TYPES: Final = {"ssl.truststore.location": "ssl.truststore.type", "ssl.keystore.location": "ssl.keystore.type"}
_LOGIN: Final = re.compile(r"(?:Plain|Scram)LoginModule\s+required\b(.*);", re.DOTALL)
_QUOTED: Final = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')


_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""Topic id that a broker without topic ids reports."""


_Key = tuple[tuple[str, str], ...]


class KafkaTopicStates:
    """Client for the states of topics, with one connection for each cluster.

    Args:
        own: capture's own connection, for topics on the same brokers.
    """

    def __init__(self, own: KafkaSettings | None = None) -> None:
        self._own = own
        self._clients: dict[_Key, Any] = {}
        self._keys: dict[tuple[tuple[str, str], ...], _Key | None] = {}
        self._paused_until: dict[_Key, float] = {}
        self._logged: set[str] = set()

    def states(self, asked: Sequence[AskedTopic]) -> list[TopicSnapshot | None]:
        """Return the current state of each topic; None if it can't be read within TIMEOUT_SECONDS.

        One request asks for all topics of a cluster: it takes half a millisecond of processor time, and each
        micro-batch needs two requests, for ids and for end offsets.
        """
        by_cluster: dict[_Key, list[AskedTopic]] = {}
        for each in asked:
            if (key := self._key(each.topic)) is not None:
                by_cluster.setdefault(key, []).append(each)
        found: dict[tuple[_Key, str], TopicSnapshot] = {}
        for key, topics in by_cluster.items():
            found |= {(key, name): state for name, state in self._states_in(key, topics).items()}
        return [found.get((self._key(each.topic) or (), each.topic.dataset.name)) for each in asked]

    def _key(self, topic: PlanInput | PlanOutput) -> _Key | None:
        """Return the client configuration for a topic; None if librdkafka can't make the connection."""
        if topic.connection not in self._keys:
            try:
                config = self._config(dict(topic.connection))
            except Exception as error:
                self._log_unread([topic.dataset.name], error)
                config = None
            self._keys[topic.connection] = tuple(sorted(config.items())) if config is not None else None
        return self._keys[topic.connection]

    def _states_in(self, key: _Key, asked: Sequence[AskedTopic]) -> dict[str, TopicSnapshot]:
        if time.monotonic() < self._paused_until.get(key, 0.0):
            return {}
        try:
            return self._ask(key, {each.topic.dataset.name: each.offsets for each in asked})
        except Exception as error:
            self._paused_until[key] = time.monotonic() + PAUSE_SECONDS
            self._log_unread([each.topic.dataset.name for each in asked], error)
            return {}

    def close(self) -> None:
        """Close the clients."""
        self._clients.clear()

    def _ask(self, key: _Key, asked: Mapping[str, bool]) -> dict[str, TopicSnapshot]:
        """Return the states of one cluster's topics by name, with or without end offsets as `asked`."""
        from confluent_kafka import TopicCollection
        from confluent_kafka.admin import AdminClient

        deadline = time.monotonic() + TIMEOUT_SECONDS
        if key not in self._clients:
            self._clients[key] = AdminClient(dict(key), logger=logger)
        client = self._clients[key]
        described = client.describe_topics(TopicCollection(list(asked)), request_timeout=_remaining(deadline))
        found: dict[str, Any] = {}
        for name, description in described.items():
            try:
                found[name] = description.result(_remaining(deadline))
            except Exception as error:
                # The cluster's other topics may be fine.
                if not _is_gone(error):
                    raise
                self._log_unread([name], error)
        written = {name: found[name].partitions for name, offsets in asked.items() if offsets and name in found}
        ends = _ends(client, written, deadline)
        return {
            name: TopicSnapshot(_id_of(description), ends.get(name))
            for name, description in found.items()
            if not asked[name] or name in ends
        }

    def _config(self, options: Mapping[str, str]) -> dict[str, str] | None:
        """Return librdkafka's configuration; None if end offsets aren't reliable or the connection is unknown."""
        if options.get("acks", "all") not in _ALL_REPLICAS:
            # With acks=0 or 1, acknowledged records may not count as written yet: the visible end offset may lag.
            return None
        connection = self._own_connection(options) or translated(options)
        if connection is None:
            self._log_once(
                "a Kafka connection can't be expressed in librdkafka's options: ids of its topics, "
                "and offsets that are written, aren't reported"
            )
            return None
        return {
            **connection,
            "client.id": "headwater-capture",
            "socket.timeout.ms": "5000",
            "log_level": "2",
        }

    def _own_connection(self, options: Mapping[str, str]) -> dict[str, str] | None:
        servers = options.get("bootstrap.servers")
        if self._own is None or servers is None:
            return None
        same = kafka_topic(servers, "x") == kafka_topic(self._own.require_servers(), "x")
        protocol = options.get("security.protocol", "PLAINTEXT")
        return self._own.client_config() if same and protocol == self._own.security_protocol else None

    def _log_unread(self, topics: Iterable[str], error: Exception) -> None:
        for name in topics:
            self._log_once(
                f"id and end offsets of {name} can't be read ({type(error).__name__}); reads and writes "
                "meanwhile are recorded without them"
            )

    def _log_once(self, text: str) -> None:
        if text not in self._logged:
            self._logged.add(text)
            logger.info("lineage capture: %s", text)


def _ends(client: Any, topics: Mapping[str, Sequence[Any]], deadline: float) -> dict[str, dict[int, int]]:
    """Return the end offsets of topics by partition; topics with a missing or leaderless partition are left out."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import OffsetSpec

    there = {name: parts for name, parts in topics.items() if all(part.leader is not None for part in parts)}
    if not there:
        return {}
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    wanted = {TopicPartition(name, part.id): latest for name, parts in there.items() for part in parts}
    found: dict[str, dict[int, int]] = {name: {} for name in there}
    for where, end in client.list_offsets(wanted, request_timeout=_remaining(deadline)).items():
        try:
            offset = int(end.result(_remaining(deadline)).offset)
        except Exception as error:
            if not _is_gone(error):
                raise
            found.pop(where.topic, None)
        else:
            if where.topic in found:
                found[where.topic][where.partition] = offset
    return found


def _id_of(description: Any) -> str | None:
    return None if description.topic_id is None or str(description.topic_id) == _NO_ID else str(description.topic_id)


def _is_gone(error: Exception) -> bool:
    """Return True if the cluster has no such topic or partition."""
    from confluent_kafka import KafkaError, KafkaException

    return isinstance(error, KafkaException) and error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def own_connection(settings: CaptureSettings) -> KafkaSettings | None:
    """Return capture's own connection, from its settings `kafka_…`; None without brokers."""
    if settings.kafka_bootstrap_servers is None:
        return None
    values = {name: getattr(settings, f"kafka_{name}", None) for name in KafkaSettings.model_fields}
    return KafkaSettings(**{name: value for name, value in values.items() if value is not None})


def translated(options: Mapping[str, str]) -> dict[str, str] | None:
    """Translate a Java client's connection into librdkafka's options; None if an option has no counterpart."""
    out: dict[str, str] = {}
    for name, value in options.items():
        if name in _SAME:
            out[_SAME[name]] = value or "none"
        elif name in _PEM:
            if options.get(_STORE_TYPES[name], "JKS").upper() != "PEM":
                return None
            out[_PEM[name]] = value
        elif name == "sasl.jaas.config":
            login = _LOGIN.search(value)
            words = dict(_QUOTED.findall(login[1])) if login is not None else {}
            if words.keys() != {"username", "password"}:
                return None
            plain = {word: re.sub(r"\\(.)", r"\1", text) for word, text in words.items()}
            out["sasl.username"], out["sasl.password"] = plain["username"], plain["password"]
        elif name not in ("acks", "ssl.truststore.type", "ssl.keystore.type"):
            return None
    return out if "bootstrap.servers" in out else None


def _remaining(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())
