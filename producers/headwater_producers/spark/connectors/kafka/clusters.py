"""Ids of Kafka clusters, as their brokers report them.

`KafkaClusters` asks with Kafka's own client for Java, which the job's connector brings, because only this client
supports all connections that the connector supports: login modules, callbacks, Java's key stores.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from headwater_schemas import naming

logger = logging.getLogger(__name__)

ASK_SECONDS: Final = 2.0
"""Maximum time to ask for a cluster's id, all its brokers together."""
ASK_AGAIN_SECONDS: Final = 300.0
"""Time during which brokers that didn't answer aren't asked again."""


class KafkaClusters:
    """Cache of cluster ids, asked from brokers on the thread that describes plans. Never raises.

    If the brokers don't answer within ASK_SECONDS, the id stays unknown, and the dataset is named only by its brokers.
    """

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._not_before: dict[str, float] = {}

    def id_of(self, session: Any, servers: str, connection: Callable[[], Mapping[str, str]]) -> str | None:
        """Return the cluster's id; None if it isn't known.

        Args:
            session: Spark session whose JVM asks.
            servers: the brokers, as in the job's options.
            connection: connection settings by Kafka's own names, `servers` included. They may contain credentials,
                which only Kafka's client gets.
        """
        cluster = naming.kafka_topic(servers, "").namespace
        if cluster not in self._ids and time.monotonic() >= self._not_before.get(cluster, 0.0):
            try:
                if found := _ask(session, connection()):
                    self._ids[cluster] = found
            except Exception as error:
                # Py4J's error text may contain the options.
                logger.debug("lineage capture: %s doesn't report its cluster's id (%s)", cluster, type(error).__name__)
            self._not_before[cluster] = time.monotonic() + ASK_AGAIN_SECONDS
        return self._ids.get(cluster)


def _ask(session: Any, connection: Mapping[str, str]) -> str | None:
    jvm = session.sparkContext._jvm
    milliseconds = int(ASK_SECONDS * 1000)
    properties = jvm.java.util.Properties()
    timeouts = dict.fromkeys(("request.timeout.ms", "default.api.timeout.ms"), str(milliseconds))
    for name, value in {**connection, **timeouts, "client.id": "headwater-capture", "retries": "0"}.items():
        properties.setProperty(name, value)
    client = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
    try:
        answer = client.describeCluster().clusterId().get(milliseconds, jvm.java.util.concurrent.TimeUnit.MILLISECONDS)
        return None if answer is None else str(answer)
    finally:
        client.close(jvm.java.time.Duration.ZERO)
