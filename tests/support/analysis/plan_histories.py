"""Histories of jobs that write one dataset, as events, and what holds at their end, derived by hand.

Each history has a dataset `tgt` with a column `x`, and sources `a`, `b`, `c`, `d` with a column `v` each, that one step
copies to `x`. All names are the history's own, so that all histories fit into one graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobEvent,
    JobRef,
    LifecycleChange,
    LineageEvent,
    ParentRun,
    Provenance,
    RunEvent,
    RunEventType,
    RunRef,
    TransformationKind,
    TransformationType,
    build,
)
from headwater_schemas.identity import canonical_lineage, plan_digest

BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
NAMESPACE = "histories"
COMPLETE, FAIL, START = RunEventType.COMPLETE, RunEventType.FAIL, RunEventType.START
OVERWRITE, APPEND = LifecycleChange.OVERWRITE, None


@dataclass(frozen=True)
class Write:
    """A run of the job that copies `source` (None: a constant) to the target, an hour after the step before.

    `mode` is the lifecycle facet of the output; None: an append, a partial overwrite, a merge, or not known.
    """

    source: str | None
    mode: LifecycleChange | None = None
    state: RunEventType = COMPLETE
    job: str = "tgt"
    branch: bool = False


@dataclass(frozen=True)
class App:
    """An application run and its writes.

    Attributes:
        writes: in order, an hour each.
        state: START: it still runs.
        reported: False: its writes name it, and that is all.
        parent: False: the writes name no parent.
    """

    writes: tuple[Write, ...]
    state: RunEventType = COMPLETE
    reported: bool = True
    parent: bool = True


@dataclass(frozen=True)
class Stream:
    """A start of the job's streaming query that copies `source`; with this many micro-batches."""

    source: str
    batches: int = 1
    state: RunEventType = START


@dataclass(frozen=True)
class Change:
    """Change of the target's lifecycle: DROP, TRUNCATE, CREATE."""

    lifecycle: LifecycleChange


@dataclass(frozen=True)
class Declared:
    """The job declares that it copies `source`."""

    source: str


@dataclass(frozen=True)
class History:
    """History of a target, a step an hour, and the facts that hold at its end.

    Attributes:
        name: of the history.
        steps: in order.
        upstream: sources that `x` of the target comes from.
        breaks: sources whose column can't be removed; None: the same.
    """

    name: str
    steps: tuple[App | Stream | Change | Declared, ...]
    upstream: str
    breaks: str | None = None
    at: dict[float, str] = field(default_factory=dict)
    """Expected `upstream` as of so many hours."""

    @property
    def broken(self) -> str:
        return self.upstream if self.breaks is None else self.breaks

    def dataset(self, name: str) -> DatasetRef:
        return DatasetRef(NAMESPACE, f"{self.name}/{name}")

    def events(self) -> Iterator[LineageEvent]:
        hour = 0
        for number, step in enumerate(self.steps):
            hour += 1
            match step:
                case App():
                    yield from self._app(number, step, hour)
                    hour += len(step.writes)
                case Stream():
                    yield from self._stream(number, step, hour)
                    hour += step.batches
                case Change():
                    body = DatasetEvent(dataset=self.dataset("tgt"), lifecycle=step.lifecycle)
                    yield build.lineage_event(body, producer="p", event_time=at(hour))
                case Declared():
                    body_ = JobEvent(lineage=self._lineage(step.source))
                    yield build.lineage_event(body_, job=self._job("tgt"), producer="p", event_time=at(hour))

    def _job(self, name: str) -> JobRef:
        return JobRef(NAMESPACE, f"{self.name}.{name}")

    def _lineage(self, source: str | None) -> ColumnLineage:
        edge = ColumnEdge(
            output=0,
            output_field="x",
            input=None if source is None else 1,
            input_field=None if source is None else "v",
            type=TransformationType.DIRECT,
            kind=TransformationKind.CONSTANT if source is None else TransformationKind.COPY,
        )
        datasets = (self.dataset("tgt"), *([] if source is None else [self.dataset(source)]))
        return canonical_lineage(ColumnLineage(datasets=datasets, edges=(edge,)))

    def _plan(self, source: str | None, job: str, when: datetime) -> tuple[str, LineageEvent]:
        lineage = self._lineage(source)
        event = build.lineage_event(lineage, job=self._job(job), producer="p", event_time=when)
        return plan_digest(lineage), event

    def _app(self, number: int, app: App, hour: int) -> Iterator[LineageEvent]:
        run, job = RunRef(f"{self.name} app {number}"), self._job("app")
        parent = ParentRun(run.run_id, job) if app.parent else None
        if app.reported and app.parent:
            yield build.lineage_event(RunEvent(type=START), job=job, run=run, producer="p", event_time=at(hour))
        for index, write in enumerate(app.writes):
            yield from self._write(f"{self.name} write {number}.{index}", write, parent, at(hour + index))
        if app.reported and app.parent and app.state is not START:
            end = at(hour + len(app.writes))
            yield build.lineage_event(RunEvent(type=app.state), job=job, run=run, producer="p", event_time=end)

    def _write(self, id_: str, write: Write, parent: ParentRun | None, when: datetime) -> Iterator[LineageEvent]:
        digest, plan = self._plan(write.source, write.job, when)
        yield plan
        facets = {}
        if write.mode is not None:
            facets["lifecycleStateChange"] = json.dumps({"lifecycleStateChange": write.mode.value})
        if write.branch:
            facets["headwater_branch"] = json.dumps({"name": "audit"})
        body = RunEvent(type=START, parent=parent, plan_digest=digest)
        run, job = RunRef(id_), self._job(write.job)
        yield build.lineage_event(body, job=job, run=run, producer="p", event_time=when)
        body = RunEvent(
            type=write.state,
            parent=parent,
            plan_digest=digest,
            inputs=() if write.source is None else (DatasetUse(dataset=self.dataset(write.source)),),
            outputs=(DatasetUse(dataset=self.dataset("tgt"), facets=facets),),
        )
        yield build.lineage_event(body, job=job, run=run, producer="p", event_time=when + timedelta(minutes=30))

    def _stream(self, number: int, stream: Stream, hour: int) -> Iterator[LineageEvent]:
        digest, plan = self._plan(stream.source, "tgt", at(hour))
        yield plan
        run, job, query = RunRef(f"{self.name} start {number}"), self._job("tgt"), f"{self.name} query"
        body = RunEvent(type=START, plan_digest=digest, query_id=query)
        yield build.lineage_event(body, job=job, run=run, producer="p", event_time=at(hour))
        for index in range(stream.batches):
            when = at(hour + index) + timedelta(minutes=10)
            entry = IntervalEntry(
                batch_id=number * 100 + index,
                processing_time=when,
                inputs=(DatasetUse(dataset=self.dataset(stream.source)),),
                outputs=(DatasetUse(dataset=self.dataset("tgt")),),
                plan_digest=digest,
            )
            body_ = IntervalEvent(query_id=query, entries=(entry,), provenance=Provenance.OBSERVED)
            yield build.lineage_event(body_, job=job, run=run, producer="p", event_time=when)
        if stream.state is not START:
            body = RunEvent(type=stream.state, plan_digest=digest, query_id=query)
            when = at(hour + stream.batches)
            yield build.lineage_event(body, job=job, run=run, producer="p", event_time=when)


def at(hour: float) -> datetime:
    return BEGIN + timedelta(hours=hour)


A, B, C, D = (Write(source) for source in "abcd")
OA, OB, OD = (Write(source, OVERWRITE) for source in "abd")
DROP, TRUNCATE = Change(LifecycleChange.DROP), Change(LifecycleChange.TRUNCATE)

HISTORIES = (
    History("two inserts of one script", (App((A, B)),), "ab", at={1.2: "a", 2.2: "ab"}),
    History("one plan, twice", (App((A, A)),), "a"),
    History("overwrite, then append", (App((OA, B)),), "ab"),
    History("overwrite, then overwrite", (App((OA, OB)),), "b", "ab", at={1.6: "a", 9: "b"}),
    History("append, then overwrite", (App((A, OB)),), "b", "ab"),
    History("overwrite by a constant", (App((A, Write(None, OVERWRITE))),), "", "a"),
    History("the next complete run is without it", (App((A,)), App((B,))), "b", at={2: "a", 3.2: "ab", 9: "b"}),
    History("the next complete run has both again", (App((A, B)), App((A, B))), "ab"),
    History("the next complete run has one of two", (App((A, B)), App((A,))), "a"),
    History("the next run overwrites and appends, and isn't done", (App((OA, B)), App((OA,), START)), "ab"),
    History("the next run failed between its two writes", (App((OA, B)), App((OA,), FAIL)), "ab"),
    History("a failed run by another plan", (App((A,)), App((C,), FAIL)), "ac"),
    History("a failed run, and a complete one without either", (App((A,)), App((C,), FAIL), App((B,))), "b"),
    History("a failed run, overwritten by the next", (App((A,)), App((C,), FAIL), App((OD,), START)), "ad", "acd"),
    History("two runs at once", (App((A,), START), App((B,), START)), "ab"),
    History("dropped", (App((A,)), DROP), "", "a"),
    History("dropped and made anew", (App((A,)), DROP, App((B,), START)), "b", "ab"),
    History("truncated before each of two inserts", (App((A, B)), TRUNCATE, App((A,), START)), "a", "ab"),
    History("another job overwrites", (App((A,)), App((Write("b", OVERWRITE, job="other"),))), "ab"),
    History("a drop ends what every job wrote", (App((A, Write("b", job="other"))), DROP), "", "ab"),
    History("a write that failed ends nothing", (App((A,)), App((Write("b", OVERWRITE, FAIL),))), "ab"),
    History("an overwrite that failed ends nothing", (App((A, Write("b", OVERWRITE, FAIL))),), "ab"),
    History("an overwrite of a branch", (App((A, Write("b", OVERWRITE, branch=True))),), "ab"),
    History("without a parent each run is one by itself", (App((A,), parent=False), App((B,), parent=False)), "b"),
    History("a parent that others name alone", (App((A, B), reported=False),), "ab"),
    History("the next parent that others name alone", (App((A, B), reported=False), App((B,), reported=False)), "b"),
    History("a query started again with other code", (Stream("a"), Stream("b")), "b"),
    History("a query started again that did nothing yet", (Stream("a"), Stream("b", batches=0)), "ab"),
    History("a query that was stopped", (Stream("a", state=COMPLETE),), "a"),
    History("declared, whatever was seen", (Declared("c"), App((OA,))), "ac"),
)
