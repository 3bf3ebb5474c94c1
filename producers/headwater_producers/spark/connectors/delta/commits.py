"""Commits in a Delta table's log, of batch commands and of streaming sinks.

Spark's plan doesn't hold the version that a command made. The candidates are the commits of the command's operation
during its run, by this driver's clock. A single candidate is INFERRED: a command that changes nothing commits nothing,
so the commit may be from another application. With several candidates no version is claimed, unless an OPTIMIZE reports
that it made as many commits. A write with a transaction, such as an idempotent one in foreachBatch, is identified by
the transaction, even if Delta skipped it because an earlier attempt had written it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from headwater_producers.spark.connectors.connector_answers import CommittedVersion, SinkCommit
from headwater_producers.spark.connectors.connector_questions import CommandRun, JvmCommand, StreamSink, is_ignoring
from headwater_producers.spark.connectors.delta.commands import batches, path_written
from headwater_producers.spark.connectors.delta.log import (
    DeltaFiles,
    DeltaLog,
    delta_actions,
    delta_added,
    delta_counts,
    delta_files,
    delta_snapshot,
    delta_text,
    files_of_version,
)
from headwater_producers.spark.connectors.delta.reads import version
from headwater_producers.spark.connectors.delta.tables import latest_snapshot
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.jvm.files import JvmFiles, TextFolder
from headwater_producers.spark.jvm.paths import qualified
from headwater_producers.spark.jvm.scala import instant, setting
from headwater_producers.spark.plan.column import DataType
from headwater_schemas.events import Certainty, FileSet, Position

MAX_COMMITS: Final = 50
"""Maximum number of searched commits, including other writers'."""

_WRITES: Final = ("WRITE", "CREATE TABLE AS SELECT", "REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT")
_OPERATIONS: Final = {
    "MergeIntoCommand": ("MERGE",),
    "UpdateCommand": ("UPDATE",),
    "DeleteCommand": ("DELETE",),
    "CreateTableAsSelect": ("CREATE TABLE AS SELECT",),
    # WRITE: `saveAsTable` with `replaceWhere` or dynamic partition overwrite.
    "ReplaceTableAsSelect": ("REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT", "WRITE"),
    "OptimizeTableCommand": ("OPTIMIZE",),
    "DeltaReorgTableCommand": ("REORG",),
    "RestoreTableCommand": ("RESTORE",),
    "ConvertToDeltaCommand": ("CONVERT",),
    "VacuumTableCommand": ("VACUUM END",),
    "CreateDeltaTableCommand": ("CLONE",),
}
"""Operations that a command's commits have in the log, by the command's class. All other commands have `_WRITES`."""
_BATCHED: Final = ("OptimizeTableCommand", "DeltaReorgTableCommand")
"""Commands that may make several commits."""
_ALWAYS_COMMIT: Final = frozenset({*_BATCHED, "ConvertToDeltaCommand", "VacuumTableCommand"})
"""Commands that make a commit whenever they change anything."""
_WITH_OPTIONS: Final = frozenset(
    {"SaveIntoDataSourceCommand", "AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic"}
)
"""Commands whose options may name a transaction."""
_CHANGE_ROWS: Final = frozenset({"MergeIntoCommand", "UpdateCommand", "DeleteCommand"})


@dataclass(frozen=True, slots=True)
class _Commit:
    """Commit of a Delta table: version, `commitInfo`, whole text, and the certainty that the command made it."""

    version: int
    info: dict[str, Any]
    text: str
    certainty: Certainty


def operations_of(command: str | None) -> tuple[str, ...]:
    """Return the `operation` names that a command's commits may have in the log."""
    return _OPERATIONS.get(command or "", _WRITES)


def transaction_of(command: JvmCommand) -> tuple[str, int] | None:
    """Return the transaction (application and version) in an idempotent write's options."""
    if command.name not in _WITH_OPTIONS:
        return None
    application, number = setting(command.options, "txnAppId"), setting(command.options, "txnVersion")
    return (application, int(number)) if application is not None and number is not None else None


class DeltaCommits:
    """Log of a Delta table after a batch command; see `BatchLog`."""

    def __init__(self, path: str, run: CommandRun) -> None:
        self._path = qualified(run.session.sparkContext, path)
        self._run = run
        self._name = run.command.name
        # A clone has no rows of its own: its counters count nothing.
        self.is_counted = self._name != "CreateDeltaTableCommand"
        # Delta commits nothing if no row matches.
        self.nothing = Counts(rows=0, bytes=0, files=0) if self._name in _CHANGE_ROWS else None

    @cached_property
    def _table(self) -> TextFolder:
        return TextFolder(self._path, JvmFiles(self._run.session.sparkContext))

    def schema(self) -> DataType:
        """Return the table's newest schema, as Spark's JSON."""
        return json.loads(str(latest_snapshot(self._run.session, self._path).schema().json()))

    def committed(self, columns: Collection[str]) -> CommittedVersion | None:
        """Return the version that the command has committed; None if it made none, or the log no longer has it."""
        found = self._candidates()
        if not found:
            return None
        if len(found) > 1 and (self._name not in _BATCHED or batches(self._run.execution) != len(found)):
            return CommittedVersion(None, Certainty.UNKNOWN, Counts())
        described = self._described(found, columns)
        if self._name not in _ALWAYS_COMMIT:
            return described
        if self._name == "ConvertToDeltaCommand" and described.counts.files is not None:
            return replace(described, read=Position(files=FileSet(count=described.counts.files)))
        before = found[-1].info.get("readVersion")
        return replace(described, read=None if before is None else version(before))

    def _candidates(self) -> list[_Commit]:
        """Find the transaction's commit, else the commits of the command's kind while it ran, newest first."""
        session, window = self._run.session, self._run.window
        operations, transaction = operations_of(self._name), transaction_of(self._run.command)
        newest = int(latest_snapshot(session, self._path).version())
        found: list[_Commit] = []
        for number in range(newest, max(-1, newest - MAX_COMMITS), -1):
            text = delta_text(self._table, number)
            actions = delta_actions(text)
            info = actions.get("commitInfo", {})
            if transaction is not None:
                committed = actions.get("txn", {})
                if (committed.get("appId"), committed.get("version")) == transaction:
                    return [_Commit(number, info, text, Certainty.EXACT)]
                continue
            if int(info.get("timestamp", 0)) < window[0]:
                break
            if int(info["timestamp"]) <= window[1] and str(info.get("operation")) in operations:
                found.append(_Commit(number, info, text, Certainty.INFERRED))
        return found

    def _described(self, found: list[_Commit], columns: Collection[str]) -> CommittedVersion:
        """Describe the commits, given newest first, as one."""
        newest = found[0]
        changed = functools.reduce(DeltaFiles.plus, (delta_files(each.text) for each in found))
        # Delta logs the same operation for an overwrite of all rows and for a dynamic overwrite of partitions.
        how = newest.info.get("operationParameters", {})
        doubtful = newest.info.get("operation") == "WRITE" and how.get("mode") == "Overwrite" and "predicate" not in how
        added = changed.added if doubtful else None
        there = files_of_version(self._table, newest.version) if added is not None else None
        counts = [delta_counts(each.info.get("operationMetrics", {})) for each in found]
        return CommittedVersion(
            delta_snapshot(newest.version, newest.info, changed.paths(columns)),
            newest.certainty,
            functools.reduce(Counts.plus, counts),
            keeps=there > added if there is not None and added is not None else None,
            added=delta_added(newest.text),
        )


def batch_log(run: CommandRun) -> DeltaCommits | None:
    """Return the log of the table that a command writes; None if the command writes no Delta table."""
    path = path_written(run.command)
    return DeltaCommits(path, run) if path is not None else None


def left_alone(write: Write) -> bool | None:
    """Return True if a Delta command, or a `save()` to Delta, found nothing to do and made no commit.

    Examples: an OPTIMIZE without files to rewrite, a VACUUM that is a DRY RUN, a CONVERT of a converted table.
    """
    description = write.description
    if description.command in _ALWAYS_COMMIT:
        return write.commits is False
    if not is_ignoring(description):
        return None
    is_saved = description.command == "SaveIntoDataSourceCommand" and description.outputs[0].format == "delta"
    return write.version is None if is_saved or description.command == "CreateDeltaTableCommand" else None


class StreamedCommits:
    """Log of a streaming sink; see `StreamLog`. A micro-batch's commit has the transaction (query id, batch id)."""

    def __init__(self, sink: StreamSink) -> None:
        self._log = DeltaLog(sink.folder)

    def written(self, query_id: str, batch_id: int) -> SinkCommit | None:
        """Return the version that a micro-batch has committed."""
        found = self._log.streamed(query_id, batch_id)
        if found is None:
            return None
        info = found.actions.get("commitInfo", {})
        metrics = info.get("operationMetrics")
        counts = delta_counts(metrics) if isinstance(metrics, dict) else Counts()
        at = info.get("timestamp")
        when = None if at is None else instant(int(at))
        return SinkCommit(delta_snapshot(found.version, info), counts, when, found.added)
