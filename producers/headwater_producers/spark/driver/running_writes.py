"""Running batch writes: announced while they run, so that a killed driver leaves an open run behind.

Spark calls a QueryExecutionListener when a query is over. While the query runs, it is in the map that Spark's UI reads.
The worker polls this map once a second. A poll takes one round trip to the JVM if nothing runs, and none on the query's
thread. A write that has run for a second is announced; a shorter one is reported after its end.

Writes that another run reports aren't announced: a write inside foreachBatch (its micro-batch reports it), a CREATE
TABLE AS around a write that Spark reports separately, and a write into a table that the enclosing command reports.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from headwater_producers.spark.connectors.iceberg.catalog_metadata import CatalogMetadata
from headwater_producers.spark.driver import sessions
from headwater_producers.spark.driver.attribution import Attributor
from headwater_producers.spark.driver.wrapped_writes import makes_a_table, names_of
from headwater_producers.spark.events.batch import (
    BatchRun,
    batch_running,
    batch_started,
    batch_unreadable,
    batch_wrote_nothing,
    plan_to_be,
)
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.left_writes import write_facet
from headwater_producers.spark.events.run_error import first_line
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.execution import may_write
from headwater_producers.spark.execution.executions import execution_times
from headwater_producers.spark.execution.writes import transaction_of
from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.jvm.versions import running_executions
from headwater_producers.spark.left_writes.left_tables import KeptWrites, ends_of
from headwater_producers.spark.plan import PlanDescription
from headwater_schemas.events import LineageEvent, RunError
from headwater_schemas.facets import WRITE_FACET

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""Time between searches, and the least run time of an announced write."""


@dataclass(slots=True)
class _Seen:
    """Running execution: time of its discovery, and its plan once it was read."""

    since: float
    session: Any
    description: PlanDescription | None = None
    decided: bool = False


class RunningWrites:
    """Announcer of running writes; hands over the announced run when its write ends. Only for the worker's thread.

    Args:
        dedup: cache of emitted job, dataset and plan events.
        kept: store of announced writes, with which the next process ends the runs of a killed driver.
        marked: True if the application's commits name its run.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        spark: Any,
        attributor: Attributor,
        context: EventContext,
        emit: Callable[[LineageEvent], object],
        dedup: DedupCache,
        kept: KeptWrites,
        *,
        marked: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spark = spark
        self._attributor = attributor
        self._context = context
        self._emit = emit
        self._dedup = dedup
        self._kept = kept
        self._marked = marked
        self._application = str(spark.sparkContext.applicationId)
        # Run ids whose emitted end may not be durable yet.
        self._done: list[str] = []
        self._looked_back = False
        self._clock = clock
        self._look_at = clock() + LOOK_SECONDS
        self._running: Any = None
        self._has_running_map = True
        # Keyed by the number of the query execution.
        self._seen: dict[int, _Seen] = {}
        self._open: dict[int, BatchRun] = {}

    def look(self) -> None:
        """Announce the writes that have run for long enough. Never raises."""
        if self._clock() < self._look_at or not self._has_running_map:
            return
        self._look_at = self._clock() + LOOK_SECONDS
        self._forget_done()
        try:
            self._look()
        except Exception as error:
            # Spark is shutting down, or its version has no such map: ends are still reported.
            logger.debug("lineage capture can't look for running writes (%s)", first_line(error), exc_info=True)
            self._has_running_map = self._running is not None

    def look_back(self) -> None:
        """End the runs that dead drivers of the same job have left open, once. Never raises."""
        if self._looked_back:
            return
        self._looked_back = True
        try:
            files, current = JvmFiles(self._spark.sparkContext), CatalogMetadata(self._spark)
            for left in self._kept.left():
                for event in ends_of(left, files, current, producer=self._context.producer):
                    self._emit(event)
        except Exception as error:
            logger.warning(
                "lineage capture can't recover the batch writes of a dead driver: %s (`headwater reconcile TABLE` can)",
                first_line(error),
                exc_info=True,
            )

    def close(self) -> None:
        """Close after the last write. Open writes stay for the next process."""
        self._forget_done()
        self._kept.close()

    def wrote(self, run: BatchRun) -> None:
        """Record that an emitted write's version belongs to no other open write."""
        version = run.write.version.table_snapshot if run.write.version is not None else None
        if version is None or not self._open:
            return
        names = names_of(run.write.description)
        for other in self._open.values():
            if other.run_id != run.run_id and names & names_of(other.write.description):
                self._kept.claim(other.run_id, version.snapshot_id)

    def _forget_done(self) -> None:
        for run_id in self._done:
            self._kept.remove(run_id)
        self._done = []

    def _end(self, number: int) -> BatchRun | None:
        run = self._open.pop(number, None)
        if run is not None:
            self._done.append(run.run_id)
        return run

    def beat(self, at: datetime, seconds: float) -> None:
        """Emit heartbeats of announced writes that still run."""
        self._kept.seen(at)
        for number, run in self._open.items():
            if number in self._seen:
                self._emit(batch_running(self._context, run, at, seconds))

    def announced(self, execution: Any) -> BatchRun | None:
        """Return the announced run of an execution, if any. Costs nothing if no run is open."""
        return self._open.get(int(execution.id())) if self._open else None

    def ended(self, execution: Any) -> None:
        """Close the announced run of an execution whose end was emitted."""
        if self._open:
            self._end(int(execution.id()))

    def wrote_nothing(self, execution: Any, reason: str, at: datetime) -> None:
        """End the announced run of an execution that had nothing to write."""
        if (known := self.announced(execution)) is not None:
            self._emit(batch_wrote_nothing(self._context, replace(known, ended_at=at), reason))
            self.ended(execution)

    def reported_inside(self, execution: Any, inner: BatchRun, error: RunError | None, at: datetime) -> None:
        """End the announced run of an execution whose write was emitted as a run of its own, `inner`."""
        if (known := self.announced(execution)) is not None:
            run = replace(known, error=error, ended_at=at)
            reason = "the write inside the command is reported"
            self._emit(batch_wrote_nothing(self._context, run, reason, inner.run_id))
            self.ended(execution)

    def unreadable(self, execution: Any, error: RunError | None, at: datetime) -> None:
        """End the announced run of an execution that can no longer be read."""
        if (run := self._end(int(execution.id()))) is not None:
            self._emit(batch_unreadable(self._context, replace(run, error=error, ended_at=at)))

    def _look(self) -> None:
        if self._running is None:
            self._running = running_executions(self._spark)
        running = {int(each.id()): each for each in self._executions()}
        self._seen = {number: seen for number, seen in self._seen.items() if number in running}
        now = self._clock()
        for number, execution in running.items():
            if number not in self._seen:
                self._seen[number] = _Seen(now, self._session_of(execution))
        due = {
            number: seen
            for number, seen in self._seen.items()
            if not seen.decided and seen.session is not None and now - seen.since >= LOOK_SECONDS
        }
        if not due:
            return
        for number, seen in self._seen.items():
            if seen.session is not None and seen.description is None:
                self._describe(seen, running[number])
        for number, seen in due.items():
            seen.decided = True
            if seen.description is not None and not self._is_part(number, seen.description):
                self._announce(number, running[number], seen.description)

    def _executions(self) -> Iterator[Any]:
        # Uses the map's own iterator: py4j would look up each value with an Integer key, while the map has Long keys.
        if not self._running.isEmpty():
            elements = self._running.elements()
            while elements.hasMoreElements():
                yield elements.nextElement()

    def _session_of(self, execution: Any) -> Any:
        """Return the session whose listeners will be called; None if unknown, or if it is a streaming query's copy."""
        application = sessions.known_application(self._spark.sparkContext)
        found = application.sessions.get(str(execution.sparkSession().sessionUUID())) if application else None
        if found is None or class_name(execution) == "IncrementalExecution":
            return None
        return found.session

    def _describe(self, seen: _Seen, execution: Any) -> None:
        try:
            if not may_write(execution):
                # A query that only reads, perhaps of thousands of columns.
                seen.session = None
                return
            attribution, description = self._attributor.described(execution, seen.session, is_running=True)
        except Exception as error:
            # The execution isn't analyzed, or is over by now.
            logger.debug("lineage capture can't read a running execution (%s)", first_line(error))
            seen.session = None
            return
        writes = bool(description.outputs) and not description.is_streaming and attribution.batch is None
        seen.description = description if writes else None
        if not writes:
            seen.session = None

    def _is_part(self, number: int, description: PlanDescription) -> bool:
        if description.staged:
            return True
        if not makes_a_table(description):
            return False
        names = names_of(description)
        return any(
            other.description is not None and not other.description.staged and names & names_of(other.description)
            for key, other in self._seen.items()
            if key != number
        )

    def _announce(self, number: int, execution: Any, description: PlanDescription) -> None:
        now = datetime.now(UTC)
        started_at, _ = execution_times(execution, None, now)
        write = Write(description=description, written=Counts())
        run = BatchRun(write=write, started_at=started_at, ended_at=now, is_announced=True)
        self._open[number] = run
        facet = write_facet(
            description,
            application=self._application,
            app_run=self._context.app_run_id,
            marked=self._marked,
            producer=self._context.producer,
            transaction=transaction_of(execution, self._seen[number].session),
        )
        for event in batch_started(self._context, run, self._dedup, {WRITE_FACET: facet}):
            self._emit(event)
            if event.run_event is not None:
                self._kept.add(event, plan_to_be(self._context, run))
