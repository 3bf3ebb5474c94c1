"""Backfill from the checkpoint of micro-batches that were not emitted; emitted ones are not emitted again."""

from __future__ import annotations

import json
import logging
import math
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from headwater_producers.spark.common.metrics import CaptureMetrics, EarlierEmission
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind, StreamingLink
from headwater_producers.spark.streaming.backfill import Backfill, BackfillTask
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.gaps import GAPS_FACET, Gaps
from headwater_producers.spark.streaming.interval import QueryProgress, SourceProgress
from headwater_producers.spark.streaming.interval_events import Coalescing, LastEmittedStore
from headwater_producers.spark.streaming.rebuild import Rebuilder
from headwater_producers.spark.streaming.stream_run import StreamRun
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    EmissionReason,
    IntervalEvent,
    LineageEvent,
    Provenance,
    QualityResult,
    RunError,
    Versions,
)
from support.capture import DictFiles, FakeQuery, RecordingSink, event_context, stream_emitter
from support.checkpoints import BEGAN_MS, QUERY, kafka_checkpoint

IN, OUT = DatasetRef("kafka://here", "in"), DatasetRef("kafka://here", "out")
OBSERVED, RECONCILED = Provenance.OBSERVED, Provenance.RECONCILED
CHECKPOINT, STOP = EmissionReason.CHECKPOINT, EmissionReason.STOP
BEGAN = datetime.fromtimestamp(BEGAN_MS / 1_000, UTC)


@dataclass
class Query(FakeQuery):
    """One that reads `in`, or whatever topics its pattern meets."""

    plan: PlanDescription = field(
        default_factory=lambda: PlanDescription(inputs=(), outputs=(), lineage=ColumnLineage())
    )
    sink: str = "KafkaTable"
    pattern: bool = False

    def describe(self, topics: Mapping[int, Collection[str]] | None = None) -> PlanDescription:
        names = sorted((topics or {}).get(0, ())) if self.pattern else ["in"]
        inputs = tuple(
            PlanInput(dataset=DatasetRef("kafka://here", name), kind=SourceKind.KAFKA, source_index=0) for name in names
        )
        return PlanDescription(
            inputs=inputs,
            outputs=(PlanOutput(dataset=OUT, kind=SourceKind.UNKNOWN),),
            lineage=ColumnLineage(
                datasets=(OUT, *(each.dataset for each in inputs)),
                edges=tuple(
                    ColumnEdge(output=0, output_field="value", input=index, input_field="value")
                    for index in range(1, len(inputs) + 1)
                ),
            ),
            streaming=StreamingLink(source_descriptions=("k",), pattern_sources=(0,) if self.pattern else ()),
        )


class OtherQuery(Query):
    """One whose column lineage is another."""

    def describe(self, topics: Mapping[int, Collection[str]] | None = None) -> PlanDescription:
        described = super().describe(topics)
        return replace(described, lineage=msgspec.structs.replace(described.lineage, edges=()))


class Stage:
    def __init__(
        self,
        files: DictFiles,
        *,
        max_batches: int = 100,
        per_event: int = 50,
        coalescing: Coalescing | None = None,
        store: Path | None = None,
        code: str = "v1",
    ) -> None:
        self.sink = RecordingSink()
        self.now = 0.0
        self.refuses = False
        self.gaps = Gaps(CaptureMetrics(CollectorRegistry()))
        known = LastEmittedStore(store)
        context = replace(event_context(), versions=Versions(code=code))
        self.flow = StreamFlow(
            stream_emitter(files, self.emit, context, known),
            wait_seconds=5.0,
            clock=lambda: self.now,
            backfill=Backfill(
                context=context,
                emit=self.emit,
                files=files,
                max_batches=max_batches,
                gaps=self.gaps,
                store=known,
                per_event=per_event,
            ),
            coalescing=coalescing,
            store=known,
        )

    def emit(self, event: LineageEvent) -> bool:
        if not self.refuses:
            self.sink.publish(event)
        return not self.refuses

    def missing(self) -> list[tuple[int, int, EarlierEmission]]:
        return [(gap.first, gap.last, gap.emitted) for gap in self.gaps.found]

    def emitted_gaps(self) -> list[Any]:
        """Gaps in the last state of the run that has any."""
        facets_of_runs = [event.run_event.run_facets for event in self.sink.runs() if event.run_event]
        return [json.loads(facets[GAPS_FACET])["gaps"] for facets in facets_of_runs if GAPS_FACET in facets][-1:]

    def start(self, run_id: str = "run", at: datetime = BEGAN, query: Query | None = None) -> None:
        self.flow.started(StreamRun(query_id=QUERY, run_id=run_id, name="copy", started_at=at, query=query or Query()))
        self.flow.announce_planned()
        while self.flow.behind:
            self.flow.backfill_next()

    def progress(self, batch: int, run_id: str = "run", *, quality: bool | None = None, topic: str = "in") -> None:
        start, end = {topic: {"0": 5 + 10 * batch}}, {topic: {"0": 15 + 10 * batch}}
        progress = QueryProgress(
            query_id=QUERY,
            run_id=run_id,
            name="copy",
            batch_id=batch,
            started_at=BEGAN + timedelta(seconds=batch),
            duration_ms=100,
            before_write_ms=0,
            executed=True,
            rows_out=None,
            watermark=None,
            has_watermark=False,
            sources=(SourceProgress(description="k", start=start, end=end, rows=10),),
            sink="",
        )
        if quality is not None:
            progress = replace(progress, quality=(QualityResult(assertion="orders.has_id", passed=quality),))
        self.flow.progressed(progress, BEGAN + timedelta(seconds=batch, milliseconds=100))

    def reported(self) -> list[tuple[Provenance, list[int]]]:
        return [(each.provenance, [entry.batch_id for entry in each.entries]) for each in self.intervals()]

    def intervals(self) -> list[IntervalEvent]:
        return [event.interval_event for event in self.sink.of_kind("INTERVAL") if event.interval_event]


def test_a_start_emits_what_the_process_before_may_not_have() -> None:
    stage = Stage(kafka_checkpoint(12).files)
    stage.start(at=BEGAN + timedelta(hours=1))
    stage.progress(12)
    assert stage.reported() == [(RECONCILED, list(range(12))), (OBSERVED, [12])]
    assert stage.intervals()[0].reason is EmissionReason.START
    reconciled, observed = stage.sink.of_kind("INTERVAL")
    assert reconciled.run is None
    assert observed.run is not None
    assert reconciled.job == observed.job
    assert [event.kind for event in stage.sink.events][:4] == ["JOB", "PLAN", "RUN", "INTERVAL"], "START comes first"


def test_each_by_itself_has_the_event_id_that_it_was_observed_under() -> None:
    files = kafka_checkpoint(3).files
    before, after = Stage(files, per_event=1), Stage(files, per_event=1)
    before.start()
    for batch in range(3):
        before.progress(batch)
    after.start("later", at=BEGAN + timedelta(hours=1))
    assert after.reported() == [(RECONCILED, [batch]) for batch in range(3)]
    observed, again = ([event.event_id for event in stage.sink.of_kind("INTERVAL")] for stage in (before, after))
    assert again == observed


def test_only_the_last_ones_and_none_at_all_where_it_is_switched_off() -> None:
    files = kafka_checkpoint(12).files
    some = Stage(files, max_batches=4)
    some.start(at=BEGAN + timedelta(hours=1))
    assert some.reported() == [(RECONCILED, [8, 9, 10, 11])]
    files.asked.clear()
    none = Stage(files, max_batches=0)
    none.start(at=BEGAN + timedelta(hours=1))
    none.flow.terminated("run", None, BEGAN)
    assert none.reported() == []
    assert files.asked == []


def test_what_a_run_has_committed_itself_is_its_own_to_tell() -> None:
    """Its plan may be readable only when it has run its first micro-batches."""
    stage = Stage(kafka_checkpoint(6).files)
    stage.start(at=BEGAN + timedelta(seconds=3))
    assert stage.reported() == [(RECONCILED, [0, 1, 2])]


def test_what_this_process_has_emitted_is_not_emitted_again_at_the_next_start() -> None:
    made = kafka_checkpoint(0)
    stage = Stage(made.files)
    stage.start("run-1")
    for batch in range(3):
        made.run(batch, {"in": {"0": 15 + 10 * batch}})
        stage.progress(batch, "run-1")
    stage.flow.terminated("run-1", None, BEGAN)
    stage.start("run-2", at=BEGAN + timedelta(hours=1))
    assert stage.reported() == [(OBSERVED, [batch]) for batch in range(3)]


def test_a_dropped_progress_is_made_good_when_the_next_one_comes() -> None:
    stage = Stage(kafka_checkpoint(6).files)
    stage.start()
    stage.progress(0)
    stage.progress(4)
    assert stage.flow.behind
    stage.flow.backfill_next()
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [4]), (RECONCILED, [1, 2, 3])]


def test_what_ran_in_this_start_had_its_plan_and_what_ran_before_it_may_not_have() -> None:
    stage = Stage(kafka_checkpoint(6).files)
    stage.start(at=BEGAN + timedelta(seconds=2))
    stage.progress(2)
    stage.progress(4)
    stage.flow.terminated("run", None, BEGAN + timedelta(hours=1))
    [plan] = [event.plan_event for event in stage.sink.of_kind("PLAN") if event.plan_event]
    digests = {entry.batch_id: entry.plan_digest for entry in stage.sink.entries()}
    assert digests == {0: None, 1: None, **dict.fromkeys((2, 3, 4, 5), plan.digest)}


def test_what_no_progress_ever_emitted_is_emitted_at_the_end() -> None:
    """A continuous query has none; of another the last may have been dropped."""
    stage = Stage(kafka_checkpoint(4).files)
    stage.start()
    stage.progress(0)
    stage.flow.terminated("run", None, BEGAN + timedelta(hours=1))
    assert stage.reported() == [(OBSERVED, [0]), (RECONCILED, [1, 2, 3])]
    assert [event.kind for event in stage.sink.events][-1] == "RUN", "the run's end comes last"


def test_a_checkpoint_that_was_set_back_goes_on_from_there() -> None:
    made = kafka_checkpoint(6)
    stage = Stage(made.files)
    stage.start("run-1")
    for batch in range(6):
        stage.progress(batch, "run-1")
    stage.flow.terminated("run-1", None, BEGAN)
    made.set_back(2)
    stage.start("run-2", at=BEGAN + timedelta(hours=1))
    for batch in range(3, 6):
        made.run(batch, {"in": {"0": 16 + 10 * batch}})
    stage.progress(3, "run-2")
    # The progress of the last two never comes: the query is stopped before.
    stage.flow.terminated("run-2", None, BEGAN + timedelta(hours=2))
    assert stage.reported() == [*((OBSERVED, [batch]) for batch in range(6)), (OBSERVED, [3]), (RECONCILED, [4, 5])]


def test_a_note_of_more_than_the_checkpoint_has_hides_no_gap(tmp_path: Path) -> None:
    made = kafka_checkpoint(9)
    first = Stage(made.files, store=tmp_path)
    first.start()
    first.progress(8)
    made.set_back(2)
    Stage(made.files, store=tmp_path).start("again", at=BEGAN + timedelta(hours=1))
    # Then it runs without capture.
    for batch in range(3, 9):
        made.run(batch, {"in": {"0": 16 + 10 * batch}})
    made.purge(6)
    last = Stage(made.files, store=tmp_path)
    last.start("later", at=BEGAN + timedelta(hours=2))
    assert last.missing() == [(3, 5, EarlierEmission.NEVER)]


def test_a_note_of_a_checkpoint_that_is_empty_now_is_no_gap(tmp_path: Path) -> None:
    first = Stage(kafka_checkpoint(9).files, store=tmp_path)
    first.start()
    first.progress(8)
    again = Stage(kafka_checkpoint(0).files, store=tmp_path)
    again.start("again", at=BEGAN + timedelta(hours=1))
    assert again.missing() == []


def test_a_batch_that_was_not_committed_is_never_emitted() -> None:
    made = kafka_checkpoint(3)
    made.plan(3, {"in": {"0": 99}})
    stage = Stage(made.files)
    stage.start(at=BEGAN + timedelta(hours=1))
    stage.flow.terminated("run", None, BEGAN + timedelta(hours=2))
    assert stage.reported() == [(RECONCILED, [0, 1, 2])]


def test_one_that_can_not_be_read_keeps_no_other_back(caplog: pytest.LogCaptureFixture) -> None:
    made = kafka_checkpoint(5)
    made.files.texts["file:/cp/offsets/2"] = "v1\n{}"
    stage = Stage(made.files)
    with caplog.at_level(logging.INFO):
        stage.start(at=BEGAN + timedelta(hours=1))
    # The one after it begins where nobody can tell.
    assert stage.reported() == [(RECONCILED, [0, 1]), (RECONCILED, [4])]
    begins = f"lineage capture: query {QUERY}: micro-batch not backfilled: "
    reasons = [line.removeprefix(begins) for line in caplog.messages if line.startswith(begins)]
    assert set(reasons) == {"micro-batch 2 has offsets of 0 sources, the query 1"}


def test_a_checkpoint_that_can_not_be_read_keeps_nothing_observed_back(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(DictFiles):
        def names(self, folder: str) -> list[str]:
            raise OSError("no route to host")

    stage = Stage(Broken())
    stage.start()
    stage.progress(0)
    stage.progress(4)
    stage.flow.terminated("run", None, BEGAN)
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [4])]
    unreadable = "checkpoint unreadable (OSError); micro-batches not emitted yet stay a gap"
    assert f"lineage capture: query {QUERY}: {unreadable}" in caplog.messages


def test_coalesced_ones_are_sent_at_the_end_at_last() -> None:
    made = kafka_checkpoint(5)
    stage = Stage(made.files, coalescing=Coalescing(max_batches=3, max_seconds=60))
    stage.start()
    for batch in range(5):
        stage.progress(batch)
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [1, 2, 3])]
    stage.flow.terminated("run", None, BEGAN)
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [1, 2, 3]), (OBSERVED, [4])]
    assert [each.reason for each in stage.intervals()] == [CHECKPOINT, CHECKPOINT, STOP]


def test_coalesced_ones_are_sent_when_the_application_ends() -> None:
    stage = Stage(kafka_checkpoint(3).files, coalescing=Coalescing(max_seconds=60))
    stage.start()
    for batch in range(3):
        stage.progress(batch)
    stage.flow.abort_all(None, BEGAN)
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [1, 2])]
    assert [event.kind for event in stage.sink.events][-2:] == ["INTERVAL", "RUN"]


def test_coalesced_ones_are_sent_when_they_are_old_and_when_somebody_waits() -> None:
    stage = Stage(kafka_checkpoint(9).files, coalescing=Coalescing(max_batches=100, max_seconds=60))
    stage.start()
    assert stage.flow.overdue_in() == math.inf
    stage.progress(0)
    stage.progress(1)
    assert stage.flow.overdue_in() == 60.0
    stage.flow.send_overdue()
    assert stage.reported() == [(OBSERVED, [0])]
    stage.now = 60.0
    assert stage.flow.overdue_in() == 0.0
    stage.flow.send_overdue()
    stage.progress(2)
    stage.flow.send_all(CHECKPOINT)
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [1]), (OBSERVED, [2])]


def test_a_change_of_quality_is_an_event_of_its_own() -> None:
    stage = Stage(kafka_checkpoint(9).files, coalescing=Coalescing(max_batches=100, max_seconds=60))
    stage.start()
    for batch, passed in enumerate([True, True, False, False, True]):
        stage.progress(batch, quality=passed)
    changed = EmissionReason.QUALITY_CHANGE
    assert [(each.reason, [e.batch_id for e in each.entries]) for each in stage.intervals()] == [
        (CHECKPOINT, [0]),
        (CHECKPOINT, [1]),
        (changed, [2]),
        (CHECKPOINT, [3]),
        (changed, [4]),
    ]
    assert [entry.quality[0].passed for entry in stage.sink.entries()] == [True, True, False, False, True]


def test_topics_of_a_pattern_are_inputs_from_the_batch_that_meets_them() -> None:
    stage = Stage(DictFiles())
    stage.start(query=Query(pattern=True))
    stage.progress(0)
    stage.progress(1, topic="in-2")
    assert [[use.dataset.name for use in entry.inputs] for entry in stage.sink.entries()] == [["in"], ["in-2"]]
    assert [each.reason for each in stage.intervals()] == [CHECKPOINT, EmissionReason.VERSION_CHANGE]
    assert len(stage.sink.of_kind("PLAN")) == 2, "with each new topic there is more to derive from"
    assert [use.dataset.name for use in stage.sink.last_run("flights.copy").inputs] == ["in", "in-2"]


def test_a_pattern_goes_on_with_the_topics_of_its_checkpoint() -> None:
    stage = Stage(kafka_checkpoint(3).files)
    stage.start(at=BEGAN + timedelta(hours=1), query=Query(pattern=True))
    assert stage.reported() == [(RECONCILED, [0, 1, 2])]
    assert {use.dataset.name for entry in stage.sink.entries() for use in entry.inputs} == {"in"}


def test_a_continuous_query_is_emitted_from_its_checkpoint_as_it_goes() -> None:
    made = kafka_checkpoint(3)
    stage = Stage(made.files)
    stage.start(query=Query(continuous=True))
    made.run(3, {"in": {"0": 45}})
    stage.flow.backfill_next()
    assert stage.reported() == [(RECONCILED, [0, 1, 2])], "not looked at yet"
    stage.now = 10.0
    stage.flow.backfill_next()
    stage.flow.terminated("run", None, BEGAN)
    assert stage.reported() == [(RECONCILED, [0, 1, 2]), (RECONCILED, [3])]


def test_what_the_checkpoint_has_forgotten_is_perhaps_a_gap_where_nobody_has_noted_anything(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = kafka_checkpoint(12)
    made.purge(8)
    stage = Stage(made.files)
    stage.start(at=BEGAN + timedelta(hours=1))
    assert stage.reported() == [(RECONCILED, [8, 9, 10, 11])]
    assert stage.missing() == [(0, 7, EarlierEmission.UNKNOWN)]
    assert stage.emitted_gaps() == [[{"first": 0, "last": 7, "emitted": "unknown"}]]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_note_distinguishes_a_gap_from_a_healthy_restart(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = kafka_checkpoint(6)
    first = Stage(made.files, store=tmp_path)
    first.start()
    first.progress(5)
    made.purge(4)
    healthy = Stage(made.files, store=tmp_path)
    healthy.start(at=BEGAN + timedelta(hours=1))
    assert (healthy.missing(), healthy.emitted_gaps()) == ([], [])
    assert caplog.records == []
    # Somebody runs the query without capture, for longer than its checkpoint remembers.
    for batch in range(6, 30):
        made.run(batch, {"in": {"0": 15 + 10 * batch}})
    made.purge(20)
    late = Stage(made.files, store=tmp_path)
    late.start(at=BEGAN + timedelta(hours=2))
    assert late.missing() == [(6, 19, EarlierEmission.NEVER)]
    assert late.emitted_gaps() == [[{"first": 6, "last": 19, "emitted": "never"}]]
    assert late.reported() == [(RECONCILED, list(range(20, 30)))]
    # It is a gap once, not at each start.
    again = Stage(made.files, store=tmp_path)
    again.start(at=BEGAN + timedelta(hours=3))
    assert again.missing() == []


def test_a_refused_interval_is_not_noted_as_emitted(tmp_path: Path) -> None:
    made = kafka_checkpoint(0)
    first = Stage(made.files, store=tmp_path)
    first.start()
    for batch in range(6):
        made.run(batch, {"in": {"0": 15 + 10 * batch}})
        first.refuses = batch > 1
        first.progress(batch)
    made.purge(4)
    second = Stage(made.files, store=tmp_path)
    second.start(at=BEGAN + timedelta(hours=1))
    assert second.missing() == [(2, 3, EarlierEmission.NEVER)]


def test_progress_that_was_dropped_for_longer_than_the_checkpoint_remembers_is_a_gap() -> None:
    made = kafka_checkpoint(1)
    stage = Stage(made.files)
    stage.start()
    stage.progress(0)
    for batch in range(1, 10):
        made.run(batch, {"in": {"0": 15 + 10 * batch}})
    made.purge(6)
    stage.progress(9)
    stage.flow.backfill_next()
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [9]), (RECONCILED, [6, 7, 8])]
    assert stage.missing() == [(1, 5, EarlierEmission.NEVER)]
    assert stage.emitted_gaps() == [[{"first": 1, "last": 5, "emitted": "never"}]], "emitted while the run goes on"
    stage.flow.terminated("run", None, BEGAN)
    assert len(stage.gaps.found) == 1


def test_the_first_of_a_start_with_other_code_is_a_change_of_version(tmp_path: Path) -> None:
    made = kafka_checkpoint(0)
    reasons = []
    for start, code in enumerate(["v1", "v1", "v2"]):
        stage = Stage(made.files, store=tmp_path, code=code, coalescing=Coalescing(max_seconds=60))
        stage.start(f"run-{start}", at=BEGAN + timedelta(hours=start))
        for batch in (2 * start, 2 * start + 1):
            made.run(batch, {"in": {"0": 15 + 10 * batch}})
            stage.progress(batch, f"run-{start}")
        stage.flow.terminated(f"run-{start}", None, BEGAN)
        observed = [each for each in stage.intervals() if each.provenance is OBSERVED]
        reasons.append([(each.reason, [entry.batch_id for entry in each.entries]) for each in observed])
    changed = EmissionReason.VERSION_CHANGE
    unchanged = [(CHECKPOINT, [0]), (STOP, [1])], [(CHECKPOINT, [2]), (STOP, [3])]
    assert reasons == [*unchanged, [(changed, [4]), (STOP, [5])]]


def test_a_failure_says_why_what_waited_is_sent_now() -> None:
    made = kafka_checkpoint(4)
    stage = Stage(made.files, coalescing=Coalescing(max_seconds=60))
    stage.start()
    stage.progress(0)
    stage.progress(1)
    stage.flow.terminated("run", RunError(type="SparkException", message="enough"), BEGAN + timedelta(hours=1))
    failed = EmissionReason.FAILURE
    assert stage.reported() == [(OBSERVED, [0]), (OBSERVED, [1]), (RECONCILED, [2, 3])]
    assert [each.reason for each in stage.intervals()] == [CHECKPOINT, failed, failed]


def test_a_clock_that_was_set_back_hides_nothing() -> None:
    """Plans of the earlier process seem to be later than this one's start."""
    stage = Stage(kafka_checkpoint(6).files)
    stage.start(at=BEGAN + timedelta(seconds=3))
    stage.progress(6)
    stage.flow.backfill_next()
    assert stage.reported() == [(RECONCILED, [0, 1, 2]), (OBSERVED, [6]), (RECONCILED, [3, 4, 5])]


def test_a_clock_that_is_set_back_while_a_query_runs_hides_nothing() -> None:
    made = kafka_checkpoint(0)
    stage = Stage(made.files)
    stage.start(at=BEGAN + timedelta(hours=1))
    for batch in range(3):
        made.run(batch, {"in": {"0": 15 + 10 * batch}})
    stage.flow.terminated("run", None, BEGAN)
    assert stage.reported() == [(RECONCILED, [0, 1, 2])]


def test_an_event_has_as_many_as_may_share_one() -> None:
    stage = Stage(kafka_checkpoint(60).files)
    stage.start(at=BEGAN + timedelta(hours=1))
    assert stage.reported() == [(RECONCILED, list(range(50))), (RECONCILED, list(range(50, 60)))]


def test_an_event_goes_out_when_it_is_full_and_not_with_the_last() -> None:
    stage = Stage(kafka_checkpoint(120).files, max_batches=120)
    run = StreamRun(query_id=QUERY, run_id="run", name="copy", started_at=BEGAN + timedelta(hours=1), query=Query())
    stage.flow.started(run)
    stage.flow.announce_planned()
    while stage.flow.behind and not stage.reported():
        stage.flow.backfill_next()
    assert stage.reported() == [(RECONCILED, list(range(50)))]
    assert stage.flow.behind


@pytest.mark.parametrize("is_other", [False, True])
def test_what_ran_after_the_last_that_was_emitted_had_its_plan_if_that_is_the_one_of_now(
    is_other: bool, tmp_path: Path
) -> None:
    before, after = (Stage(kafka_checkpoint(5).files, store=tmp_path) for _ in range(2))
    before.start()
    for batch in range(3):
        before.progress(batch)
    [plan] = [event.plan_event for event in before.sink.of_kind("PLAN") if event.plan_event]
    after.start("later", at=BEGAN + timedelta(hours=1), query=OtherQuery() if is_other else Query())
    digests = {entry.batch_id: entry.plan_digest for entry in after.sink.entries()}
    assert digests == {**dict.fromkeys(range(3)), **dict.fromkeys((3, 4), None if is_other else plan.digest)}


GAPS: dict[str, tuple[EmissionReason, int | None, range, list[int], list[tuple[int, int, str]]]] = {
    "what a note has was emitted": (EmissionReason.START, 3, range(0), [2, 3, 5, 6], [(5, 6, "NEVER")]),
    "no note": (EmissionReason.START, None, range(0), [0, 2], [(0, 0, "UNKNOWN"), (2, 2, "UNKNOWN")]),
    "of this start nothing was emitted": (CHECKPOINT, 3, range(0), [2, 3], [(2, 3, "NEVER")]),
    "of this start, without a note": (CHECKPOINT, None, range(0), [0], [(0, 0, "NEVER")]),
    "purged, and the next ones unreadable": (CHECKPOINT, None, range(3), [3, 4], [(0, 4, "NEVER")]),
    "others between": (CHECKPOINT, None, range(3), [5], [(0, 2, "NEVER"), (5, 5, "NEVER")]),
    "purged alone": (CHECKPOINT, None, range(3), [], [(0, 2, "NEVER")]),
    "nothing": (CHECKPOINT, None, range(0), [], []),
}


def test_a_gap_is_what_is_gone_and_was_not_emitted(subtests: pytest.Subtests) -> None:
    for case, (reason, noted, gone, unrecoverable, gaps) in GAPS.items():
        with subtests.test(case):
            made = kafka_checkpoint(0)
            log = QueryLog(made.location, made.files)
            run = StreamRun(query_id=QUERY, run_id="run", name="copy", started_at=BEGAN, query=Query())
            rebuilder = Rebuilder(log, made.files, inputs=(), sources=None)
            task = BackfillTask(
                run, rebuilder, log, deque(), reason, None, noted, gone, None, unrecoverable=unrecoverable
            )
            found = task.missing(BEGAN)
            assert [(gap.first, gap.last, gap.emitted.name) for gap in found] == gaps
            assert {(gap.query_id, gap.name, gap.noticed_at) for gap in found} <= {(QUERY, "copy", BEGAN)}


def test_nothing_to_backfill_is_nothing_to_do() -> None:
    stage = Stage(kafka_checkpoint(0).files)
    stage.flow.started(StreamRun(query_id=QUERY, run_id="run", name="copy", started_at=BEGAN, query=Query()))
    stage.flow.announce_planned()
    assert not stage.flow.behind


class _Failing(DictFiles):
    """One offset log can't be read just now."""

    def read(self, path: str) -> str | None:
        if path.endswith("/offsets/1"):
            raise OSError("timed out")
        return super().read(path)


def test_a_file_that_fails_is_logged_with_its_micro_batch(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage(_Failing(kafka_checkpoint(3).files.texts))
    with caplog.at_level(logging.WARNING), pytest.raises(OSError, match="timed out"):
        stage.start(at=BEGAN + timedelta(hours=1))
    assert f"lineage capture: query {QUERY}: micro-batch 1 not backfilled: OSError" in caplog.messages
