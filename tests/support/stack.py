"""A Kafka and a Neo4j to test against: the embedded stack, or containers with HEADWATER_TEST_STACK=containers."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from headwater.stack import EmbeddedStack, Memory, ports
from headwater.stack.embedded import locked_version


@dataclass(frozen=True, slots=True)
class StackUnderTest:
    """Addresses and credentials, the same for both kinds."""

    bootstrap_servers: str
    neo4j_uri: str
    neo4j_user: str
    neo4j_password: str
    browser_url: str
    _pauses: Mapping[str, Callable[[], AbstractContextManager[None]]] = field(default_factory=dict, repr=False)

    def paused(self, server: str) -> AbstractContextManager[None]:
        """`kafka` or `neo4j`, stopped in its tracks for the block: alive, connected, and answering nobody."""
        return self._pauses[server]()


@contextlib.contextmanager
def running_stack() -> Iterator[StackUnderTest]:
    """Start the kind that HEADWATER_TEST_STACK names, and end it with the block."""
    kind = os.environ.get("HEADWATER_TEST_STACK", "embedded")
    if kind == "embedded":
        start = _embedded
    elif kind == "containers":
        start = _containers
    else:
        raise ValueError(f"HEADWATER_TEST_STACK={kind}: embedded or containers")
    with start() as stack:
        yield stack


@contextlib.contextmanager
def _embedded() -> Iterator[StackUnderTest]:
    # A run of several processes is long enough for the JVM's second compiler to pay: 0.8 of the time after 4 minutes.
    short = "PYTEST_XDIST_WORKER" not in os.environ
    with EmbeddedStack(memory=Memory(neo4j_heap_mb=768, neo4j_page_cache_mb=128), quick=short) as stack:
        yield StackUnderTest(
            stack.bootstrap_servers,
            stack.neo4j_uri,
            stack.neo4j_user,
            stack.neo4j_password,
            stack.info.browser_url,
            {name: partial(_stopped, getattr(stack.info, name).pid) for name in ("kafka", "neo4j")},
        )


@contextlib.contextmanager
def _stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def _frozen(container: Any) -> Iterator[None]:
    container.get_wrapped_container().pause()
    try:
        yield
    finally:
        container.get_wrapped_container().unpause()


@contextlib.contextmanager
def _containers() -> Iterator[StackUnderTest]:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.waiting_utils import wait_for_logs
    from testcontainers.neo4j import Neo4jContainer

    # Kafka tells clients its own address, so the host's port has to be known before the container is.
    port = ports.choose(ports.ANY).kafka
    broker = DockerContainer(f"apache/kafka:{locked_version('kafka', 'kafka_2.13')}").with_bind_ports(9092, port)
    environment = {
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_NODE_ID": "1",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://localhost:{port}",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
        "KAFKA_LOG_RETENTION_MS": "-1",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
        "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    }
    for name, value in environment.items():
        broker.with_env(name, value)
    graph = Neo4jContainer(f"neo4j:{locked_version('neo4j', 'neo4j')}", password="in-a-container")
    graph.with_exposed_ports(7687, 7474)
    with broker, graph:
        wait_for_logs(broker, "Kafka Server started", timeout=90)
        browser_url = f"http://{graph.get_container_host_ip()}:{graph.get_exposed_port(7474)}/browser/"
        yield StackUnderTest(
            f"localhost:{port}",
            graph.get_connection_url(),
            graph.username,
            graph.password,
            browser_url,
            {"kafka": partial(_frozen, broker), "neo4j": partial(_frozen, graph)},
        )
