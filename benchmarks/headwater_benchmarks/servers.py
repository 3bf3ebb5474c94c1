"""Kafka broker and Neo4j server of a benchmark, running during a block."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity, Record

from headwater.stack import ensure_jars, ports
from headwater.stack.kafka import KafkaBroker
from headwater.stack.neo4j import USER, Neo4jServer
from headwater_benchmarks.measuring import processor_seconds
from headwater_graph.connection import Neo4jTarget
from headwater_graph.statement_files import load

DATABASE = "neo4j"
HEAP_MB = 1_024
PAGE_CACHE_MB = 2_048


@dataclass(frozen=True, slots=True)
class Database:
    """Running Neo4j server."""

    target: Neo4jTarget
    driver: Driver
    pid: int

    def processor_seconds(self) -> float:
        """Processor seconds of the server so far, in steps of 10 ms."""
        return processor_seconds(self.pid)

    def run(self, name: str, **parameters: Any) -> list[Record]:
        """Run the statement `name` (`<file>/<statement>`) of `headwater_benchmarks/cypher`; return its rows."""
        with self.driver.session(database=DATABASE) as session:
            return list(session.run(load("headwater_benchmarks", name), parameters))


@contextlib.contextmanager
def broker_up() -> Iterator[str]:
    """Run a broker; yield its bootstrap servers.

    Raises:
        HeadwaterError: the broker doesn't start.
    """
    # If this process is killed, the guard of the broker deletes the folder.
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as folder:
        options = ("-Xms512m", "-Xmx512m")
        broker = KafkaBroker(
            Path(folder), ports.choose(ports.ANY), ensure_jars("kafka"), java_options=options, delete=True
        )
        broker.start()
        try:
            broker.wait(lambda: False)
            yield broker.bootstrap_servers
        finally:
            broker.process.stop()


@contextlib.contextmanager
def neo4j_up(folder: Path | None = None) -> Iterator[Database]:
    """Run a server, by default with an empty database that is deleted afterwards.

    Args:
        folder: folder of a persistent store, which is created if missing.

    Raises:
        HeadwaterError: the server doesn't start.
    """
    with contextlib.ExitStack() as stack:
        delete = folder is None
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(temporary))
        server = Neo4jServer(
            folder,
            ports.choose(ports.ANY),
            ensure_jars("neo4j"),
            java_options=(f"-Xms{HEAP_MB}m", f"-Xmx{HEAP_MB}m"),
            page_cache_mb=PAGE_CACHE_MB,
            delete=delete,
        )
        server.start()
        stack.callback(server.process.stop)
        server.wait(lambda: False)
        target = Neo4jTarget(server.uri, USER, server.password_file.read_text(encoding="utf-8").strip(), DATABASE)
        driver = GraphDatabase.driver(
            server.uri,
            auth=(USER, target.password),
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
        )
        yield Database(target, stack.enter_context(driver), server.process.pid)
