"""Locked SQLite files: one connection holds the lock from the file's opening to the end of the process.

The lock is SQLite's own (`locking_mode=EXCLUSIVE`). It can't go stale: the kernel drops a POSIX lock with its process.
Other connections of the same process respect the lock, too. With the write-ahead log and `synchronous=FULL`, a finished
commit survives a crash of process or machine; an unfinished commit is written completely or not at all. See
https://www.sqlite.org/wal.html and https://www.sqlite.org/lockingv3.html.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import weakref
from pathlib import Path
from typing import Final

_LOG_BYTES: Final = 4 * 1024 * 1024


class _Connection(sqlite3.Connection):
    """SQLite connection that can be referred to weakly."""


_open: weakref.WeakSet[_Connection] = weakref.WeakSet()


def _abandon() -> None:
    """Keep a forked child's copies of connections open for good: closing one would release the parent's lock.

    The child's SQLite would assume that it owns the lock, and remove the log that the parent is still writing.
    """
    for connection in list(_open):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon)


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents, each accessible only to its owner.

    Raises:
        OSError: a folder can't be made.
    """
    # `mkdir(parents=True)` applies its mode only to the last folder.
    for each in (*reversed(folder.parents), folder):
        if each == folder or not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


def create_locked(path: Path) -> sqlite3.Connection | None:
    """Make an empty file, readable by its owner alone, and open it.

    Returns:
        None: before the file was locked, another process considered it abandoned, and removed it. Choose another
        name.

    Raises:
        OSError, sqlite3.Error: the file can't be made.
    """
    # SQLite gives its log the permissions of the file.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = open_locked(path)
    if connection is None or path.exists():
        return connection
    remove_locked(path, connection)
    return None


def open_locked(path: Path) -> sqlite3.Connection | None:
    """Open a file for exclusive use; None if another process holds the file, or the file doesn't exist."""
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            factory=_Connection,
        )
    except sqlite3.OperationalError:
        if path.exists():
            raise
        return None
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        connection.close()
        # The lowest byte of SQLite's extended code is the kind of error.
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY or not path.exists():
            return None
        raise
    _open.add(connection)
    return connection


def remove_locked(path: Path, connection: sqlite3.Connection) -> None:
    """Remove a file while it is still locked: `create_locked` of another process then notices the removal."""
    # SQLite doesn't delete the log of a removed file, so the log is removed first. After a crash between the two
    # removals, the file is valid but older: it has events again that were delivered already.
    path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    connection.close()


def sync_folder(folder: Path) -> None:
    """Sync the folder's entries to disk: a file without an entry is lost."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
