"""Cost of one turn: time, and processor time of client and server, which is more reliable on a busy machine."""

from __future__ import annotations

import time
from dataclasses import dataclass

from headwater_benchmarks.ingest.servers import Database
from headwater_benchmarks.memory import processor_seconds_of


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a contestant, in seconds.

    Attributes:
        seconds: from its beginning to its last commit.
        client: processor time of the client's process.
        server: processor time of Neo4j; None where that isn't ours to see.
    """

    seconds: float
    client: float
    server: float | None


class Stopwatch:
    """Runs from its making on. The client is this process.

    Args:
        database: whose server's processor time counts.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._server = server_seconds(database)
        self._client = time.process_time()
        self._begun = time.monotonic()

    def stop(self) -> Turn:
        """Time and processor time of the turn so far."""
        seconds, client = time.monotonic() - self._begun, time.process_time() - self._client
        return Turn(seconds, client, since(self._database, self._server))


def server_seconds(database: Database) -> float | None:
    """Processor time of the database's server so far, in steps of 10 ms."""
    return None if database.pid is None else processor_seconds_of(database.pid)


def since(database: Database, before: float | None) -> float | None:
    """Processor time of the server since then."""
    now = server_seconds(database)
    return None if now is None or before is None else now - before
