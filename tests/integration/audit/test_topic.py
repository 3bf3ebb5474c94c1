"""The audit on a topic of a real broker: written by commands and by a server, verified, searched, and cut off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from headwater import cli
from headwater.errors import ExitCode
from headwater_audit.audit import Audit
from headwater_audit.errors import AuditUnwritableError
from headwater_audit.topic import AuditTopic
from headwater_audit.writer import AuditWriter
from headwater_schemas.topics import TopicNames, audit_spec
from support.api import client_of, fake_graph
from support.audit import record, signer, write
from support.waiting import patience

if TYPE_CHECKING:
    from pathlib import Path

    from support.stack import StackUnderTest

pytestmark = pytest.mark.stack
KEY = signer()


@pytest.fixture
def topic(stack: StackUnderTest, topic_prefix: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", stack.bootstrap_servers)
    monkeypatch.setenv("HEADWATER_TOPIC_PREFIX", topic_prefix)
    monkeypatch.setenv("HEADWATER_AUDIT_TOPIC", "true")
    return TopicNames(topic_prefix).audit


@pytest.fixture
def writer(stack: StackUnderTest, topic_prefix: str) -> Iterator[AuditWriter]:
    with closing(made(stack, topic_prefix)) as writer:
        yield writer


def made(stack: StackUnderTest, prefix: str, seconds: float = 30) -> AuditWriter:
    client = {"bootstrap.servers": stack.bootstrap_servers}
    destination = AuditTopic(client, audit_spec(TopicNames(prefix)), delivery_seconds=patience(seconds))
    return AuditWriter(destination, signer=KEY, head_records=10, timeout_seconds=patience(30))


def verification(capsys: pytest.CaptureFixture[str], *options: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert cli.main(["audit", "verify", "--public-key", KEY.public, "--json", *options]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_chains_of_several_processes_are_verified_and_searched(
    stack: StackUnderTest, topic_prefix: str, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    writers = [made(stack, topic_prefix) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, writers, [40] * 3, range(0, 300, 100)))
    found = verification(capsys)
    assert (found["sound"], found["records"], found["chains"], found["unclosed"]) == (True, 120, 3, [])
    assert found["heads_checked"] >= 3 * 6

    assert cli.main(["audit", "search", "--topic", "--dataset", "orders-1", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    numbers = {each["results"] for each in records}
    assert numbers == {
        number for first in (0, 100, 200) for number in range(first, first + 40) if f"{number}"[0] == "1"
    }


def test_a_command_is_recorded_on_the_topic(
    topic: str, topic_prefix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["topic", "create", f"{topic_prefix}.of-a-pipeline"]) == 0
    capsys.readouterr()
    assert cli.main(["audit", "search", "--operation", "topic create", "--json"]) == 0
    intent, outcome = json.loads(capsys.readouterr().out)["records"]
    assert (intent["kind"], outcome["kind"], outcome["exit"]) == ("INTENT", "OUTCOME", 0)
    assert outcome["filters"] == {"names": [f"{topic_prefix}.of-a-pipeline"]}
    assert cli.main(["audit", "verify"]) == 0


def test_records_that_were_deleted_are_found(
    stack: StackUnderTest, topic: str, writer: AuditWriter, capsys: pytest.CaptureFixture[str]
) -> None:
    write(writer, 5)
    verification(capsys)
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    for deleted in admin.delete_records([TopicPartition(topic, 0, 3)]).values():
        deleted.result(patience(30))
    found = verification(capsys, status=ExitCode.CHECK_FAILED)
    assert [(each["fault"], each["place"]) for each in found["findings"]] == [
        ("beginning", f"{topic}[0]@3"),
        ("beginning", f"{topic}[0]@3"),
    ]


def test_a_topic_that_was_made_again_is_found_by_an_earlier_head(
    stack: StackUnderTest,
    topic_prefix: str,
    topic: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(made(stack, topic_prefix), 5)
    heads = tmp_path / "heads.json"
    heads.write_text(json.dumps(verification(capsys)))
    verification(capsys, "--heads", str(heads))
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    for deleted in admin.delete_topics([topic], operation_timeout=30).values():
        deleted.result(patience(30))
    write(made(stack, topic_prefix), 5)
    found = verification(capsys, "--heads", str(heads), status=ExitCode.CHECK_FAILED)
    assert [each["fault"] for each in found["findings"]] == ["end"]


@pytest.mark.nightly
def test_requests_are_refused_while_kafka_is_away(
    stack: StackUnderTest, topic_prefix: str, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(made(stack, topic_prefix, seconds=2)) as writer:
        graph = replace(fake_graph(), audit=Audit(writer, required=True))
        with client_of(graph) as client:
            assert client.get("/api/v1/nothing").status_code == 404
            with stack.paused("kafka"):
                refused = client.get("/api/v1/nothing")
                assert (refused.status_code, refused.json()["type"]) == (503, "urn:headwater:audit-unavailable")
                with pytest.raises(AuditUnwritableError, match="can't be written"):
                    writer.write(record(0))
            assert client.get("/api/v1/nothing").status_code == 404
    found = verification(capsys)
    assert (found["sound"], found["lost"], len(found["unclosed"])) == (True, 2, 1)
