"""A Kafka with TLS, SASL, mTLS and the documented ACLs, and a Neo4j with `bolt+s`, once for the folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headwater import cli
from headwater_schemas.topics import ensure_topics, topic_specs
from support.certificates import certificate
from support.secured_broker import SecuredBroker, documented_acls, secured_broker, spotless
from support.secured_neo4j import secured_neo4j


@dataclass(frozen=True)
class Servers:
    """Both servers.

    Attributes:
        broker: the Kafka.
        graph: variables of the Neo4j.
    """

    broker: SecuredBroker
    graph: dict[str, str]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("secured")
    authority = certificate(folder, "authority", authority=True)
    acls = documented_acls()
    users = sorted({acl.user for acl in acls})
    # Neo4j starts while Kafka does.
    with (
        secured_neo4j(folder / "neo4j", certificate(folder, "neo4j", authority, server=True)) as neo4j,
        secured_broker(folder, users, authority) as broker,
    ):
        broker.allow(*(acl.binding for acl in acls))
        ensure_topics(broker.admin, topic_specs(partitions=1))
        yield Servers(broker, {**neo4j(), "SSL_CERT_FILE": str(authority.file)})


@pytest.fixture
def broker(servers: Servers) -> SecuredBroker:
    return servers.broker


@pytest.fixture
def graph(servers: Servers) -> dict[str, str]:
    return servers.graph


@pytest.fixture
def headwater(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Any]:
    """A command under given variables, of which the document comes back; it prints no secret."""

    def run(given: dict[str, str], *arguments: str, status: int = 0) -> Any:
        with monkeypatch.context() as patch:
            for name, value in {**given, "HEADWATER_DATA_DIR": str(tmp_path)}.items():
                patch.setenv(name, value)
            capsys.readouterr()
            ended = cli.main([*arguments, "--json"])
            out, err = map(spotless, capsys.readouterr())
            assert ended == status, out + err
            return json.loads(out)

    return run
