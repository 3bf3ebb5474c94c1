"""Lines in a file that several processes append to, and the files that it was before.

    audit.jsonl           the newest lines
    audit.jsonl.000001    the oldest ones
    audit.jsonl.000002

A process that appends holds the lock of the file (`flock`), and looks again whether the path still leads to it: another
process may have renamed it. So lines of one append stand together, and a rotation loses none. Readers need no lock but
for a moment, to see where the last whole append ends.

An append that fails is cut off again. If the machine or the process ends meanwhile, an unfinished line may stay. The
next append begins with a line feed, and its first line has the hash of the unfinished one, so that readers can tell it
from one that somebody wrote there.
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
"""A longer line isn't one of the audit's; the longest that it writes has less than a tenth of it."""
_PIECE_BYTES: Final = 65_536
_NUMBER: Final = re.compile(r"\.(\d{6,})")


class AuditFile:
    """Destination of lines: a file of JSON lines. One thread uses it.

    Args:
        path: the file; it is made with mode 0600.
        max_bytes: size from which it is renamed.
        fsync: whether an append returns only when the disk has it.
    """

    def __init__(self, path: Path, *, max_bytes: int, fsync: bool = True) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._fsync = fsync
        self._file = -1
        self._known: tuple[int, Tail] | None = None
        """Size of the file after this object's last append, and its end."""

    def __str__(self) -> str:
        """Name of the destination, for messages."""
        return str(self._path)

    def append(self, build: Build) -> None:
        """Append the lines that `build` makes, all or none.

        Raises:
            AuditUnwritableError: they can't be written.
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
                    f"{self._path} can't be written: {error.strerror}; part of it may be there", clean=False
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
        """Lock the file that the path leads to, a new one if it was large enough, and return its size."""
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
                self.close()  # somebody else has renamed it
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
        """The end of what is there: of the file, or of the one before."""
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
    """The files that a file was before, with their numbers, the oldest first."""
    names = ((each, _NUMBER.fullmatch(each.name.removeprefix(path.name))) for each in _beside(path))
    return sorted((int(match[1]), each) for each, match in names if match is not None)


def _beside(path: Path) -> Iterator[Path]:
    return (each for each in path.parent.iterdir() if each.name.startswith(f"{path.name}."))


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line that was read.

    Attributes:
        stream: what it is a line of: lines of one stream stand one after the other.
        place: where it is, for people: `audit.jsonl:17`.
        data: its bytes, without the line feed; cut to `LONGEST_LINE_BYTES`.
        whole: False for a last line without a line feed.
    """

    stream: str
    place: str
    data: bytes
    whole: bool = True


def lines_of(paths: Sequence[Path]) -> Iterator[PlacedLine]:
    """Yield the lines of files, and of the ones that they were before, the oldest first. One is in memory at a time.

    Of a file that is being written the lines are those of whole appends at the time when it is opened.

    Args:
        paths: the files; if there are several, they are read in this order as one stream.

    Raises:
        OSError: one can't be read.
    """
    for path in paths:
        with path.open("rb") as newest:
            # While nobody appends, so that no half append is seen.
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
    """The last line of a file, as far as it isn't longer than any line of the audit."""
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
    """`hash` of a line; of a line without one, the SHA-256 of its bytes."""
    try:
        found = json.loads(line)["hash"]
    except (ValueError, TypeError, KeyError, RecursionError):
        found = None
    return found if isinstance(found, str) else hashlib.sha256(line).hexdigest()
