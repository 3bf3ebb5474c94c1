"""A broker for everybody, and a fresh database for whoever comes next. Both end with the block they are made for."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

from headwater.stack import ensure_jars, ports
from headwater.stack.neo4j import USER, Neo4jServer
from headwater_benchmarks.broker import broker_up
from headwater_graph.connection import Neo4jTarget
from headwater_graph.schema import wipe
from headwater_graph.statement_files import load, names
from headwater_graph.statements import statement

DATABASE = "neo4j"
_PACKAGE = "headwater_benchmarks.ingest"
_AWAIT_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Database:
    """A Neo4j that is up.

    Attributes:
        target: where, and as whom.
        driver: to it, for what isn't measured and for the baselines.
        pid: of the server, where it runs here.
    """

    target: Neo4jTarget
    driver: Driver
    pid: int | None = None


class Servers(Protocol):
    """Source of brokers and databases."""

    def kafka(self) -> AbstractContextManager[str]:
        """A broker that is up inside the block; its bootstrap servers."""

    def neo4j(self) -> AbstractContextManager[Database]:
        """A server of its own with an empty database, up inside the block."""


class EmbeddedServers:
    """Real ones as child processes. They end with the block, or with this process.

    Args:
        heap_mb, page_cache_mb: of each Neo4j.
    """

    def __init__(self, *, heap_mb: int, page_cache_mb: int) -> None:
        self._heap_mb = heap_mb
        self._page_cache_mb = page_cache_mb

    @contextlib.contextmanager
    def kafka(self) -> Iterator[str]:
        """A broker; its bootstrap servers.

        Raises:
            HeadwaterError: it doesn't come up.
        """
        with _folder() as folder, broker_up(folder, "-Xms512m", "-Xmx512m") as bootstrap_servers:
            yield bootstrap_servers

    @contextlib.contextmanager
    def neo4j(self) -> Iterator[Database]:
        """A server of its own with an empty database.

        Raises:
            HeadwaterError: it doesn't come up.
        """
        with _folder() as folder:
            server = Neo4jServer(
                folder,
                ports.choose(ports.ANY),
                ensure_jars("neo4j"),
                java_options=(f"-Xms{self._heap_mb}m", f"-Xmx{self._heap_mb}m"),
                page_cache_mb=self._page_cache_mb,
                delete=True,
            )
            server.start()
            try:
                server.wait(lambda: False)
                password = server.password_file.read_text(encoding="utf-8").strip()
                with _driver(server.uri, password) as driver:
                    target = Neo4jTarget(server.uri, USER, password, DATABASE)
                    yield Database(target, driver, server.process.pid)
            finally:
                server.process.stop()


def _driver(uri: str, password: str) -> Driver:
    return GraphDatabase.driver(
        uri,
        auth=(USER, password),
        notifications_min_severity=NotificationMinimumSeverity.OFF,
        telemetry_disabled=True,
    )


class Databases:
    """Empty databases, one after the other. A context manager.

    Args:
        servers: where they come from.
        fresh: a new server for each; else all share one, which is emptied in between.
    """

    def __init__(self, servers: Servers, *, fresh: bool) -> None:
        self._servers = servers
        self._fresh = fresh
        self._shared: Database | None = None
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Nothing is started yet."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the shared one."""
        self._open.close()

    @contextlib.contextmanager
    def empty(self) -> Iterator[tuple[Database, bool]]:
        """One that is empty, and whether its server has just been started.

        Raises:
            HeadwaterError: it doesn't come up.
        """
        if self._fresh:
            with self._servers.neo4j() as made:
                yield made, True
            return
        new = self._shared is None
        if self._shared is None:
            self._shared = self._open.enter_context(self._servers.neo4j())
        # A server that others lend may hold something from the start.
        empty(self._shared)
        yield self._shared, new


def empty(database: Database) -> None:
    """Delete all nodes, and Headwater's constraints and indexes. The database is the benchmark's own."""
    wipe(database.driver, database.target.database)
    with database.driver.session(database=database.target.database) as session:
        session.run(load(_PACKAGE, "database/empty")).consume()


@contextlib.contextmanager
def with_schema(database: Database, name: str) -> Iterator[Database]:
    """The database with a baseline's own constraints and indexes, which are gone after the block.

    Args:
        database: any.
        name: of the file with the statements that make them; `<name>_gone` has those that take them away.
    """
    with database.driver.session(database=database.target.database) as session:
        for each in names(_PACKAGE, name):
            session.run(load(_PACKAGE, f"{name}/{each}")).consume()
        session.run(statement("write", "await_indexes"), seconds=_AWAIT_SECONDS).consume()
        yield database
        for each in names(_PACKAGE, f"{name}_gone"):
            session.run(load(_PACKAGE, f"{name}_gone/{each}")).consume()


def relationships(found: Database) -> int:
    """Number of relationships in the database."""
    with found.driver.session(database=DATABASE) as session:
        record = session.run(load(_PACKAGE, "database/relationships")).single(strict=True)
        return int(record["relationships"])


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    # The server's guard takes the folder away too, should this process be killed.
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)
