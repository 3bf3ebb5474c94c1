"""Refused connections and missing ACLs: each ends with the setting or ACL to look at, and loses nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from headwater_benchmarks.processes import serving
from headwater_schemas.record import record_of
from headwater_schemas.topics import TopicNames
from support.certificates import certificate
from support.materializer.events import run_start
from support.materializer.process import consuming
from support.openlineage import run_event, run_id
from support.secured_broker import (
    WRONG,
    DocumentedAcl,
    SecuredBroker,
    documented_acls,
    job_outbox,
    on_topic,
    run_of,
    spotless,
    variables,
)
from support.waiting import eventually, patience

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(300)]

Command = Callable[..., Any]

NAMES = TopicNames()
OLD = timedelta(days=-1)


def wrong_password(broker: SecuredBroker, user: str) -> dict[str, str]:
    return broker.scram(user, WRONG)


def refused_token(broker: SecuredBroker, user: str) -> dict[str, str]:
    settings = broker.oauth(user)
    broker.tokens.status = 401
    broker.tokens.granted = {"error": "invalid_client", "error_description": "no such client"}
    return settings


def expired_client(broker: SecuredBroker, user: str) -> dict[str, str]:
    return broker.mtls(certificate(broker.folder, f"old-{user}", broker.authority, subject=[("CN", user)], lasts=OLD))


def expired_server(broker: SecuredBroker, user: str) -> dict[str, str]:
    return broker.mtls(broker.client(user), listener="EXPIRED")


def other_authority(broker: SecuredBroker, user: str) -> dict[str, str]:
    other = certificate(broker.folder, "other-authority", authority=True)
    return {**broker.scram(user), "ssl_ca_location": str(other.file)}


REFUSED: dict[str, tuple[Callable[[SecuredBroker, str], dict[str, str]], str]] = {
    "wrong_password": (wrong_password, "HEADWATER_KAFKA_SASL_PASSWORD"),
    "refused_token": (refused_token, "HEADWATER_KAFKA_CLIENT_PROPERTIES"),
    "expired_client": (expired_client, "HEADWATER_KAFKA_SSL_CERTIFICATE_LOCATION"),
    "expired_server": (expired_server, "HEADWATER_KAFKA_SSL_CA_LOCATION"),
    "other_authority": (other_authority, "HEADWATER_KAFKA_SSL_CA_LOCATION"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_job_keeps_its_events_and_sends_them_after_the_mend(
    broker: SecuredBroker, case: str, tmp_path: Path
) -> None:
    make, setting = REFUSED[case]
    number = 100 + list(REFUSED).index(case)
    with job_outbox(tmp_path, make(broker, "spark")) as job:
        job.put(record_of(run_start(number)))
        assert job.await_durable(patience(30)) == 0
        eventually(lambda: setting in (job.problem or ""), 60, expecting=f"a problem that names {setting}")
        spotless(str(job.problem))
    assert run_of(number) not in on_topic(broker)
    with job_outbox(tmp_path, broker.scram("spark")) as job:
        eventually(lambda: run_of(number) in on_topic(broker), 60, expecting="the event on the topic")
        assert job.await_relayed(patience(60)) == 0, job.problem
    assert on_topic(broker).count(run_of(number)) == 1


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_command_ends_with_the_setting(
    broker: SecuredBroker, graph: dict[str, str], headwater: Command, case: str
) -> None:
    make, setting = REFUSED[case]
    given = {**variables(make(broker, "materializer")), **graph}
    error = headwater(given, "events", status=6)["error"]
    assert setting in error["fix"], error


@pytest.mark.parametrize("case", REFUSED)
def test_every_command_ends_with_the_setting(
    broker: SecuredBroker, graph: dict[str, str], headwater: Command, case: str
) -> None:
    make, setting = REFUSED[case]
    given = {**variables(make(broker, "materializer")), **graph}
    assert setting in headwater(given, "dlq", "list", status=6)["error"]["fix"]
    [away] = [each for each in headwater(given, "doctor", status=5)["findings"] if each["check"] == "servers"]
    assert setting in away["fix"], away
    with consuming(given, "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 6, consumer.stderr
        assert setting in spotless(consumer.stderr), consumer.stderr


DOORS = ("wrong_password", "expired_server", "without_an_acl")


@pytest.mark.parametrize("case", DOORS)
def test_a_refused_door_answers_503_and_takes_the_event_after_the_mend(
    broker: SecuredBroker, graph: dict[str, str], case: str
) -> None:
    number = 300 + DOORS.index(case)
    given = {**graph, "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
    without = broker.without(acl("serve", "Write", NAMES.events).binding)
    settings = broker.scram("serve") if case == "without_an_acl" else REFUSED[case][0](broker, "serve")
    with without if case == "without_an_acl" else contextlib.nullcontext():
        assert posted({**given, **variables(settings)}, number) == 503
        assert run_id(number) not in on_topic(broker)
    assert posted({**given, **variables(broker.scram("serve"))}, number) == 201
    assert on_topic(broker).count(run_id(number)) == 1


def posted(settings: dict[str, str], number: int) -> int:
    """Status of the answer of a server with these settings to the sender of an event."""
    with serving(settings) as server:
        answer = httpx.post(
            f"{server.url()}/api/v1/lineage", json=run_event(number), trust_env=False, timeout=patience(60)
        )
        assert server.stop() == 0, server.stderr
        spotless(server.stderr + answer.text)
    return answer.status_code


def acl(user: str, operation: str, resource: str) -> DocumentedAcl:
    [found] = [
        each for each in documented_acls() if (each.user, each.operation, each.resource) == (user, operation, resource)
    ]
    return found


@pytest.mark.parametrize("topic", [NAMES.events, NAMES.schemas])
def test_a_job_without_an_acl_keeps_its_events(
    broker: SecuredBroker, topic: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    number = 200 + len(topic)
    with broker.without(acl("spark", "Write", topic).binding), job_outbox(tmp_path, broker.scram("spark")) as job:
        job.put(record_of(run_start(number)))
        assert job.await_durable(patience(30)) == 0
        # Without it the topic is hidden from the job, which logs that it can't be created, and how that is mended.
        eventually(lambda: f"topic {topic} can't be created" in caplog.text, 60, expecting="a warning that names it")
        assert "ACL" in caplog.text
        assert job.await_relayed(2) == 1
    assert run_of(number) not in on_topic(broker)
    with job_outbox(tmp_path, broker.scram("spark")) as job:
        eventually(lambda: run_of(number) in on_topic(broker), 60, expecting="the event on the topic")
        assert job.await_relayed(patience(60)) == 0, job.problem
    assert on_topic(broker).count(run_of(number)) == 1


MISSING = {
    ("Read", NAMES.events): ("events",),
    ("Read", NAMES.dead_letters): ("dlq", "list"),
    ("Read", "headwater-materializer"): ("dlq", "list"),
}


@pytest.mark.parametrize("missing", MISSING)
def test_a_command_without_an_acl_ends(
    broker: SecuredBroker, graph: dict[str, str], headwater: Command, missing: tuple[str, str]
) -> None:
    given = {**variables(broker.scram("materializer")), **graph}
    if missing[1] == NAMES.dead_letters:
        # Of an empty topic nothing is read.
        letters = Producer(broker.admin)
        letters.produce(NAMES.dead_letters, b"a letter")
        assert letters.flush(patience(30)) == 0
    with broker.without(acl("materializer", *missing).binding):
        error = headwater(given, *MISSING[missing], status=6)["error"]
        assert "ACL" in error["message"], error
    headwater(given, *MISSING[missing])


@pytest.mark.parametrize(
    "missing",
    [
        ("Read", NAMES.events),
        ("Read", "headwater-materializer"),
        ("Write", NAMES.dead_letters),
        ("Read", NAMES.schemas),
    ],
)
def test_a_consumer_without_an_acl_ends_and_loses_nothing(
    broker: SecuredBroker, graph: dict[str, str], headwater: Command, missing: tuple[str, str]
) -> None:
    given = {**variables(broker.scram("materializer")), **graph}
    with consuming(given, "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 0, consumer.stderr
    before = headwater(given, "dlq", "list")["letters"]
    # The second begins like an event whose schema nobody knows.
    values = [b"not an event", b"\xc3\x01" + bytes(range(8)) + b"x"]
    producer = Producer(broker.admin)
    for value in values:
        producer.produce(NAMES.events, value)
    assert producer.flush(patience(30)) == 0
    with broker.without(acl("materializer", *missing).binding), consuming(given, "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 6, consumer.stderr
        assert "ACL" in spotless(consumer.stderr), consumer.stderr
    with consuming(given, "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 0, consumer.stderr
    assert headwater(given, "dlq", "list")["letters"] == before + len(values)


def test_a_refused_certificate_of_neo4j_ends_commands_with_the_setting(
    broker: SecuredBroker, graph: dict[str, str], headwater: Command
) -> None:
    other = certificate(broker.folder, "other-of-neo4j", authority=True)
    given = {**variables(broker.scram("materializer")), **graph, "SSL_CERT_FILE": str(other.file)}
    error = headwater(given, "search", "x", status=6)["error"]
    assert "SSL_CERT_FILE" in error["fix"], error
    error = headwater({**given, **graph, "HEADWATER_NEO4J_PASSWORD": WRONG}, "search", "x", status=6)["error"]
    assert "HEADWATER_NEO4J_PASSWORD" in error["fix"], error


def test_a_refused_certificate_of_neo4j_ends_the_consumer(broker: SecuredBroker, graph: dict[str, str]) -> None:
    other = certificate(broker.folder, "another-of-neo4j", authority=True)
    given = {**variables(broker.scram("materializer")), **graph, "SSL_CERT_FILE": str(other.file)}
    with consuming(given, "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 6, consumer.stderr
        assert "SSL_CERT_FILE" in spotless(consumer.stderr)
