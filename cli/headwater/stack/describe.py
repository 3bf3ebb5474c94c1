"""A running stack in words: as a JSON document and as a table. The password stays in its file."""

from __future__ import annotations

from rich.table import Table

from headwater.stack.info import StackInfo


def document(info: StackInfo) -> dict[str, object]:
    """Addresses, processes and versions, as `up --json` and `status --json` print them."""
    return {
        "kafka": {
            "bootstrap_servers": info.bootstrap_servers,
            "authentication": "none",
            "pid": info.kafka.pid,
            "version": info.kafka.version,
        },
        "neo4j": {
            "uri": info.neo4j_uri,
            "browser": info.browser_url,
            "user": info.neo4j_user,
            "password_file": str(info.password_file),
            "pid": info.neo4j.pid,
            "version": info.neo4j.version,
        },
        "java": info.java,
        "data_dir": str(info.data_dir),
    }


def table(info: StackInfo) -> Table:
    """The addresses, for people."""
    grid = Table.grid(padding=(0, 2))
    grid.add_row("Kafka", f"{info.bootstrap_servers}, without a password: every user of this machine may use it")
    grid.add_row("Neo4j", info.neo4j_uri)
    grid.add_row("Browser", info.browser_url)
    grid.add_row("User", f"{info.neo4j_user}, password in {info.password_file}")
    grid.add_row("Data", str(info.data_dir))
    return grid
