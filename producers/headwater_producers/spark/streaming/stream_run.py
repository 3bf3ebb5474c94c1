"""StreamRun: one start of a streaming query, with its datasets and its micro-batches so far, and its facets as JSON.

If a foreachBatch function fails, the run ends within a micro-batch. The function's earlier writes are durable, and
Spark repeats the whole micro-batch at the next start. These writes have no interval, since the micro-batch isn't
committed. So the run's terminal event reports the writes, in the facet `headwater_uncommitted`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Protocol

from headwater_producers.spark.connectors.connector_answers import StreamLog
from headwater_producers.spark.events.datasets import schema_read, schema_written
from headwater_producers.spark.events.writes import Write, made_from, outputs_inside
from headwater_producers.spark.plan import PlanDescription, SourceKind
from headwater_producers.spark.streaming.gaps import GAPS_FACET, Gap, gaps_facet
from headwater_producers.spark.streaming.interval import QueryProgress, SinkCommits, StateOperator, total
from headwater_producers.spark.streaming.interval_events import EmittedChain, QueryRun
from headwater_producers.spark.streaming.links import MicroBatch
from headwater_schemas.events import DatasetRef, DatasetUse, RunError, RunEventType
from headwater_schemas.facets import EVENT_TIME_FACET, SINK_FACET

WATERMARK_POLICY: Final = "spark.sql.streaming.multipleWatermarkPolicy"
"""Spark property that selects the least or the greatest of several watermarks: `min` or `max`."""
STATE_FACET: Final = "headwater_state"
"""The run facet of a streaming run with stateful operators, as of its last micro-batch that was emitted:
`{"operators": [{"operatorName": "dedupe", "numRowsTotal": 3, "maxNumRowsTotal": 5, "memoryUsedBytes": 1560,
"numRowsDroppedByWatermark": 1}]}`. The names are Spark's; dropped rows are counted over all the run's micro-batches."""

# Number of emitted micro-batches to keep, for writes that are reported late.
_REMEMBERED_BATCHES: Final = 16


class StreamQuery(Protocol):
    """A running streaming query."""

    def is_planned(self) -> bool:
        """Return True if `describe` has a plan to read."""

    def describe(self, topics: Mapping[int, Collection[str]] | None = None) -> PlanDescription:
        """Return the plan; `topics`: topics of the sources that subscribe to a pattern, by source index."""

    def checkpoint_location(self) -> str | None:
        """Return the root of the checkpoint; None if the query has no checkpoint."""

    def sink_name(self) -> str:
        """Return the short name of the sink."""

    def sink_description(self) -> str:
        """Return the description of the sink, as a progress has it."""

    def sink_snapshots(self) -> StreamLog | None:
        """Return the log of the sink, if the sink is an Iceberg table."""

    def is_continuous(self) -> bool:
        """Return True for a query with a continuous trigger."""

    def event_time(self) -> dict[str, Any]:
        """Return watermarks, stateful operators and retention of state, as the plan shows them."""


@dataclass(frozen=True, slots=True)
class RunEnding:
    """End of a run.

    Attributes:
        kind: a terminal state.
        deadline: monotonic time at which the end is emitted, even if reports of writes may still come.
    """

    kind: RunEventType
    error: RunError | None
    at: datetime
    deadline: float


class StateTally:
    """Totals of one run's stateful operators over its micro-batches, in the order of the plan."""

    def __init__(self) -> None:
        self._operators: list[StateOperator] = []
        self._most_rows: list[int | None] = []

    def __bool__(self) -> bool:
        return bool(self._operators)

    def add(self, operators: Sequence[StateOperator]) -> None:
        """Add the operators of a micro-batch. Call it once for each micro-batch."""
        if not operators:
            return
        before = [each.name for each in self._operators]
        if before != [each.name for each in operators]:
            self._operators, self._most_rows = list(operators), [each.rows for each in operators]
            return
        pairs = list(zip(self._operators, operators, strict=True))
        self._operators = [
            replace(now, dropped_late=total((so_far.dropped_late, now.dropped_late))) for so_far, now in pairs
        ]
        self._most_rows = [
            max((rows for rows in (most, now.rows) if rows is not None), default=None)
            for most, now in zip(self._most_rows, operators, strict=True)
        ]

    @property
    def dropped_late(self) -> int | None:
        """Number of late rows that all operators have dropped."""
        return total(each.dropped_late for each in self._operators)

    def facet(self, producer: str) -> str:
        """Return the facet of the state, as JSON."""
        rows = [
            {
                "operatorName": each.name,
                "numRowsTotal": each.rows,
                "maxNumRowsTotal": most,
                "memoryUsedBytes": each.bytes,
                "numRowsDroppedByWatermark": each.dropped_late,
            }
            for each, most in zip(self._operators, self._most_rows, strict=True)
        ]
        known = [{name: value for name, value in each.items() if value is not None} for each in rows]
        return json.dumps({"_producer": producer, "operators": known})


class RunBatches:
    """Micro-batches of one run: called, pending and emitted ones, and the writes inside foreachBatch.

    Attributes:
        pending: committed micro-batches whose writes may not all have been reported yet, with the monotonic time at
            which they are emitted anyway.
        state: rows that stateful operators keep and have dropped.
        left_out: micro-batches to backfill from the checkpoint, unless they are emitted first. Either emitting them
            failed, or the checkpoint had them at START and by the clock they belonged to the run.
    """

    def __init__(self) -> None:
        self.called: set[int] = set()
        self.writes: dict[int, list[Write]] = {}
        self.pending: dict[int, tuple[QueryProgress, float]] = {}
        self.emitted: OrderedDict[int, QueryProgress] = OrderedDict()
        self.last: QueryProgress | None = None
        self.count = 0
        self.rows_read = 0
        self.state = StateTally()
        self.left_out: list[int] = []

    def remember(self, progress: QueryProgress) -> None:
        """Record an emitted micro-batch; forget all but the last few, with their writes."""
        if progress.batch_id not in self.emitted:
            self.last = progress
            self.count += 1
            self.rows_read += sum(source.rows or 0 for source in progress.sources)
            self.state.add(progress.operators)
        self.emitted[progress.batch_id] = progress
        while len(self.emitted) > _REMEMBERED_BATCHES:
            old, _ = self.emitted.popitem(last=False)
            self.writes.pop(old, None)
            self.called.discard(old)

    def take_left_out(self, chain: EmittedChain, before: int | None = None) -> list[int]:
        """Take the left out micro-batches that still aren't emitted, in order.

        The run's first micro-batch shows which of them the run emits itself. A clock may have been set back: a
        micro-batch that an earlier process planned may seem to be later than the run's start.

        Args:
            before: take only micro-batches before this one; None: all.
        """
        left, self.left_out = sorted(set(self.left_out)), []
        return [batch for batch in left if (before is None or batch < before) and not chain.has(batch)]

    def uncommitted(self, chain: EmittedChain) -> dict[int, Sequence[Write]]:
        """Return the writes inside foreachBatch of uncommitted micro-batches, by batch id, ascending."""
        return {
            batch: writes
            for batch, writes in sorted(self.writes.items())
            if batch not in self.emitted and not chain.has(batch)
        }


class RunDatasets:
    """Datasets that a run has read and written so far. Their positions are in the intervals.

    Attributes:
        written: written datasets, each with its source datasets; None: all that the run reads.
        schemas_read, schemas_written: last digests of their schemas.
    """

    def __init__(self) -> None:
        self.reads: set[DatasetRef] = set()
        self.written: dict[DatasetRef, set[DatasetRef] | None] = {}
        self.schemas_read: dict[DatasetRef, str] = {}
        self.schemas_written: dict[DatasetRef, str] = {}

    def add(self, description: PlanDescription, *, inside: bool = False) -> bool:
        """Add a plan's datasets; return True if this adds datasets, sources or schemas.

        Args:
            inside: True for a write inside foreachBatch: other writes of the run have other sources.
        """
        before = self._state()
        self.reads.update(source.dataset for source in description.inputs)
        for source in description.inputs:
            if (digest := schema_read(source)) is not None:
                self.schemas_read[source.dataset] = digest
        sources = made_from(description) if inside else None
        for output in description.outputs:
            if (digest := schema_written(output)) is not None:
                self.schemas_written[output.dataset] = digest
            known = self.written.setdefault(output.dataset, set())
            if sources is None or known is None:
                self.written[output.dataset] = None
            else:
                known.update(sources)
        return before != self._state()

    def _state(self) -> tuple[object, ...]:
        sources = {output: made and len(made) for output, made in self.written.items()}
        return len(self.reads), sources, dict(self.schemas_read), dict(self.schemas_written)

    def inputs(self) -> tuple[DatasetUse, ...]:
        """Return the datasets read."""
        return tuple(
            DatasetUse(dataset=dataset, schema_digest=self.schemas_read.get(dataset)) for dataset in sorted(self.reads)
        )

    def outputs(self) -> tuple[DatasetUse, ...]:
        """Return the written datasets, each with its source datasets, if known."""
        return tuple(
            DatasetUse(
                dataset=output,
                inputs=None if sources is None else tuple(sorted(sources)),
                schema_digest=self.schemas_written.get(output),
            )
            for output, sources in sorted(self.written.items())
        )


@dataclass(slots=True, kw_only=True)
class StreamRun(QueryRun):
    """One start of a streaming query, with its plan, datasets and micro-batches.

    Attributes:
        query: the query itself; None if the query ended before it could be read.
        plan_digest: digest of the column lineage of the query's own plan.
        commits: commits of its sink; None while its plan isn't known.
        is_taken: True once `StreamFlow.newly_described` has returned the plan.
        is_continuous: True if it reports no progress, and is backfilled from its checkpoint.
        event_time: watermarks, stateful operators and retention of state, as the plan shows them.
        ending: its end, while writes inside foreachBatch may still be reported.
        gaps: micro-batches of its query that can no longer be recovered, as found by this run; the first `gaps_emitted`
            were emitted.
    """

    query: StreamQuery | None
    description: PlanDescription | None = None
    plan_digest: str | None = None
    commits: SinkCommits | None = None
    is_taken: bool = False
    is_continuous: bool = False
    event_time: dict[str, Any] = field(default_factory=dict)
    datasets: RunDatasets = field(default_factory=RunDatasets)
    batches: RunBatches = field(default_factory=RunBatches)
    ending: RunEnding | None = None
    gaps: list[Gap] = field(default_factory=list)
    gaps_emitted: int = 0

    def read_topics(self, topics: Mapping[int, Collection[str]]) -> bool:
        """Describe the query again if sources that subscribe to a pattern read other topics than listed.

        Returns:
            True if the query was described again.
        """
        link = self.description.streaming if self.description is not None else None
        if self.query is None or self.description is None or link is None:
            return False
        inputs = self.description.inputs
        known = {
            index: {each.dataset.name for each in inputs if each.source_index == index}
            for index in link.pattern_sources
        }
        read = {index: names.union(topics.get(index, ())) for index, names in known.items()}
        if read == known:
            return False
        self.description = self.query.describe(read)
        return True


class Runs(dict[str, StreamRun]):
    """Runs by run id, in the order of their starts."""

    def latest_of(self, query_id: str) -> StreamRun | None:
        """Return the latest run of a query, which is the only one that can be active."""
        return next((run for run in reversed(self.values()) if run.query_id == query_id), None)

    def executing(self, batch: MicroBatch) -> StreamRun | None:
        """Return the run that executes, or has executed, a micro-batch."""
        return self.latest_of(batch.query_id) if batch.run_id is None else self.get(batch.run_id)


_MAX_GAPS: Final = 100


def run_facets(run: StreamRun, producer: str) -> dict[str, str]:
    """Return the facets of every event of a run: event time, state, and the last gaps."""
    facets = {}
    if run.event_time:
        facets[EVENT_TIME_FACET] = json.dumps(run.event_time, sort_keys=True)
    if run.batches.state:
        facets[STATE_FACET] = run.batches.state.facet(producer)
    if run.gaps:
        facets[GAPS_FACET] = gaps_facet(run.gaps[-_MAX_GAPS:], producer)
    return facets


def sink_facet(description: PlanDescription | None, sink: str | None, producer: str) -> dict[str, str]:
    """Return the facet of the query's sink: its name, and its callback flag (foreachBatch); empty if unknown."""
    link = description.streaming if description is not None else None
    if link is None or sink is None:
        return {}
    about = {"_producer": producer, "name": sink, "callback": link.sink_kind is SourceKind.CALLBACK}
    return {SINK_FACET: json.dumps(about, sort_keys=True)}


UNCOMMITTED_FACET: Final = "headwater_uncommitted"
"""The run facet of a streaming run that ended within a micro-batch: `{"batches": [{"batchId": 7, "outputs": [{…}]}]}`.
Each output has `namespace` and `name`, and if known `rows` and a table's `version`."""


def uncommitted_facet(batches: Mapping[int, Sequence[Write]], producer: str) -> str:
    """Return the facet of uncommitted writes, as JSON."""
    rows = [
        {
            "batchId": batch,
            "outputs": [_output(use) for use in outputs_inside(writes)],
        }
        for batch, writes in batches.items()
    ]
    return json.dumps({"_producer": producer, "batches": rows}, sort_keys=True)


def _output(use: DatasetUse) -> dict[str, Any]:
    snapshot = use.position.table_snapshot if use.position is not None else None
    facts = {
        "namespace": use.dataset.namespace,
        "name": use.dataset.name,
        "rows": use.rows,
        "version": snapshot.snapshot_id if snapshot is not None else None,
    }
    return {key: value for key, value in facts.items() if value is not None}
