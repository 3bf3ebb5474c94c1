"""Access check: users that may read and write Headwater's topics, if the brokers show the rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
)

from headwater.doctor.finding import DoctorFinding, SubjectCheck
from headwater_schemas.kafka.client import answer, quiet
from headwater_schemas.topics import TopicNames

_SECONDS = 10.0
_EVERYBODY = "User:*"
_CHANGES = frozenset({"WRITE", "DELETE", "ALTER", "ALTER_CONFIGS", "ALL"})


@dataclass(frozen=True, slots=True)
class SeenRule:
    """An ACL that allows something on a topic."""

    topic: str
    principal: str
    operation: str


@dataclass(frozen=True, slots=True)
class SeenAccess:
    """Access rules that the brokers show.

    Attributes:
        own: for each topic: allowed operations of the configured user, by Kafka's names; None if not reported.
        rules: operations that ACLs allow; None if the brokers don't show them.
        enforced: whether the brokers check ACLs; None if unknown.
    """

    own: Mapping[str, frozenset[str] | None]
    rules: tuple[SeenRule, ...] | None
    enforced: bool | None


def look(client: Mapping[str, Any], topics: Sequence[str]) -> SeenAccess:
    """Ask the brokers about existing topics.

    Raises:
        KafkaException: the brokers don't answer.
    """
    admin = AdminClient(quiet(client))
    described = admin.describe_topics(
        TopicCollection(list(topics)), include_authorized_operations=True, request_timeout=_SECONDS
    )
    own: dict[str, frozenset[str] | None] = {}
    for name in topics:
        allowed = answer(described[name], _SECONDS).authorized_operations
        own[name] = None if allowed is None else frozenset(each.name for each in allowed)
    rules: list[SeenRule] = []
    try:
        # Without an authorizer some brokers answer that there are no ACLs.
        if not _authorizer(admin):
            return SeenAccess(own, None, enforced=False)
        for name in topics:
            asked = AclBindingFilter(
                ResourceType.TOPIC,
                name,
                ResourcePatternType.MATCH,
                None,  # type: ignore[arg-type]  # any principal, as the class documents
                None,  # type: ignore[arg-type]  # from any host
                AclOperation.ANY,
                AclPermissionType.ALLOW,
            )
            bindings = answer(admin.describe_acls(asked, request_timeout=_SECONDS), _SECONDS)
            rules += [SeenRule(name, each.principal, each.operation.name) for each in bindings]
    except KafkaException as error:
        code = error.args[0].code()
        if code == KafkaError.SECURITY_DISABLED:
            return SeenAccess(own, None, enforced=False)
        if code in (KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED):
            return SeenAccess(own, None, enforced=True)
        raise
    return SeenAccess(own, tuple(rules), enforced=True)


def _authorizer(admin: AdminClient) -> str:
    """Name of the class that checks ACLs, from a broker's configuration; empty if the broker checks none."""
    broker = next(iter(admin.list_topics(timeout=_SECONDS).brokers))
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    config = answer(admin.describe_configs([resource], request_timeout=_SECONDS)[resource], _SECONDS)
    return str(config["authorizer.class.name"].value or "") if "authorizer.class.name" in config else ""


def judge(seen: SeenAccess, names: TopicNames) -> Iterator[DoctorFinding]:
    """Findings on missing permissions of the configured user, and on permissions of everybody."""
    needed = {names.events: {"READ", "DESCRIBE"}, names.dead_letters: {"READ", "WRITE"}, names.schemas: {"READ"}}
    for topic, operations in needed.items():
        if topic not in seen.own:
            continue
        access, allowed = SubjectCheck("access", topic), seen.own[topic]
        if allowed is None:
            yield access.unknown(
                "The brokers don't report what the user of these settings may do.",
                "Run kafka-acls.sh --list as a user who may see ACLs.",
            )
        elif missing := sorted(set() if "ALL" in allowed else operations - allowed):
            yield access.fail(
                f"The user of these settings may not {', '.join(missing)}.",
                f"Add an ACL: kafka-acls.sh --add --topic {topic} --operation {missing[0].capitalize()} …",
            )
        else:
            yield access.ok(f"The user of these settings may {', '.join(sorted(operations))}.")
    acls = SubjectCheck("ACLs", names.events)
    if seen.enforced is False:
        yield acls.risk(
            "The brokers check no ACLs: whoever reaches them can write events, and delete the topics.",
            "Set authorizer.class.name on the brokers; allow jobs WRITE on the events topic, consumers READ.",
        )
    elif seen.rules is None:
        yield acls.unknown(
            "The user of these settings may not see ACLs.",
            "Run this command as a user with DESCRIBE on the cluster, or run kafka-acls.sh --list.",
        )
    else:
        loose = sorted({r.topic for r in seen.rules if r.principal == _EVERYBODY and r.operation in _CHANGES})
        for topic in loose:
            yield SubjectCheck("ACLs", topic).fail(
                f"{_EVERYBODY} may change the topic: anybody can write lineage, or delete it.",
                f"Remove this ACL (kafka-acls.sh --remove --topic {topic} --allow-principal '{_EVERYBODY}'), and "
                "allow the jobs' users.",
            )
        if not loose:
            yield acls.ok("Nothing is allowed to everybody.")
