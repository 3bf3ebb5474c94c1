"""Runs of Iceberg procedures, found by the snapshots that they committed."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.iceberg.connector import iceberg_table
from headwater_producers.spark.connectors.iceberg.procedures import ProcedureSnapshot, ProcedureSnapshots
from headwater_producers.spark.events.batch import BatchRun
from headwater_producers.spark.events.writes import Write
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, PlanSettings, SourceKind, WriteMode
from headwater_schemas.events import Certainty, ColumnLineage

logger = logging.getLogger(__name__)

_NO_FILES = "the files that an Iceberg procedure took over aren't known"


class Procedures:
    """Finder of procedure runs on tables that the application reads or writes. Never raises."""

    def __init__(self, spark: Any, settings: PlanSettings) -> None:
        self._context = SessionContext(spark, settings)
        self._snapshots = ProcedureSnapshots(str(spark.sparkContext.applicationId), datetime.now(UTC))

    def of_plan(self, plan: Any, description: PlanDescription) -> list[BatchRun]:
        """List the procedure runs on a described plan's tables."""
        storages = [*(each.storage for each in description.inputs), *(each.storage for each in description.outputs)]
        if all(storage is None or storage.layer != "iceberg" for storage in storages):
            return []
        return self._runs(self._snapshots.of_plan(plan))

    def left(self) -> list[BatchRun]:
        """List the procedure runs on all tables used so far."""
        return self._runs(self._snapshots.of_tables())

    def _runs(self, found: Iterable[ProcedureSnapshot]) -> list[BatchRun]:
        try:
            return [self._run(each) for each in found]
        except Exception:
            logger.debug("lineage capture can't read the snapshots of procedures", exc_info=True)
            return []

    def _run(self, snapshot: ProcedureSnapshot) -> BatchRun:
        table = iceberg_table(self._context, snapshot.table)
        output = PlanOutput(
            dataset=table.dataset,
            kind=SourceKind.TABLE,
            type="TABLE",
            mode=WriteMode.UPDATE,
            format="iceberg",
            storage=table.storage,
            symlinks=table.symlinks,
        )
        read = PlanInput(
            dataset=table.dataset,
            kind=SourceKind.TABLE,
            type="TABLE",
            storage=table.storage,
            symlinks=table.symlinks,
            position=snapshot.read,
            certainty=Certainty.EXACT,
        )
        known = snapshot.read is not None
        description = PlanDescription(
            inputs=(read,) if known else (),
            outputs=(output,),
            lineage=ColumnLineage() if known else ColumnLineage(complete=False, incomplete_reason=_NO_FILES),
            command="Call",
        )
        write = Write(
            description=description,
            written=snapshot.counts,
            version=snapshot.made,
            version_certainty=Certainty.EXACT,
            added=snapshot.added,
        )
        # The start is unknown.
        return BatchRun(write=write, started_at=snapshot.at, ended_at=snapshot.at)
