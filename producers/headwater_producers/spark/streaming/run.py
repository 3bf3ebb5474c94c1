"""StreamRun: one start of a streaming query, as far as it has been observed, and the run facets that it makes."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from headwater_producers.spark.connectors.stream_commits import SinkCommits, Snapshots
from headwater_producers.spark.events.writes import Write, made_from, outputs_inside
from headwater_producers.spark.plan import PlanDescription, SourceKind
from headwater_producers.spark.streaming.buffer import Chain, Coalescing, Waiting
from headwater_producers.spark.streaming.checkpoint import Checkpoint
from headwater_producers.spark.streaming.gaps import GAPS_FACET, Gap, gaps_facet
from headwater_producers.spark.streaming.progress import STATE_FACET, Progress, StateTally
from headwater_schemas.events import DatasetRef, DatasetUse, JobRef, RunError, RunEventType
from headwater_schemas.facets import EVENT_TIME_FACET, SINK_FACET

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from headwater_producers.spark.streaming.links import MicroBatch


WATERMARK_POLICY: Final = "spark.sql.streaming.multipleWatermarkPolicy"
"""Whether the least or the greatest of several watermarks is the query's: `min` or `max`."""
# Micro-batches kept after they were emitted, for writes that are reported late.
_REMEMBERED: Final = 16


class Query(Protocol):
    """A running streaming query."""

    def is_planned(self) -> bool:
        """Whether `describe` has a plan to read yet."""

    def describe(self, topics: Mapping[int, Collection[str]] | None = None) -> PlanDescription:
        """Its plan; `topics` are those of the sources that subscribe to a pattern, by index."""

    def checkpoint_location(self) -> str | None:
        """Root of its checkpoint."""

    def sink_name(self) -> str:
        """Short name of its sink."""

    def sink_description(self) -> str:
        """Its sink as a progress describes it."""

    def sink_snapshots(self) -> Snapshots | None:
        """The snapshots that it makes, where its sink is an Iceberg table."""

    def is_continuous(self) -> bool:
        """Whether its trigger is continuous."""

    def event_time(self) -> dict[str, Any]:
        """Watermarks and state, by its plan."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run has ended.

    Attributes:
        kind: a terminal state.
        error: why, where it failed.
        at: when that was observed.
        deadline: monotonic; by then it is emitted, whatever may still be on its way.
    """

    kind: RunEventType
    error: RunError | None
    at: datetime
    deadline: float


@dataclass(slots=True)
class StreamRun:
    """One start of a streaming query.

    Attributes:
        query_id, run_id, name: Spark's.
        started_at: when it started.
        query: the query itself; None where it was gone before it could be read.
        description: its plan, once it is known.
        job: its job, from when START was emitted.
        plan_digest: of the column lineage of its own plan.
        checkpoint: None where it has none or it isn't known.
        called: micro-batches that were handed to a foreachBatch function.
        writes: those made inside foreachBatch, by micro-batch.
        pending: committed micro-batches whose writes may not all have been reported yet; with the monotonic time by
            which they are emitted anyway.
        emitted: the last micro-batches that were emitted.
        ending: how it has ended, while writes inside foreachBatch may still be reported.
        commits: of its sink; None while its plan isn't known.
        is_continuous: whether it reports no progress, and is backfilled from its checkpoint.
        event_time: watermarks and state, by its plan.
        state: what its stateful operators keep and have dropped.
        waiting: those of them that wait to be sent with others.
        chain: the emitted micro-batches of its query, by whichever run.
        reads: all datasets read so far.
        written: all datasets written so far, with what each was made from; None: from all that the run reads.
        left_out: micro-batches to backfill from the checkpoint, if nobody has emitted them by then: it had them when
            START was emitted, and they seemed to be the run's own, by the clock; or emitting them has failed.
        gaps: micro-batches of its query that can't be recovered any more, as far as this run has met them;
            `gaps_emitted` of them were emitted.
    """

    query_id: str
    run_id: str
    name: str | None
    started_at: datetime
    query: Query | None
    description: PlanDescription | None = None
    job: JobRef | None = None
    plan_digest: str | None = None
    checkpoint: Checkpoint | None = None
    called: set[int] = field(default_factory=set)
    writes: dict[int, list[Write]] = field(default_factory=dict)
    pending: dict[int, tuple[Progress, float]] = field(default_factory=dict)
    emitted: OrderedDict[int, Progress] = field(default_factory=OrderedDict)
    ending: Ending | None = None
    commits: SinkCommits | None = None
    is_continuous: bool = False
    event_time: dict[str, Any] = field(default_factory=dict)
    state: StateTally = field(default_factory=StateTally)
    waiting: Waiting = field(default_factory=lambda: Waiting(Coalescing()))
    chain: Chain = field(default_factory=Chain)
    reads: set[DatasetRef] = field(default_factory=set)
    written: dict[DatasetRef, set[DatasetRef] | None] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    gaps_emitted: int = 0

    def take_left_out(self, before: int | None = None) -> list[int]:
        """Those left out and still not emitted; with its first micro-batch the run shows which were its own after all.

        Clocks are set back: what an earlier process planned may seem to be later than the run's start.
        """
        left, self.left_out = sorted(set(self.left_out)), []
        return [batch for batch in left if (before is None or batch < before) and not self.chain.has(batch)]

    def remember(self, progress: Progress) -> None:
        """A micro-batch was emitted; what is older than the last few is forgotten with its writes."""
        self.emitted[progress.batch_id] = progress
        while len(self.emitted) > _REMEMBERED:
            old, _ = self.emitted.popitem(last=False)
            self.writes.pop(old, None)
            self.called.discard(old)

    def read_topics(self, topics: Mapping[int, Collection[str]]) -> bool:
        """Describes the query anew where sources that subscribe to a pattern read other topics than it lists."""
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

    def touch(self, description: PlanDescription, *, inside: bool = False) -> bool:
        """Adds a plan's datasets to those seen; whether the run has more datasets or sources by that.

        Args:
            description: the plan.
            inside: whether it is of a write inside foreachBatch: others read and write beside it.
        """
        before = len(self.reads), {output: sources and len(sources) for output, sources in self.written.items()}
        self.reads.update(source.dataset for source in description.inputs)
        sources = made_from(description) if inside else None
        for output in description.outputs:
            known = self.written.setdefault(output.dataset, set())
            if sources is None or known is None:
                self.written[output.dataset] = None
            else:
                known.update(sources)
        return before != (len(self.reads), {output: made and len(made) for output, made in self.written.items()})

    def inputs(self) -> tuple[DatasetUse, ...]:
        """The datasets read so far, without positions: those are in the intervals."""
        return tuple(DatasetUse(dataset=dataset) for dataset in sorted(self.reads))

    def outputs(self) -> tuple[DatasetUse, ...]:
        """The datasets written so far, each with what it was made from where that is known."""
        return tuple(
            DatasetUse(dataset=output, inputs=None if sources is None else tuple(sorted(sources)))
            for output, sources in sorted(self.written.items())
        )


class Runs(dict[str, StreamRun]):
    """By run id, in the order of their starts."""

    def latest_of(self, query_id: str) -> StreamRun | None:
        """The latest run of a query, which is the only one that may be active."""
        return next((run for run in reversed(self.values()) if run.query_id == query_id), None)

    def executing(self, batch: MicroBatch) -> StreamRun | None:
        """The run that executes, or has executed, a micro-batch."""
        return self.latest_of(batch.query_id) if batch.run_id is None else self.get(batch.run_id)


_MAX_GAPS: Final = 100


def run_facets(run: StreamRun, producer: str) -> dict[str, str]:
    """The facets of each change of a run's state: event time, state, and the last gaps met."""
    facets = {}
    if run.event_time:
        facets[EVENT_TIME_FACET] = json.dumps(run.event_time, sort_keys=True)
    if run.state:
        facets[STATE_FACET] = run.state.facet(producer)
    if run.gaps:
        facets[GAPS_FACET] = gaps_facet(run.gaps[-_MAX_GAPS:], producer)
    return facets


def sink_facet(description: PlanDescription | None, sink: str | None, producer: str) -> dict[str, str]:
    """Whether the query writes by itself: of one that doesn't, no micro-batch is known to have written something."""
    link = description.streaming if description is not None else None
    if link is None or sink is None:
        return {}
    about = {"_producer": producer, "name": sink, "callback": link.sink_kind is SourceKind.CALLBACK}
    return {SINK_FACET: json.dumps(about, sort_keys=True)}


UNCOMMITTED_FACET: Final = "headwater_uncommitted"
"""The run facet of a streaming run that ended within a micro-batch: `{"batches": [{"batchId": 7, "outputs": [{…}]}]}`.
Of each output `namespace` and `name`, and as far as known `rows` and a table's `version`."""


def uncommitted_writes(run: StreamRun) -> dict[int, Sequence[Write]]:
    """The writes inside foreachBatch of micro-batches that weren't committed, by batch id in order."""
    return {
        batch: writes
        for batch, writes in sorted(run.writes.items())
        if batch not in run.emitted and not run.chain.has(batch)
    }


def uncommitted_facet(batches: Mapping[int, Sequence[Write]], producer: str) -> str:
    """The facet's JSON."""
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
