"""Kafka and Neo4j as child processes, which end with this process."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from headwater.errors import HeadwaterError
from headwater.stack import neo4j, ports
from headwater.stack.health import kafka_answers, neo4j_answers
from headwater.stack.info import Member, StackInfo
from headwater.stack.jars import ensure_jars
from headwater.stack.java import java_runtime
from headwater.stack.kafka import KafkaBroker
from headwater.stack.lock import LockName, read_lock
from headwater.stack.paths import OURS, private_folder
from headwater.stack.ports import Ports

# Only the first of the JVM's two compilers, and the garbage collector with the fewest threads.
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@dataclass(frozen=True, slots=True)
class Memory:
    """Maximum memory of the JVMs, in MB. A JVM begins with less."""

    kafka_heap_mb: int = 512
    neo4j_heap_mb: int = 1024
    neo4j_page_cache_mb: int = 256


class EmbeddedStack:
    """A real Kafka and a real Neo4j as child processes, on the loopback interface.

    As a context manager, the stack runs during the block. Its JVMs end with the block, and also if this process is
    killed.

        with EmbeddedStack() as stack:
            print(stack.bootstrap_servers, stack.neo4j_uri)

    Args:
        data_dir: Folder of the data. By default a temporary folder, which is deleted with the stack.
        wanted: Ports to take if they are free. By default random ones.
        quick: Whether to start with half the processor time (12 s instead of 28 s for both), and run more slowly
            later. For tests and the demo, not for benchmarks.
    """

    def __init__(
        self,
        data_dir: Path | None = None,
        *,
        wanted: Ports = ports.ANY,
        memory: Memory | None = None,
        quick: bool = False,
    ) -> None:
        self._temporary = data_dir is None
        self._data_dir = data_dir
        self._wanted = wanted
        self._memory = memory or Memory()
        self._options = _QUICK if quick else ()
        self._kafka: KafkaBroker | None = None
        self._neo4j: neo4j.Neo4jServer | None = None
        self._info: StackInfo | None = None
        self.ports = wanted

    def start(self, *, cancelled: Callable[[], bool] = lambda: False) -> StackInfo:
        """Fetch missing jars, start both servers and wait until both answer.

        Args:
            cancelled: Called ten times a second while waiting; True ends the start.

        Raises:
            HeadwaterError: A server did not start; the message has the end of its log. No server is left running.
        """
        folder = self._data_dir or Path(tempfile.mkdtemp(prefix="headwater-stack-"))
        self._data_dir = folder
        private_folder(folder, ours=OURS)
        try:
            broker, graph = self._servers(folder)
            # Neo4j first: it takes twice as long.
            graph.start()
            broker.start()
            broker.wait(cancelled)
            graph.wait(cancelled)
        except BaseException:
            self.stop()
            raise
        self._info = self._describe(folder)
        return self._info

    def stop(self) -> None:
        """End both servers and wait for their end. Repeated calls do nothing."""
        processes = [server.process for server in (self._kafka, self._neo4j) if server and server.started]
        for process in processes:
            process.request_stop()
        for process in processes:
            process.stop()
        self._kafka = self._neo4j = self._info = None
        if self._temporary and self._data_dir is not None:
            shutil.rmtree(self._data_dir, ignore_errors=True)
            self._data_dir = None

    def revive(self, *, cancelled: Callable[[], bool] = lambda: False) -> StackInfo:
        """Restart servers that have ended or don't answer, on their ports; the others aren't affected.

        Raises:
            HeadwaterError: A server did not start. The other servers still run.
        """
        info = self.info
        answers = ((self._neo4j, neo4j_answers), (self._kafka, kafka_answers))
        gone = [server for server, answer in answers if server and (server.process.ended() or not answer(info))]
        for server in gone:
            server.process.stop()
            server.start()
        for server in gone:
            server.wait(cancelled)
        self._info = self._describe(info.data_dir)
        return self._info

    def ended(self) -> list[str]:
        """Names of the servers that ended unexpectedly."""
        processes = [server.process for server in (self._kafka, self._neo4j) if server and server.started]
        return [process.name for process in processes if process.ended()]

    def __enter__(self) -> Self:
        """Start the stack."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop the stack."""
        self.stop()

    @property
    def info(self) -> StackInfo:
        """Addresses, processes and versions of the running stack."""
        if self._info is None:
            raise HeadwaterError("The embedded stack is not running.")
        return self._info

    @property
    def bootstrap_servers(self) -> str:
        """Kafka's `host:port`."""
        return self.info.bootstrap_servers

    @property
    def neo4j_uri(self) -> str:
        """Neo4j's Bolt address."""
        return self.info.neo4j_uri

    @property
    def neo4j_user(self) -> str:
        """Neo4j's user."""
        return self.info.neo4j_user

    @property
    def neo4j_password(self) -> str:
        """Password of the Neo4j user."""
        return self.info.neo4j_password

    def _servers(self, folder: Path) -> tuple[KafkaBroker, neo4j.Neo4jServer]:
        jars = {name: ensure_jars(name) for name in ("kafka", "neo4j")}
        self.ports = chosen = ports.choose(self._wanted)
        memory, delete = self._memory, self._temporary
        self._kafka = KafkaBroker(
            folder / "kafka",
            chosen,
            jars["kafka"],
            java_options=(f"-Xmx{memory.kafka_heap_mb}m", *self._options),
            delete=delete,
        )
        self._neo4j = neo4j.Neo4jServer(
            folder / "neo4j",
            chosen,
            jars["neo4j"],
            java_options=(f"-Xmx{memory.neo4j_heap_mb}m", *self._options),
            page_cache_mb=memory.neo4j_page_cache_mb,
            delete=delete,
        )
        return self._kafka, self._neo4j

    def _describe(self, folder: Path) -> StackInfo:
        if self._kafka is None or self._neo4j is None:
            raise HeadwaterError("The embedded stack is not running.")
        java = java_runtime()
        kafka, graph = self._kafka.process, self._neo4j.process
        return StackInfo(
            bootstrap_servers=self._kafka.bootstrap_servers,
            neo4j_uri=self._neo4j.uri,
            neo4j_user=neo4j.USER,
            browser_url=self._neo4j.browser_url,
            password_file=self._neo4j.password_file,
            data_dir=folder,
            java=f"{java.version} ({java.source})",
            kafka=Member(kafka.pid, locked_version("kafka", "kafka_2.13"), kafka.log),
            neo4j=Member(graph.pid, locked_version("neo4j", "neo4j"), graph.log),
        )


def locked_version(name: LockName, artifact: str) -> str:
    """Return the version of an artifact in a lock."""
    return next(jar.version for jar in read_lock(name) if jar.artifact == artifact)
