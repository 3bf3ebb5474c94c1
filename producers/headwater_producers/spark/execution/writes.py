"""One executed command as a `Write`: what its plan says, what it counted, and the version that it made."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.versions import Place, committed, written_place
from headwater_producers.spark.events.writes import Counts, Scan, Write
from headwater_producers.spark.execution.executions import scans, written_counts
from headwater_producers.spark.execution.table_schema import with_table_schema
from headwater_producers.spark.jvm.jobs import ran_jobs
from headwater_producers.spark.plan import SourceKind, WriteMode
from headwater_schemas.events import FileSet, Position

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.committed import Committed
    from headwater_producers.spark.plan import PlanDescription

logger = logging.getLogger(__name__)

_ALWAYS_COMMIT: Final = frozenset(
    {"OptimizeTableCommand", "DeltaReorgTableCommand", "ConvertToDeltaCommand", "VacuumTableCommand"}
)
"""Delta's commands that leave a commit wherever they do anything."""
_CHANGE_ROWS: Final = frozenset({"MergeIntoCommand", "UpdateCommand", "DeleteCommand"})


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """The rows of a CREATE TABLE AS, which are told before the command that makes the table."""

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
    failed: bool = False,
    staged: StagedWrite | None = None,
) -> Write:
    """What a write did; of a failed one, what it had read until then.

    Args:
        execution: the JVM's `QueryExecution`.
        description: its plan.
        session: the `SparkSession` that ran it.
        started_at: by this driver's clock.
        ended_at: by the same.
        failed: whether it failed.
        staged: the write that ran inside, of a command that makes a table of a query.
    """
    if failed:
        return Write(description=_attempted(description), written=Counts(), scans=_scans_of(execution))
    executed = execution.executedPlan()
    place = _place(execution, session)
    description = with_table_schema(description, place, session)
    counts, read = written_counts(executed), scans(executed)
    if staged is not None:
        counts, read = staged.counts, staged.scans
    if description.command == "CreateDeltaTableCommand":
        # A clone has no rows of its own: the counters are there, and nobody counts.
        counts = Counts()
    ran = ran_jobs(session, started_at, ended_at) if _leaves_no_trace(description) else None
    version, looked = None, False
    if place is not None:
        try:
            version = committed(execution, place, session, started_at, ended_at, _columns(description))
            looked = True
        except Exception:
            # A log that was cleaned up, a catalog that doesn't answer: the write is told without its version.
            logger.debug("lineage capture can't tell the version that a write made", exc_info=True)
    if looked and version is None and description.command in _CHANGE_ROWS:
        # Delta commits nothing where no row is met.
        counts = Counts(rows=0, bytes=0, files=0)
    if version is None or version.position is None:
        found = version is not None if looked else None
        return Write(description=description, written=counts, scans=read, ran_jobs=ran, commits=found)
    return Write(
        description=_settled(description, version),
        written=counts.or_else(version.counts),
        scans=read,
        version=version.position,
        version_certainty=version.certainty,
        commits=True,
    )


def _place(execution: Any, session: Any) -> Place | None:
    """What a write has written, where that can be asked."""
    try:
        return written_place(execution.analyzed(), session)
    except Exception:
        logger.debug("lineage capture can't look at the table that a write made", exc_info=True)
        return None


def wrote_nothing(write: Write, staged: StagedWrite | None) -> bool:
    """Whether `mode("ignore")`, or IF NOT EXISTS, met what was there already, and left it as it was.

    So does an OPTIMIZE that finds nothing to do, a VACUUM that is a DRY RUN, a CONVERT of what is converted already.

    Args:
        write: the write, which didn't fail.
        staged: as given to `executed_write`.
    """
    description = write.description
    if description.command in _ALWAYS_COMMIT:
        return write.commits is False
    if not description.outputs or any(output.mode is not WriteMode.IGNORE for output in description.outputs):
        return False
    match description.command:
        case "InsertIntoHadoopFsRelationCommand":
            # No rows are a file, too.
            return write.written.files == 0
        case "CreateTableAsSelect":
            return staged is None and write.version is None
        case "CreateDeltaTableCommand":
            return write.version is None
        case "SaveIntoDataSourceCommand" if description.outputs[0].format == "delta":
            return write.version is None
    return write.ran_jobs is False


def _columns(description: PlanDescription) -> frozenset[str]:
    return frozenset(f.path for o in description.outputs if o.schema is not None for f in o.schema.fields)


def _leaves_no_trace(description: PlanDescription) -> bool:
    """Whether neither plan nor counts nor log will say that a write was ignored."""
    return description.command == "SaveIntoDataSourceCommand" and any(
        output.mode is WriteMode.IGNORE and output.kind is SourceKind.JDBC for output in description.outputs
    )


def _attempted(description: PlanDescription) -> PlanDescription:
    """Of a write that failed: whether it had made or replaced anything by then, nobody knows."""
    return replace(description, outputs=tuple(replace(output, lifecycle=None) for output in description.outputs))


def _settled(description: PlanDescription, version: Committed) -> PlanDescription:
    """A plan's description with what only the commit of its write says."""
    outputs, inputs = description.outputs, description.inputs
    if version.keeps:
        # Whatever the session's settings are by now: files of earlier versions are there still.
        outputs = tuple(
            replace(each, mode=WriteMode.OVERWRITE_PARTITIONS, lifecycle=None)
            if each.mode in (WriteMode.OVERWRITE, WriteMode.REPLACE)
            else each
            for each in outputs
        )
    before = version.before
    if description.command == "ConvertToDeltaCommand" and version.counts.files is not None:
        before = Position(files=FileSet(count=version.counts.files))
    if description.command in _ALWAYS_COMMIT and before is not None:
        inputs = tuple(replace(each, position=before, certainty=version.certainty) for each in inputs)
    return replace(description, outputs=outputs, inputs=inputs)


def executed_read(execution: Any, description: PlanDescription) -> Write:
    """What a query did that only read; of a failed one, until then."""
    return Write(description=description, written=Counts(), scans=_scans_of(execution))


def _scans_of(execution: Any) -> tuple[Scan, ...]:
    try:
        return scans(execution.executedPlan())
    except Exception:
        # It failed before there was a plan to execute.
        return ()
