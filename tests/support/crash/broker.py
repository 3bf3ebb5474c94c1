"""LineageBroker: the Kafka that the driver's lineage goes to, and what becomes of it during a life."""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import dataclass

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from support.waiting import eventually, patience

SECONDS = 120.0


@dataclass
class LineageBroker:
    """A broker that can be taken away.

    Attributes:
        bootstrap_servers: its address.
        pid: of its process, to stop it in its tracks; None: it isn't ours to stop, so it is only there or dead.
    """

    bootstrap_servers: str
    pid: int | None = None

    def address(self, state: str) -> str:
        """Bootstrap servers that a driver is given."""
        return _nobody() if state == "dead" else self.bootstrap_servers

    def begin(self, state: str) -> None:
        """A life begins."""
        if state in {"paused", "comes back"}:
            self._signal(signal.SIGSTOP)

    def change(self, state: str) -> None:
        """Its queries were started."""
        if state == "comes back":
            self._signal(signal.SIGCONT)
        if state == "goes":
            self._signal(signal.SIGSTOP)

    def end(self) -> None:
        """The life is over: returns when whoever reads what was emitted can do so."""
        if self.pid is None:
            return
        self._signal(signal.SIGCONT)
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        eventually(lambda: _leads(admin), SECONDS, every=0.1, expecting="the broker leads its partitions")

    def _signal(self, number: int) -> None:
        if self.pid is None:
            raise ValueError("this broker can't be stopped")
        os.kill(self.pid, number)


def _leads(admin: AdminClient) -> bool:
    """True once the broker leads its partitions again: its own controller took it for dead."""
    try:
        topics = admin.list_topics(timeout=patience(5)).topics.values()
    except KafkaException:
        return False
    return all(partition.leader >= 0 for topic in topics for partition in topic.partitions.values())


def _nobody() -> str:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"
