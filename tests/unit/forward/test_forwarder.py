"""The forwarder against a broker and a collector in memory."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headwater_consumers.forward.collectors import (
    CollectorUnavailableError,
    CollectorUnusableError,
    DocumentRefusedError,
    OutgoingDocument,
    RefusedFile,
)
from headwater_consumers.forward.forwarder import Forwarder, ForwardParts
from headwater_consumers.forward.metrics import ForwardMetrics
from headwater_consumers.forward.parallel import ParallelCollector
from headwater_consumers.forward.plans import PlanCache, holds_plan
from headwater_consumers.forward.spacing import Spacing
from headwater_consumers.kafka.backoff import Backoff, BackoffPolicy
from headwater_consumers.kafka.notices import Notices
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.events import LineageEvent
from support.events import full_dataset_event as dataset_of_another_tenant
from support.events import full_interval_event, full_plan_event, full_run_event
from support.materializer.broker import FakeBroker, FakeSource
from support.materializer.clock import FakeClock
from support.waiting import eventually, patience


def full_dataset_event() -> LineageEvent:
    return msgspec.structs.replace(dataset_of_another_tenant(), tenant=full_run_event().tenant)


class FakeCollector:
    """Plays a script: what the next deliveries and flushes raise."""

    def __init__(self) -> None:
        self.delivered: list[OutgoingDocument] = []
        self.deliveries: list[Exception | None] = []
        self.flushes: list[Exception | None] = []
        self.away: Exception | None = None
        self.closed = False

    def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
        failure = self.away or (self.deliveries.pop(0) if self.deliveries else None)
        if isinstance(failure, DocumentRefusedError):
            refused(failure)
            return
        if failure is not None:
            raise failure
        self.delivered.append(document)

    def flush(self) -> None:
        failure = self.flushes.pop(0) if self.flushes else None
        if failure is not None:
            raise failure

    def close(self) -> None:
        self.closed = True


class World:
    def __init__(
        self,
        folder: Path,
        *,
        until_caught_up: bool = True,
        plans_max_bytes: int = 1_000_000,
        coalesced: bool = False,
        spacing: Spacing | None = None,
        parallel: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.broker = FakeBroker()
        self.source = FakeSource(self.broker)
        self.collector = FakeCollector()
        self.file = folder / "refused.jsonl"
        self.metrics = ForwardMetrics()
        self.warnings: list[str] = []
        self.plans = PlanCache(plans_max_bytes, self.metrics.unknown_plans.inc)
        self.forwarder = Forwarder(
            ForwardParts(
                source=self.source,
                decoder=Decoder(),
                plans=self.plans,
                collector=self.collector if parallel == 1 else ParallelCollector([self.collector] * parallel),
                refused=RefusedFile(self.file),
                metrics=self.metrics,
                notices=Notices(self.warnings.append, clock),
                warn=self.warnings.append,
                tenant=full_run_event().tenant,
                coalesced=coalesced,
                spacing=spacing,
                backoff=BackoffPolicy(first_seconds=0.01, cap_seconds=0.02),
                clock=clock,
                random=lambda: 0.5,
            ),
            until_caught_up=until_caught_up,
        )

    def put(self, *events: LineageEvent, partition: int = 0) -> None:
        self.broker.extend(map(encode, events), partition=partition)

    def committed(self, number: int = 0) -> int:
        return self.broker.committed.get(self.broker.partition(number), 0)

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(document.data) for document in self.collector.delivered]


def started(run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_events_of_every_kind_are_delivered_in_order_and_committed(world: World) -> None:
    world.put(full_plan_event(), full_run_event(), full_interval_event(), full_dataset_event())
    totals = world.forwarder.run()
    assert totals.consumed == 4
    assert totals.delivered == len(world.documents) >= 4
    assert all("schemaURL" in document for document in world.documents)
    assert world.committed() == 4
    assert world.source.closed
    assert world.collector.closed
    keys = [document.key for document in world.collector.delivered]
    job = full_run_event().job
    assert job is not None
    assert f"run:{job.namespace}/{job.name}" in keys
    assert any(key.startswith("dataset:") for key in keys)


@pytest.mark.parametrize(("coalesced", "batches"), [(False, [[7], [8]]), (True, [[7, 8]])])
def test_micro_batches_that_share_an_event_share_a_document_if_asked_to(
    tmp_path: Path, *, coalesced: bool, batches: list[list[int]]
) -> None:
    world = World(tmp_path, coalesced=coalesced)
    world.put(full_interval_event())
    assert world.forwarder.run().delivered == len(batches)
    texts = [json.dumps(document["inputs"][0]["inputFacets"]["subset"]) for document in world.documents]
    for text, each in zip(texts, batches, strict=True):
        assert f'"value": "{50 * each[0]}"' in text
        assert f'"value": "{50 * each[-1] + 50}"' in text


def test_what_is_no_event_or_another_tenants_is_skipped(world: World) -> None:
    world.broker.append(b"nonsense")
    assert dataset_of_another_tenant().tenant != full_run_event().tenant
    world.put(dataset_of_another_tenant(), full_dataset_event())
    totals = world.forwarder.run()
    assert (totals.consumed, totals.skipped) == (3, 2)
    assert world.committed() == 3


@pytest.mark.parametrize(
    "document",
    [
        "{",
        "[]",
        "{}",
        "null",
        '{"run":{"runId":"x"}}',
        '{"job":{"name":"a","namespace":"\\ud800"}}',
        "[" * 5_000,
        "9" * 5_000,
    ],
    ids=str.__len__,
)
def test_an_event_with_a_document_that_is_none_is_skipped(world: World, document: str) -> None:
    broken = msgspec.structs.replace(full_run_event(), document=document)
    world.put(broken, full_dataset_event())
    totals = world.forwarder.run()
    assert (totals.consumed, totals.skipped) == (2, 1)
    assert world.committed() == 2
    assert any(broken.event_id in warning for warning in world.warnings)


def test_while_the_collector_is_away_nothing_is_committed(tmp_path: Path) -> None:
    world = World(tmp_path, until_caught_up=False)
    world.collector.away = CollectorUnavailableError("The collector doesn't answer")
    world.put(full_run_event(), full_dataset_event())
    thread = started(world.forwarder.run)
    eventually(lambda: world.metrics.registry.get_sample_value("headwater_forward_retries_total"))
    # A retry is counted a moment before the collector counts as away.
    eventually(lambda: world.forwarder.document()["ready"] is False)
    eventually(lambda: world.metrics.registry.get_sample_value("headwater_forward_collector_up") == 0)
    assert world.committed() == 0
    world.collector.away = None
    eventually(lambda: world.committed() == 2)
    assert world.forwarder.document()["ready"] is True
    world.forwarder.stop()
    thread.join(patience(10))
    assert any("doesn't answer" in warning for warning in world.warnings)


def test_one_without_events_is_ready(tmp_path: Path) -> None:
    """On Kubernetes a rollout waits for it."""
    world = World(tmp_path, until_caught_up=False)
    thread = started(world.forwarder.run)
    eventually(lambda: world.forwarder.document()["ready"])
    assert world.forwarder.document()["collector_reachable"] is None
    world.forwarder.stop()
    thread.join(patience(10))


def test_one_that_fails_is_tried_again_and_the_others_are_not(world: World) -> None:
    world.put(full_run_event(), full_dataset_event())
    world.collector.deliveries = [None, CollectorUnavailableError("503"), CollectorUnavailableError("503")]
    world.forwarder.run()
    keys = [document.key for document in world.collector.delivered]
    assert len(keys) == len(set(keys))
    assert world.committed() == 2


def test_a_flush_that_fails_has_all_of_the_batch_delivered_again(world: World) -> None:
    world.put(full_run_event(), full_dataset_event())
    world.collector.flushes = [CollectorUnavailableError("away")]
    totals = world.forwarder.run()
    half = len(world.documents) // 2
    assert world.documents[:half] == world.documents[half:]
    assert totals.delivered == half
    assert world.committed() == 2


def test_with_posts_in_parallel_a_batch_is_committed_when_all_of_it_is_there(tmp_path: Path) -> None:
    world = World(tmp_path, parallel=3)
    world.put(full_run_event(), full_dataset_event(), full_plan_event())
    world.collector.deliveries = [None, CollectorUnavailableError("503"), DocumentRefusedError("422")]
    totals = world.forwarder.run()
    assert (totals.delivered, totals.refused, world.committed()) == (2, 1, 3)
    assert len(world.documents) == 2, "what was there before the failure isn't sent again"


def test_waits_grow_while_nothing_arrives_and_begin_anew_when_something_does(world: World) -> None:
    waits: list[int] = []
    original = Backoff.failed

    def counted(backoff: Backoff) -> None:
        original(backoff)
        waits.append(backoff.attempts)

    world.put(full_run_event(), full_dataset_event())
    away = CollectorUnavailableError("503")
    world.collector.deliveries = [away, away, None, away]
    world.collector.flushes = [away, away]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backoff, "failed", counted)
        world.forwarder.run()
    assert waits == [1, 2, 1, 2, 3]


def test_a_collector_may_ask_for_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    world = World(tmp_path, clock=clock)
    world.put(full_dataset_event())
    world.collector.deliveries = [CollectorUnavailableError("429", after_seconds=0.3)]
    attempts: list[float] = []
    deliver = world.collector.deliver

    def timed(document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
        attempts.append(clock.now)
        deliver(document, refused)

    monkeypatch.setattr(world.collector, "deliver", timed)
    world.source.polling = clock.advance
    world.forwarder.run()
    assert [attempt - attempts[0] for attempt in attempts] == pytest.approx([0, 0.3])


def test_what_is_refused_for_good_is_set_aside_before_the_commit(world: World) -> None:
    world.put(full_run_event(), full_dataset_event())
    world.collector.deliveries = [DocumentRefusedError("422", "no")]
    totals = world.forwarder.run()
    (line,) = map(json.loads, world.file.read_text().splitlines())
    assert (line["status"], line["answer"], line["source"]) == ("422", "no", "lineage.events[0]@0")
    assert line["event_id"] == full_run_event().event_id
    assert line["document"]["run"]
    assert totals.refused == 1
    assert world.committed() == 2
    assert any("422" in warning for warning in world.warnings)


def test_a_collector_that_takes_nothing_from_us_ends_it(world: World) -> None:
    world.put(full_run_event())
    world.collector.away = CollectorUnusableError("401", setting="HEADWATER_FORWARD_TOKEN")
    with pytest.raises(CollectorUnusableError):
        world.forwarder.run()
    assert world.committed() == 0
    assert world.source.closed


def test_a_commit_that_fails_is_made_up_for(world: World) -> None:
    world.put(full_run_event())
    world.source.commit_errors.append(BrokerUnavailableError("away"))
    world.forwarder.run()
    assert world.committed() == 1


def cited() -> tuple[LineageEvent, LineageEvent]:
    """A plan, and a run of its job that cites it."""
    plan, run = full_plan_event(), full_run_event()
    assert plan.plan_event is not None
    assert run.run_event is not None
    assert plan.job == run.job
    body = msgspec.structs.replace(run.run_event, plan_digest=plan.plan_event.digest)
    return plan, msgspec.structs.replace(run, run_event=body)


def test_a_column_lineage_is_remembered_for_the_events_that_cite_it(world: World) -> None:
    plan, run = cited()
    world.put(plan, run)
    world.forwarder.run()
    assert world.metrics.registry.get_sample_value("headwater_forward_unknown_plans_total") == 0
    assert plan.plan_event is not None
    assert world.plans.cited_by(run)(plan.plan_event.digest) == plan.plan_event.lineage


def test_one_that_was_forwarded_before_the_start_is_read_again(world: World) -> None:
    plan, run = cited()
    before = FakeBroker()
    before.append(encode(plan), headers=(("headwater.kind", b"PLAN"),))
    before.append(encode(full_dataset_event()), headers=(("headwater.kind", b"DATASET"),))
    before.append(b"nonsense")
    world.forwarder.remember(before.log[0])
    assert len(world.plans) == 1
    world.put(run)
    world.forwarder.run()
    assert world.metrics.registry.get_sample_value("headwater_forward_unknown_plans_total") == 0


def test_plans_take_no_more_memory_than_they_may(tmp_path: Path) -> None:
    plan, run = cited()
    world = World(tmp_path, plans_max_bytes=1)
    world.put(plan, run)
    world.forwarder.run()
    assert len(world.plans) == 0
    assert world.metrics.registry.get_sample_value("headwater_forward_unknown_plans_total")
    plans = PlanCache(10_000)
    assert plan.plan_event is not None
    for number in range(1_000):
        body = msgspec.structs.replace(plan.plan_event, digest=f"{number:032x}")
        plans.remember(msgspec.structs.replace(plan, plan_event=body))
    assert 0 < len(plans) < 20
    assert plans.cited_by(run)(f"{999:032x}") is not None
    assert plans.cited_by(run)(f"{0:032x}") is None


def test_only_records_of_plans_are_decoded_for_them() -> None:
    assert holds_plan((("headwater.kind", b"PLAN"),))
    assert holds_plan(())
    assert not holds_plan((("headwater.kind", b"RUN"),))


def test_a_stop_ends_it_also_while_the_collector_is_away(tmp_path: Path) -> None:
    world = World(tmp_path, until_caught_up=False)
    world.collector.away = CollectorUnavailableError("away", after_seconds=200)
    world.put(full_run_event())
    thread = started(world.forwarder.run)
    eventually(lambda: world.warnings)
    world.forwarder.stop()
    thread.join(patience(30))
    assert not thread.is_alive()
    assert world.committed() == 0
