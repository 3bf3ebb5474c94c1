"""Kafka and Neo4j of the soak, behind links; the servers can be killed, suspended and restarted."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from headwater.errors import CheckFailedError
from headwater.stack import ports
from headwater.stack.jars import ensure_jars
from headwater.stack.kafka import KafkaBroker
from headwater.stack.neo4j import Neo4jServer
from headwater_benchmarks.soak.links import FaultyLink

_KAFKA_HEAP_MB, _NEO4J_HEAP_MB, _PAGE_CACHE_MB = 512, 1_024, 256
# Transaction logs are preallocated, as by default in production, so that the disk gets full between two log records and
# not within a record. Neo4j's default of 256 MB for a file is too large for the small disk.
_SETTINGS = {"db.tx_log.rotation.size": "4m", "db.tx_log.preallocate": "true"}
_DISK_MB = 2_048
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class BreakableServers:
    """Both servers, and the links in front of them.

    Args:
        folder: folder of the servers. After `close`, no process uses the folder, and no disk is mounted in it.

    Attributes:
        kafka_link, neo4j_link: link in front of each server.
        disk: the small disk with Neo4j's data; None if it can't be mounted.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        chosen = ports.choose(ports.ANY)
        self.kafka_link, self.neo4j_link = FaultyLink(chosen.kafka), FaultyLink(chosen.bolt)
        self.disk: Disk | None = None
        self.kafka = KafkaBroker(
            folder / "kafka",
            chosen,
            ensure_jars("kafka"),
            java_options=(f"-Xmx{_KAFKA_HEAP_MB}m", *_QUICK),
            delete=False,
            advertised_port=self.kafka_link.port,
        )
        self.neo4j = Neo4jServer(
            folder / "neo4j",
            chosen,
            ensure_jars("neo4j"),
            java_options=(f"-Xmx{_NEO4J_HEAP_MB}m", *_QUICK),
            page_cache_mb=_PAGE_CACHE_MB,
            delete=False,
            settings=_SETTINGS,
        )

    @property
    def neo4j_password(self) -> str:
        """Password of Neo4j's user."""
        return self.neo4j.password_file.read_text(encoding="utf-8").strip()

    def start(self) -> None:
        """Start both servers and wait until they answer.

        Raises:
            HeadwaterError: a server doesn't start.
        """
        self.disk = Disk.mounted(self._folder / "neo4j", _DISK_MB)
        self.neo4j.start()
        self.kafka.start()
        self.kafka.wait(_never)
        self.neo4j.wait(_never)

    def restart(self, server: KafkaBroker | Neo4jServer) -> None:
        """Restart an ended server, and wait until it answers.

        Raises:
            HeadwaterError: the server doesn't start.
        """
        server.process.stop()
        server.start()
        server.wait(_never)

    def close(self) -> None:
        """End both servers, and the links."""
        for server in (self.kafka, self.neo4j):
            if server.started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(server.process.pid, signal.SIGCONT)
                server.process.request_stop()
        for server in (self.kafka, self.neo4j):
            if server.started:
                server.process.stop()
        for link in (self.kafka_link, self.neo4j_link):
            link.close()
        if self.disk is not None:
            self.disk.unmount()


def kill(server: KafkaBroker | Neo4jServer) -> str:
    """Kill a server by SIGKILL and wait for its end; return a text with the process id and the signal.

    Raises:
        CheckFailedError: the process didn't end by this signal.
    """
    process = server.process
    os.kill(process.pid, signal.SIGKILL)
    process.stop()
    status = process.exit_status()
    if status != -signal.SIGKILL:
        raise CheckFailedError(f"{process.name} should end by SIGKILL, but ended with {status}.")
    return f"process {process.pid} ended by signal {signal.SIGKILL}"


def stands_still(pid: int) -> bool:
    """Return True if the process is suspended."""
    return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)


@contextlib.contextmanager
def standing_still(pid: int) -> Iterator[None]:
    """Suspend a process by SIGSTOP during the block: it stays alive and connected, but doesn't answer."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


class Disk:
    """File system in memory with a fixed size, which can be filled."""

    def __init__(self, folder: Path, size_mb: int) -> None:
        self._folder = folder
        self._size_mb = size_mb

    @classmethod
    def mounted(cls, folder: Path, size_mb: int) -> Disk | None:
        """Mount a disk; None if this isn't possible (not Linux, not root) or the folder exists."""
        if sys.platform != "linux" or os.geteuid() != 0 or folder.exists():
            return None
        folder.mkdir(parents=True)
        if _mount("-t", "tmpfs", "-o", f"size={size_mb}m,mode=0700", "headwater-soak", str(folder)):
            return cls(folder, size_mb)
        folder.rmdir()
        return None

    def fill(self) -> bool:
        """Fill the disk, by reducing its size; return True if this worked."""
        used_mb = shutil.disk_usage(self._folder).used // (1 << 20)
        return _mount("-o", f"remount,size={used_mb + 1}m", str(self._folder))

    def refusal(self) -> str:
        """Try to write a file of 2 MiB; return the name of the error, empty if there is room for the file."""
        probe = self._folder / "probe"
        try:
            probe.write_bytes(bytes(2 << 20))
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, type(error).__name__)
        finally:
            probe.unlink(missing_ok=True)
        return ""

    def empty(self) -> None:
        """Restore the size of the disk."""
        _mount("-o", f"remount,size={self._size_mb}m", str(self._folder))

    def unmount(self) -> None:
        """Unmount the disk, which deletes its content."""
        subprocess.run(["umount", str(self._folder)], capture_output=True, check=False)


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def _never() -> bool:
    return False
