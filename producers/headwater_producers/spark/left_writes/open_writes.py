"""OpenWrites: announced and unfinished batch writes of an application, on disk for the next process of its job.

    <outbox>/<destination>/writes/<run id of the application>.db

The file is created with the first announced write, and removed when an application ends without open writes. Its lock
ends with the process (`outbox.locked_file`): a file that can be opened belongs to a dead driver. Each row has the START
of a write, its plan, the time of its last observation, and versions of its target that belong to other runs. Only the
worker's thread uses the file; if the disk fails, open writes are lost, but the job isn't affected.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from headwater_producers.outbox.locked_file import create_locked, make_private, open_locked, remove_locked
from headwater_producers.spark.events.left_writes import left_write
from headwater_producers.spark.left_writes.left_tables import KeptWrite, KeptWrites
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import JobRef, LineageEvent

logger = logging.getLogger(__name__)

SUFFIX: Final = ".db"
_TABLE: Final = (
    "CREATE TABLE writes (run TEXT PRIMARY KEY, tenant TEXT, namespace TEXT, job TEXT, start BLOB, plan BLOB, "
    "seen REAL, claimed TEXT)"
)
_KEPT_SECONDS: Final = 400 * 24 * 3600
"""Time that the file of a dead driver waits for a new start of its job."""


class OpenWrites(KeptWrites):
    """Store of this application's open writes, in a file.

    Args:
        folder: folder of the files, which needn't exist.
    """

    def __init__(self, folder: Path, app_run: str, job: JobRef, tenant: str) -> None:
        self._folder = folder
        self._path: Path | None = folder / f"{app_run}{SUFFIX}"
        self._owner = (tenant, job.namespace, job.name)
        self._connection: sqlite3.Connection | None = None
        self._open: set[str] = set()

    def add(self, start: LineageEvent, plan: LineageEvent | None) -> None:
        """Add an announced write."""
        if start.run is None:
            return
        run_id = start.run.run_id
        self._open.add(run_id)
        row = (run_id, *self._owner, encode(start), encode(plan) if plan is not None else None, time.time(), "[]")
        self._execute("INSERT OR REPLACE INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def seen(self, at: datetime) -> None:
        """Record that all open writes were observed running."""
        if self._open:
            self._execute("UPDATE writes SET seen = ?", (at.timestamp(),))

    def claim(self, run_id: str, version: str) -> None:
        """Record that a version of an open write's target belongs to another run."""
        if run_id in self._open:
            self._execute(
                "UPDATE writes SET claimed = json_insert(claimed, '$[#]', ?) WHERE run = ?", (version, run_id)
            )

    def remove(self, run_id: str) -> None:
        """Remove a write that has ended, once its end is durable."""
        if run_id in self._open:
            self._open.discard(run_id)
            self._execute("DELETE FROM writes WHERE run = ?", (run_id,))

    def close(self) -> None:
        """Close the store at the end of capture. Open writes stay for the next process."""
        connection, self._connection = self._connection, None
        if connection is None or self._path is None:
            return
        with suppress(OSError, sqlite3.Error):
            if self._open:
                connection.close()
            else:
                remove_locked(self._path, connection)
                # The last user removes the empty folder.
                self._path.parent.rmdir()

    def left(self) -> Iterator[list[KeptWrite]]:
        """Yield the writes that each dead driver of the same job has left, and then remove its file."""
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            if path == self._path:
                continue
            try:
                connection = open_locked(path)
            except sqlite3.Error as error:
                logger.warning(
                    "lineage capture: the writes that a dead driver left in %s can't be read: %s", path, error
                )
                continue
            if connection is None:
                continue
            if (found := self._of_this_job(path, connection)) is None:
                connection.close()
                continue
            try:
                yield found
            except GeneratorExit:
                connection.close()
                raise
            with suppress(OSError, sqlite3.Error):
                remove_locked(path, connection)

    def _of_this_job(self, path: Path, connection: sqlite3.Connection) -> list[KeptWrite] | None:
        """Read the open writes of a file; None if another job may still claim them."""
        try:
            rows = connection.execute(
                "SELECT tenant, namespace, job, start, plan, seen, claimed FROM writes"
            ).fetchall()
        except sqlite3.Error:
            # The driver died while it created the file.
            return []
        if any(tuple(row[:3]) != self._owner for row in rows):
            return [] if path.stat().st_mtime < time.time() - _KEPT_SECONDS else None
        return [kept for row in rows if (kept := _kept(*row[3:])) is not None]

    def _execute(self, statement: str, values: tuple[object, ...]) -> None:
        if self._path is None:
            return
        try:
            if self._connection is None:
                self._connection = self._created(self._path)
            if self._connection is not None:
                self._connection.execute(statement, values)
        except (OSError, sqlite3.Error) as error:
            logger.warning(
                "lineage capture: running batch writes can't be saved (%s); after a crash, `headwater reconcile TABLE` "
                "recovers them",
                error,
            )
            self._path = self._connection = None

    def _created(self, path: Path) -> sqlite3.Connection | None:
        make_private(path.parent)
        try:
            connection = create_locked(path)
        except FileNotFoundError:
            # Another process was the folder's last user, and has just removed it.
            make_private(path.parent)
            connection = create_locked(path)
        if connection is not None:
            connection.execute(_TABLE)
        return connection


def _kept(start: bytes, plan: bytes | None, seen: float, claimed: str) -> KeptWrite | None:
    decoder = Decoder()
    try:
        write = left_write(
            decoder.decode(start), seen_at=datetime.fromtimestamp(seen, UTC), claimed=json.loads(claimed)
        )
        event = decoder.decode(plan) if plan is not None else None
    except (DecodeError, ValueError):
        return None
    return KeptWrite(write, event) if write is not None else None
