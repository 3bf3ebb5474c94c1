"""Look-up in Kafka: the records of a topic that arrived in a span of time.

The topic may be on another cluster than the lineage events. The configured cluster is asked if it has the topic: its
cluster id is compared if known, else its brokers or its configured name. Otherwise a command asks the brokers that the
topic's namespace lists, without credentials: these are never sent to an address from an event. A server doesn't connect
to addresses from events at all.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec

from headwater_analysis.errors import ArrivalsUnknownError
from headwater_analysis.trace import ArrivedRange, ArrivedRecords
from headwater_schemas.errors import SettingsRefusedError
from headwater_schemas.events import DatasetRef
from headwater_schemas.kafka.client import answer, quiet
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.naming.kafka import EVERY_CLUSTER, declared_cluster, kafka_topic

log = logging.getLogger(__name__)

REQUEST_SECONDS: Final = 5.0
_SCHEME: Final = "kafka://"
_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BY_BROKER: Final = "LogAppendTime"


class KafkaArrivals:
    """Lookup at the cluster of a topic; see `Arrivals`.

    Args:
        kafka: the configured cluster.
        follows_names: whether to connect also to brokers that the topic's namespace lists, if they aren't configured.
    """

    def __init__(self, kafka: KafkaSettings, *, follows_names: bool) -> None:
        self._kafka = kafka
        self._follows_names = follows_names

    def __call__(
        self, names: Sequence[DatasetRef], cluster_ids: Collection[str], start: datetime, end: datetime
    ) -> ArrivedRecords:
        """See `Arrivals`."""
        topic, spelling = names[0].name, f"{names[0].namespace}/{names[0].name}"
        clusters = [name.namespace.removeprefix(_SCHEME) for name in names if name.namespace.startswith(_SCHEME)]
        listed = sorted({broker for each in clusters for broker in each.split(",") if ":" in broker})
        why = "no configured Kafka has this topic"
        for config, is_given in self._configs(listed):
            servers = config["bootstrap.servers"]
            try:
                client = AdminClient(quiet(config))
                if self._is_of(client, servers, clusters, cluster_ids, is_given=is_given):
                    return _asked(client, topic, _millis(start), _millis(end))
                why = f"Kafka at {servers} isn't known to be the cluster of this topic"
            except KafkaException as error:
                why = f"Kafka at {servers} can't be asked ({error.args[0].str()})"
        raise ArrivalsUnknownError(spelling, f"{why}; set HEADWATER_KAFKA_BOOTSTRAP_SERVERS to its brokers")

    def _configs(self, listed: Sequence[str]) -> Iterator[tuple[dict[str, str], bool]]:
        """Settings of clients to try, each with a flag: True if the brokers are from the topic's namespace."""
        try:
            yield self._kafka.client_config(), False
        except SettingsRefusedError as error:
            log.debug("no configured Kafka is asked: %s", error)
        is_open = self._kafka.security_protocol == "PLAINTEXT" and not self._kafka.client_properties
        if self._follows_names and listed and is_open:
            yield {"bootstrap.servers": ",".join(listed)}, True

    def _is_of(
        self, client: AdminClient, servers: str, clusters: Collection[str], ids: Collection[str], *, is_given: bool
    ) -> bool:
        """Return True if the client's cluster is one of the clusters that a topic's names and ids state."""
        found = answer(client.describe_cluster(request_timeout=REQUEST_SECONDS), REQUEST_SECONDS)
        if ids:
            return found.cluster_id in ids
        if is_given or found.cluster_id in clusters:
            return True
        brokers = {*_brokers(servers), *(f"{node.host}:{node.port}" for node in found.nodes)}
        names = {**({EVERY_CLUSTER: self._kafka.cluster_name} if self._kafka.cluster_name else {})}
        declared = declared_cluster({**names, **self._kafka.cluster_names}, servers, found.cluster_id)
        return declared in clusters or any(not brokers.isdisjoint(each.split(",")) for each in clusters)


def _asked(client: AdminClient, topic: str, start: int, end: int) -> ArrivedRecords:
    """Look up the offsets of all partitions at once.

    Raises:
        KafkaException: the topic doesn't exist, or the brokers don't answer.
    """
    described = client.describe_topics(TopicCollection([topic]), request_timeout=REQUEST_SECONDS)
    description = answer(described[topic], REQUEST_SECONDS)
    partitions = [TopicPartition(topic, each.id) for each in description.partitions]
    begins, ends, starts, until = (
        _offsets(client, partitions, spec)
        for spec in (
            OffsetSpec.earliest(),  # type: ignore[no-untyped-call]
            OffsetSpec.latest(),  # type: ignore[no-untyped-call]
            OffsetSpec.for_timestamp(start),
            OffsetSpec.for_timestamp(end),
        )
    )
    ranges = []
    for number in sorted(begins):
        # -1: no record has this timestamp or a later one.
        first, last = (found[number] if found[number] >= 0 else ends[number] for found in (starts, until))
        ranges.append(ArrivedRange(number, begins[number], first, last))
    topic_id = None if description.topic_id is None else str(description.topic_id)
    return ArrivedRecords(tuple(ranges), None if topic_id == _NO_ID else topic_id, _is_by_broker(client, topic))


def _offsets(client: AdminClient, partitions: Sequence[TopicPartition], spec: OffsetSpec) -> dict[int, int]:
    futures = client.list_offsets(
        dict.fromkeys(partitions, spec),
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        request_timeout=REQUEST_SECONDS,
    )
    return {each.partition: answer(future, REQUEST_SECONDS).offset for each, future in futures.items()}


def _is_by_broker(client: AdminClient, topic: str) -> bool:
    """Return True if the broker sets the timestamps of a topic; False also if the broker refuses this request."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    try:
        [future] = client.describe_configs([resource], request_timeout=REQUEST_SECONDS).values()
        return bool(answer(future, REQUEST_SECONDS)["message.timestamp.type"].value == _BY_BROKER)
    except KafkaException:
        return False


def _brokers(servers: str) -> list[str]:
    return kafka_topic(servers, "").namespace.removeprefix(_SCHEME).split(",")


def _millis(time: datetime) -> int:
    """Milliseconds since the epoch, rounded up: a record of this time or later has at least this timestamp."""
    return max(0, -((_EPOCH - time) // timedelta(milliseconds=1)))
