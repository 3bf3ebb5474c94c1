"""Names, configuration and creation of Headwater's Kafka topics.

| topic                | holds                                     | cleanup | retention |
|----------------------|-------------------------------------------|---------|-----------|
| `lineage.events`     | one `LineageEvent` per record             | delete  | forever  |
| `lineage.events.dlq` | records that can't be applied, unchanged  | delete  | forever  |
| `lineage.schemas`    | fingerprint → Avro schema                 | compact |           |

If the audit is written to Kafka, `lineage.audit` has its lines, in one partition, so that the lines have an order. The
lines never expire.

The graph is rebuilt from the events topic, so its records must never expire.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource, NewTopic, ResourceType
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from headwater_schemas.errors import BrokerUnavailableError, FatalError, TopicsUnusableError
from headwater_schemas.kafka.client import answer
from headwater_schemas.kafka.errors import credentials_refused, kafka_failure, refuses_credentials

DEFAULT_PARTITIONS = 8
# Kafka's own default for a record batch (message.max.bytes): 1 MiB and the batch header.
DEFAULT_MAX_MESSAGE_BYTES = 1_048_588
# A dead letter is the original record plus headers that describe what happened to it.
DEAD_LETTER_HEADROOM_BYTES = 64 * 1024
_SLICE_SECONDS = 0.5
_RETRY_SECONDS = 0.1
# With this value `CreateTopics` uses the broker's default.replication.factor.
BROKER_DEFAULT = -1
# Kafka's rule for a topic's name (org.apache.kafka.common.internals.Topic). `.` and `..`, which Kafka also refuses,
# can't result from a prefix, because each name has a suffix.
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")
_LONGEST_NAME = 249
_FORBIDDEN = {KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED}
_FOREVER = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}


def is_legal_name(name: str) -> bool:
    """Return True if Kafka accepts a text as a topic's name."""
    return bool(_LEGAL.fullmatch(name)) and len(name) <= _LONGEST_NAME and name not in {".", ".."}


def _legal_prefix(prefix: str) -> str:
    longest = _LONGEST_NAME - len(TopicNames("").dead_letters)
    if not _LEGAL.fullmatch(prefix) or len(prefix) > longest:
        raise PydanticCustomError(
            "topic_prefix",
            "a topic prefix has 1 to {longest} characters, each an ASCII letter, a digit, '.', '_' or '-', "
            "such as staging.lineage",
            {"longest": longest},
        )
    return prefix


TopicPrefix = Annotated[str, AfterValidator(_legal_prefix)]
"""Field of settings: prefix that gives valid Kafka topic names."""


@dataclass(frozen=True, slots=True)
class TopicNames:
    """Names of the topics. Different prefixes separate environments on one cluster.

    Example: `TopicNames("staging.lineage").events` is `staging.lineage.events`.
    """

    prefix: str = "lineage"

    @property
    def events(self) -> str:
        """The topic of all lineage events."""
        return f"{self.prefix}.events"

    @property
    def dead_letters(self) -> str:
        """The topic of records that can't be applied."""
        return f"{self.prefix}.events.dlq"

    @property
    def audit(self) -> str:
        """The topic of the audit's lines."""
        return f"{self.prefix}.audit"

    @property
    def schemas(self) -> str:
        """The compacted topic of writers' schemas."""
        return f"{self.prefix}.schemas"


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """Required settings of a topic.

    Attributes:
        partitions: number of partitions at creation; an existing topic keeps its number. `BROKER_DEFAULT`: the broker's
            default.
        config: topic settings by Kafka's names.
        replication_factor: number of replicas at creation. `BROKER_DEFAULT`: the broker's default.
    """

    name: str
    partitions: int
    config: Mapping[str, str] = field(default_factory=dict)
    replication_factor: int = BROKER_DEFAULT


@dataclass(frozen=True, slots=True)
class TopicDifference:
    """Setting of an existing topic that differs from the required one. The owner of the cluster decides what to do."""

    topic: str
    setting: str
    wanted: str
    actual: str


@dataclass(frozen=True, slots=True)
class TopicReport:
    """Result of `ensure_topics`."""

    created: tuple[str, ...] = ()
    existing: tuple[str, ...] = ()
    differences: tuple[TopicDifference, ...] = ()


def topic_specs(
    names: TopicNames | None = None,
    *,
    partitions: int = DEFAULT_PARTITIONS,
    replication_factor: int = BROKER_DEFAULT,
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
) -> tuple[TopicSpec, ...]:
    """Return the required settings of the three topics.

    Args:
        partitions: number of partitions of the events topic. The other topics have one partition: they are small, and
            read in order.
        replication_factor: number of replicas of each of the three topics.
        max_message_bytes: the largest record batch of the events topic, as compressed by the producer.
    """
    names = names or TopicNames()
    dead_letter_bytes = max_message_bytes + DEAD_LETTER_HEADROOM_BYTES
    return (
        TopicSpec(
            names.events,
            partitions,
            # The broker's time bounds an event's times; the producer's clock isn't trusted.
            _FOREVER | {"max.message.bytes": str(max_message_bytes), "message.timestamp.type": "LogAppendTime"},
            replication_factor,
        ),
        TopicSpec(names.dead_letters, 1, _FOREVER | {"max.message.bytes": str(dead_letter_bytes)}, replication_factor),
        TopicSpec(names.schemas, 1, {"cleanup.policy": "compact"}, replication_factor),
    )


def audit_spec(names: TopicNames, *, replication_factor: int = BROKER_DEFAULT) -> TopicSpec:
    """Return the required settings of the audit's topic."""
    return TopicSpec(names.audit, 1, _FOREVER, replication_factor)


def ensure_topics(
    admin_conf: Mapping[str, Any], specs: Iterable[TopicSpec] | None = None, *, timeout_seconds: float = 30.0
) -> TopicReport:
    """Create the topics that aren't there. Safe to call again, and from many processes at once.

    An existing topic is never changed; `TopicReport.differences` lists its differing settings (empty if the brokers
    don't answer, or don't allow the request).

    Args:
        admin_conf: librdkafka settings, at least `bootstrap.servers`.
        specs: settings of the topics, by default `topic_specs()`.
        timeout_seconds: time limit of each request to the cluster.

    Raises:
        BrokerUnavailableError: no broker answered in time.
        CredentialsRefusedError: the brokers refuse the credentials.
        TopicsUnusableError: the cluster doesn't create the topic as specified; the error names the setting.
    """
    wanted = {spec.name: spec for spec in (topic_specs() if specs is None else specs)}
    refused: list[KafkaError] = []
    conf: dict[str, Any] = {
        "log_level": 2,  # librdkafka would write to stderr; errors are raised instead
        **admin_conf,
        "error_cb": lambda error: _note_refusal(error, refused),
    }
    admin = AdminClient(conf)
    present = _present(admin, admin_conf, refused, timeout_seconds)
    missing = [spec for name, spec in wanted.items() if name not in present]
    created = _create(admin, missing, admin_conf, timeout_seconds) if missing else ()
    existing = tuple(name for name in wanted if name not in created)
    differences = _differences(admin, [wanted[name] for name in existing], timeout_seconds)
    return TopicReport(created, existing, differences)


def _present(
    admin: AdminClient, conf: Mapping[str, Any], refused: list[KafkaError], timeout_seconds: float
) -> Collection[str]:
    """Return the names of the existing topics."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        left = deadline - time.monotonic()
        try:
            # Naming a topic in the request could make the broker create it with defaults; a request for all never does.
            return admin.list_topics(timeout=max(0.01, min(left, _SLICE_SECONDS))).topics
        except KafkaException as error:
            admin.poll(0)  # serves the callback that distinguishes refused credentials from a broker that isn't there
            if refused or left <= _SLICE_SECONDS:
                raise _unreachable(error.args[0], conf, refused) from error


def _note_refusal(error: KafkaError, refused: list[KafkaError]) -> None:
    if refuses_credentials(error):
        refused.append(error)


def _unreachable(
    error: KafkaError, conf: Mapping[str, Any], refused: list[KafkaError]
) -> FatalError | BrokerUnavailableError:
    servers = str(conf.get("bootstrap.servers"))
    if refused:
        return credentials_refused(refused[0], servers=servers)
    return kafka_failure(error, servers=servers, doing="looking for topics")


def _create(
    admin: AdminClient, specs: list[TopicSpec], conf: Mapping[str, Any], timeout_seconds: float
) -> tuple[str, ...]:
    requests = [
        NewTopic(
            spec.name,
            num_partitions=spec.partitions,
            replication_factor=spec.replication_factor,
            config=dict(spec.config),
        )
        for spec in specs
    ]
    created = []
    for name, future in admin.create_topics(requests, operation_timeout=timeout_seconds).items():
        try:
            answer(future, timeout_seconds)
        except KafkaException as failure:
            error = failure.args[0]
            if error.code() == KafkaError.TOPIC_ALREADY_EXISTS:
                continue  # another process was faster
            if error.retriable() or error.code() in {KafkaError._TIMED_OUT, KafkaError._TRANSPORT}:  # noqa: SLF001
                raise _unreachable(error, conf, []) from failure
            fix = (
                ". Create the topic as a user who is allowed to; or, if the topic exists, add an ACL for Describe on "
                "it for this user, as docs/kafka-security.md lists them"
            )
            text = f"{error.str().rstrip('.')}{fix}" if error.code() in _FORBIDDEN else error.str()
            raise TopicsUnusableError(f"topic {name} can't be created: {text}", setting=_setting(error)) from failure
        created.append(name)
    return tuple(created)


def _setting(error: KafkaError) -> str:
    """Return the setting to check after a refusal of `CreateTopics`."""
    return {
        KafkaError.INVALID_PARTITIONS: "HEADWATER_TOPIC_PARTITIONS",
        KafkaError.INVALID_REPLICATION_FACTOR: "HEADWATER_TOPIC_REPLICATION_FACTOR",
        KafkaError.INVALID_CONFIG: "HEADWATER_TOPIC_MAX_MESSAGE_BYTES",
        KafkaError.TOPIC_EXCEPTION: "HEADWATER_TOPIC_PREFIX",
        KafkaError.TOPIC_AUTHORIZATION_FAILED: "HEADWATER_KAFKA_SASL_USERNAME",
        KafkaError.CLUSTER_AUTHORIZATION_FAILED: "HEADWATER_KAFKA_SASL_USERNAME",
        KafkaError.POLICY_VIOLATION: "HEADWATER_TOPIC_PARTITIONS, HEADWATER_TOPIC_REPLICATION_FACTOR",
    }.get(error.code(), "HEADWATER_KAFKA_BOOTSTRAP_SERVERS")


def _differences(admin: AdminClient, specs: list[TopicSpec], timeout_seconds: float) -> tuple[TopicDifference, ...]:
    found: list[TopicDifference] = []
    for spec in specs:
        actual = _configuration(admin, spec.name, timeout_seconds)
        found += [
            TopicDifference(spec.name, setting, value, str(actual[setting].value))
            for setting, value in spec.config.items()
            if setting in actual and not _satisfies(setting, str(actual[setting].value), value)
        ]
    return tuple(found)


def _configuration(admin: AdminClient, topic: str, timeout_seconds: float) -> Mapping[str, ConfigEntry]:
    """Return the settings of a topic; empty if the brokers don't answer."""
    deadline = time.monotonic() + timeout_seconds
    resource = ConfigResource(ResourceType.TOPIC, topic)
    while True:
        try:
            described: Mapping[str, ConfigEntry] = answer(admin.describe_configs([resource])[resource], timeout_seconds)
        except KafkaException as failure:
            code = failure.args[0].code()
            # Some brokers may not know a new topic yet.
            if code != KafkaError.UNKNOWN_TOPIC_OR_PART or time.monotonic() > deadline:
                return {}
            time.sleep(_RETRY_SECONDS)
        else:
            return described


def _satisfies(setting: str, actual: str, wanted: str) -> bool:
    if setting == "max.message.bytes":
        return int(actual) >= int(wanted)
    return actual == wanted
