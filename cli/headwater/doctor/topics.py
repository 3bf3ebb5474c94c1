"""Topic check: retention and compaction against the outage budget, replication, the largest record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource, ResourceType

from headwater.doctor.finding import DoctorFinding, FindingSeverity, SubjectCheck, duration_text
from headwater_consumers.materializer.limits import FUTURE_MAX_SECONDS
from headwater_schemas.kafka.client import answer, quiet
from headwater_schemas.topics import TopicSpec

_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class SeenTopic:
    """A topic as the brokers describe it.

    Attributes:
        config: settings of the topic, by Kafka's names; empty if the brokers don't show them.
    """

    name: str
    config: Mapping[str, str]
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


def look(client: Mapping[str, Any], names: Iterable[str]) -> tuple[dict[str, SeenTopic], int]:
    """Describe the topics that exist, and count the brokers.

    Raises:
        KafkaException: the brokers don't answer, or refuse.
    """
    admin = AdminClient(quiet(client))
    # All topics are listed, because a request for one by name may create it.
    cluster = admin.list_topics(timeout=_SECONDS)
    present = [name for name in names if name in cluster.topics]
    if not present:
        return {}, len(cluster.brokers)
    described = admin.describe_topics(TopicCollection(present), request_timeout=_SECONDS)
    resources = {name: ConfigResource(ResourceType.TOPIC, name) for name in present}
    configs = admin.describe_configs(list(resources.values()), request_timeout=_SECONDS)
    found = {}
    for name in present:
        partitions = answer(described[name], _SECONDS).partitions
        config = _shown(configs[resources[name]])
        found[name] = SeenTopic(
            name,
            {key: str(entry.value) for key, entry in config.items()},
            tuple(len(each.replicas) for each in partitions),
            tuple(len(each.isr) for each in partitions),
        )
    return found, len(cluster.brokers)


def _shown(future: Future[Mapping[str, ConfigEntry]]) -> Mapping[str, ConfigEntry]:
    try:
        return answer(future, _SECONDS)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return {}
        raise


def expires(topic: SeenTopic) -> bool:
    """Return True if the topic's records expire, by age or by the size of partitions."""
    return any(int(topic.config.get(name, -1)) >= 0 for name in ("retention.ms", "retention.bytes"))


def judge(
    seen: Mapping[str, SeenTopic],
    wanted: Iterable[TopicSpec],
    *,
    brokers: int,
    budget_seconds: float,
    record_max_bytes: int,
) -> Iterator[DoctorFinding]:
    """Findings on every required topic.

    Args:
        wanted: required topics, the events topic first.
        budget_seconds: longest time that consumers may be away before unread records expire.
        record_max_bytes: the longest record that consumers decode.
    """
    for spec in wanted:
        topic = seen.get(spec.name)
        if topic is None:
            yield SubjectCheck("topics", spec.name).fail(
                "The topic doesn't exist.",
                "`headwater consume` or a job's first event creates it; or create it as docs/contract.md describes.",
            )
            continue
        if not topic.config:
            yield SubjectCheck("topics", spec.name).unknown(
                "The user of these settings may not see the topic's settings.",
                f"Add an ACL: kafka-acls.sh --add --topic {spec.name} --operation DescribeConfigs …",
            )
            yield _replication(topic, brokers)
            continue
        yield from _retention(topic, spec, budget_seconds)
        yield _replication(topic, brokers)
        if (largest := spec.config.get("max.message.bytes")) is not None:
            yield _size(topic, int(largest), record_max_bytes)
        if "message.timestamp.type" in spec.config:
            yield _timestamps(topic)


def _timestamps(topic: SeenTopic) -> DoctorFinding:
    check, most = (
        SubjectCheck("timestamps", topic.name),
        float(topic.config.get("message.timestamp.after.max.ms", "inf")) / 1_000,
    )
    if topic.config.get("message.timestamp.type") == "LogAppendTime":
        return check.ok("Brokers set the records' timestamps.")
    if most <= FUTURE_MAX_SECONDS:
        return check.ok(f"Producers set the records' timestamps, at most {duration_text(most)} ahead.")
    return check.risk(
        "Producers may set timestamps far in the future: until then, such an event overrides later events.",
        "Set message.timestamp.type=LogAppendTime.",
    )


def _retention(topic: SeenTopic, spec: TopicSpec, budget_seconds: float) -> Iterator[DoctorFinding]:
    compaction, retention = SubjectCheck("compaction", topic.name), SubjectCheck("retention", topic.name)
    policy = topic.config.get("cleanup.policy", "")
    if spec.config["cleanup.policy"] == "compact":
        if "delete" in policy.split(","):
            yield compaction.fail(
                f"cleanup.policy is {policy}: schemas expire, and events that name them can't be read any more.",
                "Set cleanup.policy=compact.",
            )
        else:
            yield compaction.ok("Compacted: the latest record of each schema stays.")
        return
    if "compact" in policy.split(","):
        yield compaction.fail(
            f"cleanup.policy is {policy}: only the last event of each job stays, the others are lost.",
            "Set cleanup.policy=delete.",
        )
    else:
        yield compaction.ok("Not compacted.")
    limits = {name: int(topic.config.get(name, -1)) for name in ("retention.ms", "retention.bytes")}
    kept_seconds = limits["retention.ms"] / 1_000
    if limits["retention.ms"] >= 0 and kept_seconds < budget_seconds:
        yield retention.fail(
            f"Records expire after {duration_text(kept_seconds)}: consumers that are away for "
            f"{duration_text(budget_seconds)}, the outage budget, lose what they haven't read.",
            "Set retention.ms=-1; or set at least the outage budget, and keep an archive.",
        )
    elif limits["retention.bytes"] >= 0:
        yield retention.risk(
            f"Partitions keep {limits['retention.bytes']:,} bytes: how long that is depends on the traffic.",
            "Set retention.bytes=-1.",
        )
    elif limits["retention.ms"] >= 0:
        yield retention.risk(
            f"Records expire after {duration_text(kept_seconds)}: the graph can't be rebuilt from the topic alone.",
            "Set retention.ms=-1, or keep an archive (docs/materializer.md).",
        )
    else:
        yield retention.ok("Everything is kept.")


def _replication(topic: SeenTopic, brokers: int) -> DoctorFinding:
    check, least = SubjectCheck("replication", topic.name), min(topic.replicas, default=0)
    behind = sum(have < want for have, want in zip(topic.in_sync, topic.replicas, strict=True))
    minimum = int(topic.config.get("min.insync.replicas", 1))
    if behind:
        return check.fail(
            f"{behind} of {len(topic.replicas)} partitions have replicas that are behind or unavailable.",
            "Bring the brokers back; `kafka-topics.sh --describe --under-replicated-partitions` names them.",
        )
    if least < 2:
        return check.finding(
            FindingSeverity.WARN if brokers == 1 else FindingSeverity.FAIL,
            f"Each record is on one broker of {brokers}: if its disk fails, lineage is lost.",
            "Run three brokers, and give the topic three replicas."
            if brokers == 1
            else "Give the topic three replicas (kafka-reassign-partitions.sh); HEADWATER_TOPIC_REPLICATION_FACTOR "
            "is for topics that are created later.",
        )
    if minimum < 2:
        return check.risk(
            f"{least} replicas, but min.insync.replicas is {minimum}: a record may be acknowledged by one broker only.",
            "Set min.insync.replicas=2.",
        )
    if minimum >= least:
        return check.risk(
            f"min.insync.replicas is {minimum} of {least} replicas: nothing is published while a broker restarts.",
            f"Set min.insync.replicas={least - 1}, or give the topic one replica more.",
        )
    return check.ok(f"{least} replicas; at least {minimum} acknowledge each record.")


def _size(topic: SeenTopic, wanted: int, record_max_bytes: int) -> DoctorFinding:
    check = SubjectCheck("max.message.bytes", topic.name)
    # `config` has the topic's own value, or else the brokers' message.max.bytes.
    largest = int(topic.config.get("max.message.bytes", wanted))
    if largest > record_max_bytes:
        return check.fail(
            f"The brokers accept batches of up to {largest:,} bytes, but consumers decode records of up to "
            f"{record_max_bytes:,}: a longer record becomes a dead letter without its bytes, or stops its partition.",
            f"Set max.message.bytes={wanted} on the topic, or raise HEADWATER_MATERIALIZER_RECORD_MAX_BYTES.",
        )
    if largest >= wanted:
        return check.ok(
            f"Compressed batches have up to {largest:,} bytes; records of up to {record_max_bytes:,} are decoded."
        )
    return check.fail(
        f"The topic accepts {largest:,} bytes; producers send up to {wanted:,}, and larger batches are dropped.",
        f"Set max.message.bytes={wanted} on the topic, or HEADWATER_TOPIC_MAX_MESSAGE_BYTES={largest}.",
    )
