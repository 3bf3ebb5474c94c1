"""KafkaEndOffsets: reads the end offsets of a topic from a sink's cluster, with a consumer that reads nothing.

A sink's connection is Spark's, in options of Kafka's Java client; what librdkafka has options for is translated,
and what it hasn't (a trust store in Java's format, a login module of one's own) makes the topic one that isn't asked.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from typing import Any, Final

from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.plan import PlanOutput
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.naming import kafka_topic

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 1.0
"""For one topic, all its partitions together."""
PAUSE_SECONDS: Final = 30.0
"""After a question that failed, the same cluster isn't asked for so long."""
_ALL_REPLICAS: Final = frozenset({"all", "-1"})
# Java's name: librdkafka's.
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


class _NoSuchTopicError(Exception):
    """The cluster has no such topic, or its leaders aren't known yet."""


class KafkaEndOffsets:
    """Reads end offsets. One client for each cluster, kept.

    Args:
        own: capture's own connection, for sinks on the same brokers.
    """

    def __init__(self, own: KafkaSettings | None = None) -> None:
        self._own = own
        self._clients: dict[tuple[tuple[str, str], ...], Any] = {}
        self._paused_until: dict[tuple[tuple[str, str], ...], float] = {}
        self._logged: set[str] = set()

    def end_offsets(self, output: PlanOutput) -> Mapping[int, int] | None:
        """The offset after the last record, by partition; None where it can't be read within TIMEOUT_SECONDS."""
        try:
            config = self._config(dict(output.connection))
            if config is None:
                return None
            key = tuple(sorted(config.items()))
            if time.monotonic() < self._paused_until.get(key, 0.0):
                return None
            try:
                return self._ask(key, output.dataset.name)
            except _NoSuchTopicError:
                raise  # the cluster's other topics may be fine
            except Exception:
                self._paused_until[key] = time.monotonic() + PAUSE_SECONDS
                raise
        except Exception as error:
            self._log_once(
                f"the end offsets of {output.dataset.name} can't be read ({type(error).__name__}); what is written "
                "meanwhile is recorded without offsets"
            )
            return None

    def close(self) -> None:
        """Frees the clients."""
        while self._clients:
            _, client = self._clients.popitem()
            client.close()

    def _ask(self, key: tuple[tuple[str, str], ...], topic: str) -> dict[int, int]:
        from confluent_kafka import Consumer, TopicPartition

        deadline = time.monotonic() + TIMEOUT_SECONDS
        if key not in self._clients:
            self._clients[key] = Consumer(dict(key), logger=logger)
        client = self._clients[key]
        found = client.list_topics(topic, timeout=_left(deadline)).topics.get(topic)
        if found is None or found.error is not None:
            raise _NoSuchTopicError(topic)
        return {
            partition: client.get_watermark_offsets(TopicPartition(topic, partition), timeout=_left(deadline))[1]
            for partition in found.partitions
        }

    def _config(self, options: Mapping[str, str]) -> dict[str, str] | None:
        """The configuration of librdkafka; None where end offsets aren't reliable or the connection is unknown."""
        if options.get("acks", "all") not in _ALL_REPLICAS:
            # Acknowledged before it counts as written: the end that others see may be behind.
            return None
        connection = self._own_connection(options) or translated(options)
        if connection is None:
            self._log_once(
                "a Kafka sink's connection can't be expressed in librdkafka's options: its offsets aren't reported"
            )
            return None
        return {
            **connection,
            "group.id": "headwater-capture-ends",
            "client.id": "headwater-capture",
            "enable.auto.commit": "false",
            # Records of others' open transactions are in the topic too, and ours behind them.
            "isolation.level": "read_uncommitted",
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

    def _log_once(self, text: str) -> None:
        if text not in self._logged:
            self._logged.add(text)
            logger.info("lineage capture: %s", text)


def own_connection(settings: CaptureSettings) -> KafkaSettings | None:
    """Capture's own connection, of its settings `kafka_…`; None where it has none."""
    if settings.kafka_bootstrap_servers is None:
        return None
    values = {name: getattr(settings, f"kafka_{name}", None) for name in KafkaSettings.model_fields}
    return KafkaSettings(**{name: value for name, value in values.items() if value is not None})


def translated(options: Mapping[str, str]) -> dict[str, str] | None:
    """A Java client's connection in librdkafka's options; None where some of it has none."""
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


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())
