"""Store: one outbox file, an SQLite database that one process holds locked for as long as it lives."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from headwater_producers.outbox.errors import OutboxUnusableError
from headwater_producers.outbox.locked_file import create_locked, make_private, open_locked, remove_locked, sync_folder
from headwater_schemas.record import Record

SUFFIX: Final = ".outbox"
_FORMAT: Final = 1  # PRAGMA user_version
# Overhead of a row besides key and value: id, kind, numbers, its share of the pages.
_ROW_BYTES: Final = 128
_SCHEMA: Final = (
    "CREATE TABLE event (number INTEGER PRIMARY KEY, event_id TEXT NOT NULL, kind TEXT NOT NULL, "
    "key BLOB NOT NULL, value BLOB NOT NULL)"
)

Numbered = tuple[int, Record]


def size_of(record: Record) -> int:
    """Return the approximate number of bytes of an event in an outbox."""
    return len(record.key) + len(record.value) + _ROW_BYTES


class Store:
    """Open outbox file. Thread-safe: one thread may write while another reads and removes.

    Build one with `create` or `adopt`.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.Lock()  # guards the connection: held during disk access
        self._counting = threading.Lock()  # guards `_sizes`, `_bytes` and `_owed`: taken inside `_lock`, held briefly
        # Numbers of events that are forgotten, but not deleted from the file yet.
        self._owed: set[int] = set()
        # Reason why a part of the file can't be read.
        self.damage: str | None = None
        # Size in bytes of each stored event, by its number, in the order of writing.
        self._sizes: dict[int, int] = {}
        try:
            for number, size in connection.execute(
                "SELECT number, length(key) + length(value) FROM event ORDER BY number"
            ):
                self._sizes[number] = size + _ROW_BYTES
        except sqlite3.DatabaseError as error:
            self.damage = f"{path}: {error}"
        self._bytes = sum(self._sizes.values())

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Create an empty file, readable only by its owner.

        Raises:
            OutboxUnusableError: the file can't be created.
        """
        try:
            while (connection := create_locked(path := folder / _new_name())) is None:
                pass
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_SCHEMA)
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("COMMIT")
            sync_folder(folder)
            return cls(path, connection)
        except (OSError, sqlite3.Error) as error:
            raise OutboxUnusableError(f"no outbox can be made in {folder}: {error}") from error

    @classmethod
    def create_below(cls, folder: Path) -> Self:
        """Create a store in a folder; a missing folder is created, readable only by its owner.

        Raises:
            OutboxUnusableError: the folder or the file can't be made.
        """
        while True:
            try:
                make_private(folder)
            except OSError as error:
                if isinstance(error, FileExistsError) and not os.path.lexists(folder):
                    continue  # the folder existed, and an outbox that ended removed it in between
                raise OutboxUnusableError(f"no outbox can be made in {folder}: {error}") from error
            try:
                return cls.create(folder)
            except OutboxUnusableError as error:
                # Another outbox has just removed the folder when it ended.
                if not isinstance(error.__cause__, FileNotFoundError):
                    raise

    @classmethod
    def adopt(cls, path: Path) -> Self | None:
        """Open the file of a dead process; None if the process lives, or the file is gone or empty.

        An empty file is removed.

        Raises:
            OutboxUnusableError: the file is damaged, or in the format of a later version.
        """
        try:
            connection = open_locked(path)
            if connection is None:
                return None
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > _FORMAT:
                connection.close()
                raise OutboxUnusableError(
                    f"{path} was written by a later version (format {version}); its events are sent after an upgrade"
                )
            if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                # The process was killed before its first commit.
                remove_locked(path, connection)
                return None
            store = cls(path, connection)
        except sqlite3.Error as error:
            raise OutboxUnusableError(f"{path}: {error}") from error
        if store.damage is not None and not store.count:
            store.close()
            raise OutboxUnusableError(store.damage)
        if not store.count:
            store.close()
            return None
        return store

    @property
    def count(self) -> int:
        """Number of stored events."""
        return len(self._sizes)

    @property
    def bytes(self) -> int:
        """Size of the stored events."""
        return self._bytes

    @property
    def owed(self) -> int:
        """Number of forgotten events that aren't deleted yet: after a crash they would be sent once more."""
        return len(self._owed)

    @property
    def is_there(self) -> bool:
        """True while the file still exists: writes to a removed file are lost with the process."""
        return self.path.exists()

    def numbers(self) -> list[int]:
        """List the numbers of all stored events, in order."""
        with self._counting:
            return list(self._sizes)

    def oldest(self) -> int | None:
        """Return the number of the oldest stored event; None if no event is stored."""
        with self._counting:
            return next(iter(self._sizes), None)

    def append(self, records: Sequence[Numbered]) -> None:
        """Write events with ascending numbers, above all earlier ones. The events are durable on return.

        The store counts the events from `admit` on, which the backlog calls when it removes them from memory. So no
        event is counted twice.

        Raises:
            OutboxUnusableError: no event was written.
        """
        with self._lock:
            self._write(records)

    def admit(self, records: Iterable[Numbered]) -> None:
        """Count appended events as stored. Doesn't touch the disk."""
        with self._counting:
            for number, record in records:
                self._sizes[number] = size_of(record)
                self._bytes += size_of(record)

    def read(self, after: int, *, max_events: int, max_bytes: int) -> list[Numbered]:
        """Read the next events with a number greater than `after`: at least one, if any is left.

        Raises:
            OutboxUnusableError: no event can be read; `damage` has the reason.
        """
        read: list[Numbered] = []
        size = 0
        with self._lock:
            try:
                rows = self._connection.execute(
                    "SELECT number, event_id, kind, key, value FROM event WHERE number > ? ORDER BY number LIMIT ?",
                    (after, max_events + len(self._owed)),
                )
                for number, event_id, kind, key, value in rows:
                    if number not in self._sizes:
                        continue  # forgotten
                    read.append((number, Record(event_id, kind, key, value)))
                    size += len(value)
                    if len(read) >= max_events or size >= max_bytes:
                        break
            except sqlite3.Error as error:
                self.damage = f"{self.path}: {error}"
                if not read:
                    raise OutboxUnusableError(self.damage) from error
        return read

    def forget(self, numbers: Iterable[int]) -> int:
        """Exclude events from counting and reading. Doesn't touch the disk.

        The next `append`, `purge` or `close` deletes them from the file.

        Returns:
            Number of these events that were stored.
        """
        with self._counting:
            found = [number for number in dict.fromkeys(numbers) if number in self._sizes]
            for number in found:
                self._bytes -= self._sizes.pop(number)
            self._owed.update(found)
        return len(found)

    def forget_oldest(self, at_least_bytes: int) -> int:
        """Forget the oldest events until enough bytes are free; return their number."""
        numbers: list[int] = []
        freed = 0
        with self._counting:
            for number, size in self._sizes.items():
                if freed >= at_least_bytes:
                    break
                numbers.append(number)
                freed += size
        return self.forget(numbers)

    def purge(self) -> None:
        """Delete the forgotten events; if that fails, the next write deletes them."""
        with self._lock:
            self._delete_owed()

    def close(self) -> None:
        """Close the file, and remove it if it is empty and was read completely."""
        with self._lock:
            if self._sizes or self.damage is not None:
                self._delete_owed()
                self._connection.close()
            else:
                remove_locked(self.path, self._connection)

    def _delete_owed(self) -> None:
        if self._owed:
            with suppress(OutboxUnusableError):
                self._write([])

    def _write(self, records: Sequence[Numbered]) -> None:
        """Delete forgotten events and insert `records` in one transaction. Requires the lock."""
        with self._counting:
            owed = list(self._owed)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("DELETE FROM event WHERE number = ?", [(number,) for number in owed])
            self._connection.executemany(
                "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
                [(number, record.event_id, record.kind, record.key, record.value) for number, record in records],
            )
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise OutboxUnusableError(f"{self.path}: {error}") from error
        with self._counting:
            self._owed.difference_update(owed)


def _new_name() -> str:
    """Return a file name that sorts by time of creation."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
