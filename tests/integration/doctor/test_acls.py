"""Findings of the checklist on a broker that checks ACLs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from headwater.doctor import access
from headwater.doctor.finding import DoctorFinding, FindingSeverity
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs
from support.secured_broker import SecuredBroker, secured_broker

pytestmark = [pytest.mark.stack, pytest.mark.timeout(240)]

NAMES = TopicNames("acls")
GUEST = "guest"
TOPICS = (NAMES.events, NAMES.dead_letters, NAMES.schemas)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[SecuredBroker]:
    with secured_broker(tmp_path, [GUEST]) as broker:
        ensure_topics(broker.admin, topic_specs(NAMES, partitions=1))
        yield broker


def allow(broker: SecuredBroker, topic: str, principal: str, *operations: AclOperation) -> None:
    literal, allowed = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
    broker.allow(
        *(
            AclBinding(ResourceType.TOPIC, topic, literal, principal, "*", operation, allowed)
            for operation in operations
        )
    )


def found(broker: SecuredBroker, user: str) -> dict[tuple[str, str], DoctorFinding]:
    seen = access.look(KafkaSettings.model_validate(broker.scram(user)).client_config(), list(TOPICS))
    return {(each.check, each.subject): each for each in access.judge(seen, NAMES)}


@pytest.mark.nightly
def test_acls(broker: SecuredBroker) -> None:
    # A user that may do all, and a cluster that allows nothing to everybody.
    of_admin = found(broker, "admin")
    assert {each.severity for each in of_admin.values()} == {FindingSeverity.OK}
    assert of_admin["ACLs", NAMES.events].message == "Nothing is allowed to everybody."

    # A consumer's user that may read and not write: its dead letters fail. It may not see ACLs, and gets the fix.
    principal = f"User:{GUEST}"
    for topic in TOPICS:
        allow(broker, topic, principal, AclOperation.READ, AclOperation.DESCRIBE)
    of_guest = found(broker, GUEST)
    assert of_guest["access", NAMES.events].severity is FindingSeverity.OK
    dead_letters = of_guest["access", NAMES.dead_letters]
    assert (dead_letters.severity, dead_letters.message) == (
        FindingSeverity.FAIL,
        "The user of these settings may not WRITE.",
    )
    assert f"--topic {NAMES.dead_letters} --operation Write" in dead_letters.fix
    rules = of_guest["ACLs", NAMES.events]
    assert rules.severity is FindingSeverity.UNKNOWN
    assert "DESCRIBE on the cluster" in rules.fix
    allow(broker, NAMES.dead_letters, principal, AclOperation.WRITE)
    assert found(broker, GUEST)["access", NAMES.dead_letters].severity is FindingSeverity.OK

    # What everybody may do to a topic, anybody may.
    allow(broker, NAMES.events, "User:*", AclOperation.WRITE)
    loose = found(broker, "admin")["ACLs", NAMES.events]
    assert (loose.severity, loose.message) == (
        FindingSeverity.FAIL,
        "User:* may change the topic: anybody can write lineage, or delete it.",
    )
