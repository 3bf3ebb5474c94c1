"""StreamEmitter: makes and emits the events of streaming runs, in the order in which they are due."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from headwater_producers.spark.connectors.stream_commits import SinkCommits
from headwater_producers.spark.events.batch import hash_of, job_events
from headwater_producers.spark.events.context import fitting
from headwater_producers.spark.events.datasets import dataset_bodies
from headwater_producers.spark.events.job_names import streaming_name
from headwater_producers.spark.events.plans import new_plan_event
from headwater_producers.spark.streaming.buffer import Due, Notes, version_text
from headwater_producers.spark.streaming.checkpoint import Checkpoint
from headwater_producers.spark.streaming.interval import interval_entry, micro_batch_facts
from headwater_producers.spark.streaming.run import (
    UNCOMMITTED_FACET,
    WATERMARK_POLICY,
    run_facets,
    sink_facet,
    uncommitted_facet,
    uncommitted_writes,
)
from headwater_schemas.events import (
    EmissionReason,
    IntervalEvent,
    ProcessingType,
    Provenance,
    RunEvent,
    RunEventType,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from headwater_producers.spark.connectors.kafka.sink_offsets import SinkOffsets
    from headwater_producers.spark.events.context import Emit, EventContext
    from headwater_producers.spark.events.dedup_cache import DedupCache
    from headwater_producers.spark.events.writes import Write
    from headwater_producers.spark.jvm.files import TextFiles
    from headwater_producers.spark.plan import PlanDescription
    from headwater_producers.spark.streaming.progress import Progress
    from headwater_producers.spark.streaming.run import Ending, StreamRun
    from headwater_schemas.events import IntervalEntry, JobRef, LineageEvent, RunError


class StreamEmitter:
    """Makes a streaming run's events and emits them.

    Args:
        context: of the application.
        emit: takes each event; False: it was refused.
        dedup: job, dataset and plan events that were emitted already.
        files: to read checkpoints and sinks' logs with.
        sinks: the end offsets of the topics that are written.
        notes: where the last emitted micro-batch of a query is noted.
    """

    def __init__(
        self,
        *,
        context: EventContext,
        emit: Emit,
        dedup: DedupCache,
        files: TextFiles,
        sinks: SinkOffsets,
        notes: Notes | None = None,
    ) -> None:
        self._context = context
        self._versions = version_text(context.versions)
        self._notes = notes or Notes()
        self._emit = emit
        self._dedup = dedup
        self._files = files
        self._sinks = sinks

    def start(self, run: StreamRun) -> None:
        """START, with the run's plan if that can be read; its job, datasets and column lineage where they are new."""
        query = run.query
        location = query.checkpoint_location() if query is not None else None
        run.checkpoint = Checkpoint(location, self._files) if location is not None else None
        if query is not None:
            run.description = query.describe()
            run.commits = SinkCommits(query.sink_description(), run.query_id, self._files, query.sink_snapshots())
            run.is_continuous = query.is_continuous()
            run.event_time = query.event_time()
            if "policy" in run.event_time and run.checkpoint is not None:
                # A query keeps the policy that it was first started with.
                run.event_time["policy"] = run.checkpoint.setting(WATERMARK_POLICY) or run.event_time["policy"]
            link = run.description.streaming
            if link is not None and link.pattern_sources and run.checkpoint is not None:
                run.read_topics(run.checkpoint.topics(len(link.source_descriptions)))
        outputs = run.description.outputs if run.description is not None else ()
        # First of all: what the first micro-batch wrote can only be bounded if it hasn't begun to.
        self._sinks.observe(outputs)
        sink = query.sink_name() if query is not None else None
        run.job = job = self._context.job(streaming_name(self._context.app_name, run.name, outputs, sink))
        for event in job_events(self._context, job, ProcessingType.STREAMING, "QUERY", run.started_at, self._dedup):
            self._emit(event)
        if run.description is not None:
            run.touch(run.description)
            self._datasets(run, job, run.description, run.started_at)
            run.plan_digest = self._plan(run, job, [run.description], run.started_at)
        about = sink_facet(run.description, sink, self._context.producer)
        self.state(run, RunEventType.START, run.started_at, facets=about)

    def micro_batch(self, run: StreamRun, progress: Progress, at: datetime, *, now: float = 0.0) -> None:
        """One committed micro-batch, again where it was emitted before: the later `at` then marks the newer event.

        What the micro-batch brings to light is emitted first: datasets and column lineage of the writes inside
        foreachBatch, new topics of a subscribed pattern, and once for each new dataset RUNNING with all the run's
        datasets so far.

        Args:
            run: whose.
            progress: of the micro-batch.
            at: when it was reported.
            now: monotonic seconds, for how long it may wait for others.
        """
        job = _job(run)
        if run.description is not None and run.read_topics(progress.topics()):
            self._datasets(run, job, run.description, at)
            run.plan_digest = self._plan(run, job, [run.description], at)
            if run.touch(run.description):
                self.state(run, RunEventType.RUNNING, at)
        writes = run.writes.get(progress.batch_id, [])
        digest = self.inside(run, writes, at) if writes else run.plan_digest
        commits = run.commits or SinkCommits(progress.sink, run.query_id, self._files)
        facts = micro_batch_facts(progress, run.description, run.checkpoint, writes, digest, commits, self._sinks)
        entry = interval_entry(
            progress,
            run.description.inputs if run.description is not None else (),
            facts,
            read_often=progress.batch_id in run.called,
        )
        if progress.batch_id not in run.emitted:
            run.state.add(progress.operators)
            ended = progress.started_at + timedelta(milliseconds=progress.duration_ms or 0)
            self.send(run, run.waiting.add(entry, ended, run.chain.change(entry, self._versions), now))
        elif not run.waiting.replace(entry):
            # Known of it now: what its sinks have committed.
            self.send(run, [Due((entry,), EmissionReason.SINK_COMMIT, at)])
        run.remember(progress)

    def inside(self, run: StreamRun, writes: Sequence[Write], at: datetime) -> str | None:
        """Writes inside foreachBatch: their datasets and column lineage, as far as they are new.

        Returns:
            The digest of their column lineage.
        """
        has_new, digest = self._writes(run, writes, at)
        if has_new:
            self.state(run, RunEventType.RUNNING, at)
        return digest

    def end(self, run: StreamRun, ending: Ending) -> None:
        """The end of a run, with what its last micro-batch has written that wasn't committed."""
        facets = {}
        if left := uncommitted_writes(run):
            writes = [write for batch in left.values() for write in batch]
            _, written = self._writes(run, writes, ending.at)
            run.plan_digest = run.plan_digest or written
            facets[UNCOMMITTED_FACET] = uncommitted_facet(left, self._context.producer)
        self.state(run, ending.kind, ending.at, ending.error, facets)

    def send(self, run: StreamRun, due: Iterable[Due]) -> None:
        """Emits the intervals that are due."""
        for each in due:
            taken = [self._emit(event) for event in fitting(each.entries, partial(self._interval, run, each))]
            if False not in taken:
                self._notes.write(run.query_id, run.chain.sent(each.entries[-1].batch_id))

    def state(
        self,
        run: StreamRun,
        kind: RunEventType,
        at: datetime,
        error: RunError | None = None,
        facets: Mapping[str, str] | None = None,
    ) -> None:
        """A change of the run's state, with the datasets seen and the gaps met so far."""
        run.gaps_emitted = len(run.gaps)
        body = RunEvent(
            type=kind,
            processing_type=ProcessingType.STREAMING,
            inputs=run.inputs(),
            outputs=run.outputs(),
            started_at=run.started_at,
            ended_at=at if kind.is_terminal else None,
            versions=self._context.versions,
            parent=self._context.parent,
            root=self._context.root,
            error=error,
            plan_digest=run.plan_digest,
            query_id=run.query_id,
            checkpoint_location=run.checkpoint.location if run.checkpoint is not None else None,
            run_facets={**(facets or {}), **run_facets(run, self._context.producer)},
        )
        self._emit(self._context.run(body, job=_job(run), run_id=run.run_id, at=at))

    def _interval(self, run: StreamRun, due: Due, entries: Sequence[IntervalEntry]) -> LineageEvent:
        body = IntervalEvent(
            query_id=run.query_id,
            entries=tuple(entries),
            query_name=run.name,
            checkpoint_location=run.checkpoint.location if run.checkpoint is not None else None,
            versions=self._context.versions,
            reason=due.reason,
            provenance=Provenance.OBSERVED,
        )
        return self._context.interval(body, job=_job(run), run_id=run.run_id, at=due.at)

    def _writes(self, run: StreamRun, writes: Sequence[Write], at: datetime) -> tuple[bool, str | None]:
        """Datasets and column lineage of writes inside foreachBatch: whether there are new datasets, and the digest."""
        job = _job(run)
        for write in writes:
            self._datasets(run, job, write.description, at)
        touched = [run.touch(write.description, inside=True) for write in writes]
        if not writes:
            return False, None
        return any(touched), self._plan(run, job, [write.description for write in writes], at)

    def _plan(self, run: StreamRun, job: JobRef, plans: Sequence[PlanDescription], at: datetime) -> str | None:
        digest, event = new_plan_event(self._context, plans, job=job, run_id=run.run_id, at=at, dedup=self._dedup)
        if event is not None:
            self._emit(event)
        return digest

    def _datasets(self, run: StreamRun, job: JobRef, description: PlanDescription, at: datetime) -> None:
        for body in dataset_bodies(description):
            if self._dedup.add(("dataset", body.dataset, hash_of(body))):
                self._emit(self._context.dataset(body, job=job, run_id=run.run_id, at=at))


def _job(run: StreamRun) -> JobRef:
    if run.job is None:
        raise RuntimeError(f"run {run.run_id}: START must be emitted first")
    return run.job
