"""Delta table's log: a commit's contents and files, and the version of a streaming query's micro-batch.

`_delta_log/<version, 20 digits>.json` has one action per line. A commit of Delta's streaming sink has the action
`{"txn": {"appId": <query id>, "version": <batch id>}}`, with which the sink itself avoids writing a micro-batch twice.
So a commit with this action belongs to the micro-batch, even if others write to the table, too.
Format: the protocol of Delta Lake, "Transaction Identifiers" and "Commit Provenance Information".
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import msgspec

from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, partition_path
from headwater_producers.spark.plan.settings import MAX_PATHS
from headwater_schemas.events import Position, TableSnapshot
from headwater_schemas.facets import AddedFiles

# Maximum number of commits that one search reads, including those of other writers.
_MAX_COMMITS: Final = 200
# Maximum number of remembered micro-batches, of all queries that write to the table.
_REMEMBERED: Final = 1_000

Actions = dict[str, Any]


class StreamedCommit(NamedTuple):
    """Commit of a micro-batch: its version, the actions `commitInfo` and `txn`, and the files that it added."""

    version: int
    actions: Actions
    added: AddedFiles | None


class DeltaLog:
    """Log of the table in a folder. It is read only if needed: mostly one commit for each micro-batch."""

    def __init__(self, table: TextFolder) -> None:
        self._table = table
        self._found: OrderedDict[tuple[str, int], StreamedCommit] = OrderedDict()
        # Versions from `_low` up to and without `_next` have been read.
        self._low = self._next = -1
        self._earliest: dict[str, int] = {}

    def streamed(self, query_id: str, batch_id: int) -> StreamedCommit | None:
        """Return the commit of a micro-batch.

        None if the micro-batch made no commit (Delta commits nothing for a batch that another start has written), if
        its commit has been deleted, or if more than `_MAX_COMMITS` commits lie between it and the commits read before.
        """
        wanted = (query_id, batch_id)
        if self._next < 0:
            self._low = self._next = self._checkpointed()
        for _ in range(_MAX_COMMITS):
            if wanted in self._found or not self._read(self._next):
                break
            self._next += 1
        for _ in range(_MAX_COMMITS):
            # A query's commits are in the order of its micro-batches: the search ends at an earlier micro-batch's
            # commit.
            met = self._earliest.get(query_id, batch_id) < batch_id
            if wanted in self._found or met or self._low == 0 or not self._read(self._low - 1):
                break
            self._low -= 1
        return self._found.get(wanted)

    def _read(self, version: int) -> bool:
        """Read a commit; False if the log doesn't have it."""
        text = delta_text(self._table, version)
        actions = delta_actions(text)
        if (transaction := actions.get("txn")) is not None:
            app, batch = str(transaction["appId"]), int(transaction["version"])
            self._found[(app, batch)] = StreamedCommit(version, actions, delta_added(text))
            self._earliest[app] = min(batch, self._earliest.get(app, batch))
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return bool(actions)

    def _checkpointed(self) -> int:
        """Return the first version to read: Delta's last checkpoint, or 0 for a table without checkpoints."""
        text = self._table.read("_delta_log/_last_checkpoint")
        return int(json.loads(text)["version"]) if text else 0


def delta_text(table: TextFolder, version: int) -> str:
    """Read the text of a Delta commit, one action per line; empty if the commit has been deleted."""
    return table.read(f"_delta_log/{version:020d}.json") or ""


def delta_actions(text: str) -> Actions:
    """Parse the actions `commitInfo` and `txn` of a commit's text; a commit has at most one of each."""
    actions: Actions = {}
    for line in text.splitlines():
        # Skip the actions on files, of which there may be thousands.
        if line.startswith(('{"commitInfo"', '{"txn"')):
            actions.update(json.loads(line))
    return actions


def delta_snapshot(version: int, info: dict[str, Any], partitions: tuple[str, ...] = ()) -> Position:
    """Return the position of a written Delta version, from its commit's `commitInfo`."""
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
    """Return rows, bytes and files from a commit's `operationMetrics`."""

    def first(*names: str) -> int | None:
        return next((int(metrics[name]) for name in names if name in metrics), None)

    return Counts(
        rows=first("numOutputRows", "numUpdatedRows", "numDeletedRows"),
        bytes=first("numOutputBytes", "numAddedBytes", "numTargetBytesAdded", "restoredFilesSize"),
        files=first("numFiles", "numAddedFiles", "numTargetFilesAdded", "numRestoredFiles", "numConvertedFiles"),
    )


# A commit with more files isn't read: its partitions stay unknown.
_MAX_FILES: Final = 10_000


class _File(msgspec.Struct):
    path: str = ""
    partitionValues: dict[str, str | None] = {}  # noqa: N815 - Delta's name


class _Action(msgspec.Struct):
    add: _File | None = None
    remove: _File | None = None


class _Checksum(msgspec.Struct):
    numFiles: int  # noqa: N815 - Delta's name


@dataclass(frozen=True, slots=True)
class DeltaFiles:
    """Files that a commit adds and removes.

    Attributes:
        added: number of added files; None if the commit has too many files to read.
        partitions: partitions with added or removed files; empty for a table without partitions, or if there are too
            many.
    """

    added: int | None
    partitions: frozenset[Partition] = frozenset()

    def plus(self, other: DeltaFiles) -> DeltaFiles:
        """Combine the effects of two commits."""
        if self.added is None or other.added is None:
            return DeltaFiles(None)
        return DeltaFiles(self.added + other.added, _few(self.partitions | other.partitions))

    def paths(self, columns: Iterable[str]) -> tuple[str, ...]:
        """List the partitions as `key=value/…`, sorted; empty if a key isn't one of `columns`.

        With column mapping, Delta's log has physical column names, which aren't used elsewhere.
        """
        known = set(columns)
        if any(name not in known for partition in self.partitions for name, _ in partition):
            return ()
        return tuple(sorted(map(partition_path, self.partitions)))


def delta_files(text: str) -> DeltaFiles:
    """Parse the files of a commit's text.

    Raises:
        msgspec.DecodeError: the text isn't a commit's.
    """
    if (actions := _file_actions(text)) is None:
        return DeltaFiles(None)
    touched = (action.add or action.remove for action in actions)
    partitions = frozenset(tuple(file.partitionValues.items()) for file in touched if file and file.partitionValues)
    added = sum(action.add is not None for action in actions)
    return DeltaFiles(added, _few(partitions))


def delta_added(text: str) -> AddedFiles | None:
    """Return the files that a commit added, by their paths within the table; None if it added none.

    A file of a shallow clone is in the source table, and has a whole URI.

    Raises:
        msgspec.DecodeError: the text isn't a commit's.
    """
    if (actions := _file_actions(text)) is None:
        count = sum(line.startswith('{"add":') for line in text.splitlines())
        return AddedFiles(count) if count else None
    # A file whose deletion vector changes is removed and added in one commit: it isn't new.
    removed = {action.remove.path for action in actions if action.remove is not None}
    names = sorted(unquote(each.add.path) for each in actions if each.add is not None and each.add.path not in removed)
    return AddedFiles(len(names), tuple(names[:MAX_PATHS])) if names else None


def _file_actions(text: str) -> list[_Action] | None:
    """Parse the actions on files; None if the commit has too many to read."""
    lines = [line for line in text.splitlines() if line.startswith(('{"add":', '{"remove":'))]
    return None if len(lines) > _MAX_FILES else list(map(msgspec.json.Decoder(_Action).decode, lines))


def _few(partitions: frozenset[Partition]) -> frozenset[Partition]:
    return partitions if len(partitions) <= MAX_PARTITIONS else frozenset()


def files_of_version(table: TextFolder, version: int) -> int | None:
    """Return the number of files of a table version, from its commit's checksum file; None if the file is missing."""
    text = table.read(f"_delta_log/{version:020d}.crc")
    return msgspec.json.decode(text, type=_Checksum).numFiles if text else None
