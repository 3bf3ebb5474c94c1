"""A Delta table's log: a commit's contents and files, and which version a micro-batch of a streaming query has made.

`_delta_log/<version, 20 digits>.json` has an action a line. A commit of Delta's streaming sink has the action
`{"txn": {"appId": <query id>, "version": <batch id>}}`, by which the sink itself knows what it has written already: so
the version that has it is the micro-batch's, whoever else writes to the table.
Format: the protocol of Delta Lake, "Transaction Identifiers" and "Commit Provenance Information".
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, partition_path
from headwater_schemas.events import Position, TableSnapshot

# Commits that one question looks at, others' included.
_MAX_COMMITS: Final = 200
# Micro-batches remembered, of all queries that write to the table.
_REMEMBERED: Final = 1_000

Actions = dict[str, Any]


class DeltaLog:
    """One table's log, read as far as questions need it: mostly one commit for each micro-batch.

    Args:
        path: root of the table.
        files: to read it with.
    """

    def __init__(self, path: str, files: TextFiles) -> None:
        self._path = path.rstrip("/")
        self._files = files
        self._found: OrderedDict[tuple[str, int], tuple[int, Actions]] = OrderedDict()
        # Versions from `_low` up to and without `_next` have been read.
        self._low = self._next = -1
        self._earliest: dict[str, int] = {}

    def streamed(self, query_id: str, batch_id: int) -> tuple[int, Actions] | None:
        """The version that a micro-batch has made, with its commit's actions.

        None where it made none (Delta commits nothing for a batch that another start has written), where its commit
        isn't kept any more, or is further away than so many others.
        """
        wanted = (query_id, batch_id)
        if self._next < 0:
            self._low = self._next = self._checkpointed()
        for _ in range(_MAX_COMMITS):
            if wanted in self._found or not self._read(self._next):
                break
            self._next += 1
        for _ in range(_MAX_COMMITS):
            # A query's commits are in the order of its micro-batches: behind an earlier one there is no later one.
            met = self._earliest.get(query_id, batch_id) < batch_id
            if wanted in self._found or met or self._low == 0 or not self._read(self._low - 1):
                break
            self._low -= 1
        return self._found.get(wanted)

    def _read(self, version: int) -> bool:
        """Reads a commit; False where there is none."""
        actions = delta_commit(self._files, self._path, version)
        if (transaction := actions.get("txn")) is not None:
            app, batch = str(transaction["appId"]), int(transaction["version"])
            self._found[(app, batch)] = (version, actions)
            self._earliest[app] = min(batch, self._earliest.get(app, batch))
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return bool(actions)

    def _checkpointed(self) -> int:
        """A version to begin at: Delta's own last checkpoint, some commits ago; without one the table is young."""
        text = self._files.read(f"{self._path}/_delta_log/_last_checkpoint")
        return int(json.loads(text)["version"]) if text else 0


def delta_commit(files: TextFiles, path: str, version: int) -> Actions:
    """The actions of a Delta commit that there is one of: `commitInfo`, `txn`; empty where it isn't kept any more."""
    return delta_actions(delta_text(files, path, version))


def delta_text(files: TextFiles, path: str, version: int) -> str:
    """A Delta commit as it is written, an action a line; empty where it isn't kept any more."""
    return files.read(f"{path.rstrip('/')}/_delta_log/{version:020d}.json") or ""


def delta_actions(text: str) -> Actions:
    """The actions of a commit's text that there is one of: `commitInfo`, `txn`."""
    actions: Actions = {}
    for line in text.splitlines():
        # Files, of which there may be thousands, are of no interest here.
        if line.startswith(('{"commitInfo"', '{"txn"')):
            actions.update(json.loads(line))
    return actions


def delta_snapshot(version: int, info: dict[str, Any], partitions: tuple[str, ...] = ()) -> Position:
    """A Delta version that was written, with the contents of its commit."""
    return Position(
        table_snapshot=TableSnapshot(
            format="delta",
            snapshot_id=str(version),
            parent_id=str(version - 1) if version else None,
            operation=info.get("operation"),
            partitions=partitions,
        )
    )


def delta_counts(metrics: dict[str, str]) -> Counts:
    """What a commit counted, of its `operationMetrics`."""

    def first(*names: str) -> int | None:
        return next((int(metrics[name]) for name in names if name in metrics), None)

    return Counts(
        rows=first("numOutputRows", "numUpdatedRows", "numDeletedRows"),
        bytes=first("numOutputBytes", "numAddedBytes", "numTargetBytesAdded", "restoredFilesSize"),
        files=first("numFiles", "numAddedFiles", "numTargetFilesAdded", "numRestoredFiles", "numConvertedFiles"),
    )


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
