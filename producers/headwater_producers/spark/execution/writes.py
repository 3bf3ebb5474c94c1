"""Write: an executed command with its plan, its counts, and the version that it committed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from headwater_producers.spark.connectors.connector_answers import BatchLog, CommittedVersion
from headwater_producers.spark.connectors.connector_questions import CommandRun, JvmCommand, is_ignoring
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.events.writes import Counts, Scan, Write
from headwater_producers.spark.execution.executions import scans, written_counts
from headwater_producers.spark.jvm.listener_bus import ran_jobs
from headwater_producers.spark.plan import PlanDescription, PlanSettings, SourceKind, WriteMode
from headwater_producers.spark.plan.names import reporting
from headwater_producers.spark.plan.schema import schema_definition

logger = logging.getLogger(__name__)

_MADE_OF_THE_QUERY: Final = frozenset({WriteMode.CREATE, WriteMode.REPLACE})


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """Rows of a CREATE TABLE AS, which are reported before the command that creates the table."""

    counts: Counts
    scans: tuple[Scan, ...]
    started_at: datetime


def executed_write(
    execution: Any,
    description: PlanDescription,
    session: Any,
    *,
    started_at: datetime,
    ended_at: datetime,
    settings: PlanSettings,
    failed: bool = False,
    staged: StagedWrite | None = None,
) -> Write:
    """Build the `Write` of an executed command; if it failed, with the reads up to its failure.

    Args:
        execution: the JVM's `QueryExecution`.
        session: the `SparkSession` that ran it.
        started_at: start, by this driver's clock.
        ended_at: end, by the same clock.
        failed: True if the command failed.
        staged: write that ran inside a command that makes a table from a query.
    """
    if failed:
        return Write(description=_attempted(description), written=Counts(), scans=_scans_of(execution))
    executed = execution.executedPlan()
    command = JvmCommand(execution.analyzed(), SessionContext(session, PlanSettings()))
    log, is_readable = _log(CommandRun(execution, session, command, started_at, ended_at))
    description = _with_table_schema(description, log) if log is not None or not is_readable else description
    counts, read = written_counts(executed), scans(executed, settings)
    if staged is not None:
        counts, read = staged.counts, staged.scans
    if log is not None and not log.is_counted:
        counts = Counts()
    ran = ran_jobs(session, started_at, ended_at) if _leaves_no_trace(description) else None
    version, looked = None, False
    if is_readable:
        try:
            version = log.committed(_columns(description)) if log is not None else None
            looked = True
        except Exception:
            # The log was cleaned up, or the catalog doesn't answer: the write is emitted without its version.
            logger.debug("lineage capture: the version that a write made couldn't be read", exc_info=True)
    if log is None and is_readable:
        command = JvmCommand(execution.analyzed(), SessionContext(session, settings))
        version = _manifest(CommandRun(execution, session, command, started_at, ended_at), counts)
        looked = False
    if looked and version is None and log is not None and log.nothing is not None:
        counts = log.nothing
    if version is None or version.position is None:
        found = version is not None if looked else None
        return Write(description=description, written=counts, scans=read, ran_jobs=ran, commits=found)
    return Write(
        description=_settled(description, version),
        written=counts.or_else(version.counts),
        scans=read,
        version=version.position,
        version_certainty=version.certainty,
        partitions=version.partitions,
        added=version.added.without_values() if version.added is not None and not settings.literals else version.added,
        commits=True if log is not None else None,
    )


def _manifest(run: CommandRun, counts: Counts) -> CommittedVersion | None:
    try:
        return first_answer(each.manifest(run, counts) for each in REGISTRY.of(run.command.subject))
    except Exception:
        # The folder is gone by now: the write is emitted without its files.
        logger.debug("lineage capture: the files that a write made couldn't be listed", exc_info=True)
        return None


def transaction_of(execution: Any, session: Any) -> tuple[str, int] | None:
    """Return the transaction (application and version) that marks a running command's commit in the table's log."""
    try:
        command = JvmCommand(execution.analyzed(), SessionContext(session, PlanSettings()))
        return first_answer(each.transaction(command) for each in REGISTRY.of(command.subject))
    except Exception:
        # The table doesn't exist yet.
        logger.debug("lineage capture: the options of a running write can't be read", exc_info=True)
        return None


def _log(run: CommandRun) -> tuple[BatchLog | None, bool]:
    """Return the log of the table with versions that a command wrote, if any, and True if the log could be read."""
    try:
        return first_answer(each.batch_log(run) for each in REGISTRY.of(run.command.subject)), True
    except Exception:
        logger.debug("lineage capture: the table that a write made couldn't be read", exc_info=True)
        return None, False


def _with_table_schema(description: PlanDescription, log: BatchLog | None) -> PlanDescription:
    """Give a successful write the schema of its table in place of the query's schema.

    `INSERT INTO t (id)` has only some of the columns, and `mergeSchema` adds some. The result is the schema of the
    newest version at the time of the call.

    Args:
        log: log of the written table; None if it couldn't be read: then no columns are reported.
    """
    if not any(output.mode not in _MADE_OF_THE_QUERY for output in description.outputs):
        return description
    schema = None
    try:
        with reporting(description.names):
            schema = schema_definition(log.schema()) if log is not None else None
    except Exception:
        # The table is gone by now, and the query may have only some of its columns: none are reported.
        logger.debug("lineage capture: the schema of a table couldn't be read", exc_info=True)
    return replace(description, outputs=tuple(replace(each, schema=schema) for each in description.outputs))


def wrote_nothing(write: Write, staged: StagedWrite | None) -> bool:
    """Return True if a write left existing data unchanged, by `mode("ignore")` or IF NOT EXISTS.

    Also True for a maintenance command that finds nothing to do.

    Args:
        write: the write, which didn't fail.
        staged: see `executed_write`.
    """
    alone = first_answer(each.left_alone(write, staged=staged is not None) for each in REGISTRY)
    if alone is not None:
        return alone
    if not is_ignoring(write.description):
        return False
    if write.description.command == "CreateTableAsSelect":
        return staged is None and write.version is None
    return write.ran_jobs is False


def _columns(description: PlanDescription) -> frozenset[str]:
    return frozenset(f.path for o in description.outputs if o.schema is not None for f in o.schema.fields)


def _leaves_no_trace(description: PlanDescription) -> bool:
    """Return True if neither plan nor counts nor log would show that a write was ignored."""
    return description.command == "SaveIntoDataSourceCommand" and any(
        output.mode is WriteMode.IGNORE and output.kind is SourceKind.JDBC for output in description.outputs
    )


def _attempted(description: PlanDescription) -> PlanDescription:
    """Describe a failed write, without lifecycle changes: it may have created or replaced nothing."""
    return replace(description, outputs=tuple(replace(output, lifecycle=None) for output in description.outputs))


def _settled(description: PlanDescription, version: CommittedVersion) -> PlanDescription:
    """Complete a plan's description with facts from the commit of its write."""
    outputs, inputs = description.outputs, description.inputs
    if version.keeps:
        # Files of earlier versions still exist: not all rows were replaced, even if the session's current settings
        # suggest that.
        outputs = tuple(
            replace(each, mode=WriteMode.OVERWRITE_PARTITIONS, lifecycle=None, overwritten=())
            if each.mode in (WriteMode.OVERWRITE, WriteMode.REPLACE)
            else each
            for each in outputs
        )
    if version.read is not None:
        inputs = tuple(replace(each, position=version.read, certainty=version.certainty) for each in inputs)
    return replace(description, outputs=outputs, inputs=inputs)


def executed_read(execution: Any, description: PlanDescription) -> Write:
    """Build the `Write` of a query that only read; if it failed, with the reads up to its failure."""
    return Write(description=description, written=Counts(), scans=_scans_of(execution))


def _scans_of(execution: Any) -> tuple[Scan, ...]:
    try:
        return scans(execution.executedPlan())
    except Exception:
        # The command failed before it had a plan to execute.
        return ()
