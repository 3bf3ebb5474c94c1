"""The files that a Delta commit adds and removes: in which partitions they are, and whether there are others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, partition_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater_producers.spark.jvm.files import TextFiles

# A commit of more files isn't worth the reading: its partitions stay unknown.
_MAX_FILES: Final = 10_000


class _File(msgspec.Struct):
    partitionValues: dict[str, str | None] = {}  # noqa: N815 - Delta's name


class _Action(msgspec.Struct):
    add: _File | None = None
    remove: _File | None = None


class _Checksum(msgspec.Struct):
    numFiles: int  # noqa: N815 - Delta's name


@dataclass(frozen=True, slots=True)
class DeltaFiles:
    """What a commit does to files.

    Attributes:
        added: how many it adds; None where it has too many to look at.
        partitions: those that it adds files to, or removes files from; empty of a table without, and of too many.
    """

    added: int | None
    partitions: frozenset[Partition] = frozenset()

    def plus(self, other: DeltaFiles) -> DeltaFiles:
        """What two commits do."""
        if self.added is None or other.added is None:
            return DeltaFiles(None)
        return DeltaFiles(self.added + other.added, _few(self.partitions | other.partitions))

    def paths(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The partitions as `key=value/…`, in order; none where a key isn't one of `columns`.

        With column mapping Delta has names of its own for columns, which mean nothing to anybody else.
        """
        known = set(columns)
        if any(name not in known for partition in self.partitions for name, _ in partition):
            return ()
        return tuple(sorted(map(partition_path, self.partitions)))


def delta_files(text: str) -> DeltaFiles:
    """The files of a commit's text.

    Raises:
        msgspec.DecodeError: it is no text of a commit.
    """
    lines = [line for line in text.splitlines() if line.startswith(('{"add":', '{"remove":'))]
    if len(lines) > _MAX_FILES:
        return DeltaFiles(None)
    decoder = msgspec.json.Decoder(_Action)
    actions = [decoder.decode(line) for line in lines]
    touched = (action.add or action.remove for action in actions)
    partitions = frozenset(tuple(file.partitionValues.items()) for file in touched if file and file.partitionValues)
    added = sum(action.add is not None for action in actions)
    return DeltaFiles(added, _few(partitions))


def _few(partitions: frozenset[Partition]) -> frozenset[Partition]:
    return partitions if len(partitions) <= MAX_PARTITIONS else frozenset()


def files_of_version(files: TextFiles, path: str, version: int) -> int | None:
    """How many files a version of a table has, by the checksum beside its commit; None without one."""
    text = files.read(f"{path.rstrip('/')}/_delta_log/{version:020d}.crc")
    return msgspec.json.decode(text, type=_Checksum).numFiles if text else None
