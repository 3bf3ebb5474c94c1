"""Lines in a file to which several processes append, and the earlier files after rotation.

    audit.jsonl           the newest lines
    audit.jsonl.000001    the oldest lines
    audit.jsonl.000002

A process that appends holds the lock of the file (`flock`), and checks again whether the path still leads to this file:
another process may have renamed it. So the lines of one append are consecutive, and a rotation loses none. Readers need
the lock only for a moment, to find the end of the last whole append.

A failed append is cut off again. If the machine or the process ends during an append, an unfinished line may stay. The
next append then begins with a line feed, and its first line has the hash of the unfinished line. So readers can
distinguish this line from a line that somebody else wrote.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from headwater_audit.errors import AuditUnwritableError
from headwater_audit.writer import Build, Tail

LONGEST_LINE_BYTES: Final = 1_048_576
"""Maximum length of a line that is read. The audit writes lines of less than a tenth of this length."""
_PIECE_BYTES: Final = 65_536
_NUMBER: Final = re.compile(r"\.(\d{6,})")


class AuditFile:
    """Destination of lines: a file of JSON lines. It isn't thread-safe.

    Args:
        path: path of the file, which is created with mode 0600.
        max_bytes: size from which the file is renamed.
        fsync: whether an append returns only after the disk has the lines.
    """

    def __init__(self, path: Path, *, max_bytes: int, fsync: bool = True) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._fsync = fsync
        self._file = -1
        self._known: tuple[int, Tail] | None = None
        """Size of the file after this object's last append, and the end of the file."""

    def __str__(self) -> str:
        """Name of the destination, for messages."""
        return str(self._path)

    def append(self, build: Build) -> None:
        """Append the lines that `build` returns, all or none.

        Raises:
            AuditUnwritableError: the lines can't be written.
        """
        try:
            size = self._lock()
        except OSError as error:
            self.close()
            raise AuditUnwritableError(f"{self._path} can't be written: {error.strerror}") from error
        try:
            self._append(size, build)
        except OSError as error:
            self._known = None
            try:
                os.ftruncate(self._file, size)
            except OSError:
                raise AuditUnwritableError(
                    f"{self._path} can't be written: {error.strerror}; some of the lines may be in it", clean=False
                ) from error
            raise AuditUnwritableError(f"{self._path} can't be written: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
        self._file, self._known = -1, None

    def _append(self, size: int, build: Build) -> None:
        tail = self._tail(size)
        lines = build(tail)
        if not lines:
            return
        data = b"".join((b"\n" if tail.torn and size else b"", *(line + b"\n" for line in lines)))
        left = memoryview(data)
        while left:
            left = left[os.write(self._file, left) :]
        if self._fsync:
            os.fdatasync(self._file)
        self._known = size + len(data), Tail(_hash_of(lines[-1]))

    def _lock(self) -> int:
        """Lock the current file of the path, after a rotation if it is large enough, and return its size."""
        while True:
            if self._file < 0:
                self._open()
            fcntl.flock(self._file, fcntl.LOCK_EX)
            here = os.fstat(self._file)
            try:
                there = self._path.stat()
            except FileNotFoundError:
                there = None
            if there is None or (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
                self.close()  # another process has renamed the file
            elif here.st_size >= self._max_bytes:
                number = max((number for number, _ in rotated(self._path)), default=0) + 1
                self._path.rename(self._path.with_name(f"{self._path.name}.{number:06d}"))
                self.close()
            else:
                return here.st_size

    def _open(self) -> None:
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            self._file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            if self._fsync:
                folder = os.open(self._path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)

    def _tail(self, size: int) -> Tail:
        """Return the end of the current file; if it is empty, the end of the file before."""
        if self._known is not None and self._known[0] == size:
            return self._known[1]
        if size:
            return _tail_of(self._file, size)
        for _, before in reversed(rotated(self._path)):
            with before.open("rb") as file:
                if length := os.fstat(file.fileno()).st_size:
                    return _tail_of(file.fileno(), length)
        return Tail(None)


def rotated(path: Path) -> Sequence[tuple[int, Path]]:
    """Rotated files of a path, with their numbers, the oldest first."""
    names = ((each, _NUMBER.fullmatch(each.name.removeprefix(path.name))) for each in _beside(path))
    return sorted((int(match[1]), each) for each, match in names if match is not None)


def _beside(path: Path) -> Iterator[Path]:
    return (each for each in path.parent.iterdir() if each.name.startswith(f"{path.name}."))


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line that was read, with its place.

    Attributes:
        stream: stream of the line; lines of one stream are consecutive.
        place: place of the line, for people: `audit.jsonl:17`.
        data: bytes of the line, without the line feed; cut to `LONGEST_LINE_BYTES`.
        whole: False for a last line without a line feed.
    """

    stream: str
    place: str
    data: bytes
    whole: bool = True


def lines_of(paths: Sequence[Path]) -> Iterator[PlacedLine]:
    """Yield the lines of files and of their rotated files, the oldest first. One line is in memory at a time.

    A file that is being written yields the lines of the appends that were whole when it was opened.

    Args:
        paths: paths of the files; several files are read in this order as one stream.

    Raises:
        OSError: a file can't be read.
    """
    for path in paths:
        with path.open("rb") as newest:
            # With the lock no process appends, so the size is the end of a whole append.
            fcntl.flock(newest, fcntl.LOCK_SH)
            here = os.fstat(newest.fileno())
            fcntl.flock(newest, fcntl.LOCK_UN)
            for _, before in rotated(path):
                with before.open("rb") as file:
                    there = os.fstat(file.fileno())
                    if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
                        yield from _lines(file, str(before), there.st_size)
            yield from _lines(newest, str(path), here.st_size)


def _lines(file: BinaryIO, name: str, size: int) -> Iterator[PlacedLine]:
    number = 0
    while size > 0:
        line = file.readline(min(size, LONGEST_LINE_BYTES))
        if not line:
            return
        size -= len(line)
        number += 1
        ended = line.endswith(b"\n")
        data = line.removesuffix(b"\n")
        while not ended and size > 0 and (more := file.readline(min(size, LONGEST_LINE_BYTES))):
            size -= len(more)
            ended = more.endswith(b"\n")
        yield PlacedLine("file", f"{name}:{number}", data, ended)


def _tail_of(file: int, size: int) -> Tail:
    """Return the last line of a file, up to the maximum length of an audit line."""
    end = b""
    at = size
    while at > 0 and len(end) < LONGEST_LINE_BYTES and b"\n" not in end[:-1]:
        begin = max(0, at - _PIECE_BYTES)
        end = os.pread(file, at - begin, begin) + end
        at = begin
    torn = not end.endswith(b"\n")
    line = end.removesuffix(b"\n").rpartition(b"\n")[2]
    return Tail(hashlib.sha256(line).hexdigest() if torn else _hash_of(line), torn=torn)


def _hash_of(line: bytes) -> str:
    """Return `hash` of a line; for a line without it, the SHA-256 of its bytes."""
    try:
        found = json.loads(line)["hash"]
    except (ValueError, TypeError, KeyError, RecursionError):
        found = None
    return found if isinstance(found, str) else hashlib.sha256(line).hexdigest()
