"""Facts of a job's settings are in the events of its application."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import get_args

import pytest

from headwater_producers.spark import CaptureSettings
from headwater_producers.spark.common.settings import ErrorDetail
from headwater_producers.spark.driver.attach import event_context
from headwater_producers.spark.events.application import (
    UNCHECKED_FACET,
    UncheckedWrites,
    application_ended,
    application_running,
    application_started,
)
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.job_names import streaming_name
from headwater_producers.spark.events.parent import Orchestration
from headwater_producers.spark.events.run_error import in_detail
from headwater_producers.spark.streaming.checkpoint import StreamCheckpoint
from headwater_producers.spark.streaming.interval_events import IntervalSender, LastEmittedStore, QueryRun
from headwater_producers.spark.streaming.rebuild import QueryIdentity, interval_events
from headwater_schemas.events import (
    EngineRef,
    IntervalEntry,
    JobRef,
    LineageEvent,
    Owner,
    ParentRun,
    RunError,
    RunEvent,
    RunEventType,
    Tag,
)
from support.capture import DictFiles, body

QUERY = "0c7a3b1e-6f0e-4b53-9a4e-3c1b5a1d2e3f"
RUN = "01931885-2800-7be7-aa8d-aaa15c337268"
TASK = ParentRun("01931885-2800-7be7-aa8d-aaa15c337267", JobRef("airflow", "flights.enrich"))
DAG = ParentRun("01931885-2800-799d-8041-88a263ffa0d8", JobRef("airflow", "flights"))


def test_each_setting_is_emitted() -> None:
    settings = CaptureSettings.load(
        tenant="acme",
        job_namespace="flights",
        job_name="enrich",
        job_owner="team:flights",
        job_criticality="tier-1",
        job_tags="pii,tier=1",
        job_code_version="v7",
        job_config_version="c3",
    )
    context = event_context(
        settings, app_name="spark's own", spark_version="4.0.0", started_by=Orchestration(parent=TASK, root=DAG)
    )
    job, start = application_started(context, datetime(2026, 11, 21, tzinfo=UTC), DedupCache())
    for event in (job, start):
        assert (event.tenant, event.job) == ("acme", JobRef("flights", "enrich"))
    assert job.job_event is not None
    assert job.job_event.owners == (Owner("team:flights"),)
    assert job.job_event.tags == (Tag(key="pii"), Tag(key="tier", value="1"))
    assert job.job_event.criticality == "tier-1"
    assert (body(start).parent, body(start).root) == (TASK, DAG)
    versions = body(start).versions
    assert versions is not None
    assert (versions.code, versions.config, versions.engine) == ("v7", "c3", EngineRef("spark", "4.0.0"))


def test_without_them_it_is_the_applications_name_and_nothing_is_claimed() -> None:
    settings = CaptureSettings.load(job_code_version="v7")
    context = event_context(settings, app_name="nightly", spark_version="4.0.0", started_by=Orchestration())
    job, start = application_started(context, datetime(2026, 11, 21, tzinfo=UTC), DedupCache())
    assert (job.tenant, job.job) == ("default", JobRef("default", "nightly"))
    assert job.job_event is not None
    assert (job.job_event.owners, job.job_event.tags, job.job_event.criticality) == (None, None, None)
    assert (body(start).parent, body(start).root) == (None, None)


@pytest.mark.parametrize("detail", get_args(ErrorDetail))
def test_an_error_is_reported_as_far_as_the_setting_allows(detail: ErrorDetail) -> None:
    settings = CaptureSettings.load(job_code_version="v7", capture_errors=detail)
    context = event_context(settings, app_name="nightly", spark_version="4.0.0", started_by=Orchestration())
    error = RunError(type="x.Y", message="refused", stack_trace="\tat x.Z")
    at = datetime(2026, 11, 21, tzinfo=UTC)
    ended = application_ended(context, RunEventType.FAIL, at, at, error, unchecked=UncheckedWrites()).run_event
    assert ended is not None
    assert ended.error == in_detail(error, detail)
    assert UNCHECKED_FACET not in ended.run_facets


def test_writes_without_a_check_of_their_inputs_are_in_the_heartbeat_and_in_the_end() -> None:
    settings = CaptureSettings.load(job_code_version="v7")
    context = event_context(settings, app_name="nightly", spark_version="4.0.0", started_by=Orchestration())
    at, unchecked = datetime(2026, 11, 21, tzinfo=UTC), UncheckedWrites()
    for reason in ("no answer", "it answers 503"):
        unchecked.add(reason)
    for event in (
        application_running(context, at, 60, unchecked),
        application_ended(context, RunEventType.COMPLETE, at, at, None, unchecked=unchecked),
    ):
        facet = json.loads(body(event).run_facets[UNCHECKED_FACET])
        assert (facet["writes"], facet["reason"]) == (2, "it answers 503")


def test_names_and_checkpoints_of_queries_bear_no_credentials() -> None:
    settings = CaptureSettings.load(job_code_version="v7")
    context = event_context(settings, app_name="nightly", spark_version="4.0.0", started_by=Orchestration())
    at, job = datetime(2026, 11, 21, tzinfo=UTC), context.app_job
    where, name = "s3a://KEY:hunter2@lake/cp", "from jdbc:postgresql://bob:hunter2@db/x"
    run = context.run(
        RunEvent(type=RunEventType.START, query_id=QUERY, checkpoint_location=where), job=job, run_id=RUN, at=at
    )
    assert body(run).checkpoint_location == "s3a://[redacted]@lake/cp"
    entry = IntervalEntry(batch_id=0, inputs=(), outputs=())
    sent: list[LineageEvent] = []
    checkpoint = StreamCheckpoint(where, DictFiles())
    query = QueryRun(query_id=QUERY, run_id=RUN, name=name, started_at=at, job=job, checkpoint=checkpoint)
    IntervalSender(context, sent.append, LastEmittedStore()).add_again(query, entry, at)
    [observed] = sent
    [rebuilt] = interval_events(
        QueryIdentity(
            tenant="default", job=job, query_id=QUERY, producer="x", query_name=name, checkpoint_location=where
        ),
        [entry],
        per_event=1,
        now=at,
    )
    for event in (observed, rebuilt):
        assert event.interval_event is not None
        assert event.interval_event.query_name == "from jdbc:postgresql://[redacted]@db/x"
        assert event.interval_event.checkpoint_location == "s3a://[redacted]@lake/cp"
    assert "hunter2" not in streaming_name("app", name, [], None)
